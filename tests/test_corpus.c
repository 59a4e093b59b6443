/* Corpora: words, their numbers, parts, places to come back to, ids, and what is refused. */
#include <wte/format.h>

#include "test.h"
#include "train/corpus.h"

static const char *folder;
static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* A corpus of these bytes. */
static wte_status open_bytes(const void *data, size_t bytes, const wte_corpus_options *opt,
                             wte_corpus **out, wte_error *err)
{
    test_write_file(path_of("text"), data, bytes);
    return wte_corpus_open(path_of("text"), opt, out, err);
}
static wte_status open_text(const char *text, const wte_corpus_options *opt, wte_corpus **out,
                            wte_error *err)
{
    return open_bytes(text, strlen(text), opt, out, err);
}

/* "word:count " of every word, in the order of their numbers. */
static const char *words_of(const wte_corpus *c)
{
    static char text[1024];
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t i = 0; i < wte_token_list_count(wte_corpus_words(c)); i++) {
        uint64_t bytes;
        const char *word = wte_token_list_text(wte_corpus_words(c), i, &bytes);
        used += (size_t)snprintf(text + used, sizeof text - used, "%.*s:%d ", (int)bytes, word,
                                 (int)wte_corpus_counts(c)[i]);
    }
    return text;
}

/* All numbers of a part, -1 for unknown, as text. */
static const char *read_part(const wte_corpus *c, uint32_t part, uint32_t parts, size_t cap)
{
    static char text[4096];
    wte_corpus_reader *r;
    wte_error err;
    uint32_t ids[64];
    size_t n, used = 0;
    text[0] = '\0';
    assert_ok(wte_corpus_reader_create(c, part, parts, &r, &err), err);
    for (;;) {
        assert_ok(wte_corpus_read(r, ids, cap, &n, &err), err);
        if (n == 0) break;
        assert_true(n <= cap);
        for (size_t i = 0; i < n; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%d ", (int)ids[i]);
    }
    wte_corpus_reader_free(r);
    return text;
}

static void numbers_go_by_count(void **state)
{
    wte_corpus *c;
    wte_error err;
    wte_corpus_info info;
    (void)state;
    assert_ok(open_text("b a\tc a\nb a\r\n\nz", NULL, &c, &err), err);
    /* equal counts: in the order of their first appearance */
    assert_string_equal(words_of(c), "a:3 </s>:3 b:2 c:1 z:1 ");
    assert_string_equal(read_part(c, 0, 1, 64), "2 0 3 0 1 2 0 1 1 4 ");
    assert_string_equal(read_part(c, 0, 1, 1), "2 0 3 0 1 2 0 1 1 4 ");
    wte_corpus_get(c, &info);
    assert_int_equal(info.bytes, 15);
    assert_int_equal(info.words, 5);
    assert_int_equal(info.tokens, 10);
    assert_int_equal(info.lines, 3);
    assert_int_equal(info.oov, 0);
    assert_int_equal(info.invalid, 0);
    wte_corpus_free(c);
}

static void a_line_end_may_be_white_space(void **state)
{
    wte_corpus_options opt = WTE_CORPUS_OPTIONS_INIT;
    wte_corpus *c;
    wte_error err;
    wte_corpus_info info;
    (void)state;
    opt.no_eos = 1;
    assert_ok(open_text("b a\n\na\n</s>", &opt, &c, &err), err);
    assert_string_equal(words_of(c), "a:2 b:1 </s>:1 ");
    assert_string_equal(read_part(c, 0, 1, 3), "1 0 0 2 ");
    wte_corpus_get(c, &info);
    assert_int_equal(info.lines, 0);
    wte_corpus_free(c);
}

static void rare_words_are_unknown(void **state)
{
    wte_corpus_options opt = WTE_CORPUS_OPTIONS_INIT;
    wte_corpus *c;
    wte_error err;
    wte_corpus_info info;
    (void)state;
    opt.min_count = 2;
    assert_ok(open_text("x a b a y b b", &opt, &c, &err), err);
    assert_string_equal(words_of(c), "b:3 a:2 ");
    assert_string_equal(read_part(c, 0, 1, 64), "-1 1 0 1 -1 0 0 ");
    wte_corpus_get(c, &info);
    assert_int_equal(info.oov, 2);
    wte_corpus_free(c);
    opt.max_words = 1;
    assert_ok(open_text("x a b a y b b", &opt, &c, &err), err);
    assert_string_equal(words_of(c), "b:3 ");
    wte_corpus_free(c);
    opt.min_count = 4;
    assert_fails(open_text("x a b a y b b", &opt, &c, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "none of its words occurs 4 times");
    assert_null(c);
}

static void words_that_are_given_keep_their_numbers(void **state)
{
    wte_corpus_options opt = WTE_CORPUS_OPTIONS_INIT;
    wte_token_list list;
    wte_corpus *c;
    wte_error err;
    wte_corpus_info info;
    (void)state;
    wte__token_list_init(&list, NULL);
    opt.vocab = &list;
    assert_fails(open_text("a", &opt, &c, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "empty vocab");
    static const char *const given[] = { "none", "b", "a", "b" };
    for (size_t i = 0; i < 4; i++)
        assert_ok(wte__token_list_add(&list,
                                      (wte__bytes){ (const uint8_t *)given[i], strlen(given[i]) },
                                      WTE_TAG_NORMAL, &err),
                  err);
    opt.min_count = 5; /* not looked at */
    assert_ok(open_text("a b\nb new b", &opt, &c, &err), err);
    assert_string_equal(words_of(c), "none:0 b:3 a:1 b:0 ");
    assert_string_equal(read_part(c, 0, 1, 2), "2 1 -1 1 -1 1 ");
    wte_corpus_get(c, &info);
    assert_int_equal(info.words, 4);
    assert_int_equal(info.oov, 2);
    wte_corpus_free(c);
    assert_fails(open_text("other words\n", &opt, &c, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "none of its 2 words is one of the 4 given");
    wte__token_list_clear(&list);
}

static void a_model_gives_words_by_their_ids(void **state)
{
    static const char json[] = "{\"b\": 3, \"a\": 1}";
    wte_corpus_options opt = WTE_CORPUS_OPTIONS_INIT;
    wte_token_list list;
    wte_vocab *v;
    wte_corpus *c;
    wte_error err;
    (void)state;
    assert_ok(wte_vocab_open_memory(json, sizeof json - 1, "json", WTE_VOCAB_JSON, NULL, &v, &err),
              err);
    opt.model_vocab = v;
    assert_ok(open_text("a b\nb new b", &opt, &c, &err), err);
    assert_string_equal(words_of(c), ":0 a:1 :0 b:3 ");
    assert_string_equal(read_part(c, 0, 1, 2), "1 3 -1 3 -1 3 ");
    wte_corpus_free(c);
    assert_fails(open_text("other words\n", &opt, &c, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "none of its 2 words is one of the 4 given");
    wte__token_list_init(&list, NULL);
    assert_ok(
        wte__token_list_add(&list, (wte__bytes){ (const uint8_t *)"a", 1 }, WTE_TAG_NORMAL, &err),
        err);
    opt.vocab = &list;
    assert_fails(open_text("a", &opt, &c, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "vocab and model_vocab");
    wte__token_list_clear(&list);
    wte_vocab_free(v);
}

static void words_are_bytes(void **state)
{
    wte_corpus *c;
    wte_error err;
    wte_corpus_info info;
    (void)state;
    static const char text[] = "\xc3\xa9 a\xff \xc3\xa9\0\xff\v\xc3\f\xff";
    assert_ok(open_bytes(text, sizeof text - 1, NULL, &c, &err), err);
    assert_string_equal(words_of(c), "\xc3\xa9:2 \xff:2 a\xff:1 \xc3:1 ");
    wte_corpus_get(c, &info);
    assert_int_equal(info.invalid, 3);
    wte_corpus_free(c);
}

/* Text of many blocks: short and long words, white space of all kinds. */
static char *long_text(size_t bytes, uint64_t seed)
{
    static const char space[] = "   \t\n\n\r\v\f";
    char *text = malloc(bytes);
    assert_non_null(text);
    for (size_t i = 0; i < bytes;) {
        uint64_t length = test_noise(&seed) % 9 + 1;
        if (test_noise(&seed) % 400 == 0) length = test_noise(&seed) % 4096 + 1;
        const char letter = (char)('a' + test_noise(&seed) % 3);
        for (uint64_t k = 0; k < length && i < bytes; k++) text[i++] = letter;
        for (uint64_t k = test_noise(&seed) % 3 + 1; k > 0 && i < bytes; k--)
            text[i++] = space[test_noise(&seed) % (sizeof space - 1)];
    }
    return text;
}

/* The numbers of the words that begin in [from, to), by a plain walk over the text. */
static size_t plain_numbers(const char *text, size_t bytes, uint64_t from, uint64_t to,
                            const wte_corpus *c, uint32_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes;) {
        size_t end = i;
        while (end < bytes && !strchr(" \t\n\r\v\f", text[end])) end++;
        const bool line = end == i && text[i] == '\n';
        if ((end > i || line) && i >= from && i < to) {
            const wte__bytes word = { line ? wte__line_end : (const uint8_t *)text + i,
                                      line ? 4 : end - i };
            out[n++] = wte__words_find(&c->words, word, wte__words_hash(&c->words, word));
        }
        i = end > i ? end : i + 1;
    }
    return n;
}

static void parts_give_every_word_once(void **state)
{
    const size_t bytes = 700000;
    wte_corpus *c;
    wte_error err;
    (void)state;
    char *text = long_text(bytes, 3);
    uint32_t *expected = malloc(bytes * 4), *got = malloc(bytes * 4);
    assert_true(expected && got);
    assert_ok(open_bytes(text, bytes, NULL, &c, &err), err);
    for (uint32_t parts = 1; parts < 40; parts = parts * 2 + 1) {
        size_t all = 0;
        for (uint32_t part = 0; part < parts; part++) {
            wte_corpus_reader *r;
            size_t n = 0, k;
            assert_ok(wte_corpus_reader_create(c, part, parts, &r, &err), err);
            do {
                assert_ok(wte_corpus_read(r, got + n, 1 + n % 1000, &k, &err), err);
                n += k;
            } while (k);
            wte_corpus_reader_free(r);
            const size_t should = plain_numbers(text, bytes, bytes * part / parts,
                                                bytes * (part + 1) / parts, c, expected);
            assert_int_equal(n, should);
            assert_memory_equal(got, expected, n * 4);
            all += n;
        }
        wte_corpus_info info;
        wte_corpus_get(c, &info);
        assert_int_equal(all, info.tokens);
    }
    wte_corpus_free(c);
    free(text);
    free(expected);
    free(got);
}

static void a_reader_comes_back_to_a_place(void **state)
{
    const size_t bytes = 600000;
    static uint32_t first[200000], again[200000];
    wte_corpus *c;
    wte_corpus_reader *r;
    wte_error err;
    uint64_t at[64];
    size_t n = 0, k, places = 0, place[64];
    (void)state;
    char *text = long_text(bytes, 5);
    assert_ok(open_bytes(text, bytes, NULL, &c, &err), err);
    assert_ok(wte_corpus_reader_create(c, 1, 3, &r, &err), err);
    do {
        place[places] = n;
        at[places++] = wte_corpus_reader_at(r);
        assert_ok(wte_corpus_read(r, first + n, 1777, &k, &err), err);
        n += k;
    } while (k && places < 64);
    assert_true(k == 0 && places > 10);
    for (size_t i = 0; i < places; i++) {
        size_t m = place[i];
        assert_ok(wte_corpus_reader_seek(r, at[i], &err), err);
        do {
            assert_ok(wte_corpus_read(r, again + m, 5000, &k, &err), err);
            m += k;
        } while (k);
        assert_int_equal(m, n);
        assert_memory_equal(again + place[i], first + place[i], (n - place[i]) * 4);
    }
    assert_ok(wte_corpus_reader_seek(r, 0, &err), err);
    assert_ok(wte_corpus_read(r, again, 100, &k, &err), err);
    assert_memory_equal(again, first, 400);
    assert_fails(wte_corpus_reader_seek(r, bytes / 3 - 1, &err), err, WTE_E_RANGE, bytes / 3 - 1,
                 "outside the part");
    assert_fails(wte_corpus_reader_seek(r, bytes + 1, &err), err, WTE_E_RANGE, bytes + 1,
                 "outside the part");
    wte_corpus_reader_free(r);
    wte_corpus_free(c);
    free(text);
}

static void a_word_may_have_4096_bytes(void **state)
{
    static const size_t begins[] = { 0, 7, WTE__SCAN_BYTES - 4000, WTE__SCAN_BYTES };
    const size_t bytes = 2 * WTE__SCAN_BYTES;
    wte_corpus *c;
    wte_error err;
    (void)state;
    char *text = malloc(bytes);
    assert_non_null(text);
    for (size_t i = 0; i < 4; i++) {
        memset(text, ' ', bytes);
        memset(text + begins[i], 'w', WTE_LIMIT_CORPUS_WORD);
        assert_ok(open_bytes(text, bytes, NULL, &c, &err), err);
        wte_corpus_free(c);
        assert_ok(open_bytes(text, begins[i] + WTE_LIMIT_CORPUS_WORD, NULL, &c, &err), err);
        wte_corpus_free(c);
        text[begins[i] + WTE_LIMIT_CORPUS_WORD] = 'w';
        assert_fails(open_bytes(text, bytes, NULL, &c, &err), err, WTE_E_LIMIT, begins[i],
                     "has over 4096 bytes");
        assert_fails(open_bytes(text, begins[i] + WTE_LIMIT_CORPUS_WORD + 1, NULL, &c, &err), err,
                     WTE_E_LIMIT, begins[i], "has over 4096 bytes");
        memset(text + begins[i], 'w', bytes - begins[i]);
        assert_fails(open_bytes(text, bytes, NULL, &c, &err), err, WTE_E_LIMIT, begins[i],
                     "has over 4096 bytes");
    }
    free(text);
}

static void a_corpus_without_words_is_refused(void **state)
{
    wte_corpus_options opt = WTE_CORPUS_OPTIONS_INIT;
    wte_corpus *c;
    wte_error err;
    (void)state;
    assert_fails(open_text("", NULL, &c, &err), err, WTE_E_FORMAT, 0, "an empty corpus");
    assert_fails(open_text("\n \n\n", NULL, &c, &err), err, WTE_E_FORMAT, 0, "an empty corpus");
    opt.no_eos = 1;
    assert_fails(open_text("\n \n\n", &opt, &c, &err), err, WTE_E_FORMAT, 0, "an empty corpus");
    opt.ids_type = WTE_U16;
    assert_fails(open_text("", &opt, &c, &err), err, WTE_E_FORMAT, 0, "no ids are in it");
    assert_fails(wte_corpus_open(path_of("none"), NULL, &c, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "none: No such file");
    assert_fails(wte_corpus_open(NULL, NULL, &c, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "path");
}

/* The same ids in every type, raw and as .npy. */
static void ids_are_their_own_words(void **state)
{
    static const wte_dtype types[] = { WTE_U16, WTE_I32, WTE_U32, WTE_I64 };
    wte_error err;
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        const uint16_t u16[] = { 3, 0, 3, 1 };
        const int32_t i32[] = { 3, 0, 3, 1 };
        const int64_t i64[] = { 3, 0, 3, 1 };
        const wte_dtype type = types[i % 4];
        const void *data = type == WTE_U16   ? (const void *)u16
                           : type == WTE_I64 ? (const void *)i64
                                             : (const void *)i32;
        const size_t bytes = type == WTE_U16 ? sizeof u16 : type == WTE_I64 ? sizeof i64 : 16;
        wte_corpus_options opt = WTE_CORPUS_OPTIONS_INIT;
        wte_corpus *c;
        if (i < 4) {
            test_write_file(path_of("ids"), data, bytes);
            opt.ids_type = type;
        } else {
            const uint64_t shape[2] = { 2, 2 };
            const wte_tensor_out t = { "array", type, 2, shape, data, NULL };
            assert_ok(wte_npy_write(path_of("ids"), &t, &err), err);
        }
        assert_ok(wte_corpus_open(path_of("ids"), &opt, &c, &err), err);
        assert_string_equal(words_of(c), "0:1 1:1 2:0 3:2 ");
        assert_string_equal(read_part(c, 0, 1, 3), "3 0 3 1 ");
        assert_string_equal(read_part(c, 0, 2, 64), "3 0 ");
        assert_string_equal(read_part(c, 1, 2, 1), "3 1 ");
        wte_corpus_free(c);
        opt.ids_rows = 6;
        assert_ok(wte_corpus_open(path_of("ids"), &opt, &c, &err), err);
        assert_string_equal(words_of(c), "0:1 1:1 2:0 3:2 4:0 5:0 ");
        wte_corpus_free(c);
        opt.ids_rows = 3;
        assert_fails(wte_corpus_open(path_of("ids"), &opt, &c, &err), err, WTE_E_RANGE, 0,
                     "id 3 at position 0, but the table has 3 rows");
    }
}

static void bad_ids_are_told_by_their_place(void **state)
{
    const int32_t negative[] = { 1, 2, -100 }, large[] = { 1, 16777216 };
    const float real[] = { 1, 2 };
    wte_corpus_options opt = WTE_CORPUS_OPTIONS_INIT;
    wte_corpus *c;
    wte_error err;
    (void)state;
    opt.ids_type = WTE_I32;
    assert_fails(open_bytes(negative, sizeof negative, &opt, &c, &err), err, WTE_E_RANGE, 2,
                 "id -100 at position 2 is negative");
    assert_fails(open_bytes(large, sizeof large, &opt, &c, &err), err, WTE_E_LIMIT, 1,
                 "id 16777216 at position 1");
    assert_fails(open_bytes(large, 7, &opt, &c, &err), err, WTE_E_FORMAT, 4,
                 "7 bytes are no whole number of i32");
    opt.ids_rows = 16777217;
    assert_fails(open_bytes(large, 4, &opt, &c, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "16777217 rows");
    opt.ids_type = WTE_F32;
    assert_fails(open_bytes(large, 4, &opt, &c, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "ids are u16, i32, u32 or i64");
    opt.ids_type = WTE_DTYPE_NONE;
    const uint64_t shape[1] = { 2 };
    const wte_tensor_out t = { "array", WTE_F32, 1, shape, real, NULL };
    assert_ok(wte_npy_write(path_of("ids"), &t, &err), err);
    assert_fails(wte_corpus_open(path_of("ids"), &opt, &c, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "holds f32, but ids are");
    /* what has a header is not raw: its first bytes are no ids */
    opt.ids_type = WTE_U16;
    assert_fails(wte_corpus_open(path_of("ids"), &opt, &c, &err), err, WTE_E_FORMAT, 0,
                 "an .npy file, which names the type of its ids itself: it is not raw numbers of "
                 "u16");
}

static void a_file_that_changed_is_not_read_on(void **state)
{
    wte_corpus *c;
    wte_corpus_reader *r, *other;
    wte_error err;
    uint32_t ids[8];
    size_t n;
    (void)state;
    assert_ok(open_text("a b c", NULL, &c, &err), err);
    assert_ok(wte_corpus_reader_create(c, 0, 1, &r, &err), err);
    test_write_file(path_of("text"), "a b c d", 7);
    assert_ok(wte_corpus_read(r, ids, 8, &n, &err), err); /* what was in the window */
    assert_int_equal(n, 3);
    assert_fails(wte_corpus_read(r, ids, 8, &n, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "has changed");
    assert_fails(wte_corpus_reader_seek(r, 0, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "has changed");
    assert_fails(wte_corpus_reader_create(c, 0, 1, &other, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "has changed");
    assert_fails(wte_corpus_reader_create(c, 2, 2, &other, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "part 2 of 2");
    wte_corpus_reader_free(r);
    wte_corpus_free(c);
}

static void a_table_of_words_has_a_limit(void **state)
{
    wte__words w;
    wte_error err;
    uint32_t number;
    (void)state;
    wte__words_init(&w, NULL);
    assert_ok(wte__words_index(&w, &err), err);
    for (uint32_t i = 0; i < 5000; i++) {
        const wte__bytes word = { (const uint8_t *)&i, sizeof i };
        assert_ok(wte__words_add(&w, word, wte__words_hash(&w, word), 5000, &number, &err), err);
        assert_int_equal(number, i);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        const wte__bytes word = { (const uint8_t *)&i, sizeof i };
        assert_int_equal(wte__words_find(&w, word, wte__words_hash(&w, word)), i);
        assert_ok(wte__words_add(&w, word, wte__words_hash(&w, word), 5000, &number, &err), err);
        assert_int_equal(number, i);
    }
    const wte__bytes more = { (const uint8_t *)"more", 4 };
    assert_int_equal(wte__words_find(&w, more, wte__words_hash(&w, more)), WTE_CORPUS_UNKNOWN);
    assert_fails(wte__words_add(&w, more, wte__words_hash(&w, more), 5000, &number, &err), err,
                 WTE_E_LIMIT, WTE_NO_INDEX, "over 5000 different words");
    wte__words_clear(&w);
}

static bool stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    assert_true(done <= total);
    return false;
}

static void counting_can_be_stopped(void **state)
{
    const wte_progress progress = { stop_at_once, NULL };
    wte_corpus_options opt = WTE_CORPUS_OPTIONS_INIT;
    wte_corpus *c;
    wte_error err;
    (void)state;
    opt.progress = &progress;
    char *text = malloc(3000000);
    assert_non_null(text);
    memset(text, ' ', 3000000);
    for (size_t i = 0; i < 3000000; i += 100) text[i] = 'a';
    assert_fails(open_bytes(text, 3000000, &opt, &c, &err), err, WTE_E_CANCELLED, WTE_NO_INDEX,
                 "counting words was stopped");
    opt.ids_type = WTE_U16;
    assert_fails(open_bytes(text, 3000000, &opt, &c, &err), err, WTE_E_CANCELLED, WTE_NO_INDEX,
                 "counting ids was stopped");
    free(text);
}

/* Opens and reads with the first, the second, ... allocation failing. */
static void fail_each_allocation(wte_corpus_options *opt)
{
    size_t fail_at = 0;
    wte_status status;
    do {
        test_memory memory;
        wte_error err;
        wte_corpus *c;
        wte_corpus_reader *r = NULL;
        uint32_t ids[8];
        size_t n;
        test_memory_init(&memory, fail_at++);
        opt->allocator = &memory.allocator;
        status = wte_corpus_open(path_of("text"), opt, &c, &err);
        if (status == WTE_OK) status = wte_corpus_reader_create(c, 0, 1, &r, &err);
        if (status == WTE_OK) status = wte_corpus_read(r, ids, 8, &n, &err);
        if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
        wte_corpus_reader_free(r);
        wte_corpus_free(c);
        assert_int_equal(memory.live, 0);
        opt->allocator = NULL;
    } while (status != WTE_OK);
    assert_true(fail_at > 8);
}

static void every_allocation_may_fail(void **state)
{
    wte_corpus_options opt = WTE_CORPUS_OPTIONS_INIT;
    wte_token_list list;
    wte_error err;
    (void)state;
    char text[8000];
    size_t n = 0;
    for (int i = 0; n + 8 < sizeof text; i++) n += (size_t)snprintf(text + n, 8, "w%d ", i);
    test_write_file(path_of("text"), text, n);
    fail_each_allocation(&opt);
    opt.ids_type = WTE_U16;
    n &= ~(size_t)1;
    test_write_file(path_of("text"), text, n);
    fail_each_allocation(&opt);
    opt.ids_type = WTE_DTYPE_NONE;
    wte__token_list_init(&list, NULL);
    assert_ok(
        wte__token_list_add(&list, (wte__bytes){ (const uint8_t *)"w7", 2 }, WTE_TAG_NORMAL, &err),
        err);
    opt.vocab = &list;
    fail_each_allocation(&opt);
    wte__token_list_clear(&list);
}

static int make_folder(void **state)
{
    (void)state;
    folder = test_scratch();
    return 0;
}
static int remove_folder(void **state)
{
    (void)state;
    test_scratch_remove(folder);
    return 0;
}

static const struct CMUnitTest tests[] = {
    TEST("words are numbered by their counts", numbers_go_by_count),
    TEST("a line end may be white space", a_line_end_may_be_white_space),
    TEST("rare words are unknown", rare_words_are_unknown),
    TEST("words that are given keep their numbers", words_that_are_given_keep_their_numbers),
    TEST("a model gives words by their ids", a_model_gives_words_by_their_ids),
    TEST("words are bytes, and those that are no UTF-8 are counted", words_are_bytes),
    TEST("parts together give every word once", parts_give_every_word_once),
    TEST("a reader comes back to a place", a_reader_comes_back_to_a_place),
    TEST("a word may have 4096 bytes and no more", a_word_may_have_4096_bytes),
    TEST("a corpus without words is refused", a_corpus_without_words_is_refused),
    TEST("ids are their own words", ids_are_their_own_words),
    TEST("bad ids are told by their place", bad_ids_are_told_by_their_place),
    TEST("a file that changed is not read on", a_file_that_changed_is_not_read_on),
    TEST("a table of words has a limit", a_table_of_words_has_a_limit),
    TEST("counting can be stopped", counting_can_be_stopped),
    TEST("every allocation may fail", every_allocation_may_fail),
};

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
