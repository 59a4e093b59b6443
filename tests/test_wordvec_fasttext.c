/* Word vectors as fastText's .bin: what was trained is what is read, known words and unknown ones,
 * and training goes on from it; what cannot be written is refused before anything is. */
#include <signal.h>
#include <sys/resource.h>

#include "train/corpus.h"
#include "wordvec_help.h"

static char folder[64], text[80], path[80];
static const char lines[] = "der fuß läuft über die grüne wiese\n"
                            "ein 日本語 wort und ein 🦊 fuchs\n"
                            "die katze läuft über die straße\n";
static wte_corpus *corpus;

/* Every way of learning, by its bits. */
enum { CBOW = 1, TREE = 2, GRAMS = 4, N_WAYS = 8 };
static wte_wordvec_options way_options(uint32_t way)
{
    wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
    opt.method = way & CBOW ? WTE_WORDVEC_CBOW : WTE_WORDVEC_SKIP_GRAM;
    opt.hierarchical = (way & TREE) != 0;
    opt.dim = 18;
    opt.sample = -1;
    opt.min_n = way & GRAMS ? 2 : 0;
    opt.max_n = way & GRAMS ? 4 : 0;
    opt.buckets = 300;
    opt.epochs = 20;
    return opt;
}

static wte_wordvec *train(const wte_corpus *c, const wte_wordvec_options *opt)
{
    wte_wordvec *w;
    wte_error err;
    assert_ok(wte_wordvec_create(c, opt, &w, &err), err);
    assert_ok(wte_wordvec_train(w, NULL, &err), err);
    return w;
}

static wte_file *write_and_open(const wte_wordvec *w)
{
    wte_file *f;
    wte_error err;
    assert_ok(wte_wordvec_save_fasttext(w, path, NULL, &err), err);
    assert_ok(wte_file_open(path, NULL, &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_FASTTEXT);
    return f;
}

/* Rows of the tensor, and zeros behind them, have the bits of `want`. */
static void check_rows(const wte_file *f, uint64_t tensor, const wte_row_source *want,
                       uint64_t rows)
{
    wte_row_source got;
    wte_error err;
    float a[18], b[18];
    assert_ok(wte_file_row_source(f, tensor, &got, &err), err);
    assert_int_equal(got.rows, rows);
    assert_int_equal(got.cols, 18);
    for (uint64_t r = 0; r < rows; r++) {
        memset(b, 0, sizeof b);
        assert_ok(wte_row_source_read(&got, r, a, &err), err);
        if (r < want->rows) assert_ok(wte_row_source_read(want, r, b, &err), err);
        assert_memory_equal(a, b, sizeof a);
    }
}

/* The mean of the rows of a word's n-grams, by the kernel that training uses. */
static void unknown_vector(const wte_wordvec *w, const char *word, float *out)
{
    const wte__wordvec_plan *p = &w->plan;
    uint32_t rows[256];
    uint64_t row;
    wte__ngrams it;
    wte__learn_rows job = { w->in, p->stride, p->stride, rows, 0, NULL };
    wte__ngrams_start(&it, &p->rule, (wte__bytes){ (const uint8_t *)word, strlen(word) });
    while (wte__ngrams_next(&it, &row)) rows[job.n++] = (uint32_t)row;
    assert_true(job.n > 0);
    w->kernels->learn_mean(&job, out);
}

static void what_is_written_has_the_same_vectors(void **state)
{
    static const char *const unknown[] = { "straßenkatze", "語日", "🦊🦊🌍", "x", "</t>" };
    (void)state;
    for (uint32_t way = 0; way < N_WAYS; way++) {
        const wte_wordvec_options opt = way_options(way);
        wte_wordvec *w = train(corpus, &opt);
        wte_file *f = write_and_open(w);
        wte_row_source rows, out;
        wte_error err;
        float got[18], want[32];
        wte_wordvec_vectors(w, &rows);
        wte_wordvec_output_vectors(w, &out);
        check_rows(f, 0, &rows, rows.rows);
        check_rows(f, 2, &out, rows.rows);
        const wte_token_list *words;
        assert_ok(wte_file_tokens(f, &words, &err), err);
        for (uint64_t i = 0; i < rows.rows; i++) {
            const wte__bytes a = wte__token_list_text(words, i);
            const wte__bytes b = wte__token_list_text(&corpus->words.list, i);
            assert_int_equal(a.size, b.size);
            assert_memory_equal(a.data, b.data, a.size);
            assert_true(words->score[i] == (float)corpus->counts[i]);
        }
        for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
            memset(want, 0, sizeof want);
            if (way & GRAMS) unknown_vector(w, unknown[i], want);
            assert_ok(wte_fasttext_oov_vector(f, unknown[i], strlen(unknown[i]), got, &err), err);
            assert_memory_equal(got, want, sizeof got);
        }
        memset(want, 0, sizeof want);
        assert_ok(wte_fasttext_oov_vector(f, "</s>", 4, got, &err), err); /* has no n-grams */
        assert_memory_equal(got, want, sizeof got);
        wte_file_free(f);
        wte_wordvec_free(w);
    }
}

static void a_file_says_how_it_was_made(void **state)
{
    (void)state;
    for (uint32_t way = 0; way < N_WAYS; way++) {
        const wte_wordvec_options opt = way_options(way);
        wte_wordvec *w = train(corpus, &opt);
        wte_file *f = write_and_open(w);
        wte_fasttext_info info;
        wte_error err;
        assert_ok(wte_file_fasttext(f, &info, &err), err);
        assert_int_equal(info.words, corpus->info.words);
        assert_int_equal(info.min_n, opt.min_n);
        assert_int_equal(info.max_n, opt.max_n);
        assert_int_equal(info.buckets, opt.max_n ? 300 : 0);
        assert_true(info.cbow == ((way & CBOW) != 0) && info.tree == ((way & TREE) != 0));
        assert_false(info.pruned || info.supervised);
        /* dim, ws, epoch, minCount, neg, wordNgrams, loss, model */
        const int32_t want[8] = {
            18, 5, 20, 1, way & TREE ? 0 : 5, 1, way & TREE ? 1 : 2, way & CBOW ? 1 : 2
        };
        int32_t got[8];
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        assert_int_equal(fseek(file, 8, SEEK_SET), 0);
        assert_int_equal(fread(got, 4, 8, file), 8);
        assert_int_equal(fclose(file), 0);
        assert_memory_equal(got, want, sizeof want);
        wte_file_free(f);
        wte_wordvec_free(w);
    }
}

static void training_goes_on_with_ngrams(void **state)
{
    (void)state;
    for (uint32_t way = GRAMS; way < N_WAYS; way++) {
        wte_wordvec_options opt = way_options(way);
        wte_wordvec *w = train(corpus, &opt), *again;
        wte_file *f = write_and_open(w);
        wte_row_source in, out;
        wte_error err;
        assert_ok(wte_file_row_source(f, 1, &in, &err), err);
        assert_ok(wte_file_row_source(f, 2, &out, &err), err);
        out.rows -= opt.hierarchical;
        opt.init_input_from = &in;
        opt.init_output_from = &out;
        assert_ok(wte_wordvec_create(corpus, &opt, &again, &err), err);
        assert_memory_equal(again->in, w->in, w->plan.in_rows * w->plan.stride * sizeof(float));
        assert_memory_equal(again->out, w->out, w->plan.out_rows * w->plan.stride * sizeof(float));
        wte_wordvec_free(again);
        in.rows--;
        assert_fails(wte_wordvec_create(corpus, &opt, &again, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                     "words and n-grams to start from is 315 x 18, but training has 316 x 18");
        in.rows++;
        opt.init_from = &in;
        assert_fails(wte_wordvec_create(corpus, &opt, &again, &err), err, WTE_E_ARGUMENT,
                     WTE_NO_INDEX, "two tables to start from");
        wte_file_free(f);
        wte_wordvec_free(w);
    }
}

static void check_old(void)
{
    char got[4] = { 0 };
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, 4, f), 3);
    assert_int_equal(fclose(f), 0);
    assert_string_equal(got, "old");
}

/* Refused ------------------------------------------------------------------------------------- */

/* A corpus of ids with these names, trained on by way of a tree when `tree`. */
static void check_refused(const char *const *names, size_t n, bool tree, wte_status status,
                          uint64_t where, const char *message)
{
    const uint16_t ids[] = { 0, 1, 0, 2, 0, 1 };
    wte_corpus_options how = WTE_CORPUS_OPTIONS_INIT;
    wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
    wte_token_list list;
    wte_corpus *c;
    wte_wordvec *w;
    wte_error err;
    wte__token_list_init(&list, NULL);
    for (size_t i = 0; i < n; i++) {
        const wte__bytes name = { (const uint8_t *)names[i], strlen(names[i]) };
        /* '|' stands for a NUL */
        assert_ok(wte__token_list_add(&list, name, WTE_TAG_NORMAL, &err), err);
        for (uint64_t k = list.end[i] - name.size; k < list.end[i]; k++)
            if (list.text[k] == '|') list.text[k] = '\0';
    }
    test_write_file(text, ids, sizeof ids);
    how.ids_type = WTE_U16;
    how.vocab = &list;
    assert_ok(wte_corpus_open(text, &how, &c, &err), err);
    opt.hierarchical = tree;
    opt.dim = 2;
    assert_ok(wte_wordvec_create(c, &opt, &w, &err), err);
    if (status == WTE_OK) {
        assert_ok(wte_wordvec_save_fasttext(w, NULL, NULL, &err), err);
    } else {
        assert_fails(wte_wordvec_save_fasttext(w, NULL, NULL, &err), err, status, where, message);
        assert_fails(wte_wordvec_save_fasttext(w, path, NULL, &err), err, status, where, message);
    }
    wte_wordvec_free(w);
    wte_corpus_free(c);
    wte__token_list_clear(&list);
}

static void words_that_its_files_cannot_hold_are_refused(void **state)
{
    static const char *const fine[] = { "a", "b", "c" }, *const nul[] = { "a", "b", "c|d" };
    static const char *const lacking[] = { "a", "b", "c", "d" }, *const twice[] = { "a", "b", "a" };
    (void)state;
    test_write_file(path, "old", 3);
    check_refused(fine, 3, false, WTE_OK, 0, "");
    check_refused(fine, 3, true, WTE_OK, 0, "");
    check_refused(nul, 3, false, WTE_E_UNSUPPORTED, 2, "word 2, 'c\\x00d', holds a NUL");
    check_refused(twice, 3, false, WTE_E_UNSUPPORTED, 2, "'a' is word 0 and word 2");
    check_refused(lacking, 4, false, WTE_OK, 0, "");
    check_refused(lacking, 4, true, WTE_E_UNSUPPORTED, 3,
                  "'d' comes 0 times and the word before it 1");
    check_old();
}

static void words_that_come_twice_are_refused(void **state)
{
    wte_corpus_options how = WTE_CORPUS_OPTIONS_INIT;
    wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
    wte_token_list list;
    wte_corpus *c;
    wte_wordvec *w;
    wte_error err;
    (void)state;
    wte__token_list_init(&list, NULL);
    for (size_t i = 0; i < 3; i++)
        assert_ok(wte__token_list_add(&list, (wte__bytes){ (const uint8_t *)"aba" + i, 1 },
                                      WTE_TAG_NORMAL, &err),
                  err);
    test_write_file(text, "a b b a b b", 11);
    how.vocab = &list;
    assert_ok(wte_corpus_open(text, &how, &c, &err), err);
    opt.dim = 2;
    assert_ok(wte_wordvec_create(c, &opt, &w, &err), err);
    assert_fails(wte_wordvec_save_fasttext(w, path, NULL, &err), err, WTE_E_UNSUPPORTED, 2,
                 "'a' is word 0 and word 2");
    wte_wordvec_free(w);
    wte_corpus_free(c);
    how.vocab = NULL;
    assert_ok(wte_corpus_open(text, &how, &c, &err), err);
    opt.hierarchical = 1;
    assert_ok(wte_wordvec_create(c, &opt, &w, &err), err);
    c->counts[0] = 1; /* as of words that are given in another order */
    assert_fails(wte_wordvec_save_fasttext(w, path, NULL, &err), err, WTE_E_UNSUPPORTED, 1,
                 "'a' comes 2 times and the word before it 1, but its tree needs");
    wte_wordvec_free(w);
    wte_corpus_free(c);
    wte__token_list_clear(&list);
}

static void matrices_must_fit(void **state)
{
    static float numbers[8 * 2];
    static uint64_t counts[] = { 5, 3 };
    wte_token_list list;
    wte_error err;
    (void)state;
    wte__token_list_init(&list, NULL);
    for (size_t i = 0; i < 2; i++)
        assert_ok(wte__token_list_add(&list, (wte__bytes){ (const uint8_t *)"ab" + i, 1 },
                                      WTE_TAG_NORMAL, &err),
                  err);
    const wte_row_source rows = {
        .rows = 2, .cols = 2, .dtype = WTE_F32, .data = numbers, .row_bytes = 8
    };
    const wte__fasttext_model fine = {
        .words = &list, .counts = counts, .input = rows, .output = rows
    };
    assert_ok(wte__fasttext_check("m.bin", &fine, &err), err);
#define REFUSED(expected, at, part, ...)                                                           \
    do {                                                                                           \
        wte__fasttext_model m = fine;                                                              \
        (void)(__VA_ARGS__);                                                                       \
        assert_fails(wte__fasttext_check("m.bin", &m, &err), err, expected, at, part);             \
        assert_fails(wte__fasttext_check(path, &m, &err), err, expected, at, part);                \
    } while (0)
    REFUSED(WTE_E_SHAPE, WTE_NO_INDEX, "the input matrix is 1 x 2 f32, but 2 x 2 f32",
            m.input.rows = 1);
    REFUSED(WTE_E_SHAPE, WTE_NO_INDEX, "the output matrix is 2 x 2 i32, but 2 x 2 f32",
            m.output.dtype = WTE_I32);
    REFUSED(WTE_E_SHAPE, WTE_NO_INDEX, "the output matrix is 2 x 2 f32, but 1 x 2 f32",
            m.tree = true);
    REFUSED(WTE_E_SHAPE, WTE_NO_INDEX, "the input matrix is 2 x 2 f32, but 7 x 2 f32", m.max_n = 3,
            m.buckets = 5);
    REFUSED(WTE_E_ARGUMENT, WTE_NO_INDEX, "n-grams of 3 characters in 0 buckets", m.max_n = 3);
    REFUSED(WTE_E_ARGUMENT, WTE_NO_INDEX, "n-grams of 65 characters in 5 buckets", m.max_n = 65,
            m.buckets = 5);
    REFUSED(WTE_E_LIMIT, WTE_NO_INDEX, "2 words and 2147483646 buckets, but rows are numbered",
            m.max_n = 3, m.buckets = INT32_MAX - 1);
    counts[1] = (uint64_t)1 << 63;
    REFUSED(WTE_E_LIMIT, 1, "word 1 comes 9223372036854775808 times", m.tokens = 1);
#undef REFUSED
    wte__token_list_clear(&list);
}

/* Failing ------------------------------------------------------------------------------------- */

typedef struct watcher {
    wte_progress progress;
    uint64_t calls, stop_at, last, total;
} watcher;
static bool watch(void *ctx, uint64_t done, uint64_t total)
{
    watcher *w = ctx;
    assert_true(done > w->last && done <= total);
    w->last = done;
    w->total = total;
    return ++w->calls != w->stop_at;
}

static void progress_is_told_in_bytes_and_may_end_it(void **state)
{
    wte_wordvec_options opt = way_options(GRAMS);
    wte_error err;
    (void)state;
    opt.dim = 1000;
    opt.buckets = 9000; /* of more than two pieces */
    opt.epochs = 1;
    wte_wordvec *w = train(corpus, &opt);
    watcher all = { .progress = { watch, &all } };
    assert_ok(wte_wordvec_save_fasttext(w, path, &all.progress, &err), err);
    assert_true(all.calls == 4); /* three pieces, and the other table */
    assert_int_equal(all.last, all.total);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    assert_int_equal((uint64_t)ftell(f), all.total);
    assert_int_equal(fclose(f), 0);
    test_write_file(path, "old", 3);
    for (uint64_t stop = 1; stop <= 4; stop++) {
        watcher see = { .progress = { watch, &see }, .stop_at = stop };
        assert_int_equal(wte_wordvec_save_fasttext(w, path, &see.progress, &err), WTE_E_CANCELLED);
        assert_int_equal(err.where, see.last);
        assert_non_null(strstr(err.message, "writing was stopped at byte"));
        check_old();
    }
    wte_wordvec_free(w);
}

/* A disk that is full after some bytes: what a limit on the size of files looks like to write(2).
 */
static void a_full_disk_leaves_the_old_file(void **state)
{
    static const rlim_t sizes[] = { 0, 90, 400, 2000, 20000, 24000 };
    const wte_wordvec_options opt = way_options(GRAMS);
    struct rlimit before;
    wte_error err;
    (void)state;
    wte_wordvec *w = train(corpus, &opt);
    test_write_file(path, "old", 3);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct rlimit small = { sizes[i], before.rlim_max };
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const wte_status status = wte_wordvec_save_fasttext(w, path, NULL, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_fails(status, err, WTE_E_IO, err.where, "cannot write");
        check_old();
    }
    signal(SIGXFSZ, handler);
    assert_fails(wte_wordvec_save_fasttext(w, "none/m.bin", NULL, &err), err, WTE_E_IO,
                 WTE_NO_INDEX, "none/m.bin");
    wte_wordvec_free(w);
}

static void other_files_have_no_ngrams(void **state)
{
    wte_fasttext_info info;
    wte_error err;
    wte_file *f;
    float out[3];
    (void)state;
    test_write_file(text, "2 1\na 1\nb 2\n", 12);
    assert_ok(wte_file_open(text, NULL, &f, &err), err);
    assert_fails(wte_file_fasttext(f, &info, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "is word2vec text, which holds no n-grams");
    assert_fails(wte_fasttext_oov_vector(f, "x", 1, out, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "is word2vec text, which holds no n-grams");
    assert_fails(wte_file_fasttext(NULL, &info, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "f");
    assert_fails(wte_fasttext_oov_vector(f, "x", 1, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "out");
    wte_file_free(f);
    assert_fails(wte_wordvec_save_fasttext(NULL, path, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "w");
}

static int make_corpus(void **state)
{
    wte_error err;
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_scratch());
    snprintf(text, sizeof text, "%s/lines", folder);
    snprintf(path, sizeof path, "%s/m.bin", folder);
    test_write_file(text, lines, sizeof lines - 1);
    const bool good = wte_corpus_open(text, NULL, &corpus, &err) == WTE_OK;
    snprintf(text, sizeof text, "%s/text", folder);
    return good ? 0 : -1;
}
static int remove_corpus(void **state)
{
    (void)state;
    wte_corpus_free(corpus);
    test_scratch_remove(folder);
    return 0;
}

static const struct CMUnitTest tests[] = {
    TEST("what is written has the same vectors", what_is_written_has_the_same_vectors),
    TEST("a file says how it was made", a_file_says_how_it_was_made),
    TEST("training goes on with n-grams", training_goes_on_with_ngrams),
    TEST("words that its files cannot hold are refused",
         words_that_its_files_cannot_hold_are_refused),
    TEST("words that come twice are refused", words_that_come_twice_are_refused),
    TEST("matrices must fit", matrices_must_fit),
    TEST("progress is told in bytes and may end it", progress_is_told_in_bytes_and_may_end_it),
    TEST("a full disk leaves the old file", a_full_disk_leaves_the_old_file),
    TEST("other files have no n-grams", other_files_have_no_ngrams),
};

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, make_corpus, remove_corpus);
}
