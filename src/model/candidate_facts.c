/* Candidates against each other: which are two names of one storage, which two copies of the same
 * bytes, and a hash of the bytes, by which tables of two models can be told apart. */
#include <inttypes.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "model/model.h"

#define HASH_BYTES ((size_t)1 << 20) /* read at once */

/* Whether equal bytes are equal numbers at the same places. Of what is made of them nothing is
 * known: the same pieces may be put together in two ways. */
static bool same_kind(const wte_tensor *a, const wte_tensor *b)
{
    return !a->derived && !b->derived && a->bytes == b->bytes && a->dtype == b->dtype &&
           a->block == b->block && a->rank == b->rank && a->big_endian == b->big_endian &&
           memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0 &&
           memcmp(a->stride, b->stride, a->rank * sizeof *a->stride) == 0;
}

static bool same_place(const wte_tensor *a, const wte_tensor *b)
{
    const wte__steps x = wte__steps_of(a, false), y = wte__steps_of(b, false);
    return a->storage != WTE_NO_INDEX && a->storage == b->storage && a->shard == b->shard &&
           a->offset == b->offset && x.row == y.row && x.col == y.col;
}

static wte_status hash_bytes(const wte_file *f, uint64_t tensor, uint64_t bytes,
                             const wte_allocator *allocator, uint64_t *hash, wte_error *err)
{
    char *buffer = wte__alloc(allocator, HASH_BYTES);
    XXH3_state_t state;
    wte_status status = WTE_OK;
    if (!buffer) return wte__no_memory(err, HASH_BYTES, "hashing a tensor");
    XXH3_INITSTATE(&state);
    (void)XXH3_64bits_reset(&state);
    for (uint64_t at = 0; status == WTE_OK && at < bytes; at += HASH_BYTES) {
        const size_t n = bytes - at < HASH_BYTES ? (size_t)(bytes - at) : HASH_BYTES;
        status = wte_file_read(f, tensor, at, buffer, n, err);
        if (status == WTE_OK) (void)XXH3_64bits_update(&state, buffer, n);
    }
    if (status == WTE_OK) *hash = XXH3_64bits_digest(&state);
    wte__free(allocator, buffer, HASH_BYTES);
    return status;
}

static wte_status find_facts(const wte_model *m, uint64_t i, const wte_allocator *allocator,
                             wte_candidate_facts *out, wte_error *err)
{
    wte_tie_options opt = WTE_TIE_OPTIONS_INIT;
    wte_tensor mine, other;
    opt.allocator = allocator;
    out->duplicate_of = i;
    WTE_TRY(wte_file_tensor(m->file, m->candidates[i].tensor, &mine, err));
    out->bytes = mine.bytes;
    WTE_TRY(hash_bytes(m->file, m->candidates[i].tensor, mine.bytes, allocator, &out->hash, err));
    for (uint64_t k = 0; k < i && out->duplicate_of == i; k++) {
        const uint64_t tensor = m->candidates[k].tensor;
        bool equal = tensor == m->candidates[i].tensor;
        WTE_TRY(wte_file_tensor(m->file, tensor, &other, err));
        out->same_storage = equal || same_place(&mine, &other);
        if (!same_kind(&mine, &other)) continue;
        if (!out->same_storage)
            WTE_TRY(
                wte__tensors_compare(m->file, tensor, m->candidates[i].tensor, &opt, &equal, err));
        if (equal || out->same_storage) out->duplicate_of = k;
    }
    if (out->duplicate_of == i) out->same_storage = false;
    return WTE_OK;
}

wte_status wte_model_candidate_facts(const wte_model *m, uint64_t i, const wte_allocator *allocator,
                                     wte_candidate_facts *out, wte_error *err)
{
    wte_candidate_facts found = { 0 };
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_model_candidate_facts: out", err));
    WTE_TRY(wte__need(m, "wte_model_candidate_facts: the model", err));
    WTE_TRY(wte__need_functions(allocator, NULL, err));
    if (i >= m->n_candidates)
        return wte__fail(err, WTE_E_RANGE, i, "candidate %" PRIu64 " of %" PRIu64, i,
                         m->n_candidates);
    WTE_TRY(find_facts(m, i, allocator, &found, err));
    *out = found;
    return WTE_OK;
}
