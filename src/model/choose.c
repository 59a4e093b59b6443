/* Which of the candidates plays a role: the input table, then the head; and what to say when none
 * does. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "format/gguf.h"
#include "model/find_tables.h"

/* From here on it has a table's name, and its shape does not speak against it. */
#define NAMED_SCORE 60

static wte_status view(struct wte__find *f, unsigned slot, const struct wte__scored *s,
                       const char *why)
{
    wte_model *m = f->m;
    wte__view_want want = { s->tensor, s->evidence & TURNED, s->map ? f->mapping : WTE_NO_INDEX,
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
    wte__view_want want = { 0, false, WTE_NO_INDEX, "named by the caller" };
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
             t->foreign_name ? t->foreign_name : wte_type_name(t->dtype, t->block));
}

/* The end of a name that is longer than a message can hold: tables of a list differ there. */
#define NAME_END 40u
static const char *name_end(char shown[WTE__NAME_SHOWN], const struct wte__scored *s)
{
    wte__show(shown, s->name, s->name_bytes);
    const size_t n = strlen(shown);
    if (n <= NAME_END) return shown;
    char *end = shown + n - NAME_END + 3;
    while (((unsigned char)*end & 0xC0) == 0x80) end++; /* not inside of a character */
    memcpy(end - 3, "...", 3);
    return end - 3;
}

/* "; candidates: 'a' 4 x 2, 'b' 5 x 2": what can be named. */
static void put_candidates(const struct wte__find *f, char *text, size_t cap)
{
    char shown[WTE__NAME_SHOWN];
    size_t used = 0;
    unsigned n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < f->n; i++) {
        const struct wte__scored *s = &f->list[i];
        if (s->role == WTE_ROLE_OTHER) continue;
        if (n == 3) {
            snprintf(text + used, cap - used, ", ...");
            return;
        }
        const int k = snprintf(text + used, cap - used, "%s'%s' %" PRIu64 " x %" PRIu64,
                               n ? ", " : "; candidates: ", name_end(shown, s), s->rows, s->dim);
        if (k < 0 || (size_t)k >= cap - used) break;
        used += (size_t)k;
        n++;
    }
    text[used] = '\0';
    if (n) return;
    /* tables that stand beside: what was looked at, at the least */
    for (size_t i = 0; i < f->n && n < 3; i++, n++) {
        const int k = snprintf(text + used, cap - used, "%s'%.40s'", n ? ", " : "; nearest: ",
                               wte__show(shown, f->list[i].name, f->list[i].name_bytes));
        if (k < 0 || (size_t)k >= cap - used) break;
        used += (size_t)k;
    }
    text[used] = '\0';
}

/* Nothing fits: say what there is, so that the caller can name a tensor. `why`: what speaks against
 * the head, or "". */
static wte_status tell_no_input(struct wte__find *f, const char *why)
{
    wte_model *m = f->m;
    char text[180] = "", kind[WTE__GGUF_KIND];
    const uint64_t n_tensors = wte_file_n_tensors(m->file);
    wte_tensor only;
    if (m->is_adapter) {
        const struct wte__scored *head = wte__find_best(f, WTE_ROLE_HEAD);
        wte__adapter_tell(m, head ? head->rows : 0, head ? head->dim : 0);
        return WTE_OK;
    }
    if (*wte__gguf_kind(m->file, kind)) {
        (void)wte__fail(&m->no_input, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                        "%s: no input table: the file is %s", m->path, kind);
        return WTE_OK;
    }
    if (n_tensors == 0) {
        (void)wte__fail(&m->no_input, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                        "%s: no input table: the file holds no tensors", m->path);
        return WTE_OK;
    }
    if (n_tensors == 1 && !f->matrices && wte_file_tensor(m->file, 0, &only, NULL) == WTE_OK) {
        put_tensor(text, sizeof text, &only);
        (void)wte__fail(
            &m->no_input, WTE_E_NOT_FOUND, WTE_NO_INDEX,
            "%s: no token table: its one tensor is %s, but a table is a matrix of numbers "
            "of whole bytes, one row a token (--tensor takes what is given)",
            m->path, text);
        return WTE_OK;
    }
    WTE_TRY(wte__find_offer(f));
    wte__find_sort(f);
    put_candidates(f, text, sizeof text);
    char among[40] = "";
    if (!*text) snprintf(among, sizeof among, " among %" PRIu64 " tensors", n_tensors);
    (void)wte__fail(&m->no_input, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                    "%s: no input table found%s%s; name it with --tensor%s", m->path, among, text,
                    why);
    return WTE_OK;
}

/* Whether a head that is stored without an input table is that table as well. It is not by being
 * alone under a known name: *why, cleared, then says what is against it. */
static wte_status head_serves(struct wte__find *f, const struct wte__scored *s, bool *serves,
                              char *why, size_t cap)
{
    const wte__config *c = &f->m->config;
    enum wte__rival rival = RIVAL_NONE;
    wte_tensor t;
    char shown[WTE__NAME_SHOWN], name[WTE__NAME_SHOWN];
    *serves = false;
    wte__show(name, s->name, s->name_bytes);
    if (s->weak && !(s->evidence & ROWS_EQUAL)) return WTE_OK;
    if (c->reads) return WTE_OK;
    *serves = true;
    if (wte__tie_alias(f->m, s->name, WTE_ROLE_INPUT)) return WTE_OK;
    WTE_TRY(wte__find_rival(f, s, &rival, &t));
    /* llama.cpp loads no GGUF model of layers without token_embd */
    const bool tied = c->said.tied && c->said.tie_decided && !f->gguf;
    if (rival == RIVAL_NONE || (tied && rival == RIVAL_WIDTH)) return WTE_OK;
    *serves = false;
    if (rival == RIVAL_TABLE)
        snprintf(why, cap, " ('%.40s' is the head; '%.40s' has its rows)", name,
                 wte__show(shown, t.name, t.name_bytes));
    else
        snprintf(why, cap, " ('%.40s' is the head; nothing says that it is tied)", name);
    return WTE_OK;
}

/* From so many rows less than the tokenizer, the config or the head say a table is a dummy. */
#define DUMMY_PART 2u

/* The rows that the model's table has by all that is not a table, or 0. */
static uint64_t rows_wanted(struct wte__find *f)
{
    const struct wte__scored *head = wte__find_best(f, WTE_ROLE_HEAD);
    if (f->tokens) return f->tokens;
    if (f->m->config.said.vocab_size) return f->m->config.said.vocab_size;
    return head && !head->weak ? head->rows : 0;
}

/* The best by its name, unless it has only a few rows and another has those that are wanted. */
static wte_status best_input(struct wte__find *f, const struct wte__scored **out)
{
    const struct wte__scored *best = wte__find_best(f, WTE_ROLE_INPUT);
    const uint64_t wanted = rows_wanted(f);
    size_t n;
    *out = best;
    if (!best || best->map || best->both || (best->packed && !best->dim)) return WTE_OK;
    if (best->evidence & (ROWS_EQUAL | ROWS_NEAR | ROWS_TOKENS)) return WTE_OK;
    if (best->rows >= wanted / DUMMY_PART) return WTE_OK;
    WTE_TRY(wte__find_of_rows(f, wanted, &n));
    if (n > 1) { /* which of them? */
        *out = NULL;
        return WTE_OK;
    }
    wte__find_sort(f);
    *out = wte__find_best(f, WTE_ROLE_INPUT);
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].role == WTE_ROLE_INPUT && f->list[i].score > 0 &&
            f->list[i].rows == wanted) {
            *out = &f->list[i];
            break;
        }
    return WTE_OK;
}

/* Rows of two tables that are compared at the most, spread over them. */
#define ROWS_COMPARED 16u

/* Whether two matrices of one shape and type have the same bytes in the rows that are looked at. */
static bool look_alike(const wte_model *m, const struct wte__scored *a, const struct wte__scored *b)
{
    wte_row_source x, y;
    unsigned char one[256], other[256];
    if (wte_file_row_source(m->file, a->tensor, &x, NULL) != WTE_OK) return true;
    if (wte_file_row_source(m->file, b->tensor, &y, NULL) != WTE_OK) return true;
    if (x.rows != y.rows || x.cols != y.cols || x.dtype != y.dtype) return false;
    const uint64_t row = x.cols * wte_dtype_bytes(x.dtype);
    const size_t bytes = row < sizeof one ? (size_t)row : sizeof one;
    const uint64_t step = x.rows / ROWS_COMPARED + 1;
    for (uint64_t at = 0; at < x.rows; at += step) {
        if (wte_file_read(m->file, a->tensor, at * row, one, bytes, NULL) != WTE_OK) return true;
        if (wte_file_read(m->file, b->tensor, at * row, other, bytes, NULL) != WTE_OK) return true;
        if (memcmp(one, other, bytes) != 0) return false;
    }
    return true;
}

/* A second table for which all speaks that speaks for the first: two students, an actor and a
 * critic. Which is meant is for the caller to say; copies are one as well as the other. */
static bool is_doubtful(struct wte__find *f, const struct wte__scored *s)
{
    char a[WTE__NAME_SHOWN], b[WTE__NAME_SHOWN];
    const wte_model *m = f->m;
    for (size_t i = 0; i < f->n && i < WTE_LIMIT_CANDIDATES; i++) {
        const struct wte__scored *t = &f->list[i];
        if (t->tensor == s->tensor || s->packed || t->packed) continue;
        /* words and contexts have the same ids; users and items do not */
        const bool unlike = s->pair && t->pair && t->role == WTE_ROLE_HEAD && t->rows != s->rows;
        const bool alike = t->role == s->role && t->score == s->score && t->part == s->part;
        if (!unlike && (!alike || look_alike(m, s, t))) continue;
        (void)wte__fail(&f->m->no_input, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                        "%s: no input table found; candidates: '%s' %" PRIu64 " x %" PRIu64
                        ", '%s' %" PRIu64 " x %" PRIu64 ": as likely one as the other; name it "
                        "with --tensor",
                        m->path, name_end(a, s), s->rows, s->dim, name_end(b, t), t->rows, t->dim);
        return true;
    }
    return false;
}

wte_status wte__choose_input(struct wte__find *f)
{
    wte_model *m = f->m;
    const struct wte__scored *s;
    char why[160] = "";
    if (f->opt->tensor) return view_named(f, 0, f->opt->tensor);
    WTE_TRY(best_input(f, &s));
    /* the only matrix of an adapter, of an importance matrix: no table for that */
    char kind[WTE__GGUF_KIND];
    if (s && s->score < NAMED_SCORE && *wte__gguf_kind(m->file, kind)) return tell_no_input(f, "");
    if (s && is_doubtful(f, s)) return WTE_OK;
    if (s) return view(f, 0, s, wte__find_explain(f, s));
    s = wte__find_best(f, WTE_ROLE_HEAD);
    bool serves = false;
    if (s) WTE_TRY(head_serves(f, s, &serves, why, sizeof why));
    if (m->config.reads) {
        const wte_model_config *said = &m->config.said;
        const char *class = said->architecture[0] ? said->architecture : said->model_type;
        char shown[WTE__NAME_SHOWN];
        snprintf(why, sizeof why, " (%.60s reads %s)", wte__show(shown, class, strlen(class)),
                 m->config.reads);
    }
    if (serves) {
        m->head_serves_input = true;
        return view(f, 0, s, "no input table is stored: the head serves both roles");
    }
    return tell_no_input(f, why);
}

/* Where encoder and decoder have tables of their own and no head is stored, a tied head is the
 * decoder's. */
static const struct wte__scored *decoder_head(const struct wte__find *f)
{
    const wte_model *m = f->m;
    const struct wte__scored *decoder = NULL;
    wte_model_side taken = WTE_SIDE_NONE;
    for (size_t i = 0; i < f->n; i++) {
        const struct wte__scored *s = &f->list[i];
        if (s->role != WTE_ROLE_INPUT || s->score <= 0) continue;
        if (s->tensor == m->input.tensor) taken = s->part;
        if (s->part == WTE_SIDE_DECODER && !decoder) decoder = s;
    }
    const bool tied = m->config.said.tied && m->config.head_class == WTE__HEAD_EXPECTED;
    return tied && taken == WTE_SIDE_ENCODER ? decoder : NULL;
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
    if (f->m->has_input) wte__find_judge_heads(f, &f->m->input);
    wte__find_sort(f);
    s = wte__find_best(f, WTE_ROLE_HEAD);
    if (!f->m->has_input && s && s->weak && !(s->evidence & ROWS_EQUAL)) return WTE_OK;
    if (s) return view(f, 1, s, wte__find_explain(f, s));
    s = decoder_head(f);
    f->m->decoder_serves_head = s != NULL;
    return s ? view(f, 1, s, "no head is stored: the decoder's table serves it") : WTE_OK;
}
