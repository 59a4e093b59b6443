/* Optimizers: PyTorch's numbers, hand-computed ones, what people suffer from, and errors. */
#include "optim_help.h"

#include <wte/head.h>

/* PyTorch ---------------------------------------------------------------------------------------
 */

/* A line of tests/data/train/torch_optim.txt: three steps, each s times the first's gradient. */
typedef struct golden {
    const char *name;
    bool dense, sparse;
    wte_optim_options opt;
} golden;

#define GOLDEN(name, dense, sparse, ...)                                                           \
    {                                                                                              \
        name, dense, sparse,                                                                       \
        {                                                                                          \
            .struct_size = sizeof(wte_optim_options), .lr = 0.1, __VA_ARGS__                       \
        }                                                                                          \
    }

static const golden goldens[] = {
    GOLDEN("sgd", true, true, .kind = WTE_OPTIM_SGD),
    GOLDEN("sgd sparse", true, true, .kind = WTE_OPTIM_SGD),
    GOLDEN("sgd mom", true, true, .momentum = 0.9),
    GOLDEN("sgd mom damp", true, true, .momentum = 0.9, .dampening = 0.5),
    GOLDEN("sgd mom sparse", true, true, .momentum = 0.9),
    GOLDEN("nest", true, true, .momentum = 0.9, .nesterov = 1, .weight_decay = 0.01),
    GOLDEN("adam", true, true, .kind = WTE_OPTIM_ADAM),
    GOLDEN("adam wd", true, true, .kind = WTE_OPTIM_ADAM, .weight_decay = 0.1),
    GOLDEN("adamw", true, true, .kind = WTE_OPTIM_ADAMW, .weight_decay = 0.01),
    GOLDEN("amsgrad", true, true, .kind = WTE_OPTIM_ADAM, .amsgrad = 1),
    GOLDEN("sparseadam", false, true, .kind = WTE_OPTIM_LAZY_ADAM),
    GOLDEN("adagrad", true, true, .kind = WTE_OPTIM_ADAGRAD),
    GOLDEN("adagrad sparse", true, true, .kind = WTE_OPTIM_ADAGRAD),
    GOLDEN("adagrad lrdecay init", true, true, .kind = WTE_OPTIM_ADAGRAD, .lr_decay = 0.1,
           .initial_accumulator = 0.5),
};
#define N_GOLDENS (sizeof goldens / sizeof *goldens)

/* The eight numbers behind "name [". */
static bool golden_values(const char *text, const char *name, double want[8])
{
    char begin[64];
    snprintf(begin, sizeof begin, "\n%s [", name);
    const char *at = strstr(text, begin);
    if (!at) return false;
    at += strlen(begin);
    for (int i = 0; i < 8; i++) {
        char *end;
        want[i] = strtod(at, &end);
        assert_ptr_not_equal(end, at);
        at = end + 1;
    }
    return true;
}

static void check_golden(const golden *c, path by, const double want[8])
{
    static const float start[8] = { 1, -2, 0.5f, 0.25f, 3, -1, 2, 2 };
    static const float d_out[6] = { 1, -0.5f, 0.25f, 2, 0.125f, -4 };
    static const int64_t ids[3] = { 2, 2, 1 };
    wte_table *t = table_of(4, 2, WTE_F32);
    wte_error err;
    set_values(t, start);
    wte_optim *o = optim_of(t, &c->opt);
    for (int s = 1; s <= 3; s++) {
        float now[6];
        for (int i = 0; i < 6; i++) now[i] = d_out[i] * (float)s;
        assert_ok(step_by(o, t, by, some_ids(ids, 3), now, &err), err);
    }
    finish(o);
    for (size_t i = 0; i < 8; i++)
        if (!is_near((double)value_at(t, i), want[i], 3e-7))
            fail_msg("%s, path %d: number %zu is %.9g, not %.9g", c->name, (int)by, i,
                     (double)value_at(t, i), want[i]);
    wte_optim_free(o);
    wte_table_free(t);
}

static void steps_are_those_of_pytorch(void **state)
{
    (void)state;
    char text[4096] = "\n";
    FILE *f = fopen(test_data("train/torch_optim.txt"), "r");
    assert_non_null(f);
    text[1 + fread(text + 1, 1, sizeof text - 2, f)] = '\0';
    fclose(f);
    for (size_t i = 0; i < N_GOLDENS; i++) {
        double want[8];
        assert_true(golden_values(text, goldens[i].name, want));
        for (int by = 0; by < PATHS; by++)
            if (by == BY_DENSE ? goldens[i].dense : goldens[i].sparse)
                check_golden(&goldens[i], (path)by, want);
    }
}

/* Hand-computed ---------------------------------------------------------------------------------
 */

/* One row (1, 2), gradient (3, 4), eps 1: squares 25, their mean 12.5, 1 / (sqrt(12.5) + 1). */
static void rowwise_adagrad_divides_by_one_number_for_a_row(void **state)
{
    (void)state;
    static const float start[2] = { 1, 2 }, g[2] = { 3, 4 };
    static const int64_t id = 0;
    const double by = 0.1 / (sqrt(12.5) + 1), decay = 0.01;
    for (int how = 0; how < 3; how++) {
        wte_optim_options opt = WTE_OPTIM_OPTIONS_INIT;
        opt.kind = WTE_OPTIM_ROWWISE_ADAGRAD;
        opt.lr = 0.1;
        opt.eps = 1;
        opt.decay = how == 1 ? WTE_DECAY_L2 : WTE_DECAY_DECOUPLED;
        opt.weight_decay = how ? decay : 0;
        wte_table *t = table_of(1, 2, WTE_F32);
        wte_error err;
        set_values(t, start);
        wte_optim *o = optim_of(t, &opt);
        assert_ok(step_by(o, t, BY_DENSE, some_ids(&id, 1), g, &err), err);
        /* L2 joins the squares, too: ((3 + .01)^2 + (4 + .02)^2) / 2 */
        const double l2 = 0.1 / (sqrt((3.01 * 3.01 + 4.02 * 4.02) / 2) + 1);
        const double mult = how == 1 ? l2 : by;
        const double keep = how == 0 ? 1 : how == 1 ? 1 - l2 * decay : 1 - 0.1 * decay;
        assert_true(is_near((double)value_at(t, 0), keep * 1 - mult * 3, 1e-7));
        assert_true(is_near((double)value_at(t, 1), keep * 2 - mult * 4, 1e-7));
        wte_optim_free(o);
        wte_table_free(t);
    }
}

/* Two rows and two columns. Squares of the gradient: 1 4; 9 16. Means of rows 2.5, 12.5; of columns
 * 5, 10; of all 7.5. */
static void adafactor_divides_by_rows_and_columns(void **state)
{
    (void)state;
    static const float start[4] = { 0, 0, 0, 0 }, g[4] = { 1, -2, 3, 4 };
    static const int64_t ids[2] = { 0, 1 };
    const double want[4] = { -1 / sqrt(2.5 * 5 / 7.5), 2 / sqrt(2.5 * 10 / 7.5),
                             -3 / sqrt(12.5 * 5 / 7.5), -4 / sqrt(12.5 * 10 / 7.5) };
    wte_optim_options opt = WTE_OPTIM_OPTIONS_INIT;
    opt.kind = WTE_OPTIM_ADAFACTOR;
    opt.lr = 1;
    wte_table *t = table_of(2, 2, WTE_F32);
    wte_error err;
    set_values(t, start);
    wte_optim *o = optim_of(t, &opt);
    assert_ok(step_by(o, t, BY_DENSE, some_ids(ids, 2), g, &err), err);
    for (size_t i = 0; i < 4; i++) assert_true(is_near((double)value_at(t, i), want[i], 1e-6));
    wte_optim_free(o);
    wte_table_free(t);
}

/* PAINS H ---------------------------------------------------------------------------------------
 */

/* A tied gradient: a head has left something in every row, a lookup adds some. */
static void tied_step(wte_optim *o, wte_grad *g, size_t n, uint64_t *seed)
{
    static const int64_t ids[10] = { 0, 8, 1, 9, 9, 2, 3, 7, 8, 0 };
    float d_out[70];
    wte_error err;
    wte_grad_zero(g);
    for (size_t i = 0; i < n; i++) {
        wte_grad_data(g)[i] = 1;
        d_out[i] = (float)(int32_t)test_noise(seed) * 0x1p-31f;
    }
    assert_ok(wte_grad_lookup(g, some_ids(ids, 10), d_out, 0, NULL, &err), err);
    assert_ok(wte_optim_step(o, g, &err), err);
}

/* 10 rows of which 8 and 9 are trained, with momentum and decay. */
static void check_frozen(wte_optim_options *opt)
{
    static const uint8_t trainable[2] = { 0, 3 };
    uint64_t seed = 5;
    uint8_t changed[2];
    float before[70];
    wte_error err;
    wte_table *t = noise_table(10, 7, WTE_F32, 4);
    memcpy(before, wte_table_data(t), sizeof before);
    opt->weight_decay = 0.1;
    opt->decay = WTE_DECAY_DECOUPLED;
    opt->lr = 0.01;
    opt->trainable = trainable;
    wte_optim *o = optim_of(t, opt);
    wte_grad *g = grad_of(t, WTE_GRAD_DENSE);
    for (int s = 0; s < 100; s++) tied_step(o, g, 70, &seed);
    assert_memory_equal(wte_table_data(t), before, 8 * 7 * sizeof(float));
    for (size_t i = 56; i < 70; i++) assert_true(value_at(t, i) != before[i]);
    assert_int_equal(wte_optim_changed(o, changed), 2);
    assert_int_equal(changed[0], 0);
    assert_int_equal(changed[1], 3);
    for (uint32_t i = 1; i < 3; i++) { /* frozen rows have no state */
        const char *name;
        wte_row_source rows;
        if (wte_optim_state(o, i, &name, &rows, &err) == WTE_OK)
            assert_true(rows.rows == 2 || strcmp(name, "exp_avg_sq_col") == 0);
    }
    wte_grad_free(g);
    wte_optim_free(o);
    wte_table_free(t);
}

static void h1_frozen_rows_keep_their_bytes(void **state)
{
    (void)state;
    wte_optim_options all[3] = { WTE_OPTIM_OPTIONS_INIT, WTE_OPTIM_OPTIONS_INIT,
                                 WTE_OPTIM_OPTIONS_INIT };
    all[0].momentum = 0.9;
    all[1].kind = WTE_OPTIM_ADAMW;
    all[2].kind = WTE_OPTIM_ADAFACTOR;
    for (size_t k = 0; k < 3; k++) check_frozen(&all[k]);
}

/* One row, gradient 1 and then 0: Adam moves on by what it remembers, lazy Adam does not. */
static void h2_a_gradient_of_zero_moves_adam_but_not_lazy_adam(void **state)
{
    (void)state;
    static const float start[2] = { 1, 1 }, d_out = 1;
    static const int64_t first = 0, second = 1;
    const double adam_second = 0.9 - 0.1 * (0.09 / 0.19) / sqrt(0.000999 / 0.001999);
    for (int lazy = 0; lazy < 2; lazy++)
        for (int by = lazy ? BY_SPARSE : BY_DENSE; by < PATHS; by++) {
            wte_optim_options opt = WTE_OPTIM_OPTIONS_INIT;
            opt.kind = lazy ? WTE_OPTIM_LAZY_ADAM : WTE_OPTIM_ADAM;
            opt.lr = 0.1;
            wte_table *t = table_of(2, 1, WTE_F32);
            wte_error err;
            set_values(t, start);
            wte_optim *o = optim_of(t, &opt);
            assert_ok(step_by(o, t, (path)by, some_ids(&first, 1), &d_out, &err), err);
            assert_true(is_near((double)value_at(t, 0), 0.9, 1e-7));
            assert_ok(step_by(o, t, (path)by, some_ids(&second, 1), &d_out, &err), err);
            assert_ok(wte_optim_sync_rows(o, some_ids(&first, 1), &err), err);
            assert_true(is_near((double)value_at(t, 0), lazy ? 0.9 : adam_second, 1e-7));
            wte_optim_free(o);
            wte_table_free(t);
        }
    assert_true(is_near(adam_second, 0.832994, 1e-6)); /* the number of docs/training.md */
}

/* The tied table of [3, 2], one token in and one target for each of two: one gradient, one step,
 * one decay. */
static void h3_a_tied_table_takes_one_step(void **state)
{
    (void)state;
    static const float start[6] = { 1, 2, 3, 4, 5, 6 };
    static const double d_table[6] = { -1.5024819374, -2.0024788380, -0.4987637103,
                                       -0.9975274205, 4.9987607002,  5.9975214005 };
    static const int64_t ids[2] = { 0, 2 }, targets[2] = { 1, 0 };
    static const float vectors[4] = { 1, 2, 5, 6 };
    float d_hidden[4] = { 0 };
    wte_table *t = table_of(3, 2, WTE_F32);
    wte_error err;
    set_values(t, start);
    wte_grad *g = grad_of(t, WTE_GRAD_DENSE);
    const wte_hidden hidden = { .data = vectors, .dtype = WTE_F32, .n = 2, .dim = 2 };
    wte_loss_options loss = WTE_LOSS_OPTIONS_INIT;
    wte_loss out;
    loss.d_hidden = d_hidden;
    loss.d_table = wte_grad_data(g);
    assert_ok(
        wte_head_loss(wte_table_source(t), &hidden, some_ids(targets, 2), NULL, &loss, &out, &err),
        err);
    assert_ok(wte_grad_lookup(g, some_ids(ids, 2), d_hidden, 0, NULL, &err), err);
    wte_optim_options opt = WTE_OPTIM_OPTIONS_INIT;
    opt.lr = 0.1;
    opt.weight_decay = 0.5;
    opt.decay = WTE_DECAY_DECOUPLED;
    wte_optim *o = optim_of(t, &opt);
    assert_ok(wte_optim_step(o, g, &err), err);
    assert_int_equal(wte_optim_n_steps(o), 1);
    for (size_t i = 0; i < 6; i++) {
        const double want = (double)start[i] * (1 - 0.1 * 0.5) - 0.1 * d_table[i];
        assert_true(is_near((double)value_at(t, i), want, 1e-6));
    }
    wte_grad_free(g);
    wte_optim_free(o);
    wte_table_free(t);
}

/* Gradients that are no numbers ------------------------------------------------------------------
 */

/* Rows 3 and 4 of the second step are bad; beside it an optimizer that never gets these two. */
static void check_not_finite(wte_optim_kind kind, path by, float bad)
{
    static const int64_t ids[3] = { 1, 3, 4 };
    float d_out[12], kept[8];
    wte_optim_options opt = WTE_OPTIM_OPTIONS_INIT;
    wte_error err;
    opt.kind = kind;
    wte_table *t = noise_table(6, 4, WTE_F32, 8), *clean = noise_table(6, 4, WTE_F32, 8);
    wte_optim *o = optim_of(t, &opt), *other = optim_of(clean, &opt);
    for (int s = 0; s < 3; s++) {
        for (size_t i = 0; i < 12; i++) d_out[i] = (float)(i + 1) * 0.25f;
        assert_ok(step_by(other, clean, BY_SPARSE, some_ids(ids, 1), d_out, &err), err);
        if (s == 1) d_out[5] = d_out[11] = bad;
        memcpy(kept, (float *)wte_table_data(t) + 12, sizeof kept);
        const wte_status status = step_by(o, t, by, some_ids(ids, 3), d_out, &err);
        finish(o);
        const bool same = memcmp(kept, (float *)wte_table_data(t) + 12, sizeof kept) == 0;
        assert_int_equal(same, s == 1);
        if (s != 1)
            assert_ok(status, err);
        else
            assert_fails(status, err, WTE_E_RANGE, 3, "2 rows, the first of them row 3");
    }
    assert_int_equal(wte_optim_n_steps(o), 3);
    finish(other);
    assert_memory_equal(wte_table_data(t), wte_table_data(clean), 12 * sizeof(float));
    for (size_t i = 0; i < 24; i++) assert_true(isfinite(value_at(t, i)));
    wte_optim_free(o);
    wte_optim_free(other);
    wte_table_free(t);
    wte_table_free(clean);
}

static void rows_with_a_gradient_that_is_no_number_are_left_as_they_are(void **state)
{
    (void)state;
    static const wte_optim_kind kinds[] = { WTE_OPTIM_SGD, WTE_OPTIM_ADAM, WTE_OPTIM_LAZY_ADAM,
                                            WTE_OPTIM_ADAGRAD, WTE_OPTIM_ROWWISE_ADAGRAD };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int by = 0; by < PATHS; by++) {
            if (by == BY_DENSE && kinds[k] == WTE_OPTIM_LAZY_ADAM) continue;
            check_not_finite(kinds[k], (path)by, by == BY_SPARSE ? NAN : INFINITY);
        }
}

static void adafactor_leaves_them_out_of_its_means(void **state)
{
    (void)state;
    static const int64_t ids[2] = { 0, 1 };
    static const float start[4] = { 0, 0, 0, 0 }, g[4] = { NAN, 1, 3, 4 };
    /* row 1 alone: mean 12.5, columns 9 and 16, of all rows (0 + 12.5) / 2 */
    const double want[2] = { -3 / sqrt(12.5 * 9 / 6.25), -4 / sqrt(12.5 * 16 / 6.25) };
    wte_optim_options opt = WTE_OPTIM_OPTIONS_INIT;
    opt.kind = WTE_OPTIM_ADAFACTOR;
    opt.lr = 1;
    wte_table *t = table_of(2, 2, WTE_F32);
    wte_error err;
    set_values(t, start);
    wte_optim *o = optim_of(t, &opt);
    assert_fails(step_by(o, t, BY_DENSE, some_ids(ids, 2), g, &err), err, WTE_E_RANGE, 0, "1 rows");
    for (size_t i = 0; i < 2; i++) {
        assert_true(value_at(t, i) == 0);
        assert_true(is_near((double)value_at(t, 2 + i), want[i], 1e-6));
    }
    wte_optim_free(o);
    wte_table_free(t);
}

/* Decay ------------------------------------------------------------------------------------------
 */

static void decay_of_touched_rows_is_asked_for(void **state)
{
    (void)state;
    static const wte_optim_kind kinds[] = { WTE_OPTIM_SGD, WTE_OPTIM_LAZY_ADAM, WTE_OPTIM_ADAGRAD,
                                            WTE_OPTIM_ROWWISE_ADAGRAD };
    static const int64_t id = 1;
    static const float start[2] = { 1, 1 }, d_out = 0;
    for (size_t k = 0; k < 4; k++) {
        wte_optim_options opt = WTE_OPTIM_OPTIONS_INIT;
        opt.kind = kinds[k];
        opt.weight_decay = 0.5;
        opt.lr = 0.5;
        opt.decay = WTE_DECAY_DECOUPLED;
        wte_table *t = table_of(2, 1, WTE_F32);
        wte_error err;
        set_values(t, start);
        wte_optim *o = optim_of(t, &opt);
        for (int by = BY_SPARSE; by < PATHS; by++)
            assert_fails(step_by(o, t, (path)by, some_ids(&id, 1), &d_out, &err), err,
                         WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "weight_decay 0.5 is not compatible with a sparse");
        assert_int_equal(wte_optim_n_steps(o), 0);
        wte_optim_free(o);
        opt.decay_touched = 1;
        o = optim_of(t, &opt);
        assert_ok(step_by(o, t, BY_LOOKUP, some_ids(&id, 1), &d_out, &err), err);
        assert_true(value_at(t, 0) == 1 && value_at(t, 1) == 0.75f);
        wte_optim_free(o);
        wte_table_free(t);
    }
}

/* Errors -----------------------------------------------------------------------------------------
 */

typedef struct refusal {
    const char *part;
    wte_status status;
    wte_optim_options opt;
} refusal;
#define REFUSED(part, ...)                                                                         \
    {                                                                                              \
        part, WTE_E_ARGUMENT,                                                                      \
        {                                                                                          \
            .struct_size = sizeof(wte_optim_options), __VA_ARGS__                                  \
        }                                                                                          \
    }

/* By hand: with a rate of 0 nothing moves; with an eps and betas of 0 the first step of Adam is the
 * rate itself against the sign of the gradient, and so is that of Adagrad. */
static void numbers_of_zero_are_taken_as_given(void **state)
{
    (void)state;
    static const float start[2] = { 1, 2 }, g[2] = { 0x1p-40f, -0x1p-60f };
    static const int64_t id = 0;
    static const wte_optim_kind kinds[] = { WTE_OPTIM_SGD, WTE_OPTIM_ADAM, WTE_OPTIM_ADAMW,
                                            WTE_OPTIM_LAZY_ADAM, WTE_OPTIM_ADAGRAD };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int rate = 0; rate < 2; rate++) {
            wte_optim_options opt = WTE_OPTIM_OPTIONS_INIT;
            wte_table *t = table_of(1, 2, WTE_F32);
            wte_optim *o;
            wte_error err;
            opt.kind = kinds[k];
            opt.lr = rate ? 0.5 : 0;
            opt.eps = opt.beta1 = opt.beta2 = 0;
            set_values(t, start);
            assert_ok(wte_optim_create(t, &opt, &o, &err), err);
            assert_ok(step_by(o, t, BY_SPARSE, some_ids(&id, 1), g, &err), err);
            finish(o);
            const bool moves = rate && kinds[k] != WTE_OPTIM_SGD;
            assert_float_equal(value_at(t, 0), moves ? 0.5 : 1, 0);
            assert_float_equal(value_at(t, 1), moves ? 2.5 : 2, 0);
            wte_optim_free(o);
            wte_table_free(t);
        }
}

static void settings_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const refusal all[] = {
        REFUSED("unknown kind 99", .kind = (wte_optim_kind)99),
        REFUSED("decay is 7", .decay = (wte_optim_decay)7),
        REFUSED("rounding 3", .rounding = (wte_optim_rounding)3),
        REFUSED("lr is -0.1", .lr = -0.1),
        REFUSED("lr is nan", .lr = (double)NAN),
        REFUSED("lr is inf", .lr = (double)INFINITY),
        REFUSED("eps is -2", .eps = -2),
        REFUSED("momentum is -0.5", .momentum = -0.5),
        REFUSED("momentum is 1,", .momentum = 1),
        REFUSED("dampening is -1", .dampening = -1),
        REFUSED("weight_decay is -1", .weight_decay = -1),
        REFUSED("lr_decay is -1", .kind = WTE_OPTIM_ADAGRAD, .lr_decay = -1),
        REFUSED("initial_accumulator is -1", .kind = WTE_OPTIM_ADAGRAD, .initial_accumulator = -1),
        REFUSED("beta1 is 1,", .kind = WTE_OPTIM_ADAM, .beta1 = 1),
        REFUSED("beta2 is nan", .kind = WTE_OPTIM_ADAM, .beta2 = (double)NAN),
        REFUSED("beta2 is -inf", .kind = WTE_OPTIM_ADAM, .beta2 = (double)-INFINITY),
        REFUSED("momentum has no meaning for AdamW", .kind = WTE_OPTIM_ADAMW, .momentum = 0.9),
        REFUSED("dampening has no meaning for Adam", .kind = WTE_OPTIM_ADAM, .dampening = 0.9),
        REFUSED("nesterov has no meaning for Adam", .kind = WTE_OPTIM_ADAM, .nesterov = 1),
        REFUSED("amsgrad has no meaning for SGD", .amsgrad = 1),
        REFUSED("beta1 has no meaning for Adafactor", .kind = WTE_OPTIM_ADAFACTOR, .beta1 = 0.9),
        REFUSED("beta2 has no meaning for Adagrad", .kind = WTE_OPTIM_ADAGRAD, .beta2 = 0.9),
        REFUSED("lr_decay has no meaning for row-wise Adagrad", .kind = WTE_OPTIM_ROWWISE_ADAGRAD,
                .lr_decay = 0.1),
        REFUSED("initial_accumulator has no meaning for lazy Adam", .kind = WTE_OPTIM_LAZY_ADAM,
                .initial_accumulator = 0.1),
        REFUSED("Nesterov momentum requires a momentum and zero dampening", .nesterov = 1),
        REFUSED("Nesterov momentum requires", .nesterov = 1, .momentum = 0.9, .dampening = 0.5),
    };
    wte_table *t = table_of(4, 2, WTE_F32);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const wte_optim_options opt = own_for_zero(all[i].opt);
        wte_optim *o = (wte_optim *)t;
        uint64_t bytes = 1;
        wte_error err;
        assert_fails(wte_optim_create(t, &opt, &o, &err), err, all[i].status, WTE_NO_INDEX,
                     all[i].part);
        assert_null(o);
        assert_fails(wte_optim_state_bytes(4, 2, WTE_F32, &opt, &bytes, &err), err, all[i].status,
                     WTE_NO_INDEX, all[i].part);
        assert_int_equal(bytes, 0);
    }
    wte_table_free(t);
}

static void tables_that_cannot_be_trained_are_refused(void **state)
{
    (void)state;
    const float values[2] = { 1, 2 };
    const wte_row_source rows = {
        .rows = 1, .cols = 2, .dtype = WTE_F32, .data = values, .row_bytes = 8
    };
    wte_table *borrowed, *whole = table_of(1, 2, WTE_F64);
    wte_optim *o;
    wte_error err;
    assert_ok(wte_table_wrap(&rows, NULL, &borrowed, &err), err);
    assert_fails(wte_optim_create(borrowed, NULL, &o, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "borrows its rows");
    assert_fails(wte_optim_create(whole, NULL, &o, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "f64");
    assert_fails(wte_optim_create(NULL, NULL, &o, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "t is NULL");
    assert_fails(wte_optim_create(whole, NULL, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "out is NULL");
    wte_table_free(borrowed);
    wte_table_free(whole);
}

static void gradients_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    wte_optim_options lazy = WTE_OPTIM_OPTIONS_INIT, factor = WTE_OPTIM_OPTIONS_INIT;
    lazy.kind = WTE_OPTIM_LAZY_ADAM;
    factor.kind = WTE_OPTIM_ADAFACTOR;
    static const float d_out[6] = { 0 };
    static const int64_t good = 2, bad = 3, far = 4;
    wte_table *t = table_of(3, 2, WTE_F32), *wide = table_of(3, 3, WTE_F32),
              *more = table_of(5, 2, WTE_F32);
    wte_optim *o = optim_of(t, NULL), *l = optim_of(t, &lazy), *f = optim_of(t, &factor);
    wte_error err;
    assert_fails(step_by(o, wide, BY_DENSE, some_ids(&good, 1), d_out, &err), err, WTE_E_SHAPE,
                 WTE_NO_INDEX, "3 x 3 for a table of 3 x 2");
    assert_fails(step_by(o, more, BY_DENSE, some_ids(&good, 1), d_out, &err), err, WTE_E_SHAPE,
                 WTE_NO_INDEX, "5 x 2 for a table of 3 x 2");
    assert_fails(step_by(o, more, BY_SPARSE, some_ids(&far, 1), d_out, &err), err, WTE_E_SHAPE, 4,
                 "row 4 for a table of 3 rows");
    assert_fails(step_by(o, t, BY_LOOKUP, some_ids(&bad, 1), d_out, &err), err, WTE_E_RANGE, 0,
                 "3");
    assert_fails(step_by(l, t, BY_DENSE, some_ids(&good, 1), d_out, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "lazy Adam does not support dense gradients");
    for (int by = BY_SPARSE; by < PATHS; by++)
        assert_fails(step_by(f, t, (path)by, some_ids(&good, 1), d_out, &err), err, WTE_E_ARGUMENT,
                     WTE_NO_INDEX, "Adafactor needs a dense gradient");
    assert_fails(wte_optim_step(o, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "g is NULL");
    assert_fails(wte_optim_sync_rows(o, some_ids(&bad, 1), &err), err, WTE_E_RANGE, 0, "3");
    assert_fails(wte_optim_set_lr(o, -1, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "lr is -1");
    assert_fails(wte_optim_set_lr(o, (double)NAN, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "nan");
    assert_int_equal(wte_optim_n_steps(o), 0);
    wte_optim_free(o);
    wte_optim_free(l);
    wte_optim_free(f);
    wte_optim_free(NULL);
    wte_table_free(t);
    wte_table_free(wide);
    wte_table_free(more);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_pytorch),
        cmocka_unit_test(rowwise_adagrad_divides_by_one_number_for_a_row),
        cmocka_unit_test(adafactor_divides_by_rows_and_columns),
        cmocka_unit_test(h1_frozen_rows_keep_their_bytes),
        cmocka_unit_test(h2_a_gradient_of_zero_moves_adam_but_not_lazy_adam),
        cmocka_unit_test(h3_a_tied_table_takes_one_step),
        cmocka_unit_test(rows_with_a_gradient_that_is_no_number_are_left_as_they_are),
        cmocka_unit_test(adafactor_leaves_them_out_of_its_means),
        cmocka_unit_test(decay_of_touched_rows_is_asked_for),
        cmocka_unit_test(numbers_of_zero_are_taken_as_given),
        cmocka_unit_test(settings_that_make_no_sense_are_refused),
        cmocka_unit_test(tables_that_cannot_be_trained_are_refused),
        cmocka_unit_test(gradients_that_do_not_fit_are_refused),
    };
    if (test_isa_missing()) return TEST_SKIPPED;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
