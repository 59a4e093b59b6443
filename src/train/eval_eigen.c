/* Eigenvalues and eigenvectors of a symmetric matrix without negative eigenvalues, in f64:
 * reflections of Householder make the matrix tridiagonal, rotations of the QL method with implicit
 * shifts make that diagonal, and the eigenvectors of the one become those of the other (J. H.
 * Wilkinson and C. Reinsch, "Handbook for Automatic Computation", volume 2, Linear Algebra, 1971,
 * II/2 and II/4).
 *
 * What makes it fast is how often memory is gone through: a reflection is applied to a row of the
 * matrix in the moment in which the next one is multiplied with that row, rotations are gathered
 * and applied to strips of columns, and reflections to blocks of vectors. Sums have one order,
 * whatever the number of threads. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/thread.h"
#include "train/eval.h"

#define SUMS 8u

/* Rows of the matrix are dealt out to so many sums of products. */
#define HANDS 16u
/* Columns of a strip of eigenvectors, and rotations that are gathered before they are applied: a
 * strip of 4096 rows fits the second-level cache. */
#define STRIP     32u
#define ROTATIONS 16384u
/* Vectors that are reflected together. */
#define BLOCK 16u
/* An eigenvalue takes two or three. */
#define SWEEPS_MOST 60u

static double sum_up(const double sum[SUMS])
{
    double all = 0;
    for (size_t s = 0; s < SUMS; s++) all += sum[s];
    return all;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum[SUMS] = { 0 };
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t s = 0; s < SUMS; s++) sum[s] += a[i + s] * b[i + s];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return sum_up(sum);
}

/* a = cosine a + sine b, b = cosine b - sine a */
static void turn(double *a, double *b, size_t n, double cosine, double sine)
{
    double x[SUMS], y[SUMS];
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS) {
        for (size_t s = 0; s < SUMS; s++) {
            x[s] = cosine * a[i + s] + sine * b[i + s];
            y[s] = cosine * b[i + s] - sine * a[i + s];
        }
        memcpy(a + i, x, sizeof x);
        memcpy(b + i, y, sizeof y);
    }
    for (; i < n; i++) {
        const double p = a[i], q = b[i];
        a[i] = cosine * p + sine * q;
        b[i] = cosine * q - sine * p;
    }
}

/* Reflections ---------------------------------------------------------------------------------- */

typedef struct reduction {
    double *a;
    size_t n, k;      /* row k is made tridiagonal; reflection k is 1 - scale[k] u u^T, where u is
                         row k from column k + 1 on */
    double *scale;    /* n */
    const double *v;  /* the reflection before, which the matrix has still to take: - v w^T - */
    double *w;        /* w v^T */
    double *products; /* HANDS x n */
    double *next;     /* w of this reflection */
} reduction;

/* x = row - vi w - wi v, kept; p += ui x; the product of x and u. */
static double take_row(double *restrict row, const double *restrict v, const double *restrict w,
                       const double *restrict u, double *restrict p, const double by[3], size_t n)
{
    const double vi = by[0], wi = by[1], ui = by[2];
    double sum[SUMS] = { 0 };
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t s = 0; s < SUMS; s++) {
            const double x = row[i + s] - (vi * w[i + s] + wi * v[i + s]);
            row[i + s] = x;
            sum[s] += x * u[i + s];
            p[i + s] += x * ui;
        }
    for (; i < n; i++) {
        const double x = row[i] - (vi * w[i] + wi * v[i]);
        row[i] = x;
        sum[0] += x * u[i];
        p[i] += x * ui;
    }
    return sum_up(sum);
}

/* Rows of one hand, of which the part right of the diagonal is kept: its mirror image is in p. */
static void take_rows(void *ctx, uint64_t hand)
{
    const reduction *r = ctx;
    const size_t n = r->n, first = r->k + 1;
    const double *u = r->a + r->k * n;
    double *p = r->products + hand * n;
    memset(p + first, 0, (n - first) * sizeof *p);
    for (size_t i = first + hand; i < n; i += HANDS) {
        double *row = r->a + i * n;
        const double by[3] = { r->v[i], r->w[i], u[i] };
        row[i] -= 2 * by[0] * by[1];
        p[i] += row[i] * by[2];
        p[i] +=
            take_row(row + i + 1, r->v + i + 1, r->w + i + 1, u + i + 1, p + i + 1, by, n - i - 1);
    }
}

/* Row k as the reflection before leaves it. */
static void take_last(const reduction *r)
{
    double *row = r->a + r->k * r->n;
    const double vk = r->v[r->k], wk = r->w[r->k];
    for (size_t c = r->k; c < r->n; c++) row[c] -= vk * r->w[c] + wk * r->v[c];
}

/* Row k to u, the number beside the diagonal is returned. */
static double reflect(const reduction *r)
{
    double *u = r->a + r->k * r->n + r->k + 1;
    const size_t n = r->n - r->k - 1;
    const double first = u[0], rest = dot(u + 1, u + 1, n - 1);
    r->scale[r->k] = 0;
    if (rest == 0) return first;
    const double beside = -copysign(sqrt(first * first + rest), first);
    u[0] = first - beside;
    r->scale[r->k] = -1 / (beside * u[0]);
    return beside;
}

/* w = scale A u - half of its part along u */
static void make_next(const reduction *r)
{
    const size_t n = r->n, first = r->k + 1;
    const double *u = r->a + r->k * n;
    for (size_t c = first; c < n; c++) {
        double sum = 0;
        for (size_t h = 0; h < HANDS; h++) sum += r->products[h * n + c];
        r->next[c] = r->scale[r->k] * sum;
    }
    const double along = dot(r->next + first, u + first, n - first);
    const double half = r->scale[r->k] / 2 * along;
    for (size_t c = first; c < n; c++) r->next[c] -= half * u[c];
}

/* work: HANDS + 2 rows of n zeros. */
static void make_tridiagonal(reduction *r, double *diagonal, double *beside, double *work,
                             wte_pool *pool)
{
    const size_t n = r->n;
    r->w = work;
    r->v = work;
    r->next = work + n;
    r->products = work + 2 * n;
    for (r->k = 0; r->k < n; r->k++) {
        take_last(r);
        diagonal[r->k] = r->a[r->k * n + r->k];
        if (r->k + 2 > n) break;
        beside[r->k] = r->a[r->k * n + r->k + 1];
        if (r->k + 3 > n) continue;
        beside[r->k] = reflect(r);
        wte__parallel(pool, HANDS, take_rows, r);
        make_next(r);
        double *done = r->w;
        r->v = r->a + r->k * n;
        r->w = r->next;
        r->next = done;
    }
    beside[n - 1] = 0;
}

/* Rotations ------------------------------------------------------------------------------------ */

typedef struct rotation {
    double cosine, sine;
    size_t row; /* and the one behind it */
} rotation;

typedef struct turning {
    double *rows; /* NULL: nobody wants eigenvectors */
    size_t n, count;
    rotation *rotations; /* ROTATIONS */
    wte_pool *pool;
} turning;

static void turn_strip(void *ctx, uint64_t strip)
{
    const turning *t = ctx;
    const size_t first = (size_t)strip * STRIP;
    const size_t n = t->n - first < STRIP ? t->n - first : STRIP;
    for (size_t i = 0; i < t->count; i++) {
        const rotation *r = &t->rotations[i];
        double *row = t->rows + r->row * t->n + first;
        turn(row + t->n, row, n, r->cosine, r->sine);
    }
}

static void turn_all(turning *t)
{
    wte__parallel(t->pool, (t->n + STRIP - 1) / STRIP, turn_strip, t);
    t->count = 0;
}

static void turn_later(turning *t, size_t row, double cosine, double sine)
{
    if (!t->rows) return;
    t->rotations[t->count++] = (rotation){ cosine, sine, row };
    if (t->count == ROTATIONS) turn_all(t);
}

/* One sweep over rows first .. last with a shift near to an eigenvalue; d: the diagonal, e: beside
 * it. */
static void sweep(turning *t, double *d, double *e, size_t first, size_t last)
{
    double g = (d[first + 1] - d[first]) / (2 * e[first]);
    g = d[last] - d[first] + e[first] / (g + copysign(sqrt(g * g + 1), g));
    double sine = 1, cosine = 1, moved = 0;
    for (size_t i = last; i-- > first;) {
        const double f = sine * e[i], b = cosine * e[i], length = sqrt(f * f + g * g);
        e[i + 1] = length;
        if (length == 0) { /* the matrix falls in two */
            d[i + 1] -= moved;
            e[last] = 0;
            return;
        }
        sine = f / length;
        cosine = g / length;
        g = d[i + 1] - moved;
        const double r = (d[i] - g) * sine + 2 * cosine * b;
        moved = sine * r;
        d[i + 1] = g + moved;
        g = cosine * r - b;
        turn_later(t, i, cosine, sine);
    }
    d[first] -= moved;
    e[first] = g;
    e[last] = 0;
}

static void make_diagonal(turning *t, double *d, double *e)
{
    for (size_t first = 0; first < t->n; first++)
        for (uint32_t round = 0; round < SWEEPS_MOST; round++) {
            size_t last = first;
            while (last + 1 < t->n &&
                   fabs(e[last]) > DBL_EPSILON * (fabs(d[last]) + fabs(d[last + 1])))
                last++;
            if (last == first) break;
            sweep(t, d, e, first, last);
        }
    if (t->rows) turn_all(t);
}

/* Back ----------------------------------------------------------------------------------------- */

typedef struct returning {
    const reduction *r;
    double *rows;
} returning;

/* Eigenvectors of the tridiagonal matrix to those of the one that it was made from. */
static void reflect_block(void *ctx, uint64_t block)
{
    const returning *t = ctx;
    const reduction *r = t->r;
    const size_t n = r->n, first = (size_t)block * BLOCK;
    const size_t last = n - first < BLOCK ? n : first + BLOCK;
    for (size_t k = n - 2; k-- > 0;) {
        const double *u = r->a + k * n + k + 1;
        if (r->scale[k] == 0) continue;
        for (size_t i = first; i < last; i++) {
            double *row = t->rows + i * n + k + 1;
            const double by = r->scale[k] * dot(row, u, n - k - 1);
            for (size_t c = 0; c < n - k - 1; c++) row[c] -= by * u[c];
        }
    }
}

typedef struct place {
    double value;
    size_t row;
} place;

static int by_value(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->value != y->value) return x->value > y->value ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The roots fall; what is lost in roundings beside the largest eigenvalue counts as zero. */
static void settle(const double *value, size_t n, const double *rows, place *places, double *a,
                   double *root)
{
    for (size_t i = 0; i < n; i++) places[i] = (place){ value[i], i };
    qsort(places, n, sizeof *places, by_value);
    const double least = places[0].value * (double)n * DBL_EPSILON;
    for (size_t i = 0; i < n; i++) {
        const bool counts = places[i].value > least;
        root[i] = counts ? sqrt(places[i].value) : 0;
        if (!rows) continue;
        if (counts)
            memcpy(a + i * n, rows + places[i].row * n, n * sizeof *a);
        else
            memset(a + i * n, 0, n * sizeof *a);
    }
}

/* Pieces of one allocation, beside the eigenvectors. */
typedef struct memory {
    double *diagonal, *beside, *scale, *work; /* n, n, n, (HANDS + 2) n */
    place *places;                            /* n */
    rotation *rotations;
    double *rows; /* n x n, or NULL */
} memory;

static void find(double *a, size_t n, double *root, const memory *m, wte_pool *pool)
{
    reduction r = { .a = a, .n = n, .scale = m->scale };
    turning t = { m->rows, n, 0, m->rotations, pool };
    make_tridiagonal(&r, m->diagonal, m->beside, m->work, pool);
    for (size_t i = 0; m->rows && i < n; i++) m->rows[i * n + i] = 1;
    make_diagonal(&t, m->diagonal, m->beside);
    returning back = { &r, m->rows };
    if (m->rows && n > 2) wte__parallel(pool, (n + BLOCK - 1) / BLOCK, reflect_block, &back);
    settle(m->diagonal, n, m->rows, m->places, a, root);
}

wte_status wte__eigen(double *a, size_t n, bool vectors, double *root, wte_pool *pool,
                      const wte_allocator *al, wte_error *err)
{
    uint64_t cells, bytes;
    if (n == 0) return WTE_OK;
    const uint64_t each = (HANDS + 5) * sizeof(double) + sizeof(place);
    const uint64_t rotations = vectors ? ROTATIONS * sizeof(rotation) : 0;
    if (!wte__mul_u64(n, vectors ? n : 0, &cells) || !wte__mul_u64(n, each, &bytes) ||
        !wte__add_u64(bytes, rotations, &bytes) || cells > SIZE_MAX / sizeof(double) ||
        bytes > SIZE_MAX)
        return wte__no_memory(err, UINT64_MAX, "eigenvectors");
    memory m = { .diagonal = wte__alloc_zeroed(al, (size_t)bytes) };
    if (vectors) m.rows = wte__alloc_zeroed(al, (size_t)cells * sizeof *m.rows);
    const bool made = m.diagonal && (m.rows || !vectors);
    if (made) {
        m.beside = m.diagonal + n;
        m.scale = m.beside + n;
        m.work = m.scale + n;
        m.places = (place *)(void *)(m.work + (HANDS + 2) * n);
        m.rotations = (rotation *)(void *)(m.places + n);
        find(a, n, root, &m, pool);
    }
    wte__free(al, m.diagonal, (size_t)bytes);
    wte__free(al, m.rows, (size_t)cells * sizeof *m.rows);
    return made ? WTE_OK : wte__no_memory(err, bytes + cells * sizeof *m.rows, "eigenvectors");
}
