/* The index of rows, its cache file, and the window through which files are read.
 *
 * A cache file is found by the file that it is about (device and inode), never by path. It is
 * believed only if that file's size, times of change, first and last bytes are what they were, if
 * its own checksum fits, its offsets lie inside the file, and some rows stand where it says. */
#include "format/text_index.h"

#include <inttypes.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "base/limits.h"
#include "format/gz.h"

/* A pass over less takes no longer than a few hundredths of a second. */
#define WORTH_KEEPING ((uint64_t)16 << 20)
#define END_BYTES     ((uint64_t)65536)

/* A share of the text, beyond which reading the index saves little against another pass. */
#define WORTH_SHARE 4u
/* Rows that are looked at when an index comes from the cache. */
#define ROWS_CHECKED 32u

#define MAGIC   UINT64_C(0x32786469657477) /* "wteidx2", on machines of the same byte order */
#define N_WORDS 14

static const char ending[] = ".rows";

/* The first words of a cache file; the arrays follow: rows, ends of tokens, their texts. */
typedef struct header {
    uint64_t magic, device, inode;
    uint64_t kind, layout, dim;
    uint64_t size, changed, status_changed, ends_hash;
    uint64_t rows, tokens, text_bytes;
    uint64_t hash; /* of the words above and of the arrays */
} header;
_Static_assert(sizeof(header) == N_WORDS * sizeof(uint64_t), "no padding");

void wte__text_index_clear(wte__text_index *x, const wte_allocator *a)
{
    wte__free(a, x->row_at, x->cap * sizeof *x->row_at);
    x->row_at = NULL;
    x->n = x->cap = 0;
}

wte_status wte__text_index_add(wte__text_index *x, const wte_file *f, uint64_t at, wte_error *err)
{
    const wte_allocator *a = f->allocator;
    void *rows = x->row_at;
    if (f->packed_bytes) WTE_TRY(wte__gz_room(f, (x->n + 1) * (uint64_t)WTE_LIMIT_TEXT_ROW, err));
    if (!wte__grow(a, &rows, &x->cap, x->n + 1, sizeof *x->row_at))
        return wte__no_memory(err, (x->n + 1) * sizeof *x->row_at, "the places of rows");
    x->row_at = rows;
    x->row_at[x->n++] = at;
    return WTE_OK;
}

/* First and last bytes of the file, in one number. */
static bool hash_ends(const wte_file *f, uint64_t *hash)
{
    const wte__part *part = &f->parts[0];
    const uint64_t size = part->file.size, n = size < END_BYTES ? size : END_BYTES;
    uint8_t *bytes = wte__alloc(f->allocator, (size_t)END_BYTES);
    if (!bytes) return false;
    bool ok = wte__file_read_at(&part->file, 0, bytes, n, part->path, NULL) == WTE_OK;
    *hash = ok ? XXH3_64bits(bytes, (size_t)n) : 0;
    ok = ok && wte__file_read_at(&part->file, size - n, bytes, n, part->path, NULL) == WTE_OK;
    if (ok) *hash = XXH3_64bits_withSeed(bytes, (size_t)n, *hash);
    wte__free(f->allocator, bytes, (size_t)END_BYTES);
    return ok;
}

/* The path of the cache file. */
static bool path_of(const wte__text_index *x, const wte_file *f, char *path)
{
    char folder[WTE_LIMIT_PATH], name[64];
    const wte__file *file = &f->parts[0].file;
    if (f->no_cache || file->memory || file->size < WORTH_KEEPING || !wte__cache_folder(folder))
        return false;
    const uint64_t about[] = { file->device, file->inode, x->key.kind, x->key.layout, x->key.dim };
    snprintf(name, sizeof name, "%016" PRIx64 "%s", XXH3_64bits(about, sizeof about), ending);
    return wte__path_join(path, folder, name);
}

/* The header as it must be, but for what only a pass can tell; and the cache file's path. */
static bool expect(const wte__text_index *x, const wte_file *f, header *h, char *path)
{
    const wte__file *file = &f->parts[0].file;
    if (!path_of(x, f, path)) return false;
    memset(h, 0, sizeof *h);
    h->magic = MAGIC;
    h->device = file->device;
    h->inode = file->inode;
    h->size = file->size;
    h->changed = file->changed;
    h->status_changed = file->status_changed;
    h->kind = x->key.kind;
    h->layout = x->key.layout;
    h->dim = x->key.dim;
    return hash_ends(f, &h->ends_hash);
}

static uint64_t hash_all(const header *h, const wte__text_index *x, const wte_token_list *t)
{
    header words = *h;
    words.hash = 0;
    uint64_t hash = XXH3_64bits(&words, sizeof words);
    hash = XXH3_64bits_withSeed(x->row_at, x->n * sizeof *x->row_at, hash);
    if (t->n == 0) return hash;
    hash = XXH3_64bits_withSeed(t->end, (size_t)t->n * sizeof *t->end, hash);
    return XXH3_64bits_withSeed(t->text, (size_t)t->end[t->n - 1], hash);
}

/* Whether rows follow each other inside the file, and texts inside their block. */
static bool plausible(const header *h, const wte__text_index *x, const wte_token_list *t)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->row_at[i] > h->size || (i > 0 && x->row_at[i] <= x->row_at[i - 1])) return false;
    for (uint64_t i = 0; i < t->n; i++)
        if (t->end[i] > h->text_bytes || (i > 0 && t->end[i] < t->end[i - 1])) return false;
    return t->n == 0 || t->end[t->n - 1] == h->text_bytes;
}

/* The arrays of a cache file whose header fits; what was read is to be cleared when it fails. */
static bool read_arrays(const wte__file *cache, const char *path, const header *h,
                        wte__text_index *x, wte_file *f)
{
    wte_token_list *t = &f->tokens;
    uint64_t at = sizeof *h;
    const uint64_t rows = h->rows * sizeof *x->row_at, ends = h->tokens * sizeof *t->end;
    if (h->rows) x->row_at = wte__alloc_array(f->allocator, h->rows, sizeof *x->row_at);
    if (h->rows && !x->row_at) return false;
    x->n = x->cap = (size_t)h->rows;
    if (wte__file_read_at(cache, at, x->row_at, rows, path, NULL) != WTE_OK) return false;
    at += rows;
    if (h->tokens == 0) return true;
    if (wte__token_list_reserve(t, h->tokens, h->text_bytes, NULL) != WTE_OK ||
        wte__file_read_at(cache, at, t->end, ends, path, NULL) != WTE_OK ||
        wte__file_read_at(cache, at + ends, t->text, h->text_bytes, path, NULL) != WTE_OK)
        return false;
    t->n = h->tokens;
    memset(t->tag, WTE_TAG_NORMAL, (size_t)t->n);
    for (uint64_t i = 0; i < t->n; i++) t->score[i] = 0;
    return true;
}

/* Whether the file is as long as its header says, which bounds all counts in it. */
static bool fits(const wte__file *cache, const header *want, const header *h)
{
    header same = *h;
    same.rows = same.tokens = same.text_bytes = same.hash = 0;
    if (memcmp(&same, want, sizeof same) != 0) return false;
    const uint64_t most = cache->size / sizeof(uint64_t);
    if (h->rows > most || h->tokens > h->rows || (h->tokens && h->tokens != h->rows)) return false;
    const uint64_t arrays = sizeof *h + (h->rows + h->tokens) * sizeof(uint64_t);
    return arrays <= cache->size && h->text_bytes == cache->size - arrays;
}

/* Rows from the first to the last, evenly. */
static bool rows_are_there(const wte__text_index *x, const wte_file *f, wte__text_row_check *check)
{
    const uint64_t n = x->n < ROWS_CHECKED ? x->n : ROWS_CHECKED;
    for (uint64_t i = 0; i < n; i++)
        if (!check(f, n > 1 ? (x->n - 1) / (n - 1) * i : 0)) return false;
    return x->n == 0 || check(f, x->n - 1);
}

bool wte__text_index_load(wte__text_index *x, wte_file *f, wte__text_row_check *check)
{
    char path[WTE_LIMIT_PATH];
    header want, h;
    wte__file cache;
    const bool first_wins = f->tokens.first_wins;
    const wte__token_form form = f->tokens.form;
    if (!expect(x, f, &want, path) || wte__file_open(&cache, path, NULL) != WTE_OK) return false;
    bool ok = wte__file_read_at(&cache, 0, &h, sizeof h, path, NULL) == WTE_OK &&
              fits(&cache, &want, &h) && read_arrays(&cache, path, &h, x, f) &&
              hash_all(&h, x, &f->tokens) == h.hash && plausible(&h, x, &f->tokens);
    wte__file_close(&cache);
    x->end = f->parts[0].file.size;
    x->kept = ok && rows_are_there(x, f, check);
    if (x->kept) return true;
    wte__text_index_clear(x, f->allocator);
    wte__token_list_clear(&f->tokens);
    f->tokens.first_wins = first_wins;
    f->tokens.form = form;
    return false;
}

wte_status wte__text_index_stale(const wte__text_index *x, const wte_file *f, uint64_t row,
                                 wte_error *err)
{
    char path[WTE_LIMIT_PATH], shown[WTE__NAME_SHOWN] = "";
    if (x->kept && path_of(x, f, path)) wte__path_remove(path);
    if (f->tokens.n) {
        const wte__bytes text = wte__token_list_text(&f->tokens, row);
        wte__show(shown, text.data, text.size);
    }
    return wte__fail(err, WTE_E_FORMAT, x->row_at[row],
                     "%s: row %" PRIu64 "%s%s%s no longer lies at byte %" PRIu64
                     ": the file was changed after its rows were indexed; open it again",
                     f->path, row, *shown ? " ('" : "", shown, *shown ? "')" : "", x->row_at[row]);
}

/* The folder of the cache, while room is made in it. */
typedef struct shelf {
    const char *folder;
    uint64_t bytes; /* of all indexes */
    char oldest[WTE_LIMIT_PATH];
    uint64_t oldest_changed, oldest_bytes;
} shelf;

static bool see_index(void *ctx, const char *name)
{
    shelf *s = ctx;
    char path[WTE_LIMIT_PATH];
    wte__file f;
    const size_t n = strlen(name), end = strlen(ending);
    if (n <= end || strcmp(name + n - end, ending) != 0 || !wte__path_join(path, s->folder, name) ||
        wte__file_open(&f, path, NULL) != WTE_OK)
        return true;
    s->bytes += f.size;
    if (!s->oldest[0] || f.changed < s->oldest_changed) {
        memcpy(s->oldest, path, strlen(path) + 1);
        s->oldest_changed = f.changed;
        s->oldest_bytes = f.size;
    }
    wte__file_close(&f);
    return true;
}

/* Whether there is room for another index, the oldest ones removed where they must be. */
static bool make_room(const char *path, uint64_t bytes, uint64_t most)
{
    char folder[WTE_LIMIT_PATH];
    const size_t n = (size_t)(wte__path_base(path) - path);
    if (bytes > most) return false;
    memcpy(folder, path, n);
    folder[n] = '\0';
    for (;;) {
        shelf s = { .folder = folder };
        if (wte__path_list(folder, see_index, &s, NULL) != WTE_OK) return false;
        if (s.bytes <= most - bytes) return true;
        if (!wte__path_remove(s.oldest)) return false;
    }
}

void wte__text_index_store(const wte__text_index *x, const wte_file *f)
{
    char path[WTE_LIMIT_PATH];
    header h;
    const wte_token_list *t = &f->tokens;
    const uint64_t most = f->max_cache_bytes ? f->max_cache_bytes : WTE_LIMIT_CACHE;
    if (!expect(x, f, &h, path) || wte__file_has_changed(&f->parts[0].file)) return;
    h.rows = x->n;
    h.tokens = t->n;
    h.text_bytes = t->n ? t->end[t->n - 1] : 0;
    const uint64_t bytes = sizeof h + (h.rows + h.tokens) * sizeof(uint64_t) + h.text_bytes;
    if (bytes > h.size / WORTH_SHARE) return;
    (void)wte__path_remove(path); /* of an earlier state of the file */
    if (!make_room(path, bytes, most)) return;
    h.hash = hash_all(&h, x, t);
    wte__replace r;
    (void)wte__replace_sweep_folder(path); /* what killed processes left of any text */
    if (wte__replace_begin(&r, path, NULL) != WTE_OK) return;
    bool ok = wte__replace_write(&r, &h, sizeof h, NULL) == WTE_OK &&
              wte__replace_write(&r, x->row_at, x->n * sizeof *x->row_at, NULL) == WTE_OK;
    if (ok && t->n)
        ok = wte__replace_write(&r, t->end, t->n * sizeof *t->end, NULL) == WTE_OK &&
             wte__replace_write(&r, t->text, h.text_bytes, NULL) == WTE_OK;
    if (ok)
        (void)wte__replace_commit(&r, NULL); /* undoes itself when it fails */
    else
        wte__replace_abort(&r);
}

wte_status wte__window_see(wte__window *w, uint64_t at, size_t want, const uint8_t **p, size_t *n,
                           wte_error *err)
{
    const uint64_t left = w->end - at;
    if (want > left) want = (size_t)left;
    const bool inside = at >= w->at && at - w->at <= w->n && want <= w->n - (at - w->at);
    if (!inside) {
        /* what is there already is kept; an fd is asked for the rest alone */
        const size_t keep = at >= w->at && at - w->at < w->n ? (size_t)(w->n - (at - w->at)) : 0;
        if (keep) memmove(w->buf, w->buf + (w->n - keep), keep);
        uint64_t more = left - keep < w->cap - keep ? left - keep : w->cap - keep;
        w->at = at;
        w->n = keep;
        WTE_TRY(
            wte__file_read_at(&w->part->file, at + keep, w->buf + keep, more, w->part->path, err));
        w->n = keep + (size_t)more;
    }
    *p = w->buf + (at - w->at);
    *n = w->n - (size_t)(at - w->at);
    return WTE_OK;
}
