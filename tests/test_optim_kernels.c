/* The kernels of optimizers: every instruction set against the plain one, bit for bit; and that one
 * where a statement of its own is short. */
#include "test.h"

#include <math.h>

#include "num/kernels.h"

/* Two vectors of the longest kind and a bit; then widths around groups of vectors and lines. */
#define WIDE 36u
static const size_t more_widths[] = { 47, 63, 64, 65, 96, 100, 127, 128, 129, 200, 257 };
#define N_WIDTHS (WIDE + sizeof more_widths / sizeof *more_widths)
#define MOST     257u
#define N_STEPS  4096u

static size_t width(size_t i)
{
    return i < WIDE ? 1 + i : more_widths[i - WIDE];
}

/* kind 0: usual numbers; 1: tiny ones, zeros among them; 2: any bits */
static float some_number(uint64_t *seed, int kind)
{
    const uint64_t noise = test_noise(seed);
    const uint32_t bits = (uint32_t)noise;
    float x = (float)(int32_t)bits * 0x1p-31f;
    if (kind == 1) x = noise >> 32 & 3 ? x * 0x1p-125f : 0.0f;
    if (kind == 2) memcpy(&x, &bits, sizeof x);
    return x;
}

/* Which kernel, and how. */
typedef struct setting {
    bool adam, adagrad, rowwise, momentum, nesterov, most, l2, idle;
} setting;

enum { P, M, V, Y, G, S, ARRAYS };
#define SCENE_ROWS 3u

/* Rows whose arrays end at unreadable pages. */
typedef struct scene {
    wte__update job;
    wte__optim_row place[SCENE_ROWS];
    float *array[SCENE_ROWS][ARRAYS];
    size_t n;
} scene;

static size_t length(const scene *s, size_t array)
{
    return array == S ? 1 : s->n;
}

static void make_row(scene *s, size_t r, const setting *k, int kind, uint64_t *seed)
{
    float **array = s->array[r];
    for (size_t a = 0; a < ARRAYS; a++) {
        array[a] = test_guarded(length(s, a) * sizeof(float));
        for (size_t i = 0; i < length(s, a); i++) array[a][i] = some_number(seed, kind);
        for (size_t i = 0; i < length(s, a) && (a == V || a == Y || a == S); i++)
            array[a][i] = fabsf(array[a][i]) * (kind == 2 ? 1.0f : 0x1p-10f);
    }
    wte__optim_row *at = &s->place[r];
    at->p = array[P];
    at->m = k->adam || k->momentum ? array[M] : NULL;
    at->v = k->adam || k->adagrad ? array[V] : NULL;
    at->max_v = k->most ? array[Y] : NULL;
    at->g = k->idle ? NULL : array[G];
    at->sum = k->rowwise ? array[S] : NULL;
    at->grad_scale = r == 1 ? 0.75f : 1;
}

/* Row 2 of the second kind has a gradient that is not finite. */
static scene *make_scene(const setting *k, size_t n, int kind, const wte__factors *by,
                         uint64_t seed)
{
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->n = n;
    s->job = (wte__update){ .n = n, .b1 = 0.9f, .c1 = 0.1f, .b2 = 0.999f, .c2 = 0.001f };
    s->job.eps = 1e-8f;
    s->job.l2 = k->l2 ? 0.01f : 0;
    s->job.nesterov = k->nesterov;
    s->job.by = by;
    for (size_t r = 0; r < SCENE_ROWS; r++) make_row(s, r, k, kind, &seed);
    if (kind == 1) s->array[2][G][n - 1] = INFINITY;
    s->job.at = s->place;
    s->job.rows = k->idle ? 1 : SCENE_ROWS;
    s->job.prefetch_end = SCENE_ROWS;
    s->job.prefetch_distance = 2;
    return s;
}
static void free_scene(scene *s)
{
    for (size_t r = 0; r < SCENE_ROWS; r++)
        for (size_t a = 0; a < ARRAYS; a++)
            test_guarded_free(s->array[r][a], length(s, a) * sizeof(float));
    free(s);
}

/* What was found, row by row. */
static uint32_t run(const wte__kernels *set, const setting *k, const scene *s, size_t steps,
                    size_t decay_only_from)
{
    uint32_t found = 0;
    if (k->idle)
        return k->adam ? set->catchup_adam(&s->job, steps, decay_only_from)
                       : set->catchup_sgd(&s->job, steps, decay_only_from);
    if (k->adam)
        set->step_adam(&s->job);
    else if (k->adagrad)
        set->step_adagrad(&s->job);
    else if (k->rowwise)
        set->step_rowwise_adagrad(&s->job);
    else
        set->step_sgd(&s->job);
    for (size_t r = 0; r < SCENE_ROWS; r++) found |= s->place[r].found << 4 * r;
    return found;
}

static bool same(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void compare_scenes(const char *isa, const scene *got, const scene *want, int kind)
{
    for (size_t r = 0; r < SCENE_ROWS; r++)
        for (size_t a = 0; a < ARRAYS; a++)
            for (size_t c = 0; c < length(got, a); c++)
                if (!same(got->array[r][a][c], want->array[r][a][c]))
                    fail_msg("%s: row %zu, array %zu, column %zu of %zu, kind %d: %.9g is not %.9g",
                             isa, r, a, c, got->n, kind, (double)got->array[r][a][c],
                             (double)want->array[r][a][c]);
}

/* What plain C found is what has happened. */
static void check_found(const setting *k, const scene *after, const scene *before, uint32_t found)
{
    for (size_t r = 0; r < (k->idle ? 1 : SCENE_ROWS); r++) {
        const size_t bytes = after->n * sizeof(float);
        bool finite = true;
        for (size_t c = 0; c < after->n && !k->idle; c++)
            finite = finite && isfinite(before->array[r][G][c] * before->place[r].grad_scale);
        const bool changed = memcmp(after->array[r][P], before->array[r][P], bytes) != 0;
        assert_int_equal(found >> 4 * r & 3, finite ? changed : WTE__GRAD_NOT_FINITE);
        for (size_t a = 0; a < ARRAYS && !finite; a++)
            assert_memory_equal(after->array[r][a], before->array[r][a],
                                length(after, a) * sizeof(float));
    }
}

static void check(const setting *k, size_t n, int kind, const wte__factors *by, size_t steps,
                  size_t decay_only_from)
{
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const uint64_t seed = n * 31 + (uint64_t)kind + 7;
    scene *want = make_scene(k, n, kind, by, seed), *start = make_scene(k, n, kind, by, seed);
    const uint32_t found = run(sets[0], k, want, steps, decay_only_from);
    check_found(k, want, start, found);
    for (size_t i = 1; i < n_sets; i++) {
        scene *got = make_scene(k, n, kind, by, seed);
        const uint32_t also = run(sets[i], k, got, steps, decay_only_from);
        if (kind != 2) assert_int_equal(also, found);
        compare_scenes(sets[i]->isa, got, want, kind);
        free_scene(got);
    }
    free_scene(want);
    free_scene(start);
}

static const setting settings[] = {
    { .l2 = false },
    { .l2 = true },
    { .momentum = true },
    { .momentum = true, .l2 = true },
    { .momentum = true, .nesterov = true },
    { .momentum = true, .nesterov = true, .l2 = true },
    { .adam = true },
    { .adam = true, .l2 = true },
    { .adam = true, .most = true },
    { .adam = true, .most = true, .l2 = true },
    { .adagrad = true },
    { .adagrad = true, .l2 = true },
    { .rowwise = true },
    { .rowwise = true, .l2 = true },
};
#define N_SETTINGS (sizeof settings / sizeof *settings)

static void steps_have_the_same_bits(void **state)
{
    (void)state;
    const wte__factors by = { 0.01f, 1.5f, 0.999f, 0.75f };
    for (size_t k = 0; k < N_SETTINGS; k++)
        for (size_t w = 0; w < N_WIDTHS; w++)
            for (int kind = 0; kind < 3; kind++) check(&settings[k], width(w), kind, &by, 1, 1);
}

#define LISTED_ROWS 7u
#define LISTED      6u

/* A table with its state, and vectors, in one piece each, which end at unreadable pages. */
typedef struct listed_scene {
    float *array[ARRAYS];
    uint8_t marks[LISTED_ROWS], found[LISTED];
    size_t n;
} listed_scene;

static void make_listed(listed_scene *s, size_t n, int kind)
{
    uint64_t seed = n + 1;
    memset(s, 0, sizeof *s);
    s->n = n;
    for (size_t a = 0; a < ARRAYS; a++) {
        const size_t some = a == S ? LISTED_ROWS : LISTED_ROWS * n;
        s->array[a] = test_guarded(some * sizeof(float));
        for (size_t i = 0; i < some; i++) {
            const float x = some_number(&seed, kind);
            s->array[a][i] = a == V || a == Y || a == S ? fabsf(x) : x;
        }
    }
    s->array[G][3 * n] = -INFINITY;
}
static void free_listed(listed_scene *s)
{
    for (size_t a = 0; a < ARRAYS; a++)
        test_guarded_free(s->array[a], (a == S ? LISTED_ROWS : LISTED_ROWS * s->n) * sizeof(float));
}

static const uint64_t listed_row[LISTED] = { 6, 0, 2, 5, 1, 3 };
static const uint32_t listed_from[LISTED] = { 6, 6, 6, 3, 3, 0 }; /* the third is not finite */
static const float listed_by[LISTED] = { 1, 1, 0.5f, 1, 2, -0.25f };

static void run_listed(const wte__kernels *set, const setting *k, listed_scene *s, bool weighted,
                       bool by_place)
{
    const wte__factors by = { 0.01f, 1.5f, 0.999f, 0.75f };
    wte__optim_row place[LISTED], first = { .p = s->array[P], .g = s->array[G], .grad_scale = 1 };
    wte__update job = {
        .at = place, .rows = 4, .prefetch_end = LISTED, .prefetch_distance = 3, .n = s->n, .by = &by
    };
    job.b1 = job.b2 = 0.75f;
    job.c1 = job.c2 = 0.25f;
    job.eps = 1e-8f;
    job.l2 = k->l2 ? 0.01f : 0;
    first.v = k->adam || k->adagrad ? s->array[V] : NULL;
    first.m = k->adam ? s->array[M] : NULL;
    first.max_v = k->most ? s->array[Y] : NULL;
    first.sum = k->rowwise ? s->array[S] : NULL;
    const wte__listed list = { first,    listed_row, listed_from, s->n, weighted ? listed_by : NULL,
                               s->marks, s->found };
    for (size_t i = 0; i < LISTED; i++) {
        const size_t at = (size_t)listed_row[i] * s->n;
        place[i] = (wte__optim_row){ .p = first.p + at, .grad_scale = weighted ? listed_by[i] : 1 };
        place[i].g = first.g + listed_from[i] * s->n;
        place[i].m = first.m ? first.m + at : NULL;
        place[i].v = first.v ? first.v + at : NULL;
        place[i].max_v = first.max_v ? first.max_v + at : NULL;
        place[i].sum = first.sum ? first.sum + listed_row[i] : NULL;
    }
    if (!by_place) job.list = &list;
    if (k->adam)
        set->step_adam(&job);
    else if (k->adagrad)
        set->step_adagrad(&job);
    else if (k->rowwise)
        set->step_rowwise_adagrad(&job);
    else
        set->step_sgd(&job);
    for (size_t i = 0; i < job.rows && by_place; i++) {
        s->found[i] = (uint8_t)place[i].found;
        if (place[i].found & WTE__ROW_CHANGED) s->marks[listed_row[i]] = WTE__ROW_CHANGED;
    }
}

/* Rows by number, of which several in a row may share a gradient, and some are not finite. */
static void rows_that_are_listed_take_the_steps_of_places(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    for (size_t k = 0; k < N_SETTINGS; k++)
        for (size_t w = 0; w < N_WIDTHS && !settings[k].momentum; w++)
            for (int weighted = 0; weighted < 2; weighted++) {
                listed_scene want;
                make_listed(&want, width(w), weighted);
                run_listed(sets[0], &settings[k], &want, weighted, true);
                assert_int_equal(want.found[3], WTE__GRAD_NOT_FINITE);
                assert_int_equal(want.marks[5] + want.marks[1] + want.marks[3], 0);
                for (size_t i = 0; i < n_sets; i++) {
                    listed_scene got;
                    make_listed(&got, width(w), weighted);
                    run_listed(sets[i], &settings[k], &got, weighted, false);
                    assert_memory_equal(got.found, want.found, sizeof want.found);
                    assert_memory_equal(got.marks, want.marks, sizeof want.marks);
                    for (size_t a = 0; a < ARRAYS; a++)
                        assert_memory_equal(got.array[a], want.array[a],
                                            (a == S ? 1 : got.n) * LISTED_ROWS * sizeof(float));
                    free_listed(&got);
                }
                free_listed(&want);
            }
}

/* Factors as an optimizer has them: a learning rate that falls, or does not. */
static void make_factors(wte__factors *by, size_t n, float lr, float fall, float keep)
{
    for (size_t i = 0; i < n; i++) {
        by[i] = (wte__factors){ lr, 1.0f + 30.0f / (float)(i + 1), keep, 1.0f };
        lr *= fall;
    }
}

static void idle_steps_have_the_same_bits(void **state)
{
    (void)state;
    static wte__factors by[N_STEPS];
    static const size_t counts[] = { 0, 1, 2, 15, 16, 17, 33, 200 };
    for (size_t k = 0; k < N_SETTINGS; k++) {
        setting idle = settings[k];
        if (idle.adagrad || (!idle.adam && !idle.momentum)) continue;
        idle.idle = true;
        for (size_t w = 0; w < N_WIDTHS; w += w < 8 ? 1 : 5)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                make_factors(by, counts[c], 0.01f, 0.99f, c % 2 ? 0.9999f : 1.0f);
                check(&idle, width(w), (int)(c % 2), by, counts[c], c % 3 ? 0 : counts[c]);
            }
    }
}

/* The plain kernel takes every step; the others stop where nothing changes any more. */
static void idle_steps_that_are_cut_short_change_nothing(void **state)
{
    (void)state;
    static wte__factors by[N_STEPS];
    static const float keeps[] = { 1.0f, 0.99999f, 1 - 0x1p-10f };
    for (size_t k = 0; k < N_SETTINGS; k++) {
        setting idle = settings[k];
        if (idle.adagrad || (!idle.adam && !idle.momentum)) continue;
        idle.idle = true;
        for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++)
            for (int kind = 0; kind < 2; kind++) {
                make_factors(by, N_STEPS, 0.5f, i == 1 ? 0.999f : 1.0f, keeps[i]);
                check(&idle, 37, kind, by, N_STEPS, 0);
            }
    }
}

static void squares_and_finiteness_are_told_alike(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    uint64_t seed = 3;
    for (size_t w = 0; w < N_WIDTHS; w++) {
        const size_t n = width(w);
        float *g = test_guarded(n * sizeof *g), *p = test_guarded(n * sizeof *p);
        double sum[2] = { 0, 0 };
        for (size_t i = 0; i < n; i++) {
            g[i] = some_number(&seed, 0);
            p[i] = some_number(&seed, 0);
            sum[0] += (double)g[i] * (double)g[i];
            sum[1] += pow((double)g[i] + 0.5 * (double)p[i], 2);
        }
        for (size_t s = 0; s < n_sets; s++)
            for (int l2 = 0; l2 < 2; l2++) {
                const float got = sets[s]->sumsq_decayed(g, p, l2 ? 0.5f : 0, n);
                const float want = sets[0]->sumsq_decayed(g, p, l2 ? 0.5f : 0, n);
                assert_memory_equal(&got, &want, sizeof got);
                assert_true(fabs((double)got - sum[l2]) <= 1e-6 * sum[l2]);
            }
        for (size_t s = 0; s < n_sets; s++) {
            assert_true(sets[s]->all_finite(g, n));
            for (size_t i = 0; i < n; i++) {
                const float kept = g[i], bad[] = { INFINITY, -INFINITY, NAN };
                g[i] = bad[i % 3];
                assert_false(sets[s]->all_finite(g, n));
                g[i] = 0x1.fffffep127f;
                assert_true(sets[s]->all_finite(g, n));
                g[i] = kept;
            }
        }
        test_guarded_free(g, n * sizeof *g);
        test_guarded_free(p, n * sizeof *p);
    }
}

typedef void (*chance_kernel)(const float *src, void *dst, size_t n, uint64_t key);
static chance_kernel chance_of(const wte__kernels *set, bool half)
{
    return half ? set->stochastic_round_f16 : set->stochastic_round_bf16;
}

static void chance_has_the_same_bits(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    uint64_t seed = 11;
    for (size_t w = 0; w < N_WIDTHS; w++)
        for (int half = 0; half < 2; half++) {
            const size_t n = width(w);
            float *x = test_guarded(n * sizeof *x);
            uint16_t *got = test_guarded(n * sizeof *got), want[MOST];
            for (size_t i = 0; i < n; i++) x[i] = some_number(&seed, 2);
            chance_of(sets[0], half)(x, want, n, seed);
            for (size_t s = 1; s < n_sets; s++) {
                chance_of(sets[s], half)(x, got, n, seed);
                assert_memory_equal(got, want, n * sizeof *got);
            }
            test_guarded_free(x, n * sizeof *x);
            test_guarded_free(got, n * sizeof *got);
        }
}

static float widened(bool half, uint16_t code)
{
    float x;
    if (half)
        wte__kernels_get()->f16_to_f32(&code, &x, 1);
    else
        wte__kernels_get()->bf16_to_f32(&code, &x, 1);
    return x;
}

/* x falls on one of its two neighbours, and on the upper one as often as it is near to it: within
 * five standard deviations. */
static void check_chance(bool half, float x, float below, float above)
{
    enum { DRAWS = 1 << 16 };
    static float source[DRAWS];
    static uint16_t code[DRAWS];
    const double up = ((double)x - (double)below) / ((double)above - (double)below);
    double ups = 0;
    for (size_t i = 0; i < DRAWS; i++) source[i] = x;
    chance_of(wte__kernels_get(), half)(source, code, DRAWS, 99);
    for (size_t i = 0; i < DRAWS; i++) {
        const float got = widened(half, code[i]);
        assert_true(got == below || got == above);
        ups += got == above;
    }
    assert_true(fabs(ups - DRAWS * up) <= 5 * sqrt(DRAWS * up * (1 - up)) + 1e-9);
}

static void chance_is_unbiased(void **state)
{
    (void)state;
    /* spacing of bf16 from 1 on: 2^-7; of f16 2^-10, and 2^-24 below 2^-14 */
    static const float part[] = { 0, 0.5f, 0.25f, 0.125f, 0.8125f };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        check_chance(false, 1 + part[i] * 0x1p-7f, 1, 1 + 0x1p-7f);
        check_chance(false, -3 - part[i] * 0x1p-6f, -3, -3 - 0x1p-6f);
        check_chance(false, part[i] * 0x1p-133f, 0, 0x1p-133f);
        check_chance(true, 1 + part[i] * 0x1p-10f, 1, 1 + 0x1p-10f);
        check_chance(true, -0x1p-14f - part[i] * 0x1p-24f, -0x1p-14f, -0x1p-14f - 0x1p-24f);
        check_chance(true, (7 + part[i]) * 0x1p-24f, 7 * 0x1p-24f, 8 * 0x1p-24f);
        check_chance(true, part[i] * 0x1p-24f, 0, 0x1p-24f);
    }
    check_chance(true, 0x1p-30f, 0, 0x1p-24f);
    check_chance(true, 65504, 65504, INFINITY);
    for (int half = 0; half < 2; half++) {
        const float x[] = { NAN, INFINITY, -INFINITY };
        uint16_t code[3];
        chance_of(wte__kernels_get(), half)(x, code, 3, 1);
        assert_true(isnan(widened(half, code[0])));
        assert_true(widened(half, code[1]) == INFINITY && widened(half, code[2]) == -INFINITY);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_have_the_same_bits),
        cmocka_unit_test(rows_that_are_listed_take_the_steps_of_places),
        cmocka_unit_test(idle_steps_have_the_same_bits),
        cmocka_unit_test(idle_steps_that_are_cut_short_change_nothing),
        cmocka_unit_test(squares_and_finiteness_are_told_alike),
        cmocka_unit_test(chance_has_the_same_bits),
        cmocka_unit_test(chance_is_unbiased),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
