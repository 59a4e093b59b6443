/* Checkpoints of training runs. All that is asked of such a file: that it is whole or not there,
 * and that a run which it does not belong to is told so. The first is the work of the writer of
 * safetensors (beside the target, synced, renamed); the second is done here and in the trainers,
 * which compare the settings. */
#include "train/checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"
#include "num/kernels.h"

/* The one entry of the file's metadata. */
static const char settings_key[] = "wte.checkpoint";

struct wte__checkpoint {
    wte_file *file;
    const char *settings; /* the file's */
    char path[WTE__NAME_SHOWN];
};

wte_status wte__checkpoint_write(const char *path, const wte__checkpoint_part *parts, size_t n,
                                 const char *settings, wte_error *err)
{
    const char *const metadata[1][2] = { { settings_key, settings } };
    wte_tensor_out *tensors = wte__alloc_array(NULL, (uint64_t)n + 1, sizeof *tensors);
    uint64_t(*shapes)[2] = wte__alloc_array(NULL, (uint64_t)n + 1, sizeof *shapes);
    wte_status status = WTE_OK;
    if (!tensors || !shapes)
        status = wte__no_memory(err, n * (sizeof *tensors + sizeof *shapes), "the checkpoint");
    for (size_t i = 0; status == WTE_OK && i < n; i++) {
        const wte_row_source *rows = &parts[i].rows;
        shapes[i][0] = rows->rows;
        shapes[i][1] = rows->cols;
        tensors[i] = (wte_tensor_out){ parts[i].name, rows->dtype, 2, shapes[i], NULL, rows };
    }
    if (status == WTE_OK) status = wte_safetensors_write(path, tensors, n, metadata, 1, err);
    wte__free(NULL, shapes, (n + 1) * sizeof *shapes);
    wte__free(NULL, tensors, (n + 1) * sizeof *tensors);
    return status;
}

static const char *settings_of(const wte_file *file)
{
    const char *key, *value;
    if (wte_file_format(file) != WTE_FORMAT_SAFETENSORS) return NULL;
    for (uint64_t i = 0; (key = wte_file_metadata(file, i, &value)); i++)
        if (strcmp(key, settings_key) == 0) return value;
    return NULL;
}

wte_status wte__checkpoint_open(const char *path, wte__checkpoint **out, wte_error *err)
{
    wte_file_options options = WTE_FILE_OPTIONS_INIT;
    options.copy = 1; /* every part is read once, from first to last */
    *out = NULL;
    char shown[WTE__NAME_SHOWN];
    wte__show_path(shown, path);
    wte__path_kind kind;
    WTE_TRY(wte__path_look(path, &kind, NULL, err));
    if (kind == WTE__PATH_NONE)
        return wte__fail(err, WTE_E_NOT_FOUND, WTE_NO_INDEX, "%s: there is no checkpoint", shown);
    wte__checkpoint *c = wte__alloc_zeroed(NULL, sizeof *c);
    if (!c) return wte__no_memory(err, sizeof *c, "the checkpoint");
    memcpy(c->path, shown, sizeof shown);
    wte_status status = wte_file_open(path, &options, &c->file, err);
    if (status == WTE_OK) {
        c->settings = settings_of(c->file);
        if (!c->settings)
            status = wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                               "%s: this is no checkpoint: its metadata have no '%s'", shown,
                               settings_key);
    }
    if (status == WTE_OK)
        *out = c;
    else
        wte__checkpoint_free(c);
    return status;
}

void wte__checkpoint_free(wte__checkpoint *c)
{
    if (!c) return;
    wte_file_free(c->file);
    wte__free(NULL, c, sizeof *c);
}

const char *wte__checkpoint_settings(const wte__checkpoint *c)
{
    return c->settings;
}

wte_status wte__checkpoint_belongs(const char *path, const char *have, const char *want,
                                   wte_error *err)
{
    char shown[WTE__NAME_SHOWN], old[WTE__NAME_SHOWN], now[WTE__NAME_SHOWN];
    while (*have || *want) {
        const size_t n = strcspn(have, "\n"), m = strcspn(want, "\n");
        if (n != m || memcmp(have, want, n) != 0)
            return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                             "%s: the checkpoint was made with %s but this run has %s",
                             wte__show_path(shown, path), wte__show(old, have, n),
                             wte__show(now, want, m ? m - (want[m - 1] == ',') : 0));
        have += n + (have[n] == '\n');
        want += m + (want[m] == '\n');
    }
    return WTE_OK;
}

/* "f32 [3, 4]" */
static const char *shape_text(char buf[112], wte_dtype dtype, uint32_t rank, const uint64_t *shape)
{
    int at = snprintf(buf, 112, "%s [", wte_dtype_name(dtype));
    for (uint32_t d = 0; d < rank && at > 0 && at < 112; d++)
        at += snprintf(buf + at, 112 - (size_t)at, "%s%" PRIu64, d ? ", " : "", shape[d]);
    if (at > 0 && at < 112) snprintf(buf + at, 112 - (size_t)at, "]");
    return buf;
}

/* Weights and what optimizers keep of them are finite. */
static wte_status check_finite(const wte__checkpoint *c, const char *shown, const float *x,
                               uint64_t rows, uint64_t cols, wte_error *err)
{
    for (uint64_t r = 0; r < rows; r++) {
        const float *row = x + r * cols;
        uint64_t at = 0;
        if (wte__kernels_get()->all_finite(row, (size_t)cols)) continue;
        while (isfinite(row[at])) at++;
        return wte__fail(err, WTE_E_FORMAT, r,
                         "%s: part '%s' of the checkpoint is %g in row %" PRIu64 ", column %" PRIu64
                         ", but must be finite",
                         c->path, shown, (double)row[at], r, at);
    }
    return WTE_OK;
}

wte_status wte__checkpoint_read(const wte__checkpoint *c, const char *name, wte_dtype dtype,
                                uint64_t rows, uint64_t cols, void *out, wte_error *err)
{
    char shown[WTE__NAME_SHOWN], have[112], want[112];
    const uint64_t shape[2] = { rows, cols };
    uint64_t i;
    wte_tensor tensor;
    wte_row_source source;
    wte__show(shown, name, strlen(name));
    if (wte_file_find(c->file, name, strlen(name), &i, NULL) != WTE_OK)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%s: the checkpoint has no part '%s', which is to be %s", c->path, shown,
                         shape_text(want, dtype, 2, shape));
    WTE_TRY(wte_file_tensor(c->file, i, &tensor, err));
    if (tensor.dtype != dtype || tensor.rank != 2 || tensor.shape[0] != rows ||
        tensor.shape[1] != cols)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%s: part '%s' of the checkpoint is %s, but this run has %s", c->path,
                         shown, shape_text(have, tensor.dtype, tensor.rank, tensor.shape),
                         shape_text(want, dtype, 2, shape));
    if (tensor.bytes == 0) return WTE_OK;
    WTE_TRY(wte_file_row_source(c->file, i, &source, err));
    WTE_TRY(wte_row_source_read_block(&source, 0, (size_t)source.rows, out, err));
    return dtype == WTE_F32 ? check_finite(c, shown, out, rows, cols, err) : WTE_OK;
}

wte_status wte__checkpoint_rows(const wte__checkpoint *c, const char *name, wte_row_source *out,
                                wte_error *err)
{
    uint64_t i;
    WTE_TRY(wte_file_find(c->file, name, strlen(name), &i, err));
    return wte_file_row_source(c->file, i, out, err);
}
