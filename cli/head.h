/* head.h - the output head of MODEL as commands use it: the table that plays the role, what the
 * model does around the product, the rows that no token has, and the hidden vectors. */
#ifndef WTE_CLI_HEAD_H
#define WTE_CLI_HEAD_H
#include <wte/head.h>
#include <wte/model.h>

#include "json.h"
#include "observed.h"
#include "out.h"

typedef enum cli_head_kind {
    CLI_HEAD_STORED, /* a tensor of its own, or the one that --head names */
    CLI_HEAD_TIED,   /* the input table is the head */
    CLI_HEAD_NONE    /* the model has no head; its input table stands in */
} cli_head_kind;

typedef struct cli_head {
    cli *c;
    wte_model *model;
    const wte_model_table *table;
    cli_head_kind kind;
    bool as_model;   /* else the product alone */
    char why[240];   /* CLI_HEAD_TIED, CLI_HEAD_NONE: in one sentence */
    uint64_t padded; /* rows that no token has */
    bool masked;     /* they are left out */
    wte_head_options options;
    wte_hidden hidden;
    const int64_t *map;   /* of a draft head: the token of each row; NULL: row r is token r */
    const char *map_from; /* its name, while there is one */
    const char *map_why;  /* in words, where the model has it; else NULL */
    uint64_t projected; /* numbers that hidden vectors had before a projection; 0: none was done */
    bool nameless;      /* which tokens its rows are is not known: --map none */
    /* private */
    int64_t *map_read;         /* of --map */
    struct cli_row *map_found; /* rows by their token */
    cli_observed got;
    float *widened, *bias;
    const char *bias_name;
    uint8_t *valid;
    cli_progress bar;
} cli_head;

/* The options for this, to be put into a command's array. */
#define CLI_HEAD_OPTIONS                                                                             \
    { "as-model", '\0',                                                                              \
      false,      CLI_FLAG,                                                                          \
      NULL,       "do what the model does around the product (the default when it has a head)",      \
      NULL },                                                                                        \
        { "raw", '\0', false, CLI_FLAG, NULL, "the product with the head and nothing else", NULL },  \
        { "with-padding", '\0', false, CLI_FLAG, NULL, "let rows without a token take part", NULL }, \
        { "map",       '\0',                                                                         \
          false,       CLI_READ_FILE,                                                                \
          "FILE|none", "row r of the head is token FILE[r], as in draft heads of few tokens",        \
          NULL },                                                                                    \
        { "map-as",   '\0',          false,                                                          \
          CLI_CHOICE, "ids|offsets", "with offsets, row r is token r + FILE[r] (EAGLE's d2t)",       \
          NULL },                                                                                    \
    {                                                                                                \
        "bias", '\0', false, CLI_TEXT, "TENSOR|FILE|none",                                           \
            "add these numbers to the logits, one for each row of the head, or none", NULL           \
    }

/* Open MODEL (the first word) and settle all but the hidden vectors. All return 0, or the exit code
 * after a message; *h needs cli_head_close in any case. */
int cli_head_open(cli *c, cli_head *h);
/* The vectors that --hidden names, checked against the head's width. */
int cli_head_hidden(cli_head *h);
/* n vectors of `dim` f32, from malloc; they become h's. */
int cli_head_take(cli_head *h, float *vectors, uint64_t n, uint64_t dim);
void cli_head_close(cli_head *h);
/* Hidden vectors first .. first + n - 1. */
wte_hidden cli_head_part(const cli_head *h, uint64_t first, uint64_t n);

/* "PATH: TENSOR, R x D type" and what is done, in lines; and the same facts. */
void cli_head_print(const cli_head *h, FILE *out);
void cli_head_json(const cli_head *h, cli_json *json);
/* The token that row r stands for. */
int64_t cli_head_token(const cli_head *h, uint64_t row);
/* The row of a token; -1: the head has none for it. 0, or the exit code after a message. */
int cli_head_row(cli_head *h, int64_t token, int64_t *row);
/* head_project.c: make the hidden vectors as wide as the head, through the model's projection if
 * need be; rows of the input table as wide as hidden vectors, before that. */
int cli_head_project(cli_head *h);
int cli_head_widen(cli_head *h);
/* Gradients by the projected vectors, n x the head's width, to those by what they were made from,
 * n x h->projected; out is zeroed before. */
int cli_head_project_back(const cli_head *h, const float *d, float *out);
/* head_map.c: settle `map`, once the table is known. */
int cli_head_map(cli_head *h);
/* Whether row r takes no part. */
bool cli_head_masks(const cli_head *h, uint64_t row);
/* A field "token": its text, or null. */
void cli_json_token(cli_json *json, const cli_head *h, int64_t token);
/* The token in quotes, safe for a terminal; nothing when it has none. */
void cli_head_put_token(const cli_head *h, int64_t token, FILE *out);
#endif
