/* wte/wte.h - the token-embedding layer in fourteen functions: open a model, look ids up, go
 * between ids and tokens, and rank tokens for a hidden state. Everything else (options, other
 * types, bags, losses, training, formats) is in headers of its own; wte/all.h includes them all,
 * and a model opened here is the one they take.
 *
 *     wte_model *m = wte_open("model/");
 *     if (!m) puts(wte_last_error());
 *
 * Failures: a pointer is NULL, a status is not WTE_OK (0), and wte_last_error() has the message of
 * this thread. A model and a head are immutable: any number of threads may use one. */
#ifndef WTE_WTE_H
#define WTE_WTE_H
#include <wte/head.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct wte_model wte_model;

/** Open a file of tensors or a model's folder, of any format that docs/formats.md lists; "demo" is
 *  a built-in table of 6 x 3. Tables are mapped, not copied.
 *      wte_model *m = wte_open("model.safetensors");
 *      if (!m) puts(wte_last_error()); */
WTE_API wte_model *wte_open(const char *path);
/** Release the model; NULL is fine. Heads made from it must be closed before.
 *      wte_close(m); */
WTE_API void wte_close(wte_model *m);

/** Rows of the input table, the exclusive upper bound of ids; 0 when the model has no input table.
 *      for (uint64_t id = 0; id < wte_n_rows(m); id++) ...; */
WTE_API uint64_t wte_n_rows(const wte_model *m);
/** Elements of a row, the embedding dimension.
 *      float *rows = malloc(n * wte_dim(m) * sizeof *rows); */
WTE_API uint64_t wte_dim(const wte_model *m);
/** Type of the stored elements or blocks: "f32", "bf16", "q8_0", ...; "" without an input table.
 *      printf("%s\n", wte_type(m)); */
WTE_API const char *wte_type(const wte_model *m);

/** Copy the row of each id into `out` (n x dim, row-major), widened to f32 without rounding; rows
 *  of blocks are decoded. An embedding scale that the model applies later is not applied.
 *
 *  returns  E_RANGE for an id outside 0 .. wte_n_rows - 1; `out` is then untouched
 *      int64_t ids[] = { 2, 3, 5 };
 *      wte_status s = wte_lookup_i64(m, ids, 3, rows); */
WTE_API WTE_MUST_CHECK wte_status wte_lookup_i64(const wte_model *m, const int64_t *ids, size_t n,
                                                 float *out);
/** The same for ids of 32 bits.
 *      wte_status s = wte_lookup_i32(m, ids, 3, rows); */
WTE_API WTE_MUST_CHECK wte_status wte_lookup_i32(const wte_model *m, const int32_t *ids, size_t n,
                                                 float *out);

/** The text of a token as people write it (" Hello", not "ĠHello"), into `buf`, NUL-terminated and
 *  cut to `cap` bytes; "" for an id without a token or a model without a vocabulary.
 *
 *  returns  bytes of the whole text; it may hold any byte, as tokens are pieces of UTF-8
 *      char text[64];
 *      wte_token_text(m, 3, text, sizeof text); */
WTE_API size_t wte_token_text(const wte_model *m, uint64_t id, char *buf, size_t cap);
/** Id of the token with this text, written either way; -1 when there is none: wte_last_error()
 *  names near texts.
 *      int64_t id = wte_token_id(m, " Hello"); */
WTE_API int64_t wte_token_id(const wte_model *m, const char *text);

/** The output head of a model with everything its logits need: the table (its own or the tied input
 *  table), bias, projection, scale and soft cap, rows without a token, tokens of a draft head. */
typedef struct wte_head wte_head;
/** Resolve the head of `m`, which must outlive it.
 *
 *  returns  NULL for a model without a head, or one whose logits need more than is known here
 *      wte_head *h = wte_head_open(m);
 *      if (!h) puts(wte_last_error()); */
WTE_API wte_head *wte_head_open(const wte_model *m);
/** Release the head; NULL is fine.
 *      wte_head_close(h); */
WTE_API void wte_head_close(wte_head *h);

typedef struct wte_head_info {
    const char *name;    /* of the tensor */
    const char *reason;  /* why it is the head, for people */
    uint64_t n_rows;     /* logits of a hidden state */
    uint64_t n_valid;    /* of these rows, the ones that stand for a token */
    uint64_t hidden_dim; /* elements of a hidden state */
    bool tied;           /* the head is the input table */
    bool has_bias;
    wte_logit_transform transform; /* what is done to hidden states and logits; 0 = nothing */
} wte_head_info;
/** Facts about a head; they live as long as it.
 *      puts(wte_head_info_of(h)->tied ? "tied" : "untied"); */
WTE_API const wte_head_info *wte_head_info_of(const wte_head *h);

/** The k tokens of largest logit for each of n hidden states (n x hidden_dim f32), largest first,
 *  into `out` (n x k). Where fewer tokens exist, the remaining ids are WTE_NO_INDEX.
 *
 *  cost     one read of the head's table; wte_head_topk takes a thread pool
 *      wte_ranked best[5];
 *      wte_status s = wte_topk(h, hidden, 1, 5, best); */
WTE_API WTE_MUST_CHECK wte_status wte_topk(const wte_head *h, const float *hidden, size_t n,
                                           uint32_t k, wte_ranked *out);

/** Message of the last failure of these functions in this thread; "" when none has failed.
 *      puts(wte_last_error()); */
WTE_API const char *wte_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
