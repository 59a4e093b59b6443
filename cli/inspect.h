/* inspect.h - what wte inspect --all adds: every tensor, the storages they share, where the bytes
 * of the files go, and what each table takes in memory. */
#ifndef WTE_CLI_INSPECT_H
#define WTE_CLI_INSPECT_H
#include <wte/model.h>

#include "json.h"
#include "out.h"

typedef struct inspect_all {
    const cli *c;
    const wte_model *model;
    const wte_file *file; /* NULL for the built-in table: there is nothing to list */
    wte_disk_usage account;
    uint64_t *same_as;      /* of each tensor */
    uint64_t *storage_used; /* of each storage */
    uint64_t *first_view;   /* of each storage: a tensor, or WTE_NO_INDEX */
    uint64_t *next_view;    /* of each tensor: the next one of its storage, or WTE_NO_INDEX */
} inspect_all;

/* 0, or the exit code after a message. */
int inspect_all_open(const cli *c, const wte_model *m, inspect_all *out);
void inspect_all_print(const inspect_all *a);
void inspect_all_json(const inspect_all *a, cli_json *j);
void inspect_all_close(inspect_all *a);

/* "4 x 32", or "scalar". */
void inspect_put_shape(const wte_tensor *t);
/* Its element type: "f16", "q4_0", or "type 42" of a number that is not known here. */
void inspect_put_type(const wte_tensor *t);
void inspect_json_type(cli_json *j, const wte_tensor *t);
/* GGUF names the dimension whose elements are neighbours first: " ne=[32, 4]"; else nothing. */
void inspect_put_axes(const wte_file *f, const wte_tensor *t);
#endif
