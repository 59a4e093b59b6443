/* What of a training run outlives it: a checkpoint with all that the next step depends on, and the
 * weights of the best validation, which stay in the checkpoint and are carried from one to the
 * next, so that no second copy of a table is held in memory. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "train/lm.h"

#define STATES 8u /* parts of one optimizer's state, at most */
#define PARTS  (WTE__LM_PARTS * (2u + STATES) + 3u)

#define COUNTS (sizeof(wte__lm_counts) / sizeof(uint64_t))
#define LOSSES (sizeof(wte__lm_losses) / sizeof(double))

typedef struct parts {
    wte__checkpoint_part *part;
    size_t n;
} parts;

static void add(parts *to, const char *prefix, const char *name, const char *suffix,
                const wte_row_source *rows)
{
    wte__checkpoint_part *p = &to->part[to->n++];
    snprintf(p->name, sizeof p->name, "%s%s%s", prefix, name, suffix);
    p->rows = *rows;
}

static void add_numbers(parts *to, const char *name, wte_dtype dtype, const void *data, uint64_t n)
{
    const wte_row_source rows = {
        .rows = 1, .cols = n, .dtype = dtype, .data = data, .row_bytes = n * wte_dtype_bytes(dtype)
    };
    add(to, "", name, "", &rows);
}

static wte_status add_weight(wte_lm *lm, wte__lm_part part, parts *to, wte_error *err)
{
    const wte__lm_weight *w = &lm->weight[part];
    const wte__lm_counts *at = &lm->counts;
    const char *name = wte__lm_name(part), *of;
    char state[40];
    wte_row_source rows;
    if (!w->rows) return WTE_OK;
    add(to, "", name, "", wte_table_source(w->table));
    for (uint32_t i = 0; i < STATES && wte_optim_state(w->optim, i, &of, &rows, NULL) == WTE_OK;
         i++) {
        snprintf(state, sizeof state, "/%s", of);
        add(to, "", name, state, &rows);
    }
    if (at->best_step == 0) return WTE_OK;
    if (at->best_step == at->step) {
        add(to, "best/", name, "", wte_table_source(w->table));
        return WTE_OK;
    }
    snprintf(state, sizeof state, "best/%s", name);
    WTE_TRY(wte__checkpoint_rows(lm->last, state, &rows, err));
    add(to, "best/", name, "", &rows);
    return WTE_OK;
}

wte_status wte__lm_checkpoint(wte_lm *lm, wte_error *err)
{
    const wte_allocator *a = lm->plan.o.allocator;
    parts all = { wte__alloc_array(a, PARTS, sizeof *all.part), 0 };
    if (!all.part) return wte__no_memory(err, PARTS * sizeof *all.part, "a checkpoint");
    lm->counts.place = lm->stream.block;
    wte_status status = wte__lm_settle(lm, err);
    for (int i = 0; status == WTE_OK && i < WTE__LM_PARTS; i++)
        status = add_weight(lm, (wte__lm_part)i, &all, err);
    if (status == WTE_OK) {
        add_numbers(&all, "counts", WTE_U64, &lm->counts, COUNTS);
        add_numbers(&all, "losses", WTE_F64, &lm->losses, LOSSES);
        add_numbers(&all, "words", WTE_U32, lm->stream.words, lm->plan.o.context);
        status = wte__checkpoint_write(lm->checkpoint, all.part, all.n, lm->settings, err);
    }
    wte__free(a, all.part, PARTS * sizeof *all.part);
    if (status != WTE_OK) return status;
    lm->kept = true;
    if (lm->counts.best_step == 0) return WTE_OK;
    /* the best weights are read from the newest one; the older file goes with its last reader */
    wte__checkpoint_free(lm->last);
    lm->last = NULL;
    return wte__checkpoint_open(lm->checkpoint, &lm->last, err);
}

/* A part of an optimizer's state, out of the file without a copy on the way. */
static wte_status read_state(wte_lm *lm, wte__lm_part part, const char *of, wte_error *err)
{
    char name[64], shown[WTE__NAME_SHOWN];
    wte_row_source rows;
    snprintf(name, sizeof name, "%s/%s", wte__lm_name(part), of);
    wte__show_path(shown, lm->checkpoint);
    wte_status status = wte__checkpoint_rows(lm->last, name, &rows, err);
    if (status == WTE_E_NOT_FOUND)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX, "%s: the checkpoint has no part '%s'",
                         shown, name);
    if (status == WTE_OK) status = wte_optim_load(lm->weight[part].optim, of, &rows, err);
    if (status == WTE_OK) return WTE_OK;
    wte__error_prefix(err, wte__lm_name(part));
    wte__error_prefix(err, shown);
    return status;
}

static wte_status read_weight(wte_lm *lm, wte__lm_part part, wte_error *err)
{
    const wte__lm_weight *w = &lm->weight[part];
    const char *of;
    wte_row_source rows;
    if (!w->rows) return WTE_OK;
    WTE_TRY(wte__checkpoint_read(lm->last, wte__lm_name(part), WTE_F32, w->rows, w->cols,
                                 wte_table_data(w->table), err));
    for (uint32_t i = 0; i < STATES && wte_optim_state(w->optim, i, &of, &rows, NULL) == WTE_OK;
         i++)
        WTE_TRY(read_state(lm, part, of, err));
    if (wte_optim_n_steps(w->optim) == lm->counts.step) return WTE_OK;
    char shown[WTE__NAME_SHOWN];
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: the optimizer of %s has taken %" PRIu64
                     " steps in the checkpoint, but the run %" PRIu64,
                     wte__show_path(shown, lm->checkpoint), wte__lm_name(part),
                     wte_optim_n_steps(w->optim), lm->counts.step);
}

/* A number that came out of the file, and what it can be. */
typedef struct bounds {
    const char *what;
    uint64_t is, least, most;
} bounds;

static wte_status check_bounds(const wte_lm *lm, const bounds *b, size_t n, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    for (; n-- > 0; b++) {
        if (b->is >= b->least && b->is <= b->most) continue;
        return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: %s is %" PRIu64 " in the checkpoint, but %s%" PRIu64
                         " at step %" PRIu64 " of %" PRIu64,
                         wte__show_path(shown, lm->checkpoint), b->what, b->is,
                         b->least == b->most ? "" : "at most ", b->most, lm->counts.step,
                         lm->plan.steps);
    }
    return WTE_OK;
}

/* The words behind which the block at hand begins, and that block. */
static wte_status read_words(wte_lm *lm, wte_error *err)
{
    const wte_allocator *a = lm->plan.o.allocator;
    const uint64_t context = lm->plan.o.context;
    char shown[WTE__NAME_SHOWN];
    uint32_t *carried = wte__alloc_array(a, context, sizeof *carried);
    if (!carried) return wte__no_memory(err, context * sizeof *carried, "words");
    wte_status status = wte__checkpoint_read(lm->last, "words", WTE_U32, 1, context, carried, err);
    const bounds begun = { "the beginning of the block", lm->counts.place.begun, 1, 1 };
    if (status == WTE_OK) status = check_bounds(lm, &begun, 1, err);
    for (uint64_t i = 0; status == WTE_OK && i < context; i++)
        if (carried[i] >= lm->plan.rows)
            status = wte__fail(err, WTE_E_FORMAT, i,
                               "%s: word %" PRIu64 " before the block at hand is number %" PRIu32
                               ", but the table has %" PRIu64 " rows",
                               wte__show_path(shown, lm->checkpoint), i, carried[i], lm->plan.rows);
    if (status == WTE_OK) {
        status = wte__lm_stream_seek(&lm->stream, &lm->counts.place, carried, err);
        if (status == WTE_OK) status = wte__lm_stream_fill(&lm->stream, err);
        /* what is wrong there is the place, not the text */
        if (status != WTE_OK) wte__error_prefix(err, wte__show_path(shown, lm->checkpoint));
    }
    wte__free(a, carried, (size_t)context * sizeof *carried);
    WTE_TRY(status);
    wte__lm_shuffle(lm->order, lm->stream.n, lm->plan.o.seed, lm->counts.block);
    return WTE_OK;
}

/* A step says where in the corpus it is: what else is counted must agree with it, since examples
 * are taken, and ends are found, by these numbers. Called when the block at hand has been read. */
static wte_status check_counts(const wte_lm *lm, wte_error *err)
{
    const wte__lm_plan *p = &lm->plan;
    const wte__lm_counts *at = &lm->counts;
    const bounds step = { "the step", at->step, 0, p->steps };
    WTE_TRY(check_bounds(lm, &step, 1, err));
    const uint64_t block_steps = p->o.shuffle / p->o.batch;
    const uint64_t done = at->step ? at->step - 1 : 0, within = done % p->epoch_steps;
    uint64_t block = 0, n = 0, cursor = 0;
    if (at->step) {
        const uint64_t before = within / block_steps * p->o.shuffle;
        block = done / p->epoch_steps * ((p->epoch_steps - 1) / block_steps + 1);
        block += within / block_steps + 1;
        n = p->train_words - before < p->o.shuffle ? p->train_words - before : p->o.shuffle;
        cursor = (within % block_steps + 1) * p->o.batch;
        if (cursor > n) cursor = n;
    }
    const uint64_t epoch = at->step / p->epoch_steps, words = at->step * p->o.batch;
    const bounds all[] = {
        { "the epoch", at->epoch, epoch, epoch },
        { "the block of words", at->block, block, block },
        { "the size of the block", lm->stream.n, n, n },
        { "the place in the block", at->cursor, cursor, cursor },
        { "the number of words since the last report", at->report_words, 0, words },
        { "the step of the last validation", at->valid_step, 0, at->step },
        { "the step of the best validation", at->best_step, 0, at->valid_step },
        { "the number of validations since the best", at->worse, 0, at->step - at->best_step },
    };
    return check_bounds(lm, all, sizeof all / sizeof *all, err);
}

/* Losses that later ones are held against. */
static wte_status check_losses(const wte_lm *lm, wte_error *err)
{
    const wte__lm_losses *l = &lm->losses;
    const struct {
        const char *what;
        double is;
        bool must; /* else it may be NaN: not known */
    } all[] = {
        { "the sum of losses", l->report, true },
        { "the loss that was told", l->told, false },
        { "the sum of the last losses", l->window, lm->counts.step > 0 },
        { "the loss of the first step", l->first, lm->counts.step > 0 },
        { "the loss of the validation", l->valid, lm->counts.valid_step > 0 },
        { "the loss of the best validation", l->best, lm->counts.best_step > 0 },
    };
    char shown[WTE__NAME_SHOWN];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (isfinite(all[i].is) || (isnan(all[i].is) && !all[i].must)) continue;
        return wte__fail(err, WTE_E_FORMAT, i, "%s: %s is %g in the checkpoint",
                         wte__show_path(shown, lm->checkpoint), all[i].what, all[i].is);
    }
    return WTE_OK;
}

wte_status wte__lm_resume(wte_lm *lm, wte_error *err)
{
    (void)wte_writer_remove_stale(lm->checkpoint);
    WTE_TRY(wte__checkpoint_open(lm->checkpoint, &lm->last, err));
    WTE_TRY(wte__checkpoint_belongs(lm->checkpoint, wte__checkpoint_settings(lm->last),
                                    lm->settings, err));
    WTE_TRY(wte__checkpoint_read(lm->last, "counts", WTE_U64, 1, COUNTS, &lm->counts, err));
    WTE_TRY(wte__checkpoint_read(lm->last, "losses", WTE_F64, 1, LOSSES, &lm->losses, err));
    for (int i = 0; i < WTE__LM_PARTS; i++) WTE_TRY(read_weight(lm, (wte__lm_part)i, err));
    lm->kept = true;
    if (lm->counts.block) WTE_TRY(read_words(lm, err)); /* 0: before the first step */
    WTE_TRY(check_counts(lm, err));
    return check_losses(lm, err);
}

wte_status wte__lm_take_best(wte_lm *lm, wte_error *err)
{
    char name[64];
    if (!lm->last || lm->counts.best_step == 0 || lm->counts.best_step == lm->counts.step)
        return WTE_OK;
    for (int i = 0; i < WTE__LM_PARTS; i++) {
        const wte__lm_weight *w = &lm->weight[i];
        if (!w->rows) continue;
        snprintf(name, sizeof name, "best/%s", wte__lm_name((wte__lm_part)i));
        WTE_TRY(wte__checkpoint_read(lm->last, name, WTE_F32, w->rows, w->cols,
                                     wte_table_data(w->table), err));
    }
    return WTE_OK;
}
