/* Word vectors: that they are learned, that runs repeat, go on and end as promised, and what is
 * refused. */
#include <wte/model.h>

#include "train/checkpoint.h"
#include "train/corpus.h"
#include "wordvec_help.h"

static char folder[64], text[80], checkpoint[80];
static wte_corpus *topics; /* 3 topics, 25 words */

static wte_wordvec_options small_options(void)
{
    wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
    opt.dim = 20;
    opt.sample = -1;
    opt.epochs = 4;
    opt.deterministic = 1;
    opt.buckets = 500;
    return opt;
}

/* X(name, field = value, ...): every way of learning. */
#define WAYS(X)                                                                                    \
    X(skip_gram, opt.method = WTE_WORDVEC_SKIP_GRAM)                                               \
    X(cbow, opt.method = WTE_WORDVEC_CBOW)                                                         \
    X(skip_gram_tree, opt.hierarchical = 1)                                                        \
    X(cbow_tree, opt.hierarchical = 1, opt.method = WTE_WORDVEC_CBOW)                              \
    X(skip_gram_ngrams, opt.max_n = 4)                                                             \
    X(cbow_ngrams, opt.max_n = 4, opt.method = WTE_WORDVEC_CBOW)                                   \
    X(wide, opt.window = 20, opt.negative = 20)                                                    \
    X(narrow, opt.window = 1, opt.negative = 1)                                                    \
    X(sampled, opt.sample = 0.02)
static wte_wordvec_options way_options(size_t i)
{
    wte_wordvec_options opt = small_options();
    size_t n = 0;
#define X(name, ...)                                                                               \
    if (i == n++) (void)(__VA_ARGS__);
    WAYS(X)
#undef X
    return opt;
}
#define X(name, ...) +1
enum { N_WAYS = 0 WAYS(X) };
#undef X

static void words_of_a_topic_become_near(void **state)
{
    wte_error err;
    (void)state;
    for (size_t i = 0; i < N_WAYS; i++) {
        wte_wordvec_options opt = way_options(i);
        wte_wordvec *w;
        wte_wordvec_info info;
        opt.epochs = 30;
        assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
        const double before = topics_apart(topics, w);
        assert_ok(wte_wordvec_train(w, NULL, &err), err);
        const double after = topics_apart(topics, w);
        if (before > 0.5 || after < 0.5) fail_msg("way %zu: from %.3f to %.3f", i, before, after);
        wte_wordvec_get(w, &info);
        assert_int_equal(info.stop_reason, WTE_WORDVEC_ALL);
        assert_int_equal(info.done, info.total);
        assert_true(info.loss > 0 && info.loss < 4 * 65);
        wte_wordvec_free(w);
    }
}

static void deterministic_runs_do_not_depend_on_threads(void **state)
{
    static const uint32_t threads[] = { 1, 2, 5 };
    wte_error err;
    (void)state;
    for (size_t i = 0; i < N_WAYS; i++) {
        uint64_t hash[3];
        for (size_t t = 0; t < 3; t++) {
            wte_wordvec_options opt = way_options(i);
            assert_ok(wte_pool_create(threads[t], &opt.pool, &err), err);
            hash[t] = run_hash(topics, &opt);
            wte_pool_free(opt.pool);
        }
        assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
        wte_wordvec_options opt = way_options(i);
        opt.deterministic = 0; /* without a pool there is one thread too */
        assert_true(run_hash(topics, &opt) == hash[0]);
        opt.seed = 1;
        assert_true(run_hash(topics, &opt) != hash[0]);
    }
}

static void threads_learn_together(void **state)
{
    wte_error err;
    (void)state;
    for (size_t i = 0; i < N_WAYS; i++) {
        wte_wordvec_options opt = way_options(i);
        wte_wordvec *w;
        wte_wordvec_info info;
        opt.epochs = 30;
        opt.deterministic = 0;
        assert_ok(wte_pool_create(4, &opt.pool, &err), err);
        assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
        assert_ok(wte_wordvec_train(w, NULL, &err), err);
        assert_true(topics_apart(topics, w) > 0.5);
        wte_wordvec_get(w, &info);
        assert_int_equal(info.done, info.total);
        wte_wordvec_free(w);
        wte_pool_free(opt.pool);
    }
}

/* Says when to stop. */
typedef struct stopper {
    uint64_t calls, stop_at;
    wte_train_status last;
} stopper;
static bool stop_in_time(void *ctx, const wte_train_status *now)
{
    stopper *s = ctx;
    assert_true(now->done <= now->total && now->lr >= 0);
    s->last = *now;
    return ++s->calls < s->stop_at;
}

/* A run that is given up again and again, each time behind the last checkpoint, ends as one that
 * was not. */
static void a_broken_run_ends_with_the_same_bytes(void **state)
{
    wte_error err;
    (void)state;
    for (size_t i = 0; i < N_WAYS; i++) {
        wte_wordvec_options opt = way_options(i);
        opt.epochs = 10;
        const uint64_t expected = run_hash(topics, &opt);
        opt.checkpoint = checkpoint;
        opt.checkpoint_words = 8192;
        for (uint64_t words = 8192; words < 10 * 6500; words += 20000) {
            wte_wordvec *w;
            assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
            /* blocks beyond the checkpoint are lost, as by kill -9 */
            for (uint64_t done = w->worker[0].place.words; done < words;
                 done = w->worker[0].place.words) {
                assert_ok(wte__wordvec_run(w, &w->worker[0], 0, 8192, &err), err);
                if (w->worker[0].place.words < words)
                    assert_ok(wte__wordvec_checkpoint(w, &err), err);
            }
            wte_wordvec_free(w);
            opt.resume = words > 8192;
        }
        opt.resume = 1;
        assert_true(run_hash(topics, &opt) == expected);
        assert_int_equal(remove(checkpoint), 0);
    }
}

/* How often a run reports, or is stopped and goes on, depends on the clock; its loss must not. */
static void the_loss_at_the_end_does_not_depend_on_reports(void **state)
{
    wte_error err;
    (void)state;
    for (size_t i = 0; i < N_WAYS; i++) {
        wte_wordvec_options opt = way_options(i);
        wte_wordvec *w;
        wte_wordvec_info whole, cut;
        opt.epochs = 5;
        assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
        assert_ok(wte_wordvec_train(w, NULL, &err), err);
        wte_wordvec_get(w, &whole);
        wte_wordvec_free(w);
        assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
        while (!wte__wordvec_is_done(w, &w->worker[0]))
            assert_ok(wte__wordvec_run(w, &w->worker[0], 0, 700, &err), err);
        wte_wordvec_get(w, &cut);
        assert_true(cut.loss == whole.loss);
        /* one example in 64 is looked at, and the last epoch is one of five */
        const wte__wordvec_position *place = &w->worker[0].place;
        assert_true(place->running.examples == 0 && place->finished.examples > 0);
        assert_true(whole.loss == place->finished.sum / (double)place->finished.examples);
        wte_wordvec_free(w);
    }
}

static void a_run_ends_when_it_is_to(void **state)
{
    wte_wordvec_options opt = small_options();
    wte_wordvec *w;
    wte_wordvec_info info;
    wte_error err;
    (void)state;
    opt.epochs = 2000;
    stopper s = { 0, 2, { 0 } };
    const wte_train_callback watch = { stop_in_time, &s };
    assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
    assert_ok(wte_wordvec_train(w, &watch, &err), err);
    wte_wordvec_get(w, &info);
    assert_int_equal(info.stop_reason, WTE_WORDVEC_STOPPED);
    assert_true(info.done > 0 && info.done < info.total);
    assert_true(s.last.done == info.done && s.last.words_per_second > 0);
    wte_wordvec_free(w);
    opt.seconds = 0.01;
    assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
    assert_ok(wte_wordvec_train(w, NULL, &err), err);
    wte_wordvec_get(w, &info);
    assert_int_equal(info.stop_reason, WTE_WORDVEC_TIME);
    assert_true(info.done < info.total);
    wte_wordvec_free(w);
}

static void divergence_is_noticed(void **state)
{
    wte_error err;
    (void)state;
    for (size_t i = 0; i < N_WAYS; i++) {
        wte_wordvec_options opt = way_options(i);
        wte_wordvec *w;
        opt.lr = 1000;
        assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
        const wte_status status = wte_wordvec_train(w, NULL, &err);
        if (status != WTE_E_RANGE || !strstr(err.message, "training diverges"))
            fail_msg("way %zu: %d", i, (int)status);
        assert_non_null(strstr(err.message, "the learning rate was 1000"));
        wte_wordvec_free(w);
    }
}

static void a_checkpoint_outlives_divergence(void **state)
{
    wte_wordvec_options opt = small_options();
    wte_wordvec *w;
    wte_error err;
    (void)state;
    opt.checkpoint = checkpoint;
    opt.checkpoint_words = 8192;
    assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
    assert_ok(wte__wordvec_checkpoint(w, &err), err);
    for (uint64_t i = 0; i < w->plan.rows * w->plan.stride; i++) w->in[i] = NAN;
    assert_fails(wte_wordvec_train(w, NULL, &err), err, WTE_E_RANGE, err.where, "is no number");
    wte_wordvec_free(w);
    opt.resume = 1;
    assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
    assert_int_equal(w->worker[0].place.words, 0);
    assert_true(w->in[0] < 1);
    wte_wordvec_free(w);
    assert_int_equal(remove(checkpoint), 0);
}

static void a_checkpoint_of_another_run_is_refused(void **state)
{
    wte_wordvec_options opt = small_options();
    wte_wordvec *w;
    wte_error err;
    (void)state;
    opt.checkpoint = checkpoint;
    opt.resume = 1;
    assert_fails(wte_wordvec_create(topics, &opt, &w, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "there is no checkpoint");
    opt.resume = 0;
    assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
    assert_ok(wte__wordvec_checkpoint(w, &err), err);
    wte_wordvec_free(w);
    opt.resume = 1;
    opt.dim = 24;
    assert_fails(wte_wordvec_create(topics, &opt, &w, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "was made with \"dim\": 20");
    opt.dim = 20;
    opt.lr = 0.5;
    assert_fails(wte_wordvec_create(topics, &opt, &w, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "\"lr\"");
    test_write_file(checkpoint, "nothing", 7);
    opt.lr = 0;
    assert_fails(wte_wordvec_create(topics, &opt, &w, &err), err, WTE_E_FORMAT, err.where,
                 "checkpoint");
    assert_null(w);
    assert_int_equal(remove(checkpoint), 0);
    opt.checkpoint = "none/checkpoint";
    opt.resume = 0;
    opt.checkpoint_words = 1;
    assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
    assert_fails(wte_wordvec_train(w, NULL, &err), err, WTE_E_IO, WTE_NO_INDEX, "none/checkpoint");
    wte_wordvec_free(w);
}

static void training_starts_from_a_table(void **state)
{
    wte_error err;
    (void)state;
    for (size_t i = 0; i < N_WAYS; i++) {
        wte_wordvec_options opt = way_options(i);
        wte_wordvec *w, *again;
        wte_row_source rows, out;
        assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
        assert_ok(wte_wordvec_train(w, NULL, &err), err);
        wte_wordvec_vectors(w, &rows);
        wte_wordvec_output_vectors(w, &out);
        opt.init_from = &rows;
        opt.init_output_from = &out;
        assert_ok(wte_wordvec_create(topics, &opt, &again, &err), err);
        float *a = vectors_of(w), *b = vectors_of(again);
        for (size_t k = 0; k < rows.rows * rows.cols; k++)
            assert_true(fabs((double)a[k] - (double)b[k]) < 1e-6);
        assert_memory_equal(w->out, again->out, out.rows * w->plan.stride * sizeof(float));
        free(a);
        free(b);
        wte_wordvec_free(again);
        rows.rows--;
        rows.cols--;
        assert_fails(wte_wordvec_create(topics, &opt, &again, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                     "the table to start from is 24 x 19, but training has 25 x 20");
        wte_wordvec_free(w);
    }
}

static void what_is_saved_is_a_model(void **state)
{
    wte_wordvec_options opt = small_options();
    wte_wordvec *w;
    wte_model *m;
    const wte_model_table *input;
    wte_error err;
    (void)state;
    opt.max_n = 3;
    assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
    assert_ok(wte_wordvec_train(w, NULL, &err), err);
    assert_ok(wte_wordvec_save(w, folder, &err), err);
    assert_ok(wte_model_open(folder, NULL, &m, &err), err);
    assert_ok(wte_model_input(m, &input, &err), err);
    assert_string_equal(input->name, "embedding.weight");
    assert_int_equal(input->rows, 25);
    assert_int_equal(input->dim, 20);
    float row[20], *all = vectors_of(w);
    for (uint64_t r = 0; r < 25; r++) {
        assert_ok(wte_row_source_read(&input->source, r, row, &err), err);
        assert_memory_equal(row, all + r * 20, sizeof row);
    }
    const wte_model_table *head = wte_model_head(m);
    assert_non_null(head);
    assert_string_equal(head->name, "lm_head.weight");
    assert_false(wte_model_config_of(m)->tied);
    free(all);
    wte_model_free(m);
    wte_wordvec_free(w);
    opt.hierarchical = 1;
    opt.max_n = 0;
    assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
    assert_ok(wte_wordvec_save(w, folder, &err), err);
    assert_ok(wte_model_open(folder, NULL, &m, &err), err);
    assert_null(wte_model_head(m)); /* inner nodes of a tree are no words */
    wte_model_free(m);
    assert_fails(wte_wordvec_save(w, "none", &err), err, WTE_E_IO, WTE_NO_INDEX, "none");
    wte_wordvec_free(w);
}

static void bad_options_are_told(void **state)
{
    wte_error err;
    wte_wordvec_info info;
    (void)state;
#define REFUSED(part, ...) REFUSED_AS(WTE_E_ARGUMENT, part, __VA_ARGS__)
#define BEYOND(part, ...)  REFUSED_AS(WTE_E_LIMIT, part, __VA_ARGS__)
#define REFUSED_AS(status, part, ...)                                                              \
    do {                                                                                           \
        wte_wordvec_options opt = small_options();                                                 \
        (void)(__VA_ARGS__);                                                                       \
        assert_fails(wte_wordvec_plan(topics, &opt, &info, &err), err, status, WTE_NO_INDEX,       \
                     part);                                                                        \
    } while (0)
    REFUSED("no method 7", opt.method = (wte_wordvec_method)7);
    BEYOND("the dimension is 65537", opt.dim = 65537);
    BEYOND("the window is 65", opt.window = 65);
    BEYOND("negative samples is 65", opt.negative = 65);
    BEYOND("the length of n-grams is 65", opt.max_n = 65);
    REFUSED("the least length of n-grams is 4, but at most 3", opt.max_n = 3, opt.min_n = 4);
    BEYOND("buckets is 2147483648", opt.max_n = 3, opt.buckets = 2147483648u);
    REFUSED("a learning rate of -1", opt.lr = -1);
    REFUSED("a learning rate of nan", opt.lr = NAN);
    REFUSED("a sample of inf", opt.sample = INFINITY);
    REFUSED("a power of 2", opt.power = 2);
    REFUSED("a time below 0", opt.seconds = -1);
    REFUSED("no checkpoint is named", opt.resume = 1);
#undef REFUSED_AS
#undef REFUSED
#undef BEYOND
    wte_wordvec_options opt = small_options();
    opt.max_bytes = 1000;
    assert_fails(wte_wordvec_plan(topics, &opt, &info, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "but at most 1000 are allowed");
    assert_fails(wte_wordvec_plan(NULL, &opt, &info, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "NULL");
}

static void corpora_that_teach_nothing_are_refused(void **state)
{
    wte_wordvec_options opt = small_options();
    wte_corpus_options how = WTE_CORPUS_OPTIONS_INIT;
    wte_wordvec_info info;
    wte_corpus *c;
    wte_error err;
    char path[80];
    (void)state;
    snprintf(path, sizeof path, "%s/one", folder);
    test_write_file(path, "word word word", 14);
    assert_ok(wte_corpus_open(path, NULL, &c, &err), err);
    assert_fails(wte_wordvec_plan(c, &opt, &info, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "'word' is its only known word");
    wte_corpus_free(c);
    snprintf(path, sizeof path, "%s/one a line", folder);
    test_write_file(path, "word\n\nword\n", 11); /* ends of lines are no words to be told from */
    assert_ok(wte_corpus_open(path, NULL, &c, &err), err);
    assert_fails(wte_wordvec_plan(c, &opt, &info, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "'word' is its only known word");
    wte_corpus_free(c);
    const uint16_t ids[] = { 3, 3, 3, 1 };
    test_write_file(path, ids, sizeof ids);
    how.ids_type = WTE_U16;
    assert_ok(wte_corpus_open(path, &how, &c, &err), err);
    assert_ok(wte_wordvec_plan(c, &opt, &info, &err), err);
    opt.max_n = 3;
    assert_fails(wte_wordvec_plan(c, &opt, &info, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "no characters to make n-grams of");
    wte_corpus_free(c);
}

/* The memory that was told beforehand is enough, and not much more than what is taken. */
static void the_plan_knows_the_memory(void **state)
{
    wte_error err;
    (void)state;
    for (size_t i = 0; i < N_WAYS; i++) {
        wte_wordvec_options opt = way_options(i);
        test_memory memory;
        wte_wordvec_info info;
        wte_wordvec *w;
        test_memory_init(&memory, SIZE_MAX);
        opt.allocator = &memory.allocator;
        opt.buckets = 30000;
        assert_ok(wte_wordvec_plan(topics, &opt, &info, &err), err);
        assert_int_equal(memory.calls, 0);
        assert_ok(wte_wordvec_create(topics, &opt, &w, &err), err);
        assert_ok(wte_wordvec_train(w, NULL, &err), err);
        /* the corpus has an allocator of its own, for readers */
        const uint64_t told = info.bytes - WTE__SCAN_BYTES;
        if (memory.peak_bytes > told || memory.peak_bytes < told - told / 8)
            fail_msg("way %zu: %zu taken, %llu told", i, memory.peak_bytes,
                     (unsigned long long)told);
        wte_wordvec_free(w);
        assert_int_equal(memory.live, 0);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 2; i < 6; i++) {
        wte_status status;
        size_t fail_at = 0;
        do {
            wte_wordvec_options opt = way_options(i);
            test_memory memory;
            wte_wordvec *w;
            wte_error err;
            test_memory_init(&memory, fail_at++);
            opt.allocator = &memory.allocator;
            opt.checkpoint = checkpoint;
            opt.epochs = 1;
            status = wte_wordvec_create(topics, &opt, &w, &err);
            if (status == WTE_OK) status = wte_wordvec_train(w, NULL, &err);
            if (status == WTE_OK) status = wte_wordvec_save(w, folder, &err);
            if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
            wte_wordvec_free(w);
            assert_int_equal(memory.live, 0);
        } while (status != WTE_OK);
        assert_true(fail_at > 10);
    }
}

static int make_topics(void **state)
{
    wte_error err;
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_scratch());
    snprintf(text, sizeof text, "%s/text", folder);
    snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint", folder);
    write_topics(text, 3, 500, 7);
    return wte_corpus_open(text, NULL, &topics, &err) == WTE_OK ? 0 : -1;
}
static int remove_topics(void **state)
{
    (void)state;
    wte_corpus_free(topics);
    test_scratch_remove(folder);
    return 0;
}

static const struct CMUnitTest tests[] = {
    TEST("words of a topic become near", words_of_a_topic_become_near),
    TEST("deterministic runs do not depend on threads",
         deterministic_runs_do_not_depend_on_threads),
    TEST("threads learn together", threads_learn_together),
    TEST("a broken run ends with the same bytes", a_broken_run_ends_with_the_same_bytes),
    TEST("the loss at the end does not depend on reports",
         the_loss_at_the_end_does_not_depend_on_reports),
    TEST("a run ends when it is to", a_run_ends_when_it_is_to),
    TEST("divergence is noticed", divergence_is_noticed),
    TEST("a checkpoint outlives divergence", a_checkpoint_outlives_divergence),
    TEST("a checkpoint of another run is refused", a_checkpoint_of_another_run_is_refused),
    TEST("training starts from a table", training_starts_from_a_table),
    TEST("what is saved is a model", what_is_saved_is_a_model),
    TEST("bad options are told", bad_options_are_told),
    TEST("corpora that teach nothing are refused", corpora_that_teach_nothing_are_refused),
    TEST("the plan knows the memory", the_plan_knows_the_memory),
    TEST("every allocation may fail", every_allocation_may_fail),
};

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, make_topics, remove_topics);
}
