/* Which files a path stands for. Private to this room. */
#ifndef WTE_SRC_MODEL_PLACE_H
#define WTE_SRC_MODEL_PLACE_H
#include <wte/model.h>

#include "base/limits.h"

/* Where the weights are and where the files beside them are. */
typedef struct wte__resolved_path {
    char weights[WTE_LIMIT_PATH];
    char side[WTE_LIMIT_PATH];  /* config.json, tokenizer files */
    char vocab[WTE_LIMIT_PATH]; /* tokenizer files when there are none in `side`, or "" */
    char note[400];             /* which of several models was taken, or "" */
} wte__resolved_path;

wte_status wte__resolve_path(wte__resolved_path *p, const char *path,
                             const wte_allocator *allocator, wte_error *err);
/* Whether a file of this name can be taken for the weights of the folder that it is in. */
wte_file_use wte__resolve_use(const char *name);
#endif
