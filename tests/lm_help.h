/* A small language to learn, and language models over it. */
#ifndef WTE_TESTS_LM_HELP_H
#define WTE_TESTS_LM_HELP_H
#include "small_lm.h"
#include "test.h"
#include "train/lm.h"

static char lm_folder[64];

static inline const char *lm_path(const char *name)
{
    static char path[4][160];
    static unsigned turn;
    char *to = path[turn++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", lm_folder, name);
    return to;
}

static inline int lm_make_folder(void **state)
{
    (void)state;
    snprintf(lm_folder, sizeof lm_folder, "%s", test_scratch());
    return 0;
}
static inline int lm_remove_folder(void **state)
{
    (void)state;
    test_scratch_remove(lm_folder);
    return 0;
}

/* `words` of `kinds` words, each of which the one before it decides, but for one in eight. */
static inline void lm_write_text(const char *name, unsigned words, unsigned kinds, uint64_t noise)
{
    FILE *f = fopen(lm_path(name), "w");
    unsigned word = 0;
    assert_non_null(f);
    for (unsigned i = 0; i < words; i++) {
        fprintf(f, "w%u%c", word, i % 10 == 9 ? '\n' : ' ');
        const uint64_t draw = test_noise(&noise) >> 8;
        word = (draw % 8 ? word * 5 + 3 : (unsigned)(draw >> 8 & 0xffff)) % kinds;
    }
    assert_int_equal(fclose(f), 0);
}

static inline wte_corpus *lm_corpus(const char *name, uint64_t min_count)
{
    wte_corpus_options o = WTE_CORPUS_OPTIONS_INIT;
    wte_corpus *c;
    wte_error err;
    o.no_eos = 1;
    o.min_count = min_count;
    assert_ok(wte_corpus_open(lm_path(name), &o, &c, &err), err);
    return c;
}

static inline wte_lm *lm_make(const wte_corpus *c, const wte_lm_options *o)
{
    wte_lm *lm;
    wte_error err;
    assert_ok(wte_lm_create(c, NULL, o, &lm, &err), err);
    return lm;
}

static inline void lm_train(wte_lm *lm)
{
    wte_error err;
    assert_ok(wte_lm_train(lm, NULL, &err), err);
}

/* All weights, one behind the other, and their hash of a kind. */
#define LM_NUMBERS 8192u
static inline size_t lm_weights(wte_lm *lm, float out[LM_NUMBERS])
{
    size_t n = 0;
    wte_row_source rows;
    for (uint32_t i = 0; wte_lm_tensor(lm, i, NULL, &rows, NULL) == WTE_OK; i++) {
        const size_t count = (size_t)(rows.rows * rows.cols);
        assert_true(n + count <= LM_NUMBERS);
        memcpy(out + n, rows.data, count * sizeof *out);
        n += count;
    }
    return n;
}

static inline void lm_assert_same(wte_lm *a, wte_lm *b)
{
    static float x[LM_NUMBERS], y[LM_NUMBERS];
    const size_t n = lm_weights(a, x);
    assert_true(n > 0);
    assert_int_equal(lm_weights(b, y), n);
    assert_memory_equal(x, y, n * sizeof *x);
}
#endif
