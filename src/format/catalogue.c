/* The catalogue: adding parts, tensors and metadata, ordering, and near misses of a name. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "format/format.h"

wte_status wte__file_report(const wte_file *f, uint64_t done, wte_error *err)
{
    const uint64_t size = f->parts[0].file.size;
    if (!f->progress || f->progress->report(f->progress->ctx, done, size)) return WTE_OK;
    return wte__fail(err, WTE_E_CANCELLED, done,
                     "%s: opening was stopped at byte %" PRIu64 " of %" PRIu64, f->path, done,
                     size);
}

wte__part *wte__part_add(wte_file *f, const char *path)
{
    void *parts = f->parts;
    if (!wte__grow(f->allocator, &parts, &f->parts_cap, f->n_parts + 1, sizeof(wte__part)))
        return NULL;
    f->parts = parts;
    char *copy = wte__strdup(f->allocator, path);
    if (!copy) return NULL;
    wte__part *part = &f->parts[f->n_parts++];
    memset(part, 0, sizeof *part);
    part->file.fd = -1;
    part->path = copy;
    part->of = (uint32_t)f->n_parts - 1;
    return part;
}

wte_status wte__part_open(wte__part *part, const char *folder, wte_error *err)
{
    char real[WTE_LIMIT_PATH], shown[WTE__NAME_SHOWN], led[WTE__NAME_SHOWN];
    bool stays;
    WTE_TRY(wte__path_stays(part->path, folder, &stays, real, err));
    if (stays) return wte__file_open(&part->file, part->path, err);
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: is a link to '%s', out of its folder and of its own blobs; a file of a "
                     "model in several must not lead elsewhere (copy it into the folder)",
                     wte__show_path(shown, part->path), wte__show_path(led, real));
}

wte_status wte__part_header(wte_file *f, wte__part *part, uint64_t bytes, wte_error *err)
{
    part->header = wte__alloc_array(f->allocator, bytes + 1, 1);
    if (!part->header) return wte__no_memory(err, bytes + 1, part->path);
    part->header_bytes = (size_t)bytes;
    part->header[bytes] = '\0';
    return wte__file_read_at(&part->file, 0, part->header, bytes, part->path, err);
}

wte_status wte__entry_add(wte_file *f, const wte__tensor_entry *entry, const uint64_t *shape,
                          wte_error *err)
{
    void *entries = f->entries, *dims = f->dims;
    const size_t n_dims = entry->rank + (entry->flags & WTE__HAS_STORAGE ? 1u : 0u) +
                          (entry->flags & WTE__STRIDED ? entry->rank : 0u) +
                          (entry->flags & WTE__FOREIGN && !f->gguf ? 1u : 0u);
    bool ok = wte__grow(f->allocator, &entries, &f->entries_cap, f->n_entries + 1,
                        sizeof(wte__tensor_entry));
    f->entries = entries;
    ok = ok && wte__grow(f->allocator, &dims, &f->dims_cap, f->n_dims + n_dims, sizeof(uint64_t));
    f->dims = dims;
    if (!ok)
        return wte__no_memory(err, f->n_entries * sizeof(wte__tensor_entry), "the list of tensors");
    wte__tensor_entry *added = &f->entries[f->n_entries++];
    *added = *entry;
    added->file = f;
    added->shape_at = (uint32_t)f->n_dims;
    for (size_t i = 0; i < n_dims; i++) f->dims[f->n_dims++] = shape[i];
    return WTE_OK;
}

const char *wte__entry_foreign_name(const wte__tensor_entry *e)
{
    const wte_file *f = e->file;
    if (!(e->flags & WTE__FOREIGN) || f->gguf) return NULL;
    return f->parts[e->part].header + f->dims[e->shape_at + e->rank];
}

wte_status wte__vectors_add(wte_file *f, uint64_t rows, uint64_t dim, uint64_t first,
                            wte_error *err)
{
    static const char name[] = "vectors";
    const uint64_t shape[2] = { rows, dim };
    const wte__bytes text = { (const uint8_t *)name, sizeof name - 1 };
    const uint64_t size = f->parts[0].file.size;
    uint64_t number = f->n_entries, bits;
    bool found;
    wte__tensor_entry entry = {
        .name = name, .name_bytes = sizeof name - 1, .dtype = WTE_F32, .rank = 2
    };
    entry.flags = WTE__MADE;
    entry.offset = first;
    entry.bytes = size - first;
    if (!wte__shape_bits(shape, 2, WTE_F32, &bits))
        return wte__fail(err, WTE_E_LIMIT, 0,
                         "%s: %" PRIu64 " x %" PRIu64 " numbers are more than 64 bits can count",
                         f->path, rows, dim);
    WTE_TRY(wte__entry_add(f, &entry, shape, err));
    f->n_listed = f->n_entries;
    if (!wte__names_add(&f->names, text, &number, &found))
        return wte__no_memory(err, sizeof name, "the name of the table");
    return WTE_OK;
}

wte_status wte__metadata_add(wte_file *f, const char *key, const char *value, wte_error *err)
{
    void *pairs = f->metadata;
    bool ok =
        wte__grow(f->allocator, &pairs, &f->metadata_cap, f->n_metadata + 1, sizeof(wte__pair));
    f->metadata = pairs;
    if (!ok) return wte__no_memory(err, f->n_metadata * sizeof(wte__pair), "the metadata");
    wte__pair *added = &f->metadata[f->n_metadata++];
    added->key = key;
    added->value = value;
    return WTE_OK;
}

wte_status wte__metadata_integers(wte_file *f, const char *const *keys, const int64_t *values,
                                  size_t n, wte_error *err)
{
    const size_t room = 24, all = n * room; /* the longest int64_t takes 20 characters and a NUL */
    wte__part *part = &f->parts[0];
    part->header = wte__alloc_zeroed(f->allocator, all + 1);
    if (!part->header) return wte__no_memory(err, all + 1, part->path);
    part->header_bytes = all;
    for (size_t i = 0; i < n; i++) {
        char *text = part->header + i * room;
        snprintf(text, room, "%" PRId64, values[i]);
        WTE_TRY(wte__metadata_add(f, keys[i], text, err));
    }
    return WTE_OK;
}

bool wte__shape_bits(const uint64_t *shape, uint32_t rank, wte_dtype type, uint64_t *bits)
{
    *bits = 0;
    uint64_t elements;
    return wte__shape_bytes(shape, rank, 1, &elements) &&
           wte__mul_u64(elements, wte_dtype_bits(type), bits);
}

/* Merge from[lo, mid) and from[mid, hi) into to[lo, hi). */
static void merge(const char *from, char *to, size_t size, const size_t bounds[3],
                  int (*order)(const void *, const void *))
{
    size_t a = bounds[0], b = bounds[1];
    for (size_t k = bounds[0]; k < bounds[2]; k++) {
        bool left =
            a < bounds[1] && (b >= bounds[2] || order(from + a * size, from + b * size) <= 0);
        memcpy(to + k * size, from + (left ? a++ : b++) * size, size);
    }
}

void wte__sort(void *base, size_t n, size_t size, int (*order)(const void *, const void *),
               void *scratch)
{
    char *from = base, *to = scratch;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            size_t mid = lo + width < n ? lo + width : n;
            size_t hi = mid + width < n ? mid + width : n;
            const size_t bounds[3] = { lo, mid, hi };
            merge(from, to, size, bounds, order);
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != base) memcpy(base, from, n * size);
}

/* Names longer than this, and tensors past this many, are not compared: a hint must stay cheap. */
#define NEAREST_NAME    96
#define NEAREST_TENSORS 20000

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Edits (insert, delete, replace; case is free) between two names of at most NEAREST_NAME bytes. */
static uint32_t edits(const char *a, uint32_t na, const char *b, uint32_t nb)
{
    uint32_t row[NEAREST_NAME + 1];
    for (uint32_t j = 0; j <= nb; j++) row[j] = j;
    for (uint32_t i = 1; i <= na; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= nb; j++) {
            uint32_t best = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[nb];
}

/* How far b is from the wanted a: one that only has more or fewer words in front
 * ("model.wte.weight" for "wte.weight") is nearest; UINT32_MAX = too far to be worth a word. */
static uint32_t distance(const char *a, uint32_t na, const char *b, uint32_t nb)
{
    const char *longer = na > nb ? a : b, *shorter = na > nb ? b : a;
    uint32_t more = na > nb ? na : nb, less = na > nb ? nb : na;
    if (less > 0 && less < more && longer[more - less - 1] == '.' &&
        memcmp(longer + (more - less), shorter, less) == 0)
        return 1;
    const uint32_t most = 2 + na / 4;
    if (more - less > most) return UINT32_MAX;
    const uint32_t n = edits(a, na, b, nb);
    return n <= most ? n : UINT32_MAX;
}

const char *wte__nearest(const wte_file *f, const char *name, uint64_t bytes,
                         char out[WTE__NEAREST_TEXT])
{
    enum { SHOWN = 3 };
    uint32_t far[SHOWN] = { UINT32_MAX, UINT32_MAX, UINT32_MAX };
    const wte__tensor_entry *best[SHOWN] = { NULL, NULL, NULL };
    out[0] = '\0';
    if (bytes == 0 || bytes > NEAREST_NAME) return out;
    for (size_t i = 0; i < f->n_listed && i < NEAREST_TENSORS; i++) {
        const wte__tensor_entry *e = &f->entries[i];
        if (e->name_bytes > NEAREST_NAME) continue;
        uint32_t d = distance(name, (uint32_t)bytes, e->name, e->name_bytes);
        size_t k = SHOWN;
        for (; k > 0 && d < far[k - 1]; k--) {
            if (k == SHOWN) continue;
            far[k] = far[k - 1];
            best[k] = best[k - 1];
        }
        if (k == SHOWN) continue;
        far[k] = d;
        best[k] = e;
    }
    size_t used = 0;
    for (size_t k = 0; k < SHOWN && best[k]; k++) {
        char shown[WTE__NAME_SHOWN];
        int n = snprintf(out + used, WTE__NEAREST_TEXT - used, "%s'%s'", k ? ", " : "; nearest: ",
                         wte__show(shown, best[k]->name, best[k]->name_bytes));
        if (n < 0 || used + (size_t)n >= WTE__NEAREST_TEXT) break;
        used += (size_t)n;
    }
    return out;
}
