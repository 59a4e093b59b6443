/* Zip archives built byte by byte in memory, in the ways that writers differ, for the tests of what
 * is kept in them. */
#ifndef WTE_TESTS_ZIP_FILES_H
#define WTE_TESTS_ZIP_FILES_H
#include "test.h"

#include <zlib.h>

#define ZIP_DEFLATE 1u /* else stored */
#define ZIP_STREAM  2u /* sizes and checksum follow the data; zeros in the local header */
#define ZIP_WIDE    4u /* 64-bit numbers in the directory's extra field */
#define ZIP_PAD     8u /* an extra field in the local header alone, as PyTorch pads */

typedef struct made_zip {
    uint8_t *data; /* what has been written; then all of the archive */
    size_t n, cap;
    uint8_t directory[65536];
    size_t n_directory;
    unsigned count;
    size_t local, record; /* of the entry added last: in data, in the directory */
    size_t directory_at, end_at;
} made_zip;

static inline void zip_put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static inline void zip_begin(made_zip *z)
{
    memset(z, 0, sizeof *z);
    z->cap = 1u << 20;
    z->data = malloc(z->cap);
    assert_non_null(z->data);
}

static inline void zip_free(made_zip *z)
{
    free(z->data);
}

/* A raw deflate stream of the data; *packed holds its length. Release with free. */
static inline uint8_t *zip_deflate(const void *data, size_t n, size_t *packed)
{
    z_stream s;
    memset(&s, 0, sizeof s);
    assert_int_equal(deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    const size_t cap = deflateBound(&s, (uLong)n);
    uint8_t *out = malloc(cap + 1), *in = malloc(n + 1);
    assert_true(out && in);
    if (n) memcpy(in, data, n);
    s.next_in = in;
    s.avail_in = (uInt)n;
    s.next_out = out;
    s.avail_out = (uInt)cap;
    assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
    *packed = cap - s.avail_out;
    assert_int_equal(deflateEnd(&s), Z_OK);
    free(in);
    return out;
}

/* The fields that local header and directory share: method to sizes. */
static inline void zip_fields(uint8_t *at, unsigned flags, uint32_t crc, uint64_t packed,
                              uint64_t n)
{
    zip_put(at, flags & ZIP_DEFLATE ? 8 : 0, 2);
    zip_put(at + 6, crc, 4);
    zip_put(at + 10, packed, 4);
    zip_put(at + 14, n, 4);
}

static inline void zip_record(made_zip *z, const char *name, unsigned flags, const uint8_t *fields,
                              const uint64_t wide[3])
{
    const size_t name_bytes = strlen(name), extra = flags & ZIP_WIDE ? 28 + 5 : 0;
    uint8_t *r = z->directory + z->n_directory;
    z->record = z->n_directory;
    z->n_directory += 46 + name_bytes + extra;
    assert_true(z->n_directory < sizeof z->directory);
    memset(r, 0, 46 + name_bytes + extra);
    memcpy(r, "PK\1\2", 4);
    memcpy(r + 10, fields, 18);
    zip_put(r + 28, name_bytes, 2);
    zip_put(r + 30, extra, 2);
    zip_put(r + 42, wide[2], 4);
    memcpy(r + 46, name, name_bytes);
    if (!(flags & ZIP_WIDE)) return;
    uint8_t *x = r + 46 + name_bytes; /* another field before it */
    zip_put(x, 0x5455, 2);
    zip_put(x + 2, 1, 2);
    zip_put(x + 5, 1, 2);
    zip_put(x + 7, 24, 2);
    for (int i = 0; i < 3; i++) zip_put(x + 9 + 8 * i, wide[i], 8);
    memset(r + 20, 0xff, 8);
    memset(r + 42, 0xff, 4);
}

static inline void zip_add(made_zip *z, const char *name, const void *data, size_t n,
                           unsigned flags)
{
    const size_t name_bytes = strlen(name), pad = flags & ZIP_PAD ? 4 + 19 : 0;
    size_t packed = n;
    uint8_t *squeezed = flags & ZIP_DEFLATE ? zip_deflate(data, n, &packed) : NULL;
    const uint32_t crc = n ? (uint32_t)crc32(0, data, (uInt)n) : 0;
    uint8_t fields[18] = { 0 }, nothing[18] = { 0 };
    while (z->n + 64 + name_bytes + pad + packed > z->cap) {
        z->cap *= 2;
        z->data = realloc(z->data, z->cap);
        assert_non_null(z->data);
    }
    zip_fields(fields, flags, crc, packed, n);
    zip_fields(nothing, flags, 0, 0, 0);
    uint8_t *l = z->data + z->n;
    z->local = z->n;
    memset(l, 0, 30 + name_bytes + pad);
    memcpy(l, "PK\3\4", 4);
    if (flags & ZIP_STREAM) l[6] = 8;
    memcpy(l + 8, flags & ZIP_STREAM ? nothing : fields, 18);
    zip_put(l + 26, name_bytes, 2);
    zip_put(l + 28, pad, 2);
    memcpy(l + 30, name, name_bytes);
    if (pad) memcpy(l + 30 + name_bytes, "FB\x13\0ZZZZZZZZZZZZZZZZZZZ", pad);
    z->n += 30 + name_bytes + pad;
    if (packed) memcpy(z->data + z->n, squeezed ? squeezed : data, packed);
    z->n += packed;
    if (flags & ZIP_STREAM) {
        memcpy(z->data + z->n, "PK\7\10", 4);
        memcpy(z->data + z->n + 4, fields + 6, 12);
        z->n += 16;
    }
    free(squeezed);
    const uint64_t wide[3] = { n, packed, z->local };
    zip_record(z, name, flags, fields, wide);
    z->count++;
}

/* The directory and the end records; ZIP_WIDE writes the zip64 ones too. */
static inline void zip_end(made_zip *z, unsigned flags, const char *comment)
{
    const size_t need = z->n_directory + 56 + 20 + 22 + strlen(comment);
    z->data = realloc(z->data, z->n + need);
    assert_non_null(z->data);
    z->directory_at = z->n;
    memcpy(z->data + z->n, z->directory, z->n_directory);
    z->n += z->n_directory;
    uint8_t *e = z->data + z->n;
    memset(e, 0, need - z->n_directory);
    if (flags & ZIP_WIDE) {
        memcpy(e, "PK\6\6", 4);
        zip_put(e + 4, 44, 8);
        zip_put(e + 24, z->count, 8);
        zip_put(e + 32, z->count, 8);
        zip_put(e + 40, z->n_directory, 8);
        zip_put(e + 48, z->directory_at, 8);
        memcpy(e + 56, "PK\6\7", 4);
        zip_put(e + 64, z->n, 8);
        zip_put(e + 72, 1, 4);
        e += 76;
    }
    z->end_at = (size_t)(e - z->data);
    memcpy(e, "PK\5\6", 4);
    zip_put(e + 8, flags & ZIP_WIDE ? 0xffff : z->count, 2);
    zip_put(e + 10, flags & ZIP_WIDE ? 0xffff : z->count, 2);
    zip_put(e + 12, flags & ZIP_WIDE ? 0xffffffff : z->n_directory, 4);
    zip_put(e + 16, flags & ZIP_WIDE ? 0xffffffff : z->directory_at, 4);
    zip_put(e + 20, strlen(comment), 2);
    memcpy(e + 22, comment, strlen(comment));
    z->n = z->end_at + 22 + strlen(comment);
}

/* A copy whose last byte touches an unreadable page; release with test_guarded_free. */
static inline uint8_t *zip_guarded(const made_zip *z)
{
    uint8_t *copy = test_guarded(z->n);
    memcpy(copy, z->data, z->n);
    return copy;
}
#endif
