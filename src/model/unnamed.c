/* Matrices whose names no rule knows. Their shapes speak against taking a head for the input table
 * or a dummy for the real one, and where no table is found they are what can be named. */
#include <string.h>

#include "base/error.h"
#include "model/find_tables.h"

/* What such a matrix scores when it is only offered: it is listed, and never taken. */
#define OFFERED     (-60)
#define POINTS_NAME 20 /* a word of its name is that of a table */
#define POINTS_TALL 10 /* more rows than columns */
#define POINTS_HEAD 10 /* the head's rows, or its width */

bool wte__find_has_bias(const struct wte__find *f, const struct wte__scored *s)
{
    static const char leaf[] = ".bias";
    const char *suffix = wte__code_suffix(s->name, s->name_bytes);
    char name[256];
    uint64_t i;
    wte_tensor t;
    const uint64_t stem = s->name_bytes - (suffix ? strlen(suffix) : 0);
    if (!suffix || stem + sizeof leaf > sizeof name) return false;
    memcpy(name, s->name, (size_t)stem);
    memcpy(name + stem, leaf, sizeof leaf);
    return wte_file_find(f->m->file, name, stem + sizeof leaf - 1, &i, NULL) == WTE_OK &&
           wte_file_tensor(f->m->file, i, &t, NULL) == WTE_OK && t.rank == 1 &&
           t.shape[0] == s->rows;
}

/* Tables of a graph: known as what stands beside a token table, and all that there is without one.
 */
static bool is_graph(const wte__name_rule *rule)
{
    return strcmp(rule->stem, "entity_embeddings") == 0 ||
           strcmp(rule->stem, "rel_embeddings") == 0;
}

/* Whether a tensor is a matrix of numbers, or of packed codes. */
static bool is_matrix(const wte_tensor *t, struct wte__scored *s)
{
    memset(s, 0, sizeof *s);
    s->name = t->name;
    s->name_bytes = t->name_bytes;
    const bool matrix = wte__find_matrix_of(t, &s->rows, &s->dim);
    const bool usable = t->block || wte_dtype_bytes(t->dtype) != 0;
    const bool numbers = t->dtype != WTE_BOOL && t->dtype != WTE_C64;
    return matrix && usable && numbers && s->dim > 1 && s->rows > 1;
}

/* Whether it is one that no rule knows; or one of a list of tables (factor models have one for each
 * feature), whatever they are called. */
static bool is_unnamed(const wte_tensor *t, struct wte__scored *s)
{
    if (!is_matrix(t, s)) return false;
    const wte__name judged = wte__name_judge(t->name, t->name_bytes);
    if (judged.rule && !judged.outside && is_graph(judged.rule)) return true;
    return !judged.rule || (wte__role_of(judged.rule->kind) == WTE_ROLE_INPUT && judged.outside &&
                            wte__name_is_listed(t->name, t->name_bytes));
}

static bool is_fractional(const wte_tensor *t)
{
    return t->block || t->dtype == WTE_F64 || t->dtype == WTE_F32 || t->dtype == WTE_F16 ||
           t->dtype == WTE_BF16;
}

/* NAME.scales and the like of the head's own NAME.weight. */
static bool is_part_of(const wte_tensor *t, const struct wte__scored *head)
{
    const char *suffix = wte__code_suffix(head->name, head->name_bytes);
    const uint64_t stem = head->name_bytes - (suffix ? strlen(suffix) : 0);
    return t->name_bytes > stem && memcmp(t->name, head->name, (size_t)stem) == 0 &&
           (t->name[stem] == '.' || t->name[stem] == '_');
}

wte_status wte__find_rival(struct wte__find *f, const struct wte__scored *head,
                           enum wte__rival *kind, wte_tensor *rival)
{
    const wte_file *file = f->m->file;
    struct wte__scored s;
    wte_tensor t;
    *kind = RIVAL_NONE;
    for (uint64_t i = 0; i < wte_file_n_tensors(file); i++) {
        WTE_TRY(wte_file_tensor(file, i, &t, f->err));
        if (i == head->tensor || is_part_of(&t, head) || !is_matrix(&t, &s)) continue;
        if (s.rows != head->rows && s.dim != head->dim && s.rows != head->dim) continue;
        if (*kind == RIVAL_NONE) *kind = RIVAL_WIDTH;
        if (s.rows != head->rows || !is_unnamed(&t, &s) ||
            wte__name_is_outside(t.name, t.name_bytes))
            continue;
        *kind = RIVAL_TABLE;
        if (rival) *rival = t;
        return WTE_OK;
    }
    return WTE_OK;
}

/* For each tensor its place in the list, counted from 1; 0: it is not there. Released with
 * drop_places. */
static wte_status make_places(const struct wte__find *f, uint32_t **out)
{
    const uint64_t n = wte_file_n_tensors(f->m->file) + 1;
    *out = wte__alloc_array(f->m->allocator, n, sizeof **out);
    if (!*out) return wte__no_memory(f->err, n * sizeof **out, "candidates");
    memset(*out, 0, (size_t)n * sizeof **out);
    for (size_t i = 0; i < f->n; i++) (*out)[f->list[i].tensor] = (uint32_t)(i + 1);
    return WTE_OK;
}

static void drop_places(const struct wte__find *f, uint32_t *places)
{
    const uint64_t n = wte_file_n_tensors(f->m->file) + 1;
    wte__free(f->m->allocator, places, (size_t)n * sizeof *places);
}

/* Whether a tensor is listed as a table or a head. */
static bool is_candidate(const struct wte__find *f, const uint32_t *places, uint64_t tensor)
{
    return places[tensor] && f->list[places[tensor] - 1].role != WTE_ROLE_OTHER;
}

/* More than one is as good as many: which it is cannot be told. */
#define OF_ROWS_MOST 16u

static wte_status add_of_rows(struct wte__find *f, const uint32_t *places, uint64_t rows, size_t *n)
{
    const wte_file *file = f->m->file;
    struct wte__scored s;
    wte_tensor t;
    for (uint64_t i = 0; i < wte_file_n_tensors(file) && *n < OF_ROWS_MOST; i++) {
        WTE_TRY(wte_file_tensor(file, i, &t, f->err));
        if (!is_unnamed(&t, &s) || s.rows != rows || !is_fractional(&t)) continue;
        if (wte__name_is_outside(t.name, t.name_bytes) ||
            wte__name_hints_head(t.name, t.name_bytes))
            continue;
        if (is_candidate(f, places, i)) continue; /* by its shape */
        ++*n;
        s.tensor = i;
        s.role = WTE_ROLE_INPUT;
        s.rule = "no known name";
        s.evidence = wte__find_judge_shape(f, s.rows, s.dim) & ~(uint32_t)ROWS_TOKENS;
        s.evidence |= f->tokens == rows ? TOKENS_EXACT : 0;
        s.score = 1; /* it is taken where a table of other rows would be */
        s.weak = true;
        WTE_TRY(wte__find_add(f, &s));
    }
    return WTE_OK;
}

wte_status wte__find_of_rows(struct wte__find *f, uint64_t rows, size_t *n)
{
    uint32_t *places;
    *n = 0;
    WTE_TRY(make_places(f, &places));
    const wte_status status = add_of_rows(f, places, rows, n);
    drop_places(f, places);
    return status;
}

/* Offer it in the place of what was said of it: a numbered table stands beside. */
static wte_status offer(struct wte__find *f, const uint32_t *places, const struct wte__scored *s)
{
    if (!places[s->tensor]) return wte__find_add(f, s);
    f->list[places[s->tensor] - 1] = *s;
    return WTE_OK;
}

static bool has_word_of_a_table(const wte_tensor *t)
{
    static const char *const words[] = { "emb",   "factor", "vector", "lookup", "table",
                                         "token", "word",   "vocab",  "symbol", "syn" };
    char low[256];
    size_t n = 0;
    for (; n < t->name_bytes && n < sizeof low - 1; n++)
        low[n] = t->name[n] >= 'A' && t->name[n] <= 'Z' ? (char)(t->name[n] + 32) : t->name[n];
    low[n] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(low, words[i])) return true;
    return false;
}

static wte_status offer_all(struct wte__find *f, const uint32_t *places)
{
    const wte_file *file = f->m->file;
    const struct wte__scored *best = wte__find_best(f, WTE_ROLE_HEAD);
    const uint64_t rows = best ? best->rows : 0, dim = best ? best->dim : 0;
    struct wte__scored s;
    wte_tensor t;
    for (uint64_t i = 0; i < wte_file_n_tensors(file); i++) {
        WTE_TRY(wte_file_tensor(file, i, &t, f->err));
        if (!is_unnamed(&t, &s)) continue;
        const bool listed = wte__name_is_listed(t.name, t.name_bytes) && has_word_of_a_table(&t);
        const bool graph = wte__name_judge(t.name, t.name_bytes).rule && !listed;
        if (!listed && !graph && wte__name_is_outside(t.name, t.name_bytes)) continue;
        const bool packed = wte__code_suffix(t.name, t.name_bytes) != NULL;
        if ((!is_fractional(&t) && !packed) || is_candidate(f, places, i)) continue;
        s.tensor = i;
        s.role = WTE_ROLE_INPUT;
        s.rule = listed ? "one of a list of tables" : "no known name";
        s.evidence = wte__find_judge_shape(f, s.rows, s.dim) & ~(uint32_t)TURNED;
        s.score = OFFERED + (has_word_of_a_table(&t) ? POINTS_NAME : 0);
        s.score += s.rows > s.dim ? POINTS_TALL : 0;
        s.score += s.rows == rows ? POINTS_HEAD : 0;
        s.score += s.dim == dim ? POINTS_HEAD : 0;
        WTE_TRY(offer(f, places, &s));
    }
    return WTE_OK;
}

wte_status wte__find_offer(struct wte__find *f)
{
    uint32_t *places;
    WTE_TRY(make_places(f, &places));
    const wte_status status = offer_all(f, places);
    drop_places(f, places);
    return status;
}
