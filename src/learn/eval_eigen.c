/* Eigenvalues and eigenvectors of a symmetric matrix without negative eigenvalues, in f64.
 *
 * G = L L^T by Cholesky with pivots; then rows of L^T are turned against each other, two by two,
 * until all are orthogonal: they are s u with the square roots s of the eigenvalues and unit
 * eigenvectors u, since L^T = V S U^T. That a factor is turned and not G itself keeps small
 * eigenvalues accurate, and takes few sweeps (K. Veselic and V. Hari, "A note on a one-sided Jacobi
 * algorithm", Numerische Mathematik 56, 1989). */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/thread.h"
#include "learn/eval.h"

#define SWEEPS_MOST 40u /* it takes under ten */
#define SUMS        8u
#define AT_ONCE     8u /* pairs of rows that one thread turns before it asks for more */

static double dot(const double *a, const double *b, size_t n)
{
    double sum[SUMS] = { 0 }, all = 0;
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t s = 0; s < SUMS; s++) sum[s] += a[i + s] * b[i + s];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    for (size_t s = 0; s < SUMS; s++) all += sum[s];
    return all;
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

/* Cholesky ------------------------------------------------------------------------------------- */

static void swap(double *a, double *b)
{
    const double x = *a;
    *a = *b;
    *b = x;
}

/* Rows and columns i < k of a symmetric matrix of which the upper half is kept; also columns of the
 * rows that are done. */
static void swap_pivots(double *a, size_t n, size_t i, size_t k, size_t *order)
{
    for (size_t r = 0; r < i; r++) swap(&a[r * n + i], &a[r * n + k]);
    swap(&a[i * n + i], &a[k * n + k]);
    for (size_t m = i + 1; m < k; m++) swap(&a[i * n + m], &a[m * n + k]);
    for (size_t c = k + 1; c < n; c++) swap(&a[i * n + c], &a[k * n + c]);
    const size_t o = order[i];
    order[i] = order[k];
    order[k] = o;
}

/* Row k of L^T from what is left of G, and what is left after it. */
static void eliminate(double *a, size_t n, size_t k)
{
    double *row = a + k * n;
    const double pivot = sqrt(row[k]);
    for (size_t c = k; c < n; c++) row[c] /= pivot;
    for (size_t r = k + 1; r < n; r++) {
        const double x = row[r];
        double *to = a + r * n;
        for (size_t c = r; c < n; c++) to[c] -= x * row[c];
    }
}

/* a becomes L^T, its columns in the order `order`. Of pivots that are lost in roundings the rest
 * counts as zero. */
static void factor(double *a, size_t n, size_t *order)
{
    double most = 0;
    size_t rank = 0;
    for (size_t i = 0; i < n; i++) order[i] = i;
    for (; rank < n; rank++) {
        size_t best = rank;
        for (size_t i = rank + 1; i < n; i++)
            if (a[i * n + i] > a[best * n + best]) best = i;
        const double pivot = a[best * n + best];
        if (rank == 0) most = pivot;
        if (!(pivot > most * (double)n * DBL_EPSILON)) break;
        if (best != rank) swap_pivots(a, n, rank, best, order);
        eliminate(a, n, rank);
    }
    for (size_t r = 1; r < rank; r++) memset(a + r * n, 0, r * sizeof *a);
    memset(a + rank * n, 0, (n - rank) * n * sizeof *a);
}

/* Rotations ------------------------------------------------------------------------------------ */

typedef struct rotation {
    double *a;
    size_t n, even; /* n, or n + 1: then the last is no row */
    size_t round;
    uint8_t *turned; /* of each chunk of pairs: whether some were not orthogonal */
    double least;    /* squares of rows that are roundings */
} rotation;

/* Makes two rows orthogonal, the longer one first. True when they were not. */
static bool make_orthogonal(const rotation *r, size_t i, size_t k)
{
    double *a = r->a + i * r->n, *b = r->a + k * r->n;
    double aa = dot(a, a, r->n), bb = dot(b, b, r->n), ab = dot(a, b, r->n);
    if (aa < bb) {
        turn(a, b, r->n, 0, 1); /* a quarter */
        swap(&aa, &bb);
        ab = -ab;
    }
    if (bb <= r->least || fabs(ab) <= (double)r->n * DBL_EPSILON * sqrt(aa) * sqrt(bb))
        return false;
    const double zeta = (aa - bb) / (2 * ab);
    const double tangent = copysign(1 / (fabs(zeta) + sqrt(1 + zeta * zeta)), zeta);
    const double cosine = 1 / sqrt(1 + tangent * tangent);
    turn(a, b, r->n, cosine, cosine * tangent);
    return true;
}

/* Who meets whom: all but the last move around a circle, so that in even - 1 rounds each meets each
 * other once. */
static size_t player(const rotation *r, size_t place)
{
    return place == r->even - 1 ? place : (place + r->round) % (r->even - 1);
}

static void run_chunk(void *ctx, uint64_t chunk)
{
    const rotation *r = ctx;
    const size_t pairs = r->even / 2, first = (size_t)chunk * AT_ONCE;
    const size_t last = pairs - first < AT_ONCE ? pairs : first + AT_ONCE;
    for (size_t p = first; p < last; p++) {
        const size_t x = player(r, p == 0 ? r->even - 1 : p);
        const size_t y = player(r, p == 0 ? 0 : r->even - 1 - p);
        if (x >= r->n || y >= r->n) continue;
        if (make_orthogonal(r, x < y ? x : y, x < y ? y : x)) r->turned[chunk] = 1;
    }
}

static wte_status turn_all(double *a, size_t n, wte_pool *pool, const wte_allocator *al,
                           wte_error *err)
{
    rotation r = { .a = a, .n = n, .even = n + n % 2 };
    const size_t chunks = (r.even / 2 + AT_ONCE - 1) / AT_ONCE;
    bool again = n > 1;
    r.turned = wte__alloc_zeroed(al, chunks + !chunks);
    if (!r.turned) return wte__no_memory(err, chunks, "rotations");
    for (size_t i = 0; i < n; i++) {
        const double square = dot(a + i * n, a + i * n, n) * DBL_EPSILON * DBL_EPSILON;
        if (square > r.least) r.least = square;
    }
    for (uint32_t sweep = 0; again && sweep < SWEEPS_MOST; sweep++) {
        again = false;
        memset(r.turned, 0, chunks);
        for (r.round = 0; r.round + 1 < r.even; r.round++)
            wte__parallel(pool, chunks, run_chunk, &r);
        for (size_t c = 0; c < chunks; c++) again |= r.turned[c];
    }
    wte__free(al, r.turned, chunks + !chunks);
    return WTE_OK;
}

/* The whole ------------------------------------------------------------------------------------ */

typedef struct place {
    double root;
    size_t row;
} place;

static int by_root(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->root != y->root) return x->root > y->root ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Rows s u to unit vectors in the order of s, their numbers where they belong. */
static void settle(double *a, size_t n, const size_t *order, place *places, double *spare,
                   double *root)
{
    for (size_t i = 0; i < n; i++) places[i] = (place){ sqrt(dot(a + i * n, a + i * n, n)), i };
    qsort(places, n, sizeof *places, by_root);
    for (size_t i = 0; i < n; i++) {
        root[i] = places[i].root;
        for (size_t c = 0; c < n; c++)
            spare[i * n + order[c]] = root[i] > 0 ? a[places[i].row * n + c] / root[i] : 0;
    }
    memcpy(a, spare, n * n * sizeof *a);
}

wte_status wte__eigen(double *a, size_t n, double *root, wte_pool *pool, const wte_allocator *al,
                      wte_error *err)
{
    uint64_t cells;
    if (!wte_mul_u64(n, n, &cells)) cells = UINT64_MAX;
    cells += cells == 0;
    double *spare = wte__alloc_array(al, cells, sizeof *spare);
    size_t *order = wte__alloc_array(al, n + !n, sizeof *order);
    place *places = wte__alloc_array(al, n + !n, sizeof *places);
    wte_status status = WTE_OK;
    if (!spare || !order || !places)
        status = wte__no_memory(err, cells * sizeof *spare, "eigenvectors");
    if (status == WTE_OK) {
        factor(a, n, order);
        status = turn_all(a, n, pool, al, err);
    }
    if (status == WTE_OK) settle(a, n, order, places, spare, root);
    wte__free(al, spare, cells * sizeof *spare);
    wte__free(al, order, (n + !n) * sizeof *order);
    wte__free(al, places, (n + !n) * sizeof *places);
    return status;
}
