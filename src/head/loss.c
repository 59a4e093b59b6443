/* Cross-entropy without n x rows logits: the loss itself; loss_grad.c has the gradients. */
#include "head/loss.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "head/tile.h"

static void put_term(void *ctx, uint64_t hidden, const wte__found *f)
{
    wte__loss_job *job = ctx;
    const double s = (double)job->how.label_smoothing, z = (double)job->how.z_loss;
    wte__term *term = job->terms + (hidden - job->s.first);
    const bool taken = job->s.target[hidden - job->s.first] != WTE_NO_INDEX;
    *term = (wte__term){
        .lse = f->lse, .log_sum = f->log_sum, .most = f->most, .logit = f->target, .taken = taken
    };
    if (!taken) return;
    term->right = f->right;
    const double most = (double)f->most;
    if (s < 1) term->loss += (1 - s) * (most - (double)f->target + f->log_sum);
    if (s > 0) term->loss += s * (most - f->all / (double)job->unmasked + f->log_sum);
    if (z != 0) term->loss += z * f->lse * f->lse;
}

/* In the order of hidden vectors. */
static void add_block(const wte__loss_job *job, wte_loss *out)
{
    for (uint64_t i = 0; i < job->s.part.n; i++) {
        const wte__term *term = job->terms + i;
        if (job->how.per_target) job->how.per_target[job->s.first + i] = (float)term->loss;
        if (!term->taken) continue;
        out->loss += term->loss;
        out->lse_mean += term->lse;
        out->n_correct += term->right;
    }
}

static wte_status check_number(float x, bool fine, const char *name, wte_error *err)
{
    if (fine) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "head: %s is %g", name, (double)x);
}

static wte_status check_how(wte__loss_job *job, const wte_loss_options *given, wte_error *err)
{
    const wte_loss_options init = WTE_LOSS_OPTIONS_INIT;
    wte_loss_options *how = &job->how;
    *how = init;
    WTE_TRY(wte__options(how, sizeof *how, given, err));
    WTE_TRY(check_number(how->label_smoothing,
                         how->label_smoothing >= 0 && how->label_smoothing <= 1, "label_smoothing",
                         err));
    WTE_TRY(check_number(how->z_loss, isfinite(how->z_loss), "z_loss", err));
    WTE_TRY(check_number(how->grad_scale, isfinite(how->grad_scale), "upstream", err));
    WTE_TRY(check_number(how->skip_below, how->skip_below >= 0 && isfinite(how->skip_below),
                         "skip_below", err));
    if (job->s.sweep.o.precision != WTE_PRECISION_EXACT)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "head: the loss has the exact precision only");
    return WTE_OK;
}

static void count(wte__loss_job *job, wte_ids targets)
{
    const wte_row_source *table = job->s.sweep.table;
    job->unmasked = 0;
    job->taken = 0;
    for (uint64_t r = 0; job->how.label_smoothing > 0 && r < table->rows; r++)
        job->unmasked += !wte__head_masks(&job->s.sweep.o, r);
    for (uint64_t i = 0; i < targets.count; i++)
        job->taken += wte_ids_at(targets, i) != job->how.ignore_id;
}

/* All that needs no target. */
static wte_status prepare(wte__loss_job *job, const wte_row_source *table, const wte_hidden *hidden,
                          const wte_head_options *opt, const wte_loss_options *loss, wte_error *err)
{
    *job = (wte__loss_job){
        .s = { .sweep = { .table = table, .hidden = hidden }, .times = 1, .emit = put_term }
    };
    job->s.ctx = job;
    WTE_TRY(wte__head_check(table, hidden, opt, &job->s.sweep.o, err));
    WTE_TRY(check_how(job, loss, err));
    job->s.sweep.keeps = wte__loss_wants_gradients(&job->how);
    job->s.want_all = job->how.label_smoothing > 0;
    job->s.ignore = job->how.ignore_id;
    job->s.step = wte__loss_wants_gradients(&job->how) ? WTE__LOSS_GROUP : 0;
    return WTE_OK;
}

static void bytes_of(const wte__loss_job *job, uint64_t *fixed, uint64_t *each)
{
    *fixed = *each = 0;
    if (wte__loss_wants_gradients(&job->how)) wte__gradient_bytes(job, fixed, each);
    *each += sizeof *job->terms;
}

wte_status wte_loss_workspace_size(const wte_row_source *table, const wte_hidden *hidden,
                                   const wte_head_options *opt, const wte_loss_options *loss,
                                   uint64_t *least, uint64_t *best, wte_error *err)
{
    wte__loss_job job;
    uint64_t fixed, each;
    if (least) *least = 0;
    WTE_TRY(wte__need_out(best, sizeof *best, "wte_loss_workspace_size: best", err));
    WTE_TRY(wte__need(least, "wte_loss_workspace_size: least", err));
    WTE_TRY(prepare(&job, table, hidden, opt, loss, err));
    job.s.targets.data = least; /* there will be some */
    bytes_of(&job, &fixed, &each);
    wte__logit_stats_sizes(&job.s, fixed, each, least, best);
    return WTE_OK;
}

static wte_status run_blocks(wte__loss_job *job, wte_loss *out, wte_error *err)
{
    wte__logit_stats *s = &job->s;
    const uint64_t n = s->sweep.hidden->n;
    const bool gradients = wte__loss_wants_gradients(&job->how);
    for (uint64_t first = 0; first < n; first += s->block) {
        WTE_TRY(wte__logit_stats_run(s, first, n - first < s->block ? n - first : s->block, err));
        add_block(job, out);
        if (gradients) WTE_TRY(wte__gradient_block(job, err));
    }
    return WTE_OK;
}

static wte_status run(wte__loss_job *job, wte_loss *out, wte_error *err)
{
    wte__logit_stats *s = &job->s;
    uint64_t fixed, each;
    bytes_of(job, &fixed, &each);
    wte_status status = wte__logit_stats_open(s, fixed, each, err);
    if (status != WTE_OK) goto done;
    const uint64_t products = 1u + (job->how.d_table != NULL) + (job->how.d_hidden != NULL);
    s->told.total = wte__times(s->told.total, products);
    job->terms = wte__alloc_array(s->sweep.o.allocator, s->block, sizeof *job->terms);
    if (!job->terms && s->block)
        status = wte__no_memory(err, s->block * sizeof *job->terms, "losses");
    if (status == WTE_OK && wte__loss_wants_gradients(&job->how))
        status = wte__gradient_open(job, err);
    if (status == WTE_OK) status = run_blocks(job, out, err);
done:
    wte__gradient_close(job);
    wte__free(s->sweep.o.allocator, job->terms, (size_t)(s->block * sizeof *job->terms));
    wte__logit_stats_close(s);
    return status;
}

/* What is written, against what is read. */
static wte_status check_outputs(const wte__loss_job *job, wte_ids targets, wte_error *err)
{
    const wte__logit_tiles *s = &job->s.sweep;
    const uint64_t row = s->table->cols * sizeof(float), n = s->hidden->n, rows = s->table->rows;
    const wte__piece pieces[] = { { "each", job->how.per_target, n, sizeof(float), 0 },
                                  { "d_hidden", job->how.d_hidden, n, row, 0 },
                                  { "d_table", job->how.d_table, rows, row, 0 },
                                  { "d_bias", job->how.d_bias, rows, sizeof(float), 0 } };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        WTE_TRY(wte__head_no_overlap(s, pieces[i], err));
        WTE_TRY(wte__no_overlap_with_ids("head", pieces[i], targets, err));
        for (size_t k = 0; k < i; k++) WTE_TRY(wte__no_overlap("head", pieces[i], pieces[k], err));
    }
    return WTE_OK;
}

wte_status wte_head_loss(const wte_row_source *table, const wte_hidden *hidden, wte_ids targets,
                         const wte_head_options *opt, const wte_loss_options *loss, wte_loss *out,
                         wte_error *err)
{
    wte__loss_job job;
    wte_loss sum = { 0 };
    WTE_TRY(wte__need(out, "wte_head_loss: out", err));
    *out = sum;
    WTE_TRY(prepare(&job, table, hidden, opt, loss, err));
    WTE_TRY(wte__targets_check(table, hidden, targets, &job.how.ignore_id, err));
    WTE_TRY(check_outputs(&job, targets, err));
    job.s.targets = targets;
    count(&job, targets);
    WTE_TRY(run(&job, &sum, err));
    sum.n_targets = job.taken;
    sum.n_ignored = targets.count - job.taken;
    const double taken = (double)job.taken;
    sum.lse_mean = job.taken ? sum.lse_mean / taken : (double)NAN;
    if (!job.how.sum) sum.loss = job.taken ? sum.loss / taken : (double)NAN;
    *out = sum;
    return WTE_OK;
}
