/* How a language model is trained: the same bytes for any number of threads and any number of
 * kills, checkpoints that do not fit, when it ends, and what is refused. */
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "lm_help.h"

/* The four heads, with optimizers, schedules and what else a checkpoint must carry. */
static wte_lm_options variant(unsigned i)
{
    static const wte_optim_kind kinds[] = { WTE_OPTIM_ADAM, WTE_OPTIM_ADAGRAD, WTE_OPTIM_SGD,
                                            WTE_OPTIM_ADAMW, WTE_OPTIM_ROWWISE_ADAGRAD };
    wte_lm_options o = lm_options();
    o.tied = i & 1;
    o.projected = i >> 1 & 1;
    o.optim = kinds[i % 5];
    o.schedule = (wte_lm_schedule)(i % 3);
    o.warmup = i % 2 * 10;
    o.hidden = i % 4 == 3 ? 5 : 0;
    o.hold_out = i % 3 ? 8 : 0;
    o.valid_every = 20;
    if (o.optim == WTE_OPTIM_SGD) o.momentum = 0.9;
    if (o.optim == WTE_OPTIM_ADAMW) o.weight_decay = 0.01;
    return o;
}
#define VARIANTS 6u

static void threads_change_nothing(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_error err;
    for (unsigned i = 0; i < VARIANTS; i++) {
        wte_lm_options o = variant(i);
        wte_lm *one = lm_make(c, &o);
        lm_train(one);
        for (uint32_t threads = 2; threads < 4; threads++) {
            assert_ok(wte_pool_create(threads, &o.pool, &err), err);
            wte_lm *more = lm_make(c, &o);
            lm_train(more);
            lm_assert_same(one, more);
            wte_lm_free(more);
            wte_pool_free(o.pool);
        }
        wte_lm_free(one);
    }
    wte_corpus_free(c);
}

/* Checkpoints ------------------------------------------------------------------------------------
 */

static void copy(const char *from, const char *to)
{
    char command[400];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

/* What a kill after steps 20, 44 and 81 leaves is set aside. */
#define KILLS 3
static const uint64_t kills[KILLS] = { 20, 44, 81 };
static const char *const kept[KILLS] = { "kept-0", "kept-1", "kept-2" };
static bool set_aside(void *ctx, const wte_train_status *now)
{
    (void)ctx;
    for (int i = 0; i < KILLS; i++)
        if (now->step == kills[i]) copy(lm_path("checkpoint"), lm_path(kept[i]));
    return true;
}

static void check_killed(const wte_corpus *c, unsigned i)
{
    const wte_train_callback watch = { set_aside, NULL };
    wte_error err;
    wte_lm_info first, second;
    wte_lm_options o = variant(i);
    o.checkpoint = lm_path("checkpoint");
    o.checkpoint_every = 8 + i;
    o.log_every = 1;
    wte_lm *unbroken = lm_make(c, &o);
    assert_ok(wte_lm_train(unbroken, &watch, &err), err);
    wte_lm_get(unbroken, &first);
    o.resume = 1;
    for (int k = 0; k < KILLS; k++) {
        o.checkpoint = lm_path("checkpoint");
        copy(lm_path(kept[k]), o.checkpoint);
        wte_lm *resumed = lm_make(c, &o);
        wte_lm_get(resumed, &second);
        assert_in_range(second.step, kills[k] - o.checkpoint_every, kills[k]);
        lm_train(resumed);
        lm_assert_same(unbroken, resumed);
        wte_lm_get(resumed, &second);
        assert_int_equal(first.best_step, second.best_step);
        assert_true(first.best_step == 0 || first.best_loss == second.best_loss);
        wte_lm_free(resumed);
    }
    wte_lm_free(unbroken);
}

static void a_killed_run_ends_with_the_same_bytes(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    for (unsigned i = 0; i < VARIANTS; i++) check_killed(c, i);
    wte_corpus_free(c);
}

static bool stop(void *ctx, const wte_train_status *now)
{
    const uint64_t *at = ctx;
    return now->step < *at;
}

static void a_stopped_run_goes_on_where_it_was(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_error err;
    uint64_t at = 23;
    const wte_train_callback watch = { stop, &at };
    wte_lm_info info;
    wte_lm_options o = variant(1);
    o.hold_out = 0;
    wte_lm *whole = lm_make(c, &o);
    lm_train(whole);
    o.checkpoint = lm_path("checkpoint");
    o.log_every = 1;
    wte_lm *lm = lm_make(c, &o);
    assert_ok(wte_lm_train(lm, &watch, &err), err);
    wte_lm_get(lm, &info);
    assert_int_equal(info.stop_reason, WTE_LM_STOPPED);
    assert_int_equal(info.step, 23);
    o.resume = 1;
    wte_lm *resumed = lm_make(c, &o);
    lm_train(resumed); /* from the file */
    lm_assert_same(whole, resumed);
    lm_train(lm); /* and in memory */
    lm_assert_same(whole, lm);
    wte_lm_get(lm, &info);
    assert_int_equal(info.stop_reason, WTE_LM_ALL_STEPS);
    wte_lm_free(resumed);
    wte_lm_free(lm);
    wte_lm_free(whole);
    wte_corpus_free(c);
}

static void another_run_s_checkpoint_is_named(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1), *other = lm_corpus("other", 1);
    wte_error err;
    wte_lm *lm;
    wte_lm_options o = variant(1);
    o.checkpoint = lm_path("checkpoint");
    lm = lm_make(c, &o);
    lm_train(lm);
    wte_lm_free(lm);
    o.resume = 1;
    wte_lm_options changed = o;
    changed.dim = 4;
    assert_fails(wte_lm_create(c, NULL, &changed, &lm, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "the checkpoint was made with \"dim\": 3, but this run has \"dim\": 4");
    assert_null(lm);
    changed = o;
    changed.tied = 0;
    assert_fails(wte_lm_create(c, NULL, &changed, &lm, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "the checkpoint was made with \"tied\": 1, but this run has \"tied\": 0");
    changed = o;
    changed.lr = 0.25;
    assert_fails(wte_lm_create(c, NULL, &changed, &lm, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "this run has \"lr\": 0.25");
    assert_fails(wte_lm_create(other, NULL, &o, &lm, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "the checkpoint was made with \"corpus\": [");
    changed = o;
    changed.checkpoint = lm_path("none");
    assert_fails(wte_lm_create(c, NULL, &changed, &lm, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "none: there is no checkpoint");
    changed.checkpoint = NULL;
    assert_fails(wte_lm_create(c, NULL, &changed, &lm, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "no checkpoint is named to resume");
    wte_corpus_free(other);
    wte_corpus_free(c);
}

static void a_full_disk_keeps_the_checkpoint_before(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_error err;
    struct rlimit before, small;
    uint64_t at = 30;
    const wte_train_callback watch = { stop, &at };
    wte_lm_options o = variant(1);
    o.checkpoint = lm_path("checkpoint");
    o.log_every = 1;
    wte_lm *whole = lm_make(c, &o);
    lm_train(whole);
    wte_lm *lm = lm_make(c, &o);
    assert_ok(wte_lm_train(lm, &watch, &err), err);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const wte_status status = wte_lm_train(lm, NULL, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    wte_lm_free(lm);
    assert_int_equal(status, WTE_E_IO);
    assert_non_null(strstr(err.message, "checkpoint"));
    o.resume = 1;
    lm = lm_make(c, &o);
    wte_lm_info info;
    wte_lm_get(lm, &info);
    assert_int_equal(info.step, 30);
    lm_train(lm);
    lm_assert_same(whole, lm);
    wte_lm_free(lm);
    wte_lm_free(whole);
    wte_corpus_free(c);
}

/* Ends -------------------------------------------------------------------------------------------
 */

static void the_best_weights_are_kept_when_patience_ends(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_lm_options o = lm_options();
    wte_lm_info info;
    wte_error err;
    double loss;
    o.checkpoint = lm_path("checkpoint");
    o.hold_out = 5;
    o.dim = 24; /* more than 320 words can teach: it learns them by heart */
    o.epochs = 100;
    o.patience = 3;
    wte_lm *lm = lm_make(c, &o);
    lm_train(lm);
    wte_lm_get(lm, &info);
    assert_int_equal(info.stop_reason, WTE_LM_PATIENCE);
    assert_int_equal(info.step, info.best_step + 3 * 40);
    assert_true(info.valid_loss > info.best_loss);
    assert_ok(wte_lm_loss(lm, c, 4, 5, &loss, NULL, &err), err);
    assert_true(loss == info.best_loss);
    wte_lm_free(lm);
    /* a run that is over stays so */
    o.resume = 1;
    lm = lm_make(c, &o);
    lm_train(lm);
    assert_ok(wte_lm_loss(lm, c, 4, 5, &loss, NULL, &err), err);
    assert_true(loss == info.best_loss);
    wte_lm_free(lm);
    wte_corpus_free(c);
}

static void time_ends_a_run_that_can_go_on(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_lm_options o = lm_options();
    wte_lm_info info;
    o.checkpoint = lm_path("checkpoint");
    wte_lm *whole = lm_make(c, &o);
    lm_train(whole);
    o.seconds = 1e-9;
    wte_lm *lm = lm_make(c, &o);
    lm_train(lm);
    wte_lm_get(lm, &info);
    assert_int_equal(info.stop_reason, WTE_LM_TIME);
    assert_int_equal(info.step, 0);
    wte_lm_free(lm);
    o.seconds = 0;
    o.resume = 1;
    lm = lm_make(c, &o);
    lm_train(lm);
    lm_assert_same(whole, lm);
    wte_lm_free(lm);
    wte_lm_free(whole);
    wte_corpus_free(c);
}

static void diverges(const wte_corpus *c, const wte_lm_options *o, const char *part)
{
    wte_error err;
    wte_lm *lm = lm_make(c, o);
    const wte_status status = wte_lm_train(lm, NULL, &err);
    if (status != WTE_E_RANGE || !strstr(err.message, part))
        fail_msg("%s: not '%s'", status == WTE_OK ? "went well" : err.message, part);
    wte_lm_free(lm);
}

static void a_rate_that_is_too_large_is_noticed(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("long", 1), *few = lm_corpus("text", 1);
    wte_lm_options o = lm_options();
    o.optim = WTE_OPTIM_SGD;
    o.checkpoint = lm_path("checkpoint");
    o.checkpoint_every = 4;
    o.lr = 12; /* by the mean of 64 steps */
    diverges(c, &o, "training diverges at step 64: the loss of a word is ");
    diverges(c, &o,
             "(that of a guess is 2.4); the rate 12 is too large; the last checkpoint stands "
             "as it was");
    o.checkpoint = NULL;
    o.epochs = 1; /* 50 steps: by the mean of all of them */
    diverges(few, &o, "training diverges at step 50: the loss of a word is ");
    o.lr = 1e5; /* by that of one */
    diverges(c, &o, "the rate 100000 is too large");
    o.lr = 1e30; /* numbers leave the range */
    diverges(c, &o, "training diverges at step ");
    wte_corpus_free(few);
    wte_corpus_free(c);
}

typedef struct rates {
    double lr[200];
    uint64_t n;
} rates;
static bool note_rate(void *ctx, const wte_train_status *now)
{
    rates *r = ctx;
    r->lr[r->n++] = now->lr;
    return now->done <= now->total;
}

static void the_rate_follows_its_schedule(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_lm_options o = lm_options();
    wte_error err;
    o.lr = 0.5;
    o.warmup = 20;
    o.log_every = 1;
    for (int s = 0; s < 3; s++) {
        rates r = { { 0 }, 0 };
        const wte_train_callback watch = { note_rate, &r };
        o.schedule = (wte_lm_schedule)s;
        wte_lm *lm = lm_make(c, &o);
        assert_ok(wte_lm_train(lm, &watch, &err), err);
        wte_lm_free(lm);
        assert_int_equal(r.n, 100);
        assert_true(r.lr[0] == 0.5 / 20 && r.lr[9] == 0.25 && r.lr[19] == 0.5 && r.lr[20] == 0.5);
        const double half[] = { 0.5, 0.25, 0.25 };
        const double last[] = { 0.5, 0.5 / 80, 0.25 * (1 + cos(acos(-1.0) * 79 / 80)) };
        assert_true(fabs(r.lr[60] - half[s]) < 1e-12);
        assert_true(fabs(r.lr[99] - last[s]) < 1e-12);
    }
    wte_corpus_free(c);
}

/* First values and frozen rows -------------------------------------------------------------------
 */

static void rows_that_are_not_trainable_keep_their_bytes(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    const uint8_t mask[2] = { 0x0f, 0 }; /* rows 0 to 3 learn */
    float before[33];
    wte_row_source rows;
    uint8_t changed[2];
    wte_error err;
    for (uint32_t tied = 0; tied < 2; tied++) {
        wte_lm_options o = lm_options();
        o.tied = tied;
        o.trainable = mask;
        o.optim = WTE_OPTIM_ADAMW;
        o.weight_decay = 0.1;
        wte_lm *lm = lm_make(c, &o);
        assert_ok(wte_lm_tensor(lm, 0, NULL, &rows, &err), err);
        memcpy(before, rows.data, sizeof before);
        lm_train(lm);
        assert_memory_equal((const float *)rows.data + 12, before + 12, 21 * sizeof *before);
        for (int r = 0; r < 4; r++)
            assert_memory_not_equal((const float *)rows.data + r * 3, before + r * 3,
                                    3 * sizeof *before);
        assert_int_equal(wte_lm_changed(lm, changed), 4);
        assert_int_equal(changed[0], 0x0f);
        assert_int_equal(changed[1], 0);
        wte_lm_free(lm);
    }
    wte_corpus_free(c);
}

static void a_table_can_be_started_from(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_lm_options o = lm_options();
    wte_error err;
    wte_row_source rows;
    uint16_t half[18];
    for (unsigned i = 0; i < 18; i++) half[i] = (uint16_t)(0x3c00 + 64 * i); /* 1, 1.0625, ... */
    const wte_row_source start = {
        .rows = 6, .cols = 3, .dtype = WTE_F16, .data = half, .row_bytes = 6
    };
    o.init_from = &start;
    o.dim = 0; /* that of the table */
    wte_lm *lm = lm_make(c, &o);
    assert_ok(wte_lm_tensor(lm, 0, NULL, &rows, &err), err);
    assert_int_equal(rows.rows, 11);
    const float *values = rows.data;
    for (unsigned i = 0; i < 16; i++) assert_true(values[i] == 1 + (float)i / 16);
    for (unsigned i = 18; i < 33; i++) assert_true(fabsf(values[i]) <= 0.1f);
    wte_lm_free(lm);
    o.dim = 4;
    assert_fails(wte_lm_create(c, NULL, &o, &lm, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "the table to start from is 6 x 3, but that of the model 11 x 4");
    wte_corpus_free(c);
}

/* What is refused --------------------------------------------------------------------------------
 */

static void refused(const wte_corpus *c, const wte_lm_options *o, wte_status status,
                    const char *part)
{
    wte_error err;
    wte_lm *lm;
    assert_fails(wte_lm_create(c, NULL, o, &lm, &err), err, status, WTE_NO_INDEX, part);
    assert_null(lm);
}

static void settings_without_sense_are_refused(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_error err;
    wte_lm *lm;
#define REFUSED(field, value, status, part)                                                        \
    do {                                                                                           \
        wte_lm_options o = lm_options();                                                           \
        o.field = value;                                                                           \
        refused(c, &o, status, part);                                                              \
    } while (0)
    REFUSED(lr, -1, WTE_E_ARGUMENT, "lr is -1");
    REFUSED(lr, (double)NAN, WTE_E_ARGUMENT, "lr is nan");
    REFUSED(momentum, -0.5, WTE_E_ARGUMENT, "momentum is -0.5");
    REFUSED(weight_decay, -0.5, WTE_E_ARGUMENT, "weight_decay is -0.5");
    REFUSED(clip, (double)INFINITY, WTE_E_ARGUMENT, "clip is inf");
    REFUSED(projection_decay, (double)NAN, WTE_E_ARGUMENT, "projection_decay is nan");
    REFUSED(seconds, -1, WTE_E_ARGUMENT, "seconds is -1");
    REFUSED(checkpoint_seconds, -1, WTE_E_ARGUMENT, "checkpoint_seconds is -1");
    REFUSED(init, -1, WTE_E_ARGUMENT, "init is -1");
    REFUSED(optim, WTE_OPTIM_LAZY_ADAM, WTE_E_ARGUMENT, "optimizer number 3 cannot train");
    REFUSED(schedule, (wte_lm_schedule)3, WTE_E_ARGUMENT, "no schedule has the number 3");
    REFUSED(hold_out, 1, WTE_E_ARGUMENT, "hold_out 1 leaves nothing");
    REFUSED(context, 1025, WTE_E_LIMIT, "context is 1025, but at most 1024 is possible");
    REFUSED(dim, 65537, WTE_E_LIMIT, "dim is 65537, but at most 65536 is possible");
    REFUSED(hidden, 65537, WTE_E_LIMIT, "hidden is 65537, but at most 65536 is possible");
    REFUSED(batch, 1048577, WTE_E_LIMIT, "batch is 1048577, but at most 1048576 is possible");
    REFUSED(shuffle, UINT64_C(1) << 40, WTE_E_LIMIT, "shuffle is 1099511627776");
    REFUSED(epochs, UINT64_C(1) << 40, WTE_E_LIMIT, "epochs is 1099511627776");
    REFUSED(hold_out, UINT64_C(1) << 40, WTE_E_LIMIT, "hold_out is 1099511627776");
    REFUSED(max_bytes, 1000, WTE_E_LIMIT, "training a table of 11 x 3 takes ");
    REFUSED(context, 400, WTE_E_FORMAT,
            "the corpus has 400 words to train on, but 400 predict the next one");
    REFUSED(
        hold_out, 300, WTE_E_FORMAT,
        "/text: the part for validation has no more words than the 2 that predict the next one");
    wte_lm_options o = lm_options();
    o.hold_out = 5;
    assert_fails(wte_lm_create(c, c, &o, &lm, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "a text for validation and hold_out 5 at once");
    assert_fails(wte_lm_create(NULL, NULL, &o, &lm, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "the corpus is NULL");
    wte_corpus_free(c);
}

static void a_text_of_one_word_is_learned(void **state)
{
    (void)state;
    test_write_file(lm_path("one"), "a a a a a a a a", 15);
    wte_corpus *c = lm_corpus("one", 1);
    const wte_lm_options o = lm_options();
    wte_lm_info info;
    wte_lm *lm = lm_make(c, &o);
    lm_train(lm);
    wte_lm_get(lm, &info);
    assert_int_equal(info.rows, 1);
    assert_true(info.train_loss == 0); /* there is nothing else to say */
    wte_lm_free(lm);
    wte_corpus_free(c);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_lm_options o = variant(1);
    o.checkpoint = lm_path("checkpoint");
    o.epochs = 1;
    o.batch = 64;
    o.shuffle = 128;
    for (o.resume = 0; o.resume < 2; o.resume++) {
        wte_status status = WTE_E_MEMORY;
        for (size_t i = 0; status != WTE_OK; i++) {
            test_memory memory;
            wte_error err;
            wte_lm *lm;
            test_memory_init(&memory, i);
            o.allocator = &memory.allocator;
            status = wte_lm_create(c, NULL, &o, &lm, &err);
            if (status == WTE_OK) status = wte_lm_train(lm, NULL, &err);
            wte_lm_free(lm);
            assert_int_equal(memory.live, 0);
            if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
            assert_true(i < 10000);
        }
    }
    wte_corpus_free(c);
}

static int make_texts(void **state)
{
    lm_make_folder(state);
    lm_write_text("text", 400, 11, 1);
    lm_write_text("other", 400, 11, 9);
    lm_write_text("long", 2000, 11, 2);
    return 0;
}

static const struct CMUnitTest tests[] = {
    TEST("lm: threads change nothing", threads_change_nothing),
    TEST("lm: a killed run ends with the same bytes", a_killed_run_ends_with_the_same_bytes),
    TEST("lm: a stopped run goes on where it was", a_stopped_run_goes_on_where_it_was),
    TEST("lm: another run's checkpoint is refused, and both settings named",
         another_run_s_checkpoint_is_named),
    TEST("lm: a full disk keeps the checkpoint before", a_full_disk_keeps_the_checkpoint_before),
    TEST("lm: the best weights are kept when patience ends",
         the_best_weights_are_kept_when_patience_ends),
    TEST("lm: time ends a run that can go on", time_ends_a_run_that_can_go_on),
    TEST("lm: a rate that is too large is noticed", a_rate_that_is_too_large_is_noticed),
    TEST("lm: the rate follows its schedule", the_rate_follows_its_schedule),
    TEST("lm: rows that are not trainable keep their bytes, tied or not",
         rows_that_are_not_trainable_keep_their_bytes),
    TEST("lm: a table can be started from", a_table_can_be_started_from),
    TEST("lm: settings without sense are refused", settings_without_sense_are_refused),
    TEST("lm: a text of one word is learned", a_text_of_one_word_is_learned),
    TEST("lm: any allocation may fail", any_allocation_may_fail),
};

int main(void)
{
    return cmocka_run_group_tests(tests, make_texts, lm_remove_folder);
}
