/* Where the bytes of a file go: what tensors use, what slices leave of their storages, and tensors
 * that are stored again under another name. */
#include <inttypes.h>

#include "base/error.h"
#include "format/format.h"

/* A tensor is told from others by this much of its start, middle and end, before all is compared.
 */
#define SAMPLE_BYTES ((size_t)4096)

uint64_t wte_file_n_storages(const wte_file *f)
{
    return f ? f->n_storages : 0;
}

wte_status wte_file_storage(const wte_file *f, uint64_t i, wte_storage *out, wte_error *err)
{
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_file_storage: out", err));
    WTE_TRY(wte__need(f, "wte_file_storage: the file", err));
    if (i >= f->n_storages)
        return wte__fail(err, WTE_E_RANGE, i, "%s: storage number %" PRIu64 ", but it has %zu",
                         f->path, i, f->n_storages);
    *out = f->storages[i];
    out->decompressed = f->parts[out->shard].unpacked;
    return WTE_OK;
}

/* Use ----------------------------------------------------------------------------------------- */

/* A piece of a storage that a tensor spans. */
typedef struct span {
    uint64_t storage, from, to, elements; /* bytes */
} span;

/* Bytes of the elements alone, without the gaps between them. */
static uint64_t element_bytes(const wte__tensor_entry *e)
{
    uint64_t n = 1;
    if (!(e->flags & WTE__STRIDED)) return e->bytes;
    for (uint32_t i = 0; i < e->rank; i++) n *= e->file->dims[e->shape_at + i];
    return n * wte_dtype_bytes((wte_dtype)e->dtype); /* the product was checked on opening */
}

static int by_place(const void *va, const void *vb)
{
    const span *a = va, *b = vb;
    if (a->storage != b->storage) return a->storage < b->storage ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* The spans of one storage, sorted: what they cover, or less when their elements are fewer. */
static uint64_t used_of(const span *spans, size_t n)
{
    uint64_t covered = 0, end = 0, elements = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t from = spans[i].from > end ? spans[i].from : end;
        if (spans[i].to > from) covered += spans[i].to - from;
        if (spans[i].to > end) end = spans[i].to;
        elements =
            elements > UINT64_MAX - spans[i].elements ? UINT64_MAX : elements + spans[i].elements;
    }
    return elements < covered ? elements : covered;
}

static void add_storages(const wte_file *f, const span *spans, size_t n, uint64_t *storage_used,
                         wte_disk_usage *out)
{
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && spans[k].storage == spans[i].storage; k++) continue;
        const uint64_t used = used_of(spans + i, k - i);
        const uint64_t bytes = f->storages[spans[i].storage].bytes;
        out->used += used;
        out->sliced += bytes > used ? bytes - used : 0;
        if (storage_used) storage_used[spans[i].storage] = used;
    }
}

static wte_status add_use(const wte_file *f, uint64_t *storage_used, wte_disk_usage *out,
                          wte_error *err)
{
    size_t n = 0;
    span *spans = wte__alloc_array(f->allocator, 2 * (uint64_t)f->n_entries, sizeof *spans);
    if (!spans && f->n_entries)
        return wte__no_memory(err, 2 * f->n_entries * sizeof *spans, "the account of a file");
    for (size_t i = 0; storage_used && i < f->n_storages; i++) storage_used[i] = 0;
    for (size_t i = 0; i < f->n_entries; i++) {
        const wte__tensor_entry *e = &f->entries[i];
        const uint64_t elements = element_bytes(e);
        if (i >= f->n_listed) out->strays += elements;
        if (!(e->flags & WTE__HAS_STORAGE)) {
            out->used += elements;
            continue;
        }
        const span s = { f->dims[e->shape_at + e->rank], e->offset, e->offset + e->bytes,
                         elements };
        spans[n++] = s;
    }
    if (n) wte__sort(spans, n, sizeof *spans, by_place, spans + n);
    add_storages(f, spans, n, storage_used, out);
    wte__free(f->allocator, spans, 2 * f->n_entries * sizeof *spans);
    return WTE_OK;
}

/* Duplicates ---------------------------------------------------------------------------------- */

/* A tensor among those that may be equal: sums of what it is, and of some of its bytes. */
typedef struct twin {
    uint64_t kind, sum;
    size_t number;
} twin;

typedef struct comparing {
    const wte_file *f;
    const wte_progress *progress;
    twin *twins; /* and room for as many behind them */
    size_t n;
    uint64_t *same_as;
    wte_disk_usage *out;
    wte_error *err;
} comparing;

static uint64_t mix(uint64_t sum, const void *data, size_t n)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < n; i++) sum = (sum ^ p[i]) * UINT64_C(0x100000001b3);
    return sum ^ sum >> 29;
}

/* Tensors of equal type, order and shape have equal sums; what is shown as equal is compared. */
static uint64_t kind_of(const wte__tensor_entry *e)
{
    const uint8_t type[4] = { e->dtype, e->block, e->rank,
                              e->flags & (WTE__COLUMN_MAJOR | WTE__BIG_ENDIAN) };
    const uint64_t sum = mix(UINT64_C(0xcbf29ce484222325), type, sizeof type);
    return e->rank ? mix(sum, e->file->dims + e->shape_at, e->rank * sizeof(uint64_t)) : sum;
}

static bool same_kind(const wte__tensor_entry *a, const wte__tensor_entry *b)
{
    return a->dtype == b->dtype && a->block == b->block && a->rank == b->rank &&
           a->bytes == b->bytes && a->flags == b->flags &&
           (a->rank == 0 || memcmp(a->file->dims + a->shape_at, b->file->dims + b->shape_at,
                                   a->rank * sizeof(uint64_t)) == 0);
}

static int by_kind(const void *va, const void *vb)
{
    const twin *a = va, *b = vb;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return (a->sum > b->sum) - (a->sum < b->sum);
}

/* The sum of some of a tensor's bytes, or of all. */
static wte_status sum_of(const comparing *c, twin *t, bool whole)
{
    const uint64_t bytes = c->f->entries[t->number].bytes;
    const uint64_t n = bytes < SAMPLE_BYTES ? bytes : SAMPLE_BYTES, last = bytes - n;
    const uint64_t step = whole || last == 0 ? n : last < 2 ? 1 : last / 2;
    uint8_t piece[SAMPLE_BYTES];
    t->sum = 0;
    for (uint64_t at = 0; at < bytes && (whole || at <= last); at += step) {
        const size_t now = bytes - at < n ? (size_t)(bytes - at) : (size_t)n;
        WTE_TRY(wte_file_read(c->f, t->number, at, piece, now, c->err));
        t->sum = mix(t->sum, piece, now);
    }
    return WTE_OK;
}

static wte_status equal(const comparing *c, size_t a, size_t b, bool *yes)
{
    const wte__tensor_entry *x = &c->f->entries[a], *y = &c->f->entries[b];
    uint8_t one[SAMPLE_BYTES], other[SAMPLE_BYTES];
    *yes = same_kind(x, y);
    for (uint64_t at = 0; *yes && at < x->bytes;) {
        const uint64_t left = x->bytes - at;
        const size_t n = left < sizeof one ? (size_t)left : sizeof one;
        WTE_TRY(wte_file_read(c->f, a, at, one, n, c->err));
        WTE_TRY(wte_file_read(c->f, b, at, other, n, c->err));
        *yes = memcmp(one, other, n) == 0;
        at += n;
    }
    return WTE_OK;
}

static wte_status report(const comparing *c, size_t done)
{
    if (!c->progress || c->progress->report(c->progress->ctx, done, c->n)) return WTE_OK;
    return wte__fail(c->err, WTE_E_CANCELLED, done,
                     "%s: comparing tensors was stopped at %zu of %zu", c->f->path, done, c->n);
}

/* Tensors of one kind and sum, in order of their data: each against the first. */
static wte_status compare_run(const comparing *c, const twin *run, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        bool same;
        WTE_TRY(equal(c, run[0].number, run[i].number, &same));
        if (!same) continue;
        c->same_as[run[i].number] = run[0].number;
        c->out->duplicates++;
        c->out->duplicate += c->f->entries[run[i].number].bytes;
    }
    return WTE_OK;
}

/* How many from twins[0] on are alike; their sums count once they are made. */
static size_t alike(const twin *twins, size_t n)
{
    size_t k = 1;
    while (k < n && by_kind(&twins[k], &twins[0]) == 0) k++;
    return k;
}

/* What may be stored twice. A tensor that lies on the one before it is a second view of its bytes,
 * not a second copy; so no byte is read for two tensors, whatever a file says. */
static void collect(comparing *c)
{
    uint64_t end = 0;
    uint32_t part = 0;
    for (size_t i = 0; i < c->f->n_listed; i++) {
        const wte__tensor_entry *e = &c->f->entries[i];
        c->same_as[i] = WTE_NO_INDEX;
        if (e->part != part) end = 0;
        part = e->part;
        const bool apart = e->offset >= end;
        if (e->offset + e->bytes > end) end = e->offset + e->bytes;
        if (!apart || e->bytes == 0 || e->flags & (WTE__MADE | WTE__STRIDED)) continue;
        const twin t = { kind_of(e), 0, i };
        c->twins[c->n++] = t;
    }
}

/* Sums of those that are alike so far; then those are together that still are. */
static wte_status sum_alike(const comparing *c, bool whole)
{
    for (size_t i = 0, k; i < c->n; i += k) {
        k = alike(c->twins + i, c->n - i);
        for (size_t j = i; k > 1 && j < i + k; j++) {
            WTE_TRY(report(c, j));
            WTE_TRY(sum_of(c, &c->twins[j], whole));
        }
    }
    wte__sort(c->twins, c->n, sizeof *c->twins, by_kind, c->twins + c->n);
    return WTE_OK;
}

static wte_status compare(comparing *c)
{
    collect(c);
    if (c->n == 0) return WTE_OK;
    wte__sort(c->twins, c->n, sizeof *c->twins, by_kind, c->twins + c->n);
    WTE_TRY(sum_alike(c, false));
    WTE_TRY(sum_alike(c, true));
    for (size_t i = 0, k; i < c->n; i += k) {
        k = alike(c->twins + i, c->n - i);
        WTE_TRY(compare_run(c, c->twins + i, k));
    }
    return WTE_OK;
}

static wte_status compare_all(const wte_file *f, uint64_t *same_as, const wte_progress *progress,
                              wte_disk_usage *out, wte_error *err)
{
    comparing c = { .f = f, .progress = progress, .same_as = same_as, .out = out, .err = err };
    c.twins = wte__alloc_array(f->allocator, 2 * (uint64_t)f->n_listed, sizeof *c.twins);
    if (!c.twins && f->n_listed)
        return wte__no_memory(err, 2 * f->n_listed * sizeof *c.twins, "the account of a file");
    const wte_status status = compare(&c);
    wte__free(f->allocator, c.twins, 2 * f->n_listed * sizeof *c.twins);
    return status;
}

wte_status wte_file_disk_usage(const wte_file *f, uint64_t *storage_used, uint64_t *same_as,
                               const wte_progress *progress, wte_disk_usage *out, wte_error *err)
{
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_file_disk_usage: out", err));
    WTE_TRY(wte__need(f, "wte_file_disk_usage: the file", err));
    WTE_TRY(wte__need_functions(NULL, progress, err));
    for (size_t i = 0; i < f->n_parts; i++)
        if (f->parts[i].of == i) out->stored += f->parts[i].file.size;
    wte_status status = add_use(f, storage_used, out, err);
    if (status == WTE_OK && same_as) status = compare_all(f, same_as, progress, out, err);
    if (status != WTE_OK) memset(out, 0, sizeof *out);
    return status;
}
