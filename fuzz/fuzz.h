/* What every fuzz target uses: an allocator that is capped at 64 MiB and counts, a check that ends
 * the program with a word on what was broken, and the opening of a file with both. */
#ifndef WTE_FUZZ_FUZZ_H
#define WTE_FUZZ_FUZZ_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wte/format.h>

#include "format/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CAP ((size_t)64 << 20)

/* A property of the library: false is a finding. */
#define HOLDS(property)                                                                            \
    do {                                                                                           \
        if (!(property)) {                                                                         \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #property);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

typedef struct fuzz_memory {
    wte_allocator allocator;
    size_t live_bytes, live;
} fuzz_memory;

static inline void *fuzz_alloc(void *ctx, size_t bytes, size_t align)
{
    fuzz_memory *m = ctx;
    if (bytes > FUZZ_CAP - m->live_bytes) return NULL;
    void *block =
        align <= 16 ? malloc(bytes) : aligned_alloc(align, (bytes + align - 1) / align * align);
    if (!block) return NULL;
    m->live_bytes += bytes;
    m->live++;
    return block;
}

static inline void fuzz_release(void *ctx, void *block, size_t bytes)
{
    fuzz_memory *m = ctx;
    HOLDS(m->live > 0 && m->live_bytes >= bytes);
    m->live--;
    m->live_bytes -= bytes;
    free(block);
}

static inline void fuzz_memory_init(fuzz_memory *m)
{
    m->allocator.alloc = fuzz_alloc;
    m->allocator.release = fuzz_release;
    m->allocator.ctx = m;
    m->live_bytes = m->live = 0;
}

/* What every refusal of `size` bytes must be: a place in them or none, and one line. */
static inline void fuzz_check_error(const wte_error *err, wte_status status, uint64_t size)
{
    HOLDS(status != WTE_OK && err->status == (int32_t)status);
    HOLDS(err->where <= size || err->where == WTE_NO_INDEX);
    size_t n = 0;
    for (; n < sizeof err->message && err->message[n]; n++) HOLDS((uint8_t)err->message[n] >= ' ');
    HOLDS(n > 0 && n < sizeof err->message);
}

/* What a target asks of a file that was opened; data and size are the bytes of it. */
typedef void fuzz_check(const wte_file *f, const uint8_t *data, size_t size);

/* Opens the file at a path, or (NULL) the bytes themselves. A refusal must be a good one, with a
 * place below `size` at most; what is opened is checked, unless it was packed by gzip, since then
 * its bytes are others. Nothing may be left behind. Returns whether it was opened. */
static inline bool fuzz_open_path(const char *path, const uint8_t *data, size_t size,
                                  fuzz_check *check)
{
    fuzz_memory memory;
    wte_error err = { 0 };
    wte_file *f;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    fuzz_memory_init(&memory);
    opt.allocator = &memory.allocator;
    const bool packed = size > 2 && data[0] == 0x1f && data[1] == 0x8b;
    const wte_status status = path ? wte_file_open(path, &opt, &f, &err)
                                   : wte_file_open_memory(data, size, "fuzz", &opt, &f, &err);
    if (status != WTE_OK)
        fuzz_check_error(&err, status, packed ? FUZZ_CAP : size);
    else if (!f->parts[0].unpacked)
        check(f, data, size);
    wte_file_free(f);
    HOLDS(memory.live == 0 && memory.live_bytes == 0);
    return status == WTE_OK;
}
static inline bool fuzz_open(const uint8_t *data, size_t size, fuzz_check *check)
{
    return fuzz_open_path(NULL, data, size, check);
}
#endif
