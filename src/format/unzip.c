/* Unpacking entries of a zip archive, by zlib, with an end to what one may unpack to. */
#include <inttypes.h>
#include <zlib.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "format/gz.h"
#include "format/zip.h"

#define PIECE 16384u
/* Where unpacked entries begin, one behind the other: as a cache line does. */
#define ALIGNED 64u
/* zlib's blocks remember their size before them, since it does not say it when it frees them. */
#define BLOCK_HEAD 16u

void *wte__zlib_alloc(void *allocator, unsigned items, unsigned size)
{
    uint64_t bytes;
    if (!wte__mul_u64(items, size, &bytes)) return NULL;
    uint64_t *block = wte__alloc_array(allocator, bytes + BLOCK_HEAD, 1);
    if (!block) return NULL;
    block[0] = bytes + BLOCK_HEAD;
    return (char *)block + BLOCK_HEAD;
}

void wte__zlib_free(void *allocator, void *p)
{
    void *block = (char *)p - BLOCK_HEAD;
    uint64_t bytes;
    memcpy(&bytes, block, sizeof bytes);
    wte__free(allocator, block, (size_t)bytes);
}

typedef struct unpacker {
    const wte__zip *zip;
    const wte__zip_entry *entry;
    uint64_t at; /* of the packed data */
    uint64_t read, written;
    uint8_t *out;
    wte_error *err;
} unpacker;

static wte_status broken(const unpacker *u, const char *what)
{
    char shown[WTE__NAME_SHOWN];
    return wte__fail(u->err, WTE_E_FORMAT, u->at + u->read,
                     "%s: zip: '%s': %s after %" PRIu64 " of its %" PRIu64 " bytes", u->zip->path,
                     wte__show(shown, u->entry->name, u->entry->name_bytes), what, u->written,
                     u->entry->bytes);
}

/* Everything that fits comes out; a stream that would go on is broken. */
static wte_status inflate_all(unpacker *u, z_stream *z)
{
    uint8_t piece[PIECE], beyond;
    for (int got = Z_OK; got != Z_STREAM_END;) {
        if (z->avail_in == 0) {
            const uint64_t left = u->entry->packed - u->read;
            const uint32_t n = left < PIECE ? (uint32_t)left : PIECE;
            if (n == 0) return broken(u, "the packed data end");
            WTE_TRY(
                wte__file_read_at(&u->zip->file, u->at + u->read, piece, n, u->zip->path, u->err));
            z->next_in = piece;
            z->avail_in = n;
            u->read += n;
        }
        const uint64_t room = u->entry->bytes - u->written;
        const uint32_t now = room < PIECE ? (uint32_t)room : PIECE;
        z->next_out = now ? u->out + u->written : &beyond;
        z->avail_out = now ? now : 1;
        got = inflate(z, Z_NO_FLUSH);
        if (got == Z_MEM_ERROR) return wte__no_memory(u->err, PIECE, "unpacking");
        if (got != Z_OK && got != Z_STREAM_END && got != Z_BUF_ERROR)
            return broken(u, "the packed data are broken");
        if (now == 0 && z->avail_out == 0) return broken(u, "it unpacks to more");
        if (now) u->written += now - z->avail_out;
    }
    if (u->written < u->entry->bytes) return broken(u, "the packed data end");
    if (z->avail_in || u->read < u->entry->packed) return broken(u, "packed data are left over");
    return WTE_OK;
}

static wte_status unpack(unpacker *u)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    z.zalloc = wte__zlib_alloc;
    z.zfree = wte__zlib_free;
    z.opaque = (void *)(uintptr_t)u->zip->allocator; /* handed back, never written through */
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return wte__no_memory(u->err, PIECE, "unpacking");
    const wte_status status = inflate_all(u, &z);
    (void)inflateEnd(&z);
    return status;
}

wte_status wte__zip_read(const wte__zip *z, size_t i, void *out, wte_error *err)
{
    const wte__zip_entry *e = &z->entries[i];
    unpacker u = { z, e, 0, 0, 0, out, err };
    char shown[WTE__NAME_SHOWN];
    wte__show(shown, e->name, e->name_bytes);
    WTE_TRY(wte__zip_data(z, i, &u.at, err));
    if (e->method == WTE__ZIP_DEFLATED)
        WTE_TRY(unpack(&u));
    else if (e->method == WTE__ZIP_STORED)
        WTE_TRY(wte__file_read_at(&z->file, u.at, out, e->bytes, z->path, err));
    else
        return wte__fail(err, WTE_E_UNSUPPORTED, e->header_at,
                         "%s: zip: '%s' is packed by method %u, but only 0 (stored) and 8 "
                         "(deflated) are read",
                         z->path, shown, e->method);
    uint32_t crc = (uint32_t)crc32_z(0, NULL, 0);
    if (e->bytes) crc = (uint32_t)crc32_z(crc, out, (size_t)e->bytes);
    if (crc == e->crc) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, u.at,
                     "%s: zip: '%s' has the checksum %08" PRIx32
                     ", but the directory says %08" PRIx32,
                     z->path, shown, crc, e->crc);
}

wte_status wte__zip_justified(const wte__zip *z, uint64_t unpacked, wte_error *err)
{
    const uint64_t most = wte__unpacked_most(z->file.size, z->max_expansion);
    if (unpacked <= most) return WTE_OK;
    return wte__fail(err, WTE_E_LIMIT, z->directory_at,
                     "%s: zip: would unpack to %" PRIu64 " bytes, but at most %" PRIu64
                     " are unpacked from an archive of %" PRIu64
                     " (raise max_expansion, or unpack it first)",
                     z->path, unpacked, most, z->file.size);
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

wte_status wte__zip_unpack(wte_file *f, uint32_t of, const wte__zip *z, const size_t *list,
                           size_t n, uint64_t *at, wte_error *err)
{
    char path[WTE_LIMIT_PATH + 16];
    uint64_t total = 0;
    for (size_t k = 0; k < n; k++) {
        at[k] = rounded(total);
        if (!wte__add_u64(at[k], z->entries[list[k]].bytes, &total) || total > SIZE_MAX / 2)
            total = UINT64_MAX - ALIGNED;
        WTE_TRY(wte__zip_justified(z, total, err));
    }
    snprintf(path, sizeof path, "%.*s (unpacked)", (int)WTE_LIMIT_PATH, z->path);
    wte__part *part = wte__part_add(f, path);
    if (!part) return wte__no_memory(err, sizeof *part, z->path);
    part->unpacked = true;
    part->of = of;
    part->header = wte__alloc_array(f->allocator, total + 1, 1);
    if (!part->header) return wte__no_memory(err, total, "what is packed in the archive");
    part->header_bytes = (size_t)total;
    for (size_t k = 0; k < n; k++) {
        const uint64_t end = k ? at[k - 1] + z->entries[list[k - 1]].bytes : 0;
        memset(part->header + end, 0, (size_t)(at[k] - end));
        WTE_TRY(wte__zip_read(z, list[k], part->header + at[k], err));
    }
    part->header[total] = '\0';
    wte__file_over(&part->file, part->header, total);
    return WTE_OK;
}
