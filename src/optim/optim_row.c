/* How one row moves on: the steps that it has missed, the one that is taken, and its way back into
 * a table of 16 bits. */
#include <math.h>
#include <string.h>

#include "optim/optim.h"

#define LINE ((size_t)64)

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

void wte__optim_scratch_init(const wte_optim *o, uint32_t slot, wte__optim_scratch *scratch)
{
    const size_t size = (size_t)o->shape.cols * sizeof(float);
    const size_t each = (size_t)o->bytes[WTE__OPTIM_SCRATCH] / o->shape.threads;
    char *mine = (char *)o->block[WTE__OPTIM_SCRATCH] + slot * each;
    scratch->job = o->rule;
    scratch->job.at = scratch->place;
    scratch->g = (float *)(void *)mine;
    mine += whole_lines((size_t)wte__optim_room(o->shape.cols) * size);
    scratch->p = (float *)(void *)mine;
    scratch->narrow = mine + whole_lines(size);
}

/* Factors of steps ----------------------------------------------------------------------------- */

wte__factors wte__optim_factors(const wte_optim *o, uint64_t t, bool decays)
{
    const wte_optim_options *s = &o->opt;
    const double first = 1 - pow(s->beta1, (double)t), second = 1 - pow(s->beta2, (double)t);
    const bool decoupled = decays && s->decay == WTE_DECAY_DECOUPLED;
    wte__factors f = {
        .lr = (float)s->lr,
        .over = 1,
        .keep = decoupled ? (float)(1 - s->lr * s->weight_decay) : 1,
        .gain = t > 1 ? (float)(1 - s->dampening) : 1, /* PyTorch's buffer begins undamped */
    };
    switch (s->kind) {
    case WTE_OPTIM_ADAM:
    case WTE_OPTIM_ADAMW:
        f.lr = (float)(s->lr / first);
        f.over = (float)(1 / sqrt(second));
        break;
    case WTE_OPTIM_LAZY_ADAM: f.lr = (float)(s->lr * sqrt(second) / first); break;
    case WTE_OPTIM_ADAGRAD: f.lr = (float)(s->lr / (1 + (double)(t - 1) * s->lr_decay)); break;
    case WTE_OPTIM_ADAFACTOR: f.over = (float)(1 / second); break;
    default: break;
    }
    return f;
}

/* Whether updates of an idle row shrink from step to step by more than 2^-12, and by more than the
 * row itself; see "Idle steps" in docs/kernels.md. What does not is never cut short. */
static bool shrinks(const wte_optim *o, const wte__factors *f)
{
    const wte_optim_options *s = &o->opt;
    const double still = (1 - 0x1p-12) * (double)f->keep;
    const double slowest =
        s->beta1 * (1 + (1 - s->beta1) / 2); /* with the first steps' correction */
    if (f->keep < 1 - 0x1p-10f || f->lr > 0x1p24f) return false;
    if (s->kind == WTE_OPTIM_SGD) return s->momentum < still;
    return s->eps >= 0x1p-40 && slowest < sqrt(s->beta2) * still;
}

void wte__optim_note(wte_optim *o, const wte__factors *by)
{
    wte__factors *noted = o->block[WTE__OPTIM_STEPS];
    const float lr = (float)o->opt.lr;
    if (o->noted == 0)
        o->decay_only_from = 0;
    else if (lr > o->last_lr)
        o->decay_only_from = o->noted;
    if (!shrinks(o, by)) o->decay_only_from = o->noted + 1;
    o->last_lr = lr;
    noted[o->noted++] = *by;
}

/* Tables of 16 bits ---------------------------------------------------------------------------- */

/* What chance is drawn from: each of the three changes all bits. */
static uint64_t chance_key(uint64_t seed, uint64_t step, uint64_t row)
{
    const uint64_t words[2] = { step, row };
    uint64_t x = seed;
    for (size_t i = 0; i < 2; i++) {
        x = (x ^ words[i]) + UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        x ^= x >> 31;
    }
    return x;
}

/* The row as the table will have it after step number t. */
static void narrow_row(const wte_optim *o, uint64_t row, uint64_t t,
                       const wte__optim_scratch *scratch)
{
    if (o->opt.rounding == WTE_ROUND_STOCHASTIC)
        o->chance(scratch->job.at->p, scratch->narrow, scratch->job.n,
                  chance_key(o->opt.seed, t, row));
    else
        o->round(scratch->job.at->p, scratch->narrow, scratch->job.n);
}

/* Idle steps of a row that is rounded after each of them. */
static void idle_narrow(const wte_optim *o, uint64_t row, uint32_t from,
                        wte__optim_scratch *scratch)
{
    const wte__factors *noted = o->block[WTE__OPTIM_STEPS];
    for (uint32_t s = from; s < o->noted; s++) {
        scratch->job.by = &noted[s];
        (void)o->idle(&scratch->job, 1, 1);
        narrow_row(o, row, o->steps - o->noted + s + 1, scratch);
        o->widen(scratch->narrow, scratch->p, scratch->job.n);
    }
}

/* Steps ---------------------------------------------------------------------------------------- */

wte__optim_row wte__optim_row_of(const wte_optim *o, uint64_t row, uint64_t rank)
{
    const float *by_row = wte__optim_floats(o, WTE__OPTIM_BY_ROW);
    wte__optim_row at = { .p = (float *)(void *)(o->data + row * o->row_bytes), .grad_scale = 1 };
    at.m = wte__optim_at(o, WTE__OPTIM_FIRST, rank);
    at.v = wte__optim_at(o, WTE__OPTIM_SECOND, rank);
    at.max_v = wte__optim_at(o, WTE__OPTIM_MOST, rank);
    if (by_row) at.sum = wte__optim_floats(o, WTE__OPTIM_BY_ROW) + rank;
    if (o->narrow) at.p = wte__optim_at(o, WTE__OPTIM_MASTER, rank);
    return at;
}

bool wte__optim_catch_up(const wte_optim *o, uint64_t row, uint64_t rank,
                         wte__optim_scratch *scratch)
{
    const uint32_t from = ((const uint32_t *)o->block[WTE__OPTIM_NOTED])[rank] & ~WTE__OPTIM_LISTED;
    const wte__factors *noted = o->block[WTE__OPTIM_STEPS];
    if (from >= o->noted) return false;
    scratch->job.l2 = o->opt.decay_touched ? 0 : o->rule.l2;
    if (scratch->job.at->p == scratch->p) {
        idle_narrow(o, row, from, scratch);
        return true;
    }
    const uint32_t decay_only_from = o->decay_only_from > from ? o->decay_only_from - from : 0;
    scratch->job.by = noted + from;
    return o->idle(&scratch->job, o->noted - from, decay_only_from);
}

bool wte__optim_move(wte_optim *o, uint64_t row, uint64_t rank, const float *g,
                     const wte__factors *by, wte__optim_scratch *scratch)
{
    char *stored = o->data + row * o->row_bytes;
    uint8_t *marks = o->block[WTE__OPTIM_MARKS];
    wte__optim_row *at = scratch->place;
    uint32_t found = 0;
    *at = wte__optim_row_of(o, row, rank);
    scratch->job.rows = 1;
    if (!at->p) {
        at->p = scratch->p;
        o->widen(stored, scratch->p, scratch->job.n);
    }
    bool changed = o->dense && o->noted && wte__optim_catch_up(o, row, rank, scratch);
    if (g) {
        at->g = g;
        scratch->job.by = by;
        scratch->job.l2 =
            o->opt.kind == WTE_OPTIM_ADAFACTOR ? 0 : o->rule.l2; /* which has joined it */
        o->step(&scratch->job);
        found = at->found;
        changed = changed || found & WTE__ROW_CHANGED;
    }
    if (o->narrow && changed) {
        /* after idle steps alone the row has been rounded already, and rounds to itself */
        if (g || at->p != scratch->p) narrow_row(o, row, o->steps + (g != NULL), scratch);
        changed = memcmp(stored, scratch->narrow, o->row_bytes) != 0;
        if (changed) memcpy(stored, scratch->narrow, o->row_bytes);
    }
    if (changed) marks[rank] |= WTE__OPTIM_CHANGED;
    return !(found & WTE__GRAD_NOT_FINITE);
}
