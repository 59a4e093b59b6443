/* Which of its three containers a PyTorch checkpoint has. */
#include "base/error.h"
#include "format/torch.h"
#include "format/zip.h"

wte__match wte__torch_match(const wte__head *head)
{
    const bool ours = wte__torch_legacy_match(head) || wte__torch_tar_match(head);
    return ours ? WTE__MATCH_YES : WTE__MATCH_NO;
}

static wte_status read_zip(wte_file *f, uint32_t part, wte__names *names, wte_error *err)
{
    wte__zip z;
    size_t pickle;
    const char *path = f->parts[part].path;
    wte_status status = wte__zip_open(&z, &f->parts[part].file, path, f->allocator, err);
    z.max_expansion = f->max_expansion;
    if (status == WTE_OK && !wte__torch_zip_is(&z, &pickle))
        status = wte__fail(err, WTE_E_FORMAT, 0,
                           "%s: is a zip archive, but no PyTorch checkpoint (no data.pkl)", path);
    if (status == WTE_OK) status = wte__torch_zip_read(f, part, &z, names, err);
    wte__zip_close(&z);
    return status;
}

wte_status wte__torch_read_part(wte_file *f, uint32_t part, wte__names *names, wte_error *err)
{
    const wte__file *file = &f->parts[part].file;
    wte__head head;
    WTE_TRY(wte__head_read(file, f->parts[part].path, &head, err));
    if (wte__zip_match(&head)) return read_zip(f, part, names, err);
    if (wte__torch_legacy_match(&head)) return wte__torch_legacy_read(f, part, names, err);
    if (wte__torch_tar_match(&head)) return wte__torch_tar_read(f, part, names, err);
    return wte__fail(err, WTE_E_FORMAT, 0, "%s: is no PyTorch checkpoint", f->parts[part].path);
}

wte_status wte__torch_read(wte_file *f, wte_error *err)
{
    WTE_TRY(wte__torch_read_part(f, 0, &f->names, err));
    f->n_listed = f->n_entries;
    return WTE_OK;
}
