/* gzip, by zlib: the buffer grows with what really comes out, never with what the file claims. */
#include "format/gz.h"

#include <inttypes.h>
#include <zlib.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"

#define PIECE 65536u
/* Of the packed file, between two reports; a multiple of the above. */
#define REPORT_BYTES ((uint64_t)64 * PIECE)

typedef struct unpacker {
    const wte_file *f;
    const wte__part *part;
    const wte_allocator *a;
    uint64_t read; /* of the packed file */
    uint64_t most; /* that may come out */
    uint8_t *out;
    size_t written, cap;
    uint8_t *piece;
    wte_error *err;
} unpacker;

bool wte__gz_is(const wte__head *head)
{
    return head->n >= 3 && memcmp(head->bytes, "\x1f\x8b\x08", 3) == 0;
}

static wte_status broken(const unpacker *u, const z_stream *z, const char *what)
{
    const uint64_t at = u->read - z->avail_in;
    return wte__fail(u->err, WTE_E_FORMAT, at, "%s: gzip: %s at byte %" PRIu64 " of %" PRIu64,
                     u->part->path, what, at, u->part->file.size);
}

static wte_status check_size(const unpacker *u)
{
    if (u->written <= u->most) return WTE_OK;
    return wte__fail(u->err, WTE_E_LIMIT, u->read,
                     "%s: gzip: unpacks to more than %" PRIu64
                     " bytes, the most that are unpacked from %" PRIu64
                     " (raise max_expansion, or unpack it first: gunzip)",
                     u->part->path, u->most, u->part->file.size);
}

/* At least one byte; one more than may come out at most, to see that it would. */
static wte_status make_room(unpacker *u)
{
    if (u->written < u->cap) return WTE_OK;
    WTE_TRY(check_size(u));
    uint64_t cap = u->cap ? (uint64_t)u->cap * 2 : PIECE;
    /* the last step is a long one, so that old and new together stay well below twice the most */
    if (cap > u->most / 2) cap = u->most + 1;
    uint8_t *out = wte__alloc_array(u->a, cap, 1);
    if (!out) return wte__no_memory(u->err, cap, "unpacking");
    if (u->written) memcpy(out, u->out, u->written);
    wte__free(u->a, u->out, u->cap);
    u->out = out;
    u->cap = (size_t)cap;
    return WTE_OK;
}

static wte_status refill(unpacker *u, z_stream *z)
{
    const uint64_t left = u->part->file.size - u->read;
    const uint32_t n = left < PIECE ? (uint32_t)left : PIECE;
    if (z->avail_in) return WTE_OK;
    if (u->read % REPORT_BYTES == 0) WTE_TRY(wte__file_report(u->f, u->read, u->err));
    WTE_TRY(wte__file_read_at(&u->part->file, u->read, u->piece, n, u->part->path, u->err));
    u->read += n;
    z->next_in = u->piece;
    z->avail_in = n;
    return WTE_OK;
}

/* One member; another may follow. */
static wte_status unpack_member(unpacker *u, z_stream *z)
{
    for (int got = Z_OK; got != Z_STREAM_END;) {
        WTE_TRY(refill(u, z));
        if (z->avail_in == 0) return broken(u, z, "the packed data end");
        WTE_TRY(make_room(u));
        const size_t room = u->cap - u->written;
        const uint32_t now = room < PIECE ? (uint32_t)room : PIECE;
        z->next_out = u->out + u->written;
        z->avail_out = now;
        got = inflate(z, Z_NO_FLUSH);
        u->written += now - z->avail_out;
        if (got == Z_MEM_ERROR) return wte__no_memory(u->err, PIECE, "unpacking");
        if (got != Z_OK && got != Z_STREAM_END && got != Z_BUF_ERROR)
            return broken(u, z, "the packed data are broken");
    }
    return WTE_OK;
}

static wte_status unpack_all(unpacker *u, z_stream *z)
{
    for (;;) {
        WTE_TRY(unpack_member(u, z));
        WTE_TRY(refill(u, z));
        if (z->avail_in == 0) break;
        if (z->next_in[0] != 0x1f) return broken(u, z, "something else follows the packed data");
        if (inflateReset(z) != Z_OK) return broken(u, z, "the packed data are broken");
    }
    return check_size(u);
}

uint64_t wte__unpacked_most(uint64_t packed, uint64_t max_expansion)
{
    uint64_t most;
    if (max_expansion) return wte__mul_u64(packed, max_expansion, &most) ? most : UINT64_MAX - 1;
    if (packed <= WTE_LIMIT_UNPACKED_FREE / WTE_LIMIT_UNPACKED_RATIO)
        return WTE_LIMIT_UNPACKED_FREE;
    if (packed >= WTE_LIMIT_UNPACKED / WTE_LIMIT_UNPACKED_RATIO) return WTE_LIMIT_UNPACKED;
    return packed * WTE_LIMIT_UNPACKED_RATIO;
}

wte_status wte__gz_room(const wte_file *f, uint64_t more, wte_error *err)
{
    uint64_t all;
    if (!f->packed_bytes) return WTE_OK;
    const uint64_t bytes = f->parts[0].file.size;
    const uint64_t most = wte__unpacked_most(f->packed_bytes, f->max_expansion);
    if (wte__add_u64(bytes, more, &all) && all <= most) return WTE_OK;
    return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                     "%s: gzip: %" PRIu64 " bytes of text and the index of its rows take more than "
                     "%" PRIu64 " in memory, the most for %" PRIu64
                     " packed ones (raise max_expansion, or unpack it first: gunzip)",
                     f->path, bytes, most, f->packed_bytes);
}

wte_status wte__gz_unpack(const wte_file *f, const wte__part *part, uint8_t **out, uint64_t *bytes,
                          size_t *cap, wte_error *err)
{
    z_stream z;
    const wte_allocator *a = f->allocator;
    unpacker u = { .f = f, .part = part, .a = a, .err = err };
    u.most = wte__unpacked_most(part->file.size, f->max_expansion);
    *out = NULL;
    *bytes = *cap = 0;
    memset(&z, 0, sizeof z);
    z.zalloc = wte__zlib_alloc;
    z.zfree = wte__zlib_free;
    z.opaque = (void *)(uintptr_t)a; /* handed back, never written through */
    u.piece = wte__alloc(a, PIECE);
    if (!u.piece) return wte__no_memory(err, PIECE, "unpacking");
    wte_status status = WTE_OK;
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) status = wte__no_memory(err, PIECE, "unpacking");
    if (status == WTE_OK) {
        status = unpack_all(&u, &z);
        (void)inflateEnd(&z);
    }
    wte__free(a, u.piece, PIECE);
    if (status != WTE_OK) {
        wte__free(a, u.out, u.cap);
        return status;
    }
    *out = u.out;
    *bytes = u.written;
    *cap = u.cap;
    return WTE_OK;
}
