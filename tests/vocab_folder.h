/* A folder with the files of a vocabulary, made anew for each test. */
#ifndef WTE_TESTS_VOCAB_FOLDER_H
#define WTE_TESTS_VOCAB_FOLDER_H
#include "test.h"

#include <wte/vocab.h>

static char scratch[128];

static inline void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    test_write_file(path, text, strlen(text));
}

static inline void forget(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    remove(path);
}

static inline int setup(void **state)
{
    (void)state;
    snprintf(scratch, sizeof scratch, "%s", test_scratch());
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    test_scratch_remove(scratch);
    return 0;
}

static inline wte_vocab *open_folder(void)
{
    wte_vocab *v;
    wte_error err;
    assert_ok(wte_vocab_open(scratch, NULL, &v, &err), err);
    return v;
}

static inline void has(const wte_vocab *v, uint64_t id, const char *text, wte_token_kind kind)
{
    uint64_t bytes = 0;
    const char *spelled = wte_vocab_raw_text(v, id, &bytes);
    assert_non_null(spelled);
    if (bytes != strlen(text) || memcmp(spelled, text, bytes) != 0)
        fail_msg("id %llu is '%.*s', not '%s'", (unsigned long long)id, (int)bytes, spelled, text);
    assert_int_equal(wte_vocab_kind(v, id), kind);
}

static inline void finds(const wte_vocab *v, const char *text, uint64_t id)
{
    wte_error err;
    uint64_t got;
    assert_ok(wte_vocab_find(v, text, strlen(text), &got, NULL, &err), err);
    assert_int_equal(got, id);
}

static inline void refused(wte_status status, uint64_t where, const char *message)
{
    wte_vocab *v;
    wte_error err;
    assert_fails(wte_vocab_open(scratch, NULL, &v, &err), err, status, where, message);
    assert_null(v);
}

/* Opens with the i-th allocation failing, for every i until it succeeds. */
static inline void starve(void)
{
    for (size_t i = 0;; i++) {
        wte_error err;
        test_memory m;
        wte_vocab *v;
        wte_vocab_options opt = WTE_VOCAB_OPTIONS_INIT;
        test_memory_init(&m, i);
        opt.allocator = &m.allocator;
        const wte_status status = wte_vocab_open(scratch, &opt, &v, &err);
        if (status == WTE_OK) {
            assert_true(i > 6);
            wte_vocab_free(v);
            assert_int_equal(m.live, 0);
            return;
        }
        assert_int_equal(status, WTE_E_MEMORY);
        assert_null(v);
        assert_int_equal(m.live, 0);
    }
}

#define IN_FOLDER(name, function)                                                                  \
    {                                                                                              \
        name, function, setup, teardown, NULL                                                      \
    }
#endif
