/* Which of our formats a zip archive is: told by the names in its directory, in whatever order they
 * stand there. */
#include "base/error.h"
#include "format/kinds.h"
#include "format/torch.h"
#include "format/zip.h"

static bool ends_in(const char *name, size_t n, const char *end)
{
    const size_t k = strlen(end);
    return n >= k && memcmp(name + n - k, end, k) == 0;
}

wte__match wte__zip_match(const wte__head *head)
{
    const bool zip = head->n >= 4 && (memcmp(head->bytes, "PK\3\4", 4) == 0 ||
                                      memcmp(head->bytes, "PK\5\6", 4) == 0); /* 5 6: empty */
    return zip ? WTE__MATCH_YES : WTE__MATCH_NO;
}

static wte_status tell(wte_file *f, wte__zip *z, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    size_t pickle;
    if (wte__torch_zip_is(z, &pickle)) {
        f->format = WTE_FORMAT_TORCH;
        WTE_TRY(wte__torch_zip_read(f, 0, z, &f->names, err));
        f->n_listed = f->n_entries;
        return WTE_OK;
    }
    for (size_t i = 0; i < z->n; i++) {
        const wte__zip_entry *e = &z->entries[i];
        if (ends_in(e->name, e->name_bytes, ".npy")) {
            f->format = WTE_FORMAT_NPZ;
            return wte__npz_read(f, z, err);
        }
    }
    for (size_t i = 0; i < z->n; i++) {
        const wte__zip_entry *e = &z->entries[i];
        const wte__kind *kind = wte__kind_of_member(e->name, e->name_bytes);
        if (kind) return wte__kind_refuse(kind, NULL, f->path, err);
    }
    const wte__zip_entry *first = z->n ? &z->entries[0] : NULL;
    return wte__fail(
        err, WTE_E_UNSUPPORTED, 0,
        "%s: is a zip archive, but neither a PyTorch checkpoint nor NumPy's .npz%s%s%s", f->path,
        first ? ": it begins with '" : ": it is empty",
        first ? wte__show(shown, first->name, first->name_bytes) : "", first ? "'" : "");
}

wte_status wte__archive_read(wte_file *f, wte_error *err)
{
    wte__zip z;
    wte_status status = wte__zip_open(&z, &f->parts[0].file, f->path, f->allocator, err);
    z.max_expansion = f->max_expansion;
    if (status == WTE_OK) status = tell(f, &z, err);
    wte__zip_close(&z);
    return status;
}
