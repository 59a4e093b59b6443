/* Explanations in order: which of two is better, and the two best of many. The order of offers does
 * not matter, so lanes may keep tallies of their own. */
#include <math.h>
#include <string.h>

#include "inspect/diagnose.h"

static bool fits(const wte_hypothesis *g)
{
    return g->n > 0 && g->n_matching == g->n;
}

/* A factor that was measured, and that neither the model nor its width explains. */
static bool is_measured(const wte_hypothesis *g)
{
    return g->change == WTE_LABEL_SCALED && g->power == 0;
}

/* Of two explanations that both fit the simpler one is better: fewer things went wrong. */
static int32_t things_wrong(const wte_hypothesis *g)
{
    const bool changed = g->change != WTE_LABEL_UNKNOWN;
    if (is_measured(g)) return g->label == WTE_LABEL_SCALED ? 10 : 11;
    switch (g->label) {
    case WTE_LABEL_MATCH: return 0;
    case WTE_LABEL_OTHER_ROW: return changed ? 6 : 1;
    case WTE_LABEL_HEAD_ROW: return changed ? 7 : 2;
    case WTE_LABEL_COLUMN_NOT_ROW:
    case WTE_LABEL_TRANSPOSED_MEMORY:
    case WTE_LABEL_RESHAPED: return 4;
    case WTE_LABEL_PLUS_ROW: return 5;
    case WTE_LABEL_OTHER_TENSOR: return changed ? 9 : 8;
    case WTE_LABEL_SCALED:
    case WTE_LABEL_NORMALISED:
    case WTE_LABEL_BYTE_SWAPPED:
    case WTE_LABEL_NARROWED:
    case WTE_LABEL_UNROUNDED: return 3;
    case WTE_LABEL_UNKNOWN:
    case WTE_LABEL_ZEROS:
    case WTE_LABEL_NONFINITE:
    case WTE_LABEL_FORCE_INT: break;
    }
    return 12;
}

/* < 0: a is better; 0 only for the same hypothesis in the same form. */
static int32_t compare(const wte__search_entry *a, const wte__search_entry *b)
{
    const wte_hypothesis *x = &a->guess, *y = &b->guess;
    const bool good = fits(x);
    if ((x->n == 0) != (y->n == 0)) return x->n ? -1 : 1;
    if (good != fits(y)) return good ? -1 : 1;
    if (!good && x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    const int32_t wrong = things_wrong(x) - things_wrong(y);
    if (wrong) return wrong;
    if (x->bit_for_bit != y->bit_for_bit) return x->bit_for_bit ? -1 : 1;
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    if (a->asked != b->asked) return a->asked ? -1 : 1;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->plus_row != y->plus_row) return x->plus_row < y->plus_row ? -1 : 1;
    return 0;
}

/* The same in all but the row. */
static bool same_kind(const wte_hypothesis *x, const wte_hypothesis *y)
{
    return x->label == y->label && x->change == y->change && x->dtype == y->dtype &&
           x->power == y->power && x->model_factor == y->model_factor && x->tensor == y->tensor &&
           x->plus == y->plus;
}

static bool same_hypothesis(const wte_hypothesis *x, const wte_hypothesis *y)
{
    return same_kind(x, y) && x->row == y->row && x->plus_row == y->plus_row;
}

/* Count y's rows among x's; both fit equally well. */
static void join(wte_hypothesis *x, const wte_hypothesis *y)
{
    uint64_t rows[WTE_SAME_SHOWN];
    uint64_t i = 0, k = 0;
    for (size_t n = 0; n < WTE_SAME_SHOWN; n++) {
        const uint64_t a = i < WTE_SAME_SHOWN && i < x->n_same ? x->same[i] : WTE_NO_INDEX;
        const uint64_t b = k < WTE_SAME_SHOWN && k < y->n_same ? y->same[k] : WTE_NO_INDEX;
        rows[n] = a < b ? a : b;
        i += a < b;
        k += a >= b;
    }
    memcpy(x->same, rows, sizeof rows);
    x->n_same += y->n_same;
}

void wte__hypotheses_offer(wte__rank_hypotheses *t, const wte__search_entry *entry)
{
    wte__search_entry new = *entry;
    if (new.guess.n == 0) return;
    const int32_t order = compare(&new, &t->best);
    const wte_hypothesis *best = &t->best.guess;
    if (best->n && same_hypothesis(&new.guess, best)) {
        if (order < 0) t->best = new;
        return;
    }
    if (best->n && fits(best) && fits(&new.guess) && same_kind(&new.guess, best) &&
        new.guess.bit_for_bit == best->bit_for_bit) {
        if (order < 0) {
            join(&new.guess, best);
            t->best = new;
        } else {
            join(&t->best.guess, &new.guess);
        }
        return;
    }
    if (order < 0) {
        const wte__search_entry old = t->best;
        t->best = new;
        new = old;
        if (same_hypothesis(&t->second.guess, &t->best.guess)) t->second = new;
    }
    if (new.guess.n && compare(&new, &t->second) < 0) t->second = new;
}

bool wte__hypotheses_explained(const wte__rank_hypotheses *t)
{
    return fits(&t->best.guess);
}

bool wte__hypotheses_settled(const wte__rank_hypotheses *t)
{
    return fits(&t->best.guess) && !is_measured(&t->best.guess);
}

static wte_label label_of(const wte__row *row, const wte__hypothesis_rule *rule)
{
    if (row->base) return WTE_LABEL_PLUS_ROW;
    if (row->place == WTE__HEAD) return WTE_LABEL_HEAD_ROW;
    if (row->place == WTE__OTHER) return WTE_LABEL_OTHER_TENSOR;
    if (!row->own) return WTE_LABEL_OTHER_ROW;
    return rule->change == WTE_LABEL_UNKNOWN ? WTE_LABEL_MATCH : rule->change;
}

wte__search_entry wte__entry_make(const wte__observed *g, const wte__row *row,
                                  const wte__hypothesis_rule *rule, uint32_t order,
                                  const wte__fit *fit)
{
    wte__search_entry entry = { .order = order, .asked = row->own, .log_chance = fit->log_chance };
    wte_hypothesis *guess = &entry.guess;
    guess->label = label_of(row, rule);
    guess->change = rule->change;
    guess->tensor = row->base ? row->base_tensor : row->tensor;
    guess->row = row->base ? row->base_row : row->index;
    guess->plus = row->base ? row->tensor : NULL;
    guess->plus_row = row->base ? row->index : 0;
    guess->dtype = rule->type;
    guess->factor = rule->change == WTE_LABEL_SCALED ? fit->factor : 1;
    if (rule->power == 2) guess->factor *= fit->factor;
    if (rule->power == -1) guess->factor = 1 / fit->factor;
    guess->power = rule->power;
    guess->model_factor = rule->model_factor;
    guess->bit_for_bit = fit->same_bits;
    guess->n_matching = fit->fits;
    guess->n = g->n;
    guess->max_error = fit->worst;
    const double far = sqrt(fit->square);
    guess->distance = far == 0 ? 0 : g->norm > 0 ? far / g->norm : (double)INFINITY;
    guess->n_same = 1;
    guess->same[0] = guess->row;
    return entry;
}
