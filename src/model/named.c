/* A tensor by the name that a person gave: whole, or by a unique ending. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "model/model.h"
#include "model/name_rules.h"

/* Whether the first `bytes` bytes of a name are `end`, or end in it after a dot. */
static bool has_end(const char *name, uint64_t bytes, const char *end, size_t n)
{
    if (bytes < n || (bytes > n && name[bytes - n - 1] != '.')) return false;
    return memcmp(name + bytes - n, end, n) == 0;
}

/* Index of the tensor that the caller named: whole, or by a unique ending. */
wte_status wte__find_named(const wte_file *file, const char *name, uint64_t *out, wte_error *err)
{
    const size_t n = strlen(name);
    char shown[WTE__NAME_SHOWN], first[WTE__NAME_SHOWN], second[WTE__NAME_SHOWN];
    uint64_t hits = 0, hit[2] = { 0, 0 };
    wte_tensor t;
    if (wte_file_find(file, name, n, out, err) == WTE_OK) return WTE_OK;
    if (n == 0) return wte_file_find(file, name, n, out, err);
    for (uint64_t i = 0; i < wte_file_n_tensors(file); i++) {
        WTE_TRY(wte_file_tensor(file, i, &t, err));
        const char *suffix = wte__code_suffix(t.name, t.name_bytes);
        uint64_t bare = suffix ? t.name_bytes - strlen(suffix) : 0;
        if (!has_end(t.name, t.name_bytes, name, n) && !has_end(t.name, bare, name, n)) continue;
        if (hits < 2) hit[hits] = i;
        hits++;
    }
    *out = hit[0];
    if (hits == 1) return WTE_OK;
    if (hits == 0) return wte_file_find(file, name, n, out, err);
    WTE_TRY(wte_file_tensor(file, hit[0], &t, err));
    wte__show(first, t.name, t.name_bytes);
    WTE_TRY(wte_file_tensor(file, hit[1], &t, err));
    wte__show(second, t.name, t.name_bytes);
    return wte__fail(err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                     "'%s' is the end of %" PRIu64 " tensor names, '%s' and '%s' among them: give "
                     "more of it",
                     wte__show(shown, name, n), hits, first, second);
}

wte_status wte_model_find_tensor(const wte_model *m, const char *name, uint64_t *out,
                                 wte_error *err)
{
    WTE_TRY(wte__need(out, "wte_model_find_tensor: out", err));
    *out = 0;
    WTE_TRY(wte__need(m, "wte_model_find_tensor: the model", err));
    WTE_TRY(wte__need(name, "wte_model_find_tensor: name", err));
    if (!m->file)
        return wte__fail(err, WTE_E_NOT_FOUND, WTE_NO_INDEX, "demo: has no tensors but 'demo'");
    const wte_status status = wte__find_named(m->file, name, out, err);
    if (status != WTE_OK) *out = 0;
    return status;
}
