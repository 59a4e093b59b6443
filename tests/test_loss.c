/* Cross-entropy and its gradients against the same with all logits, in doubles. */
#include "loss_cases.h"

static wte_error err;

/* The reference: all in doubles, all logits held. Slopes of one hidden vector; and the sums of the
 * absolute terms of its gradients' entries, for the bounds. */
typedef struct reference {
    double loss, lse_sum, right;
    double *slope;                       /* rows */
    double *d_hidden, *d_table, *d_bias; /* as the outputs */
    double *abs_hidden, *abs_table, *abs_bias;
    double *each;
    uint64_t taken;
} reference;

static double factor(float times, float over)
{
    return (times != 0 ? (double)times : 1) / (over != 0 ? (double)over : 1);
}

static bool is_masked(const wte_head_options *o, uint64_t r)
{
    return (o->n_valid && r >= o->n_valid) || (o->valid && !(o->valid[r / 8] >> r % 8 & 1));
}

/* Logits of hidden vector i and what the chain makes of a change of them. */
static void logits_of(const loss_case *l, uint64_t i, double *logit, double *change)
{
    const wte_logit_transform *c = &l->opt.chain;
    const double before = factor(c->hidden_scale, c->hidden_divisor);
    for (uint64_t r = 0; r < l->c.rows; r++) {
        double x = l->opt.bias ? (double)((const float *)l->opt.bias)[r] : 0;
        for (uint64_t k = 0; k < l->c.dim; k++)
            x += before * (double)l->c.h[i * l->c.dim + k] * (double)l->c.w[r * l->c.dim + k];
        x *= factor(c->scale, c->divisor);
        const double t = c->softcap > 0 ? tanh(x / (double)c->softcap) : 0;
        logit[r] = c->softcap > 0 ? (double)c->softcap * t : x;
        change[r] = factor(c->scale, c->divisor) * (1 - t * t);
    }
}

static void add_vector(const loss_case *l, reference *ref, uint64_t i, const double *logit,
                       const double *change, double unit)
{
    const double s = (double)l->how.label_smoothing, z = (double)l->how.z_loss;
    const double before = factor(l->opt.chain.hidden_scale, l->opt.chain.hidden_divisor);
    const uint64_t rows = l->c.rows, dim = l->c.dim, target = (uint64_t)l->targets[i];
    double most = -(double)INFINITY, sum = 0, all = 0, unmasked = 0;
    bool right = true;
    for (uint64_t r = 0; r < rows; r++)
        if (!is_masked(&l->opt, r)) most = fmax(most, logit[r]);
    for (uint64_t r = 0; r < rows; r++) {
        if (is_masked(&l->opt, r)) continue;
        sum += exp(logit[r] - most);
        all += logit[r];
        unmasked++;
        if (logit[r] > logit[target]) right = false;
    }
    const double lse = most + log(sum);
    ref->each[i] = (1 - s) * (lse - logit[target]) + s * (lse - all / unmasked) + z * lse * lse;
    ref->loss += ref->each[i];
    ref->lse_sum += lse;
    ref->right += right;
    for (uint64_t r = 0; r < rows; r++) {
        const double p = is_masked(&l->opt, r) ? 0 : exp(logit[r] - lse);
        double slope = p * (1 + 2 * z * lse) - s / unmasked - (r == target ? 1 - s : 0);
        slope = is_masked(&l->opt, r) ? 0 : slope * change[r] * unit;
        ref->d_bias[r] += slope;
        ref->abs_bias[r] += fabs(slope);
        for (uint64_t k = 0; k < dim; k++) {
            const double a = slope * before * (double)l->c.w[r * dim + k];
            const double b = slope * before * (double)l->c.h[i * dim + k];
            ref->d_hidden[i * dim + k] += a;
            ref->abs_hidden[i * dim + k] += fabs(a);
            ref->d_table[r * dim + k] += b;
            ref->abs_table[r * dim + k] += fabs(b);
        }
    }
}

static double *zeros(uint64_t n)
{
    double *x = calloc((size_t)(n + 1), sizeof *x);
    assert_non_null(x);
    return x;
}

static reference make_reference(const loss_case *l)
{
    const uint64_t rows = l->c.rows, dim = l->c.dim, n = l->c.n;
    reference ref = { .d_hidden = zeros(n * dim),
                      .abs_hidden = zeros(n * dim),
                      .d_table = zeros(rows * dim),
                      .abs_table = zeros(rows * dim),
                      .d_bias = zeros(rows),
                      .abs_bias = zeros(rows),
                      .each = zeros(n) };
    double *logit = zeros(rows), *change = zeros(rows);
    for (uint64_t i = 0; i < n; i++) ref.taken += l->targets[i] != l->how.ignore_id;
    const double unit = (double)l->how.grad_scale / (l->how.sum ? 1 : (double)ref.taken);
    for (uint64_t i = 0; i < n; i++) {
        if (l->targets[i] == l->how.ignore_id) continue;
        logits_of(l, i, logit, change);
        add_vector(l, &ref, i, logit, change, unit);
    }
    free(logit);
    free(change);
    return ref;
}
static void free_reference(reference *ref)
{
    double *const all[] = { ref->d_hidden, ref->abs_hidden, ref->d_table, ref->abs_table,
                            ref->d_bias,   ref->abs_bias,   ref->each };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Within 1e-5 of the sum of the absolute terms. */
static void check_gradient(const char *name, const float *got, const double *want,
                           const double *terms, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= 1e-5 * terms[i]))
            fail_msg("%s[%llu] is %.9g, not %.9g: off by %.3g of %.3g", name, (unsigned long long)i,
                     (double)got[i], want[i], fabs((double)got[i] - want[i]), terms[i]);
}

static void check_loss(loss_case *l)
{
    want_all(l);
    const wte_loss out = run(l);
    reference ref = make_reference(l);
    const double taken = (double)ref.taken, size = fabs(ref.loss) + 1;
    assert_true(fabs(out.loss - ref.loss / (l->how.sum ? 1 : taken)) <= 3e-6 * size);
    assert_true(fabs(out.lse_mean - ref.lse_sum / taken) <= 1e-5);
    assert_true(out.n_targets == ref.taken && out.n_ignored == l->c.n - ref.taken);
    assert_true((double)out.n_correct == ref.right);
    for (uint64_t i = 0; i < l->c.n; i++)
        assert_true(fabs((double)l->each[i] - ref.each[i]) <= 1e-5 * (fabs(ref.each[i]) + 1));
    check_gradient("d_hidden", l->d_hidden, ref.d_hidden, ref.abs_hidden, l->c.n * l->c.dim);
    check_gradient("d_table", l->d_table, ref.d_table, ref.abs_table, l->c.rows * l->c.dim);
    check_gradient("d_bias", l->d_bias, ref.d_bias, ref.abs_bias, l->c.rows);
    free_reference(&ref);
    /* without gradients the loss is the same to the bit */
    l->how.d_hidden = l->how.d_table = l->how.d_bias = NULL;
    const wte_loss again = run(l);
    assert_memory_equal(&out, &again, sizeof out);
}

static void loss_and_gradients_are_those_of_doubles(void **state)
{
    (void)state;
    static const uint64_t shapes[][3] = {
        { 1, 1, 1 },   { 2, 1, 3 },      { 5, 3, 2 },    { 37, 17, 25 },   { 130, 70, 49 },
        { 500, 8, 1 }, { 300, 900, 30 }, { 9000, 3, 7 }, { 400, 65, 100 },
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        loss_case l = make_loss(shapes[s][0], shapes[s][1], shapes[s][2], s + 1);
        check_loss(&l);
        free_loss(&l);
    }
}

static void options_are_those_of_doubles(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 32; i++) {
        loss_case l = make_loss(260, 40, 31, i + 50);
        uint64_t noise = i + 1;
        float bias[260];
        uint8_t bits[33];
        for (size_t r = 0; r < 260; r++) bias[r] = head_number(&noise, 1);
        for (size_t b = 0; b < 33; b++) bits[b] = (uint8_t)test_noise(&noise);
        l.how.sum = i & 1;
        l.how.grad_scale = i & 1 ? -0.3f : 2;
        if (i & 2) l.how.label_smoothing = i & 16 ? 1 : 0.1f;
        if (i & 4) l.how.z_loss = 1e-2f;
        if (i & 8) l.opt.n_valid = 200;
        if (i & 16) l.opt.valid = bits;
        if (i % 3 == 0) l.opt.chain.softcap = 3;
        if (i % 3 == 1) l.opt.chain = (wte_logit_transform){ 0.5f, 1.5f, 3, 0.7f, 20, 0 };
        if (i % 5 == 0) l.opt.bias = bias;
        l.opt.bias_dtype = WTE_F32;
        for (size_t t = 0; t < 31; t++) {
            while (is_masked(&l.opt, (uint64_t)l.targets[t]))
                l.targets[t] = (int64_t)(test_noise(&noise) % 260);
            if (t % 7 == 3) l.targets[t] = l.how.ignore_id;
        }
        check_loss(&l);
        free_loss(&l);
    }
}

static void a_row_may_be_the_id_to_ignore(void **state)
{
    (void)state;
    loss_case l = make_loss(20, 6, 40, 4);
    l.how.ignore_id = 3;
    l.targets[0] = l.targets[5] = 3;
    check_loss(&l);
    free_loss(&l);
}

static void gradients_of_the_table_are_added(void **state)
{
    (void)state;
    loss_case l = make_loss(50, 9, 20, 4); /* one group: its sum is added twice */
    want_all(&l);
    (void)run(&l);
    float once = l.d_table[17], hidden = l.d_hidden[5], bias = l.d_bias[3];
    (void)run(&l);
    assert_true(l.d_table[17] == 2 * once && once != 0);
    assert_true(l.d_bias[3] == 2 * bias && bias != 0);
    assert_true(l.d_hidden[5] == hidden && hidden != 0);
    free_loss(&l);
}

static void nothing_to_learn_from(void **state)
{
    (void)state;
    loss_case l = make_loss(50, 4, 30, 4);
    want_all(&l);
    for (size_t i = 0; i < 30; i++) l.targets[i] = -100;
    l.d_hidden[0] = 7;
    wte_loss out = run(&l);
    assert_true(isnan(out.loss) && isnan(out.lse_mean) && out.n_targets == 0 &&
                out.n_ignored == 30);
    for (size_t i = 0; i < 120; i++) assert_true(l.d_hidden[i] == 0 && l.d_table[i] == 0);
    l.how.sum = 1;
    out = run(&l);
    assert_true(out.loss == 0 && l.each[7] == 0);
    l.c.hidden.n = l.c.n = 0;
    out = run(&l);
    assert_true(out.loss == 0 && out.n_targets == 0 && out.n_ignored == 0);
    free_loss(&l);
}

static void a_masked_target_costs_everything(void **state)
{
    (void)state;
    loss_case l = make_loss(50, 4, 2, 4);
    want_all(&l);
    l.opt.n_valid = 40;
    l.targets[0] = 45;
    l.targets[1] = 3;
    const wte_loss out = run(&l);
    assert_true(out.loss == (double)INFINITY && l.each[0] == INFINITY && isfinite(l.each[1]));
    for (size_t k = 0; k < 4; k++) {
        assert_true(isfinite(l.d_hidden[k]));
        for (size_t r = 40; r < 50; r++) assert_true(l.d_table[r * 4 + k] == 0);
    }
    free_loss(&l);
}

static void what_is_not_finite_is_seen(void **state)
{
    (void)state;
    loss_case l = make_loss(50, 4, 3, 4);
    want_all(&l);
    l.c.h[4] = NAN; /* of vector 1 */
    wte_loss out = run(&l);
    assert_true(isnan(out.loss) && isnan(l.each[1]) && isfinite(l.each[0]));
    assert_true(isnan(l.d_hidden[4]) && isfinite(l.d_hidden[0]) && isnan(l.d_table[0]));
    memset(l.d_table, 0, 50 * 4 * sizeof(float));
    l.targets[1] = -100; /* and no part of it is left */
    out = run(&l);
    assert_true(isfinite(out.loss) && isfinite(l.d_table[0]) && l.d_hidden[4] == 0);
    free_loss(&l);
}

/* Two rows share the largest logit, of 3e38: the sum of both is no number that f64 tells from it.
 */
static void logits_of_any_size_keep_their_probability(void **state)
{
    (void)state;
    loss_case l = make_loss(3, 1, 1, 1);
    want_all(&l);
    const float rows[] = { 3e38f, 3e38f, 1 };
    l.c.table.data = rows;
    l.c.h[0] = 1;
    for (int64_t t = 0; t < 2; t++) {
        memset(l.d_table, 0, 3 * sizeof(float));
        l.targets[0] = t;
        const wte_loss out = run(&l);
        assert_float_equal(out.loss, log(2), 1e-12);
        assert_float_equal(l.d_table[0], t == 0 ? -0.5f : 0.5f, 1e-6f);
        assert_float_equal(l.d_table[1], t == 1 ? -0.5f : 0.5f, 1e-6f);
        assert_true(l.d_table[2] == 0);
    }
    free_loss(&l);
}

static void check_same(loss_case *l, const loss_case *expected, const wte_loss *loss,
                       wte_dtype type, const void *table)
{
    l->c.table.dtype = type;
    l->c.table.data = table;
    memset(l->d_table, 0, l->c.rows * l->c.dim * sizeof(float));
    memset(l->d_bias, 0, l->c.rows * sizeof(float));
    want_all(l);
    const wte_loss out = run(l);
    assert_memory_equal(&out, loss, sizeof out);
    assert_memory_equal(l->d_hidden, expected->d_hidden, l->c.n * l->c.dim * sizeof(float));
    assert_memory_equal(l->d_table, expected->d_table, l->c.rows * l->c.dim * sizeof(float));
    assert_memory_equal(l->d_bias, expected->d_bias, l->c.rows * sizeof(float));
}

static void threads_and_memory_change_no_bit(void **state)
{
    (void)state;
    for (uint32_t skip = 0; skip < 2; skip++) {
        loss_case one = make_loss(2000, 130, 100, 8), other = make_loss(2000, 130, 100, 8);
        uint64_t least, best;
        one.how.label_smoothing = other.how.label_smoothing = 0.1f;
        one.how.skip_below = other.how.skip_below = skip ? 1e-3f : 0;
        want_all(&one);
        want_all(&other);
        const wte_loss loss = run(&one);
        assert_ok(wte_loss_workspace_size(&one.c.table, &one.c.hidden, &one.opt, &one.how, &least,
                                          &best, &err),
                  err);
        assert_true(least * 2 < best);
        for (uint32_t threads = 1; threads <= 8; threads *= 2)
            for (uint32_t small = 0; small < 2; small++) {
                assert_ok(wte_pool_create(threads, &other.opt.pool, &err), err);
                other.opt.work_bytes = small ? least + 400000 * threads : 0;
                check_same(&other, &one, &loss, WTE_F32, other.c.w);
                wte_pool_free(other.opt.pool);
            }
        free_loss(&one);
        free_loss(&other);
    }
}

/* What a caller sees of the progress, and when he has seen enough. */
typedef struct watcher {
    uint64_t calls, done, total, stop_at;
} watcher;

static bool watch(void *ctx, uint64_t done, uint64_t total)
{
    watcher *w = ctx;
    assert_true(done >= w->done && done <= total);
    w->calls++;
    w->done = done;
    w->total = total;
    return w->calls != w->stop_at;
}

static void progress_is_told_in_every_phase(void **state)
{
    (void)state;
    loss_case l = make_loss(30000, 130, 100, 8), plain = make_loss(30000, 130, 100, 8);
    watcher w = { .calls = 0 };
    const wte_progress progress = { watch, &w };
    const uint64_t products = UINT64_C(30000) * 100;
    l.opt.progress = &progress;
    run(&l);
    assert_true(w.calls > 1);
    assert_int_equal(w.done, products);
    assert_int_equal(w.total, products);
    want_all(&l);
    want_all(&plain);
    const uint64_t forward = w.calls;
    w = (watcher){ .calls = 0 };
    const wte_loss loss = run(&plain);
    check_same(&l, &plain, &loss, WTE_F32, l.c.w);
    assert_true(w.calls > forward + 1);
    assert_int_equal(w.done, 3 * products);
    assert_int_equal(w.total, 3 * products);
    for (uint64_t stop = 1; stop <= w.calls; stop += forward) {
        watcher stopped = { .stop_at = stop };
        const wte_progress until = { watch, &stopped };
        wte_loss out;
        l.opt.progress = &until;
        assert_int_equal(
            wte_head_loss(&l.c.table, &l.c.hidden, ids_of(&l), &l.opt, &l.how, &out, &err),
            WTE_E_CANCELLED);
        assert_int_equal(stopped.calls, stop);
        assert_int_equal(err.where, stopped.done);
    }
    free_loss(&l);
    free_loss(&plain);
}

typedef struct source {
    const float *w;
    uint64_t dim, fail_at;
} source;

static wte_status read_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *e)
{
    const source *s = ctx;
    for (size_t i = 0; i < n; i++) {
        if (ids[i] == s->fail_at) {
            *e = (wte_error){ .status = WTE_E_IO, .where = ids[i], .message = "cannot read" };
            return WTE_E_IO;
        }
        memcpy((char *)out + i * s->dim * 4, s->w + ids[i] * s->dim, s->dim * 4);
    }
    return WTE_OK;
}

static void tables_may_be_read_and_of_other_types(void **state)
{
    (void)state;
    loss_case one = make_loss(700, 130, 30, 8), other = make_loss(700, 130, 30, 8);
    uint16_t *half = malloc(700 * 130 * sizeof *half);
    assert_non_null(half);
    for (size_t i = 0; i < 700 * 130; i++) one.c.w[i] = other.c.w[i] = roundf(one.c.w[i] * 64) / 64;
    want_all(&one);
    const wte_loss loss = run(&one);
    assert_ok(wte_convert(WTE_F32, one.c.w, WTE_F16, half, 700 * 130, NULL, &err), err);
    other.c.table.row_bytes = 130 * 2;
    check_same(&other, &one, &loss, WTE_F16, half);
    other.c.table.row_bytes = 130 * 4;
    source s = { other.c.w, 130, UINT64_MAX };
    other.c.table.read_rows = read_rows;
    other.c.table.ctx = &s;
    check_same(&other, &one, &loss, WTE_F32, NULL);
    s.fail_at = 400;
    wte_loss out;
    assert_fails(wte_head_loss(&other.c.table, &other.c.hidden, ids_of(&other), &other.opt,
                               &other.how, &out, &err),
                 err, WTE_E_IO, 400, "cannot read");
    free(half);
    free_loss(&one);
    free_loss(&other);
}

/* The error that is stated: n times skip_below times the largest |hidden|, here with n slopes that
 * count 1 / n each. */
static void what_is_skipped_is_less_than_was_allowed(void **state)
{
    (void)state;
    loss_case all = make_loss(3000, 200, 3, 3), some = make_loss(3000, 200, 3, 3);
    for (uint64_t i = 0; i < 3 * 200; i++) all.c.h[i] = some.c.h[i] *= 8;
    want_all(&all);
    want_all(&some);
    some.how.skip_below = 1e-2f;
    const wte_loss a = run(&all), b = run(&some);
    assert_memory_equal(&a, &b, sizeof a);
    double worst = 0;
    for (uint64_t i = 0; i < 3000 * 200; i++)
        worst = fmax(worst, fabs((double)all.d_table[i] - (double)some.d_table[i]));
    assert_true(worst > 0 && worst <= 1e-2 * 8);
    free_loss(&all);
    free_loss(&some);
}

static const struct CMUnitTest tests[] = {
    TEST("loss and gradients are those of doubles", loss_and_gradients_are_those_of_doubles),
    TEST("options do what they do in doubles", options_are_those_of_doubles),
    TEST("a row may be the id to ignore", a_row_may_be_the_id_to_ignore),
    TEST("gradients of the table are added", gradients_of_the_table_are_added),
    TEST("nothing to learn from gives NaN, or 0 as a sum", nothing_to_learn_from),
    TEST("a masked target costs everything", a_masked_target_costs_everything),
    TEST("what is not finite is seen", what_is_not_finite_is_seen),
    TEST("logits of any size keep their probability", logits_of_any_size_keep_their_probability),
    TEST("threads and memory change no bit", threads_and_memory_change_no_bit),
    TEST("progress is told in every phase", progress_is_told_in_every_phase),
    TEST("tables may be read, and of other types", tables_may_be_read_and_of_other_types),
    TEST("what is skipped is less than was allowed", what_is_skipped_is_less_than_was_allowed),
};
TEST_MAIN(tests)
