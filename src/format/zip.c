/* Reading the directory of a zip archive, plain or zip64.
 *
 * Not read: archives in several volumes, encrypted entries, archives with anything before or behind
 * them. Unpacking is in unzip.c. */
#include "format/zip.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"

#define END_BYTES     22u
#define END_REACH     (END_BYTES + 65535u) /* with the longest comment */
#define LOCATOR_BYTES 20u
#define END64_BYTES   56u
#define RECORD_BYTES  46u
#define LOCAL_BYTES   30u
#define NONE16        0xffffu
#define NONE32        0xffffffffu /* the number is in the zip64 field */

#define END_MARK     0x06054b50u
#define LOCATOR_MARK 0x07064b50u
#define END64_MARK   0x06064b50u
#define RECORD_MARK  0x02014b50u
#define LOCAL_MARK   0x04034b50u

/* What the end of the archive says. */
typedef struct ending {
    uint64_t at; /* of the first record behind the directory */
    uint64_t count, bytes, start;
    uint64_t disks; /* 0 = all on this one */
} ending;

static uint32_t get16(wte__span *s)
{
    const wte__bytes b = wte__span_take(s, 2);
    return b.data ? (uint32_t)b.data[0] | (uint32_t)b.data[1] << 8 : 0;
}

/* The place behind the last byte that is not zero; 0 when more than WTE_LIMIT_PADDING zeros end the
 * file.
 */
static wte_status find_padding(const wte__zip *z, uint64_t *at, wte_error *err)
{
    uint8_t block[4096];
    const uint64_t size = z->file.size;
    *at = size;
    while (*at > 0 && size - *at < WTE_LIMIT_PADDING) {
        const uint64_t n = *at < sizeof block ? *at : sizeof block;
        WTE_TRY(wte__file_read_at(&z->file, *at - n, block, (size_t)n, z->path, err));
        for (uint64_t k = n; k > 0; k--)
            if (block[k - 1] != 0) {
                *at -= n - k;
                return WTE_OK;
            }
        *at -= n;
    }
    *at = 0;
    return WTE_OK;
}

/* An archive without an end record: cut, or whole and padded with zeros. The last bytes of a record
 * without a comment are zeros too. */
static wte_status refuse_end(const wte__zip *z, wte_error *err)
{
    const uint64_t size = z->file.size;
    uint8_t record[END_BYTES];
    uint64_t last;
    WTE_TRY(find_padding(z, &last, err));
    for (uint64_t end = last; last && last < size && end < last + END_BYTES; end++) {
        if (end < END_BYTES || end > size) continue;
        WTE_TRY(wte__file_read_at(&z->file, end - END_BYTES, record, END_BYTES, z->path, err));
        wte__span s = wte__span_make(record, END_BYTES);
        if (wte__span_u32le(&s) != END_MARK) continue;
        return wte__fail(err, WTE_E_FORMAT, end,
                         "%s: a zip archive that ends at byte %" PRIu64 ", and %" PRIu64
                         " zeros after it; cut them off (truncate -s %" PRIu64 ")",
                         z->path, end, size - end, end);
    }
    return wte__fail(err, WTE_E_FORMAT, size,
                     "%s: truncated: begins as a zip archive, but its %" PRIu64
                     " bytes do not end as one (no end record)",
                     z->path, size);
}

/* The end record is followed by a comment alone, whose length it holds. */
static wte_status find_end(const wte__zip *z, uint64_t *at, wte_error *err)
{
    const uint64_t size = z->file.size, n = size < END_REACH ? size : END_REACH;
    *at = size;
    if (size < END_BYTES)
        return wte__fail(err, WTE_E_FORMAT, size,
                         "%s: truncated: a zip archive has at least %u bytes, but it has %" PRIu64,
                         z->path, END_BYTES, size);
    uint8_t *tail = wte__alloc(z->allocator, (size_t)n);
    if (!tail) return wte__no_memory(err, n, z->path);
    wte_status status = wte__file_read_at(&z->file, size - n, tail, n, z->path, err);
    bool found = false;
    for (uint64_t k = n - END_BYTES + 1; status == WTE_OK && !found && k > 0; k--) {
        wte__span s = wte__span_make(tail + k - 1, n - (k - 1));
        if (wte__span_u32le(&s) != END_MARK) continue;
        (void)wte__span_take(&s, 16);
        const uint64_t comment = get16(&s);
        found = comment == wte__span_left(&s);
        *at = size - n + k - 1;
    }
    wte__free(z->allocator, tail, (size_t)n);
    return status != WTE_OK || found ? status : refuse_end(z, err);
}

/* Large archives have a second, wider end record before the first, and a pointer to it between. */
static wte_status read_end64(const wte__zip *z, ending *e, wte_error *err)
{
    uint8_t locator[LOCATOR_BYTES], record[END64_BYTES];
    if (e->at < LOCATOR_BYTES) return WTE_OK;
    WTE_TRY(
        wte__file_read_at(&z->file, e->at - LOCATOR_BYTES, locator, sizeof locator, z->path, err));
    wte__span s = wte__span_make(locator, sizeof locator);
    if (wte__span_u32le(&s) != LOCATOR_MARK) return WTE_OK;
    (void)wte__span_u32le(&s);
    const uint64_t at = wte__span_u64le(&s);
    if (at > e->at - LOCATOR_BYTES || e->at - LOCATOR_BYTES - at < END64_BYTES)
        return wte__fail(err, WTE_E_FORMAT, e->at - LOCATOR_BYTES,
                         "%s: zip: its zip64 end record is said to be at byte %" PRIu64
                         ", but what points to it is at %" PRIu64,
                         z->path, at, e->at - LOCATOR_BYTES);
    WTE_TRY(wte__file_read_at(&z->file, at, record, sizeof record, z->path, err));
    s = wte__span_make(record, sizeof record);
    const uint32_t mark = wte__span_u32le(&s);
    const uint64_t rest = wte__span_u64le(&s); /* of the record, behind this number */
    if (mark != END64_MARK || rest != e->at - LOCATOR_BYTES - at - 12)
        return wte__fail(err, WTE_E_FORMAT, at, "%s: zip: no zip64 end record at byte %" PRIu64,
                         z->path, at);
    (void)wte__span_u32le(&s); /* versions */
    e->at = at;
    e->disks = wte__span_u32le(&s);
    e->disks |= wte__span_u32le(&s);
    e->count = wte__span_u64le(&s);
    if (wte__span_u64le(&s) != e->count) e->disks = 1;
    e->bytes = wte__span_u64le(&s);
    e->start = wte__span_u64le(&s);
    return WTE_OK;
}

static wte_status read_end(const wte__zip *z, ending *e, wte_error *err)
{
    uint8_t record[END_BYTES];
    WTE_TRY(find_end(z, &e->at, err));
    WTE_TRY(wte__file_read_at(&z->file, e->at, record, sizeof record, z->path, err));
    wte__span s = wte__span_make(record + 4, sizeof record - 4);
    e->disks = get16(&s);
    e->disks |= get16(&s);
    e->count = get16(&s);
    if (get16(&s) != e->count) e->disks = 1;
    e->bytes = wte__span_u32le(&s);
    e->start = wte__span_u32le(&s);
    WTE_TRY(read_end64(z, e, err));
    if (e->disks)
        return wte__fail(err, WTE_E_UNSUPPORTED, e->at,
                         "%s: zip: is one of several volumes; join them first", z->path);
    uint64_t end;
    if (!wte__add_u64(e->start, e->bytes, &end) || end != e->at)
        return wte__fail(err, WTE_E_FORMAT, e->at,
                         "%s: zip: its directory of %" PRIu64 " bytes at byte %" PRIu64
                         " does not end where its end record is, at %" PRIu64
                         " (cut, or something before it)",
                         z->path, e->bytes, e->start, e->at);
    if (e->bytes > WTE_LIMIT_ZIP_DIRECTORY)
        return wte__fail(err, WTE_E_LIMIT, e->start,
                         "%s: zip: a directory of %" PRIu64 " bytes, but at most %u are read",
                         z->path, e->bytes, WTE_LIMIT_ZIP_DIRECTORY);
    if (e->count > e->bytes / RECORD_BYTES)
        return wte__fail(err, WTE_E_FORMAT, e->at,
                         "%s: zip: %" PRIu64 " entries are said to be in a directory of %" PRIu64
                         " bytes",
                         z->path, e->count, e->bytes);
    return WTE_OK;
}

/* The 64-bit numbers that did not fit into the record, in the record's order. */
static bool read_extra(wte__bytes extra, wte__zip_entry *e)
{
    wte__span s = wte__span_make(extra.data, extra.size);
    uint64_t *const wide[] = { &e->bytes, &e->packed, &e->header_at };
    bool missing = false;
    for (int i = 0; i < 3; i++) missing |= *wide[i] == NONE32;
    while (missing && wte__span_left(&s) >= 4) {
        const uint32_t id = get16(&s), n = get16(&s);
        const wte__bytes field = wte__span_take(&s, n);
        if (id != 1 || !field.data) continue;
        wte__span in = wte__span_make(field.data, field.size);
        for (int i = 0; i < 3; i++)
            if (*wide[i] == NONE32) *wide[i] = wte__span_u64le(&in);
        return wte__span_ok(&in);
    }
    return !missing;
}

static bool is_text(const uint8_t *p, uint64_t n)
{
    uint32_t code;
    for (uint64_t at = 0; at < n;) {
        const uint32_t bytes = wte__utf8_get(p + at, n - at, &code);
        if (bytes == 0 || code == 0) return false;
        at += bytes;
    }
    return n > 0;
}

static wte_status bad_record(const wte__zip *z, uint64_t at, const char *what, wte_error *err)
{
    return wte__fail(err, WTE_E_FORMAT, at, "%s: zip: directory, byte %" PRIu64 ": %s", z->path, at,
                     what);
}

/* Names what is wrong with an entry by itself. */
static wte_status check_entry(const wte__zip *z, const wte__zip_entry *e, uint32_t flags,
                              uint64_t at, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    wte__show(shown, e->name, e->name_bytes);
    if (!is_text((const uint8_t *)e->name, e->name_bytes))
        return wte__fail(err, WTE_E_FORMAT, at,
                         "%s: zip: directory, byte %" PRIu64 ": the name '%s' is no UTF-8 text",
                         z->path, at, shown);
    if (flags & 1)
        return wte__fail(err, WTE_E_UNSUPPORTED, at, "%s: zip: '%s' is encrypted", z->path, shown);
    uint64_t end;
    if (!wte__add_u64(e->packed, (uint64_t)LOCAL_BYTES + e->name_bytes, &end) ||
        !wte__add_u64(e->header_at, end, &end) || end > z->directory_at)
        return wte__fail(err, WTE_E_FORMAT, at,
                         "%s: zip: '%s' of %" PRIu64 " bytes at byte %" PRIu64
                         " does not end before the directory at %" PRIu64,
                         z->path, shown, e->packed, e->header_at, z->directory_at);
    if (e->method == WTE__ZIP_STORED && e->packed != e->bytes)
        return wte__fail(err, WTE_E_FORMAT, at,
                         "%s: zip: '%s' is stored, but in %" PRIu64 " bytes, not its %" PRIu64,
                         z->path, shown, e->packed, e->bytes);
    return WTE_OK;
}

static wte_status read_record(wte__zip *z, wte__span *s, wte_error *err)
{
    const uint64_t at = z->directory_at + s->at;
    wte__zip_entry *e = &z->entries[z->n];
    if (wte__span_left(s) < RECORD_BYTES || wte__span_u32le(s) != RECORD_MARK)
        return bad_record(z, at, "no entry begins here", err);
    (void)wte__span_u32le(s); /* versions */
    const uint32_t flags = get16(s);
    e->method = (uint16_t)get16(s);
    (void)wte__span_u32le(s); /* time and date */
    e->crc = wte__span_u32le(s);
    e->packed = wte__span_u32le(s);
    e->bytes = wte__span_u32le(s);
    e->name_bytes = get16(s);
    const uint32_t extra_bytes = get16(s), comment = get16(s);
    const uint32_t disk = get16(s);
    (void)get16(s);
    (void)wte__span_u32le(s); /* attributes */
    e->header_at = wte__span_u32le(s);
    const wte__bytes name = wte__span_take(s, e->name_bytes),
                     extra = wte__span_take(s, extra_bytes);
    (void)wte__span_take(s, comment);
    if (!wte__span_ok(s)) return bad_record(z, at, "an entry is cut", err);
    e->name = z->directory + (name.data - (const uint8_t *)z->directory);
    if (!read_extra(extra, e)) return bad_record(z, at, "an entry's zip64 numbers are cut", err);
    if (disk != 0 && disk != NONE16)
        return wte__fail(err, WTE_E_UNSUPPORTED, at,
                         "%s: zip: is one of several volumes; join them first", z->path);
    WTE_TRY(check_entry(z, e, flags, at, err));
    z->n++;
    return WTE_OK;
}

static int by_place(const void *a, const void *b)
{
    const wte__zip_entry *x = a, *y = b;
    return (x->header_at > y->header_at) - (x->header_at < y->header_at);
}

/* Into order of data; names become texts with an end, and are shown to differ. */
static wte_status settle(wte__zip *z, wte_error *err)
{
    char a[WTE__NAME_SHOWN], b[WTE__NAME_SHOWN];
    if (z->n == 0) return WTE_OK;
    wte__zip_entry *scratch = wte__alloc_array(z->allocator, z->n, sizeof *scratch);
    if (!scratch || !wte__names_reserve(&z->names, z->n)) {
        wte__free(z->allocator, scratch, z->n * sizeof *scratch);
        return wte__no_memory(err, z->n * sizeof *scratch, z->path);
    }
    wte__sort(z->entries, z->n, sizeof *scratch, by_place, scratch);
    wte__free(z->allocator, scratch, z->n * sizeof *scratch);
    for (size_t i = 0; i < z->n; i++) {
        const wte__zip_entry *e = &z->entries[i];
        z->directory[(size_t)(e->name - z->directory) + e->name_bytes] = '\0';
        const wte__bytes name = { (const uint8_t *)e->name, e->name_bytes };
        uint64_t number = i;
        bool found;
        if (!wte__names_add(&z->names, name, &number, &found))
            return wte__no_memory(err, e->name_bytes, z->path);
        if (found)
            return wte__fail(
                err, WTE_E_FORMAT, e->header_at,
                "%s: zip: two entries are named '%s', at bytes %" PRIu64 " and %" PRIu64, z->path,
                wte__show(a, e->name, e->name_bytes), z->entries[number].header_at, e->header_at);
        if (i == 0) continue;
        const wte__zip_entry *before = e - 1;
        const uint64_t end = before->header_at + LOCAL_BYTES + before->name_bytes + before->packed;
        if (end > e->header_at)
            return wte__fail(err, WTE_E_FORMAT, e->header_at,
                             "%s: zip: overlap: '%s' ends at byte %" PRIu64
                             " or later, but '%s' begins at %" PRIu64,
                             z->path, wte__show(a, before->name, before->name_bytes), end,
                             wte__show(b, e->name, e->name_bytes), e->header_at);
    }
    return WTE_OK;
}

wte_status wte__zip_open(wte__zip *z, const wte__file *file, const char *path,
                         const wte_allocator *a, wte_error *err)
{
    ending e;
    memset(z, 0, sizeof *z);
    memset(&e, 0, sizeof e);
    z->file = *file;
    z->path = path;
    z->allocator = a;
    wte__names_init(&z->names, a);
    WTE_TRY(read_end(z, &e, err));
    z->directory_at = e.start;
    z->directory = wte__alloc_array(a, e.bytes + 1, 1);
    if (!z->directory) return wte__no_memory(err, e.bytes + 1, path);
    z->owned = true;
    z->directory_bytes = e.bytes;
    z->directory[e.bytes] = '\0';
    WTE_TRY(wte__file_read_at(file, e.start, z->directory, e.bytes, path, err));
    if (e.count) z->entries = wte__alloc_array(a, e.count, sizeof *z->entries);
    if (e.count && !z->entries) return wte__no_memory(err, e.count * sizeof *z->entries, path);
    z->cap = (size_t)e.count;
    wte__span s = wte__span_make(z->directory, e.bytes);
    while (z->n < z->cap) WTE_TRY(read_record(z, &s, err));
    if (wte__span_left(&s) != 0)
        return wte__fail(err, WTE_E_FORMAT, e.start + s.at,
                         "%s: zip: its %" PRIu64 " entries take %" PRIu64
                         " bytes of directory, but that has %" PRIu64,
                         path, e.count, s.at, e.bytes);
    return settle(z, err);
}

void wte__zip_close(wte__zip *z)
{
    wte__free(z->allocator, z->entries, z->cap * sizeof *z->entries);
    if (z->owned) wte__free(z->allocator, z->directory, (size_t)z->directory_bytes + 1);
    wte__names_clear(&z->names);
    z->entries = NULL;
    z->owned = false;
}

bool wte__zip_find(const wte__zip *z, const char *name, size_t bytes, size_t *i)
{
    const wte__bytes text = { (const uint8_t *)name, bytes };
    uint64_t number = 0;
    const bool found = wte__names_find(&z->names, text, &number);
    *i = (size_t)number;
    return found;
}

wte_status wte__zip_data(const wte__zip *z, size_t i, uint64_t *at, wte_error *err)
{
    const wte__zip_entry *e = &z->entries[i];
    const uint64_t end = i + 1 < z->n ? e[1].header_at : z->directory_at;
    uint8_t local[LOCAL_BYTES];
    char shown[WTE__NAME_SHOWN];
    wte__show(shown, e->name, e->name_bytes);
    WTE_TRY(wte__file_read_at(&z->file, e->header_at, local, sizeof local, z->path, err));
    wte__span s = wte__span_make(local, sizeof local);
    const uint32_t mark = wte__span_u32le(&s);
    (void)wte__span_u32le(&s); /* version and flags */
    const uint32_t method = get16(&s);
    (void)wte__span_take(&s, 16);
    const uint32_t name_bytes = get16(&s), extra = get16(&s);
    if (mark != LOCAL_MARK || method != e->method || name_bytes != e->name_bytes)
        return wte__fail(err, WTE_E_FORMAT, e->header_at,
                         "%s: zip: byte %" PRIu64 " is not where '%s' begins", z->path,
                         e->header_at, shown);
    *at = e->header_at + LOCAL_BYTES + name_bytes + extra;
    if (*at > end || e->packed > end - *at)
        return wte__fail(err, WTE_E_FORMAT, e->header_at,
                         "%s: zip: '%s' of %" PRIu64 " bytes at byte %" PRIu64
                         " reaches beyond byte %" PRIu64,
                         z->path, shown, e->packed, *at, end);
    return WTE_OK;
}
