/* Which of the candidates plays a role: the input table, then the head; and what to say when none
 * does. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/find.h"

/* From here on it has a table's name, and its shape does not speak against it. */
#define NAMED_SCORE 60

static wte_status view(struct wte__find *f, unsigned slot, const struct wte__scored *s,
                       const char *why)
{
    wte_model *m = f->m;
    wte__view_want want = { s->tensor, s->evidence & TURNED, s->map ? f->mapping : WTE_NOWHERE,
                            why };
    wte_error *err = slot ? &m->no_head : &m->no_input;
    wte_status status = wte__model_view(m, slot, &want, slot ? &m->head : &m->input, err);
    if (slot == 1) {
        m->has_head = status == WTE_OK;
        if (status == WTE_OK) return status;
        /* a head that is not read does not keep the input table from being read */
        if (status == WTE_E_UNSUPPORTED || (s->packed && status != WTE_E_MEMORY)) return WTE_OK;
        if (f->err) *f->err = m->no_head;
        return status;
    }
    m->has_input = status == WTE_OK;
    if (status == WTE_E_MEMORY) {
        if (f->err) *f->err = m->no_input;
        return status;
    }
    return WTE_OK; /* told when the input table is asked for: the tensors can still be listed */
}

/* A tensor that the caller named: no scores, but its shape must be a matrix. */
static wte_status view_named(struct wte__find *f, unsigned slot, const char *name)
{
    wte_model *m = f->m;
    wte_tensor t;
    wte__view_want want = { 0, false, WTE_NOWHERE, "named by the caller" };
    WTE_TRY(wte__find_named(m->file, name, &want.tensor, f->err));
    WTE_TRY(wte_file_tensor(m->file, want.tensor, &t, f->err));
    const wte__name judged = wte__name_judge(t.name, t.name_bytes);
    uint64_t rows, dim;
    if (judged.rule && (judged.rule->flags & WTE__RULE_MAP)) want.mapping = f->mapping;
    if (wte__find_matrix_of(&t, &rows, &dim))
        want.transposed = wte__find_judge_shape(f, rows, dim) & TURNED;
    WTE_TRY(wte__model_view(m, slot, &want, slot ? &m->head : &m->input, f->err));
    *(slot ? &m->has_head : &m->has_input) = true;
    m->named = true;
    return WTE_OK;
}

/* "'array' of shape [2, 2, 3] f32": why a tensor is no table is mostly seen from that. */
static void put_tensor(char *text, size_t cap, const wte_tensor *t)
{
    char shown[WTE__NAME_SHOWN], shape[64] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < t->rank && used < sizeof shape; i++) {
        int n =
            snprintf(shape + used, sizeof shape - used, "%s%" PRIu64, i ? ", " : "", t->shape[i]);
        used += n > 0 ? (size_t)n : sizeof shape;
    }
    snprintf(text, cap, "'%.40s' of shape [%s] %s", wte__show(shown, t->name, t->name_bytes), shape,
             wte_dtype_name(t->dtype));
}

/* Nothing fits: say what there is, so that the caller can name a tensor. */
static void tell_no_input(struct wte__find *f)
{
    wte_model *m = f->m;
    char text[160] = "", shown[WTE__NAME_SHOWN];
    const uint64_t n_tensors = wte_file_tensors(m->file);
    size_t used = 0;
    wte_tensor only;
    if (m->is_adapter) {
        wte__adapter_tell(m);
        return;
    }
    for (size_t i = 0; i < f->n && i < 3; i++) {
        int n = snprintf(text + used, sizeof text - used, "%s'%.40s'", i ? ", " : "",
                         wte__show(shown, f->list[i].name, f->list[i].name_bytes));
        if (n < 0 || (size_t)n >= sizeof text - used) break;
        used += (size_t)n;
    }
    text[used] = '\0';
    if (n_tensors == 1 && wte_file_tensor(m->file, 0, &only, NULL) == WTE_OK) {
        put_tensor(text, sizeof text, &only);
        (void)wte__fail(
            &m->no_input, WTE_E_NOT_FOUND, WTE_NOWHERE,
            "%s: no token table: its one tensor is %s, but a table is a matrix of numbers "
            "of whole bytes, one row a token (--tensor takes what is given)",
            m->path, text);
        return;
    }
    (void)wte__fail(&m->no_input, WTE_E_NOT_FOUND, WTE_NOWHERE,
                    "%s: no token table among %" PRIu64 " tensors%s%s; name it with --tensor",
                    m->path, n_tensors, used ? "; nearest: " : "", text);
}

wte_status wte__choose_input(struct wte__find *f)
{
    wte_model *m = f->m;
    const struct wte__scored *s;
    if (f->opt->tensor) return view_named(f, 0, f->opt->tensor);
    if ((s = wte__find_best(f, WTE_ROLE_INPUT))) return view(f, 0, s, wte__find_explain(f, s));
    s = wte__find_best(f, WTE_ROLE_HEAD);
    if (s && (!s->weak || (s->evidence & ROWS_EQUAL))) {
        m->head_serves_input = true;
        return view(f, 0, s, "no input table is stored: the head serves both roles");
    }
    tell_no_input(f);
    return WTE_OK;
}

/* Where encoder and decoder have tables of their own and no head is stored, a tied head is the
 * decoder's. */
static const struct wte__scored *decoder_head(const struct wte__find *f)
{
    const wte_model *m = f->m;
    const struct wte__scored *decoder = NULL;
    wte_part taken = WTE_PART_NONE;
    for (size_t i = 0; i < f->n; i++) {
        const struct wte__scored *s = &f->list[i];
        if (s->role != WTE_ROLE_INPUT || s->score <= 0) continue;
        if (s->tensor == m->input.tensor) taken = s->part;
        if (s->part == WTE_PART_DECODER && !decoder) decoder = s;
    }
    const bool tied = m->config.said.tied && m->config.head_class == WTE__HEAD_EXPECTED;
    return tied && taken == WTE_PART_ENCODER ? decoder : NULL;
}

/* More than one table of its own kind: the others are not lost from sight. */
wte_status wte__note_others(struct wte__find *f)
{
    wte_model *m = f->m;
    char shown[WTE__NAME_SHOWN];
    for (size_t i = 0; m->has_input && !m->named && i < f->n; i++) {
        const struct wte__scored *s = &f->list[i];
        if (s->role != WTE_ROLE_INPUT || s->score < NAMED_SCORE || s->tensor == m->input.tensor)
            continue;
        if (s->rows == m->input.rows && s->dim == m->input.dim) continue;
        if (s->packed && s->dim == 0) continue;
        m->note = wte__arena_print(&m->arena,
                                   "%s%sanother table can be the input: %.100s, %" PRIu64
                                   " x %" PRIu64 " (--tensor)",
                                   m->note, *m->note ? "; " : "",
                                   wte__show(shown, s->name, s->name_bytes), s->rows, s->dim);
        return m->note ? WTE_OK : wte__no_memory(f->err, 512, "a note");
    }
    return WTE_OK;
}

wte_status wte__choose_head(struct wte__find *f)
{
    const struct wte__scored *s;
    if (f->opt->head) return view_named(f, 1, f->opt->head);
    if (!f->m->has_input) return WTE_OK;
    wte__find_judge_heads(f, &f->m->input);
    wte__find_sort(f);
    s = wte__find_best(f, WTE_ROLE_HEAD);
    if (s) return view(f, 1, s, wte__find_explain(f, s));
    s = decoder_head(f);
    f->m->decoder_serves_head = s != NULL;
    return s ? view(f, 1, s, "no head is stored: the decoder's table serves it") : WTE_OK;
}
