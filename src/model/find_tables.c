/* Which tensor is the input table and which the output head. Every tensor is scored: its name by
 * rules.c, its shape against the config and the tokenizer; a head also against the input table.
 * The best of each role is taken, and all are kept so that they can be shown. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "model/find_tables.h"
#include "model/model.h"

static const struct {
    enum wte__evidence bit;
    int32_t score;
    const char *text;
} weights[] = {
    { ROWS_EQUAL, 30, "rows = vocab_size" },
    { ROWS_NEAR, 20, "rows = vocab_size, padded" },
    { ROWS_OTHER, -30, "rows are not vocab_size" },
    { ROWS_TOKENS, 20, "rows fit the tokenizer" },
    { WIDTH_EQUAL, 20, "width = hidden_size" },
    { WIDTH_OTHER, -20, "width is not hidden_size" },
    { LIKE_INPUT, 10, "shape of the input table" },
    { UNLIKE_INPUT, -25, "another width than the input table" },
    { TURNED, 0, "stored dim x rows" },
    { TOKENS_EXACT, 40, "exactly as many rows as the tokenizer has ids" },
};
#define N_WEIGHTS (sizeof weights / sizeof *weights)

/* Padding of a vocabulary to a multiple: the largest seen is 1024 rows times some ranks. */
#define PADDING 4096u
/* What a tensor scores that no name rule knows, by its shape alone. */
#define SCORE_SHAPE 15
#define SCORE_ONLY  20
/* From here on it has a table's name, and its shape does not speak against it. */
#define NAMED_SCORE 60

/* Rows and width of a tensor as a matrix, as wte_file_row_source sees it: the last dimension is the
 * width, and of the others only one may differ from 1. */
bool wte__find_matrix_of(const wte_tensor *t, uint64_t *rows, uint64_t *dim)
{
    *rows = 1;
    *dim = t->rank ? t->shape[t->rank - 1] : 0;
    for (uint32_t i = 0; i + 1 < t->rank; i++) {
        if (t->shape[i] == 1) continue;
        if (*rows != 1) return false;
        *rows = t->shape[i];
    }
    return t->rank >= 2;
}

bool wte__find_near(uint64_t rows, uint64_t size)
{
    return rows >= size && rows - size < PADDING && rows - size <= size;
}

uint32_t wte__find_judge_shape(const struct wte__find *f, uint64_t rows, uint64_t dim)
{
    const wte_model_config *c = &f->m->config.said;
    uint32_t seen = 0;
    bool turned = c->vocab_size && c->hidden_size && dim == c->vocab_size &&
                  rows == c->hidden_size && rows != dim;
    if (turned) return TURNED | ROWS_EQUAL | WIDTH_EQUAL;
    if (c->vocab_size)
        seen |= rows == c->vocab_size                 ? ROWS_EQUAL
                : wte__find_near(rows, c->vocab_size) ? ROWS_NEAR
                                                      : ROWS_OTHER;
    if (f->tokens && !(seen & ROWS_EQUAL) && wte__find_near(rows, f->tokens)) seen |= ROWS_TOKENS;
    bool width = dim == c->hidden_size || (c->embedding_size && dim == c->embedding_size);
    if (c->hidden_size || c->embedding_size) seen |= width ? WIDTH_EQUAL : WIDTH_OTHER;
    return seen;
}

static int32_t weight_of(uint32_t seen)
{
    int32_t score = 0;
    for (size_t i = 0; i < N_WEIGHTS; i++)
        if (seen & weights[i].bit) score += weights[i].score;
    return score;
}

wte_status wte__find_add(struct wte__find *f, const struct wte__scored *s)
{
    void *list = f->list;
    if (!wte__grow(f->m->allocator, &list, &f->cap, f->n + 1, sizeof *f->list))
        return wte__no_memory(f->err, f->n * sizeof *f->list, "candidates");
    f->list = list;
    f->list[f->n++] = *s;
    return WTE_OK;
}

/* A tensor that no rule knows: a candidate when its shape is the table's. */
static wte_status add_by_shape(struct wte__find *f, struct wte__scored *s)
{
    const uint32_t whole = ROWS_EQUAL | WIDTH_EQUAL;
    s->evidence = wte__find_judge_shape(f, s->rows, s->dim);
    if ((s->evidence & whole) != whole || (s->evidence & TURNED)) return WTE_OK;
    if (f->m->config.reads || wte__name_is_outside(s->name, s->name_bytes)) return WTE_OK;
    const bool head = wte__name_hints_head(s->name, s->name_bytes) || wte__find_has_bias(f, s);
    s->role = head ? WTE_ROLE_HEAD : WTE_ROLE_INPUT;
    s->rule = "no known name, but the table's shape";
    s->score = SCORE_SHAPE + weight_of(s->evidence);
    s->weak = true;
    return wte__find_add(f, s);
}

/* "cls.output.weight" ends like it, and is a classifier. */
static bool is_gguf_head(const struct wte__scored *s)
{
    static const char name[] = "output.weight";
    return s->name_bytes == sizeof name - 1 && memcmp(s->name, name, sizeof name - 1) == 0;
}

/* Size of the table whose packed codes a tensor holds. What is wrong with its parts is told when it
 * is chosen; its shape speaks neither for it nor against it then. */
static wte_status judge_packed(struct wte__find *f, struct wte__scored *s, bool *is_matrix,
                               bool *usable)
{
    wte_model *m = f->m;
    wte__quant q;
    const wte_status status =
        wte__quant_open(m->file, s->tensor, &m->said, m->path, m->allocator, &q, NULL);
    if (status == WTE_E_MEMORY) return wte__no_memory(f->err, sizeof q, "a quantised table");
    if (status == WTE_OK && q.dim == 0) return WTE_OK;
    *is_matrix = *usable = true;
    s->packed = true;
    s->rows = q.dim ? q.rows : 0;
    s->dim = q.dim;
    if (status == WTE_OK) wte__quant_clear(&q);
    return WTE_OK;
}

/* A name like `embeddings` alone makes no static model of model2vec: its config or mapping does. */
static bool is_static(const struct wte__find *f)
{
    const wte_model_config *said = &f->m->config.said;
    return f->mapping != WTE_NO_INDEX || wte__quant_is(said->model_type, "model2vec") ||
           wte__quant_is(said->architecture, "StaticModel");
}

/* Why positions are those of patches or frames, or NULL: of tokens. GGUF has those of images under
 * `v.` and of sounds under `a.`. */
static const char *not_of_tokens(const struct wte__find *f, const wte__name *name,
                                 const struct wte__scored *s)
{
    if (f->gguf && s->name_bytes > 2 && memcmp(s->name, "v.", 2) == 0) return "in the vision part";
    if (f->gguf && s->name_bytes > 2 && memcmp(s->name, "a.", 2) == 0) return "in the audio part";
    return name->outside;
}

static wte_status judge_named(struct wte__find *f, const wte__name *name, struct wte__scored *s,
                              bool is_matrix, bool usable)
{
    const wte__name_rule *rule = name->rule;
    if (wte__role_of(rule->kind) != WTE_ROLE_OTHER && !name->outside)
        WTE_TRY(judge_packed(f, s, &is_matrix, &usable));
    s->role = wte__role_of(rule->kind);
    s->kind = rule->kind;
    s->rule = (rule->flags & WTE__RULE_MAP) && is_static(f)
                  ? "token table of a model2vec static model"
                  : rule->why;
    s->part = name->part;
    s->map = rule->flags & WTE__RULE_MAP;
    s->weak = (rule->flags & WTE__RULE_WEAK) && !f->gguf;
    s->pair = rule->flags & WTE__RULE_PAIR;
    if (s->map && f->mapping == WTE_NO_INDEX) s->map = false;
    if (s->kind == WTE_KIND_POSITIONS && (s->outside = not_of_tokens(f, name, s)) != NULL)
        s->kind = WTE_KIND_OTHER;
    if (s->role == WTE_ROLE_OTHER) return wte__find_add(f, s);
    s->outside = name->outside;
    if (f->gguf && rule->kind == WTE_KIND_HEAD && !is_gguf_head(s))
        s->outside = "the head of a GGUF file is called output.weight";
    if (!s->outside && !is_matrix) s->outside = "not a matrix";
    if (!s->outside && !usable) s->outside = "its elements are not whole bytes";
    if (!s->outside && rule->kind == WTE_KIND_INPUT && wte__find_has_bias(f, s))
        s->outside = "a linear layer: it has a bias for each row";
    if (s->outside) {
        s->role = WTE_ROLE_OTHER;
        return wte__find_add(f, s);
    }
    const bool unknown = s->packed && s->dim == 0;
    if (!s->map && !unknown) s->evidence = wte__find_judge_shape(f, s->rows, s->dim);
    s->score = rule->score + name->context + weight_of(s->evidence);
    WTE_TRY(wte__find_add(f, s));
    if (!(rule->flags & WTE__RULE_BOTH)) return WTE_OK;
    s->role = WTE_ROLE_HEAD;
    s->both = true;
    return wte__find_add(f, s);
}

static wte_status judge_tensor(struct wte__find *f, uint64_t i)
{
    wte_tensor t;
    WTE_TRY(wte_file_tensor(f->m->file, i, &t, f->err));
    struct wte__scored s;
    memset(&s, 0, sizeof s);
    s.tensor = i;
    s.name = t.name;
    s.name_bytes = t.name_bytes;
    bool is_matrix = wte__find_matrix_of(&t, &s.rows, &s.dim);
    /* an unknown name with the shape of the table may be a mask or a table of rotations */
    bool usable = t.block || wte_dtype_bytes(t.dtype) != 0,
         numbers = t.dtype != WTE_BOOL && t.dtype != WTE_C64;
    /* a table whose rows were never gathered is saved as an empty list: still the table */
    if (!is_matrix && t.rank == 1 && t.shape[0] == 0) is_matrix = true;
    wte__name name = wte__name_judge(t.name, t.name_bytes);
    /* the table all the same, though it cannot be read: that is what its rows then tell */
    if (name.rule && (t.foreign_type || t.foreign_name || wte_dtype_bits(t.dtype) % 8))
        usable = true;
    if (wte_file_format(f->m->file) == WTE_FORMAT_NPY) numbers = true;
    if (is_matrix && usable && numbers) {
        f->matrices++;
        f->last_matrix = f->matrices == 1 ? i : WTE_NO_INDEX;
    }
    if (name.rule) return judge_named(f, &name, &s, is_matrix, usable);
    return is_matrix && usable && numbers ? add_by_shape(f, &s) : WTE_OK;
}

/* Best first; equal scores: the shorter name, then by bytes, so that the order in the file does not
 * matter. */
static int by_role_and_score(const void *va, const void *vb)
{
    const struct wte__scored *a = va, *b = vb;
    if (a->role != b->role) return a->role < b->role ? -1 : 1;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    if (a->name_bytes != b->name_bytes) return a->name_bytes < b->name_bytes ? -1 : 1;
    int order = memcmp(a->name, b->name, (size_t)a->name_bytes);
    return order ? order : a->tensor < b->tensor ? -1 : 1;
}

void wte__find_sort(struct wte__find *f)
{
    if (f->n > 1) qsort(f->list, f->n, sizeof *f->list, by_role_and_score);
}

struct wte__scored *wte__find_best(struct wte__find *f, wte_role role)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].role == role && f->list[i].score > 0) return &f->list[i];
    return NULL;
}

/* Whether some input table has so many rows, of that width; dim 0: of any. */
static bool has_table(const struct wte__find *f, uint64_t rows, uint64_t dim)
{
    /* the list is sorted: its input tables come first, the best of them before the others */
    for (size_t i = 0; i < f->n && i < WTE_LIMIT_CANDIDATES; i++) {
        const struct wte__scored *s = &f->list[i];
        if (s->role != WTE_ROLE_INPUT || s->score <= 0) break;
        if (s->map) continue;
        if (s->rows == rows && (s->dim == dim || !dim)) return true;
    }
    return false;
}

/* Whether a head's rows are those of a vocabulary that the model has; a decoder's table has one of
 * its own. */
static bool rows_fit(const struct wte__find *f, const struct wte__scored *head,
                     const wte_model_table *input)
{
    if (head->evidence & (ROWS_EQUAL | ROWS_NEAR | ROWS_TOKENS)) return true;
    return wte__find_near(head->rows, input->rows) || wte__find_near(input->rows, head->rows) ||
           has_table(f, head->rows, 0);
}

/* Why a matrix under a head's name is no output head of this table, or NULL. */
static const char *no_head(const struct wte__find *f, const struct wte__scored *s,
                           const wte_model_table *input)
{
    const wte__config *c = &f->m->config;
    const bool fits = rows_fit(f, s, input);
    const bool square = s->rows == s->dim;
    if (!fits && s->dim != input->dim)
        return "neither the rows nor the width of the table: the head of something else";
    if (!fits && square) return "as many rows as columns: a projection of hidden vectors";
    if (!fits && s->weak) return "other rows than the table's: a classifier";
    if (s->weak && square && c->head_class == WTE__HEAD_NONE)
        return "as many rows as columns, and the class has no head: a projection";
    /* "head.weight" of another width is a classifier, not this table's head */
    if (s->weak && s->dim != input->dim && !(s->evidence & ROWS_EQUAL) && !has_table(f, s->rows, 0))
        return "another width than the table: a classifier";
    return NULL;
}

/* What is no head stands beside the table, and so does its bias. */
static void exclude(struct wte__find *f, struct wte__scored *head)
{
    const char *suffix = wte__code_suffix(head->name, head->name_bytes);
    const uint64_t stem = head->name_bytes - (suffix ? strlen(suffix) : 0);
    head->role = WTE_ROLE_OTHER;
    head->score = 0;
    if (f->excluded++ >= WTE_LIMIT_CANDIDATES) return; /* no more are kept */
    for (size_t i = 0; i < f->n; i++) {
        struct wte__scored *s = &f->list[i];
        if (s->kind != WTE_KIND_HEAD_BIAS || s->name_bytes < stem) continue;
        if (memcmp(s->name, head->name, (size_t)stem) != 0) continue;
        s->kind = WTE_KIND_OTHER;
        s->outside = "not of the output head";
    }
}

/* Heads are judged against the input table as well. */
void wte__find_judge_heads(struct wte__find *f, const wte_model_table *input)
{
    for (size_t i = 0; i < f->n; i++) {
        struct wte__scored *s = &f->list[i];
        if (s->role != WTE_ROLE_HEAD || s->both || (s->evidence & TURNED)) continue;
        if (s->packed && s->dim == 0) continue;
        if (!s->packed && s->rows != s->dim && has_table(f, s->dim, s->rows)) {
            s->evidence |= TURNED | LIKE_INPUT;
            s->score += weight_of(LIKE_INPUT);
            continue;
        }
        s->outside = no_head(f, s, input);
        if (s->outside) {
            exclude(f, s);
            continue;
        }
        uint32_t seen = 0;
        if (s->dim != input->dim) seen |= UNLIKE_INPUT;
        if (s->dim == input->dim && s->rows == input->rows) seen |= LIKE_INPUT;
        s->evidence |= seen;
        s->score += weight_of(seen);
    }
}

const char *wte__find_explain(const struct wte__find *f, const struct wte__scored *s)
{
    char buf[400];
    static const char *const parts[] = { "", "; the encoder's", "; the decoder's" };
    int used = snprintf(buf, sizeof buf, "%s%s", s->rule, parts[s->part]);
    if (s->outside && used > 0 && (size_t)used < sizeof buf)
        used += snprintf(buf + used, sizeof buf - (size_t)used, "; but %s", s->outside);
    for (size_t i = 0; i < N_WEIGHTS; i++)
        if ((s->evidence & weights[i].bit) && used > 0 && (size_t)used < sizeof buf)
            used += snprintf(buf + used, sizeof buf - (size_t)used, "; %s", weights[i].text);
    return wte__arena_print(&f->m->arena, "%s", buf);
}

/* Keep the candidates, each role's best ones, with their reasons in words. */
static wte_status publish(struct wte__find *f)
{
    wte_model *m = f->m;
    size_t kept = 0, in_role = 0;
    for (size_t i = 0; i < f->n; i++) {
        in_role = i && f->list[i].role == f->list[i - 1].role ? in_role + 1 : 0;
        if (in_role < WTE_LIMIT_CANDIDATES) f->list[kept++] = f->list[i];
    }
    if (kept == 0) return WTE_OK;
    m->candidates = wte__alloc_array(m->allocator, kept, sizeof *m->candidates);
    if (!m->candidates) return wte__no_memory(f->err, kept * sizeof *m->candidates, "candidates");
    m->n_candidates = kept;
    for (size_t i = 0; i < kept; i++) {
        const struct wte__scored *s = &f->list[i];
        wte_candidate c = {
            s->tensor, s->role, s->score, wte__find_explain(f, s), s->part, s->kind
        };
        if (!c.why) return wte__no_memory(f->err, 400, "candidates");
        m->candidates[i] = c;
    }
    return WTE_OK;
}

/* Of formats that hold one table and nothing else, why it is the one; else NULL. */
static const char *only_table(wte_format format)
{
    switch (format) {
    case WTE_FORMAT_NPY: return "the array of an .npy file is itself the table";
    case WTE_FORMAT_WORD2VEC_TEXT:
    case WTE_FORMAT_GLOVE:
    case WTE_FORMAT_WORD2VEC:
    case WTE_FORMAT_FASTTEXT: return "word vectors are themselves the table";
    case WTE_FORMAT_CSV: return "the numbers of a text file are themselves the table";
    default: return NULL;
    }
}

/* A file with one matrix, whatever its name, is a table; one of a format for tables always is. */
static wte_status add_the_only(struct wte__find *f)
{
    struct wte__scored s;
    wte_tensor t;
    const char *only = only_table(wte_file_format(f->m->file));
    if (f->matrices != 1 || (f->n && !only) || f->m->is_adapter) return WTE_OK;
    if (f->m->config.reads && !only) return WTE_OK;
    WTE_TRY(wte_file_tensor(f->m->file, f->last_matrix, &t, f->err));
    memset(&s, 0, sizeof s);
    s.tensor = f->last_matrix;
    s.name = t.name;
    s.name_bytes = t.name_bytes;
    wte__find_matrix_of(&t, &s.rows, &s.dim);
    s.role = WTE_ROLE_INPUT;
    s.rule = only ? only : "the only matrix in the file";
    if (!only && wte__find_has_bias(f, &s)) return WTE_OK;
    s.score = SCORE_ONLY;
    return wte__find_add(f, &s);
}

static wte_status find_all(struct wte__find *f)
{
    const wte_file *file = f->m->file;
    if (wte_file_find(file, "mapping", 7, &f->mapping, NULL) != WTE_OK) f->mapping = WTE_NO_INDEX;
    const bool fasttext = wte_file_format(file) == WTE_FORMAT_FASTTEXT;
    const uint64_t n =
        fasttext ? 1 : wte_file_n_tensors(file); /* the others are what it is made of */
    for (uint64_t i = 0; i < n; i++) WTE_TRY(judge_tensor(f, i));
    WTE_TRY(add_the_only(f));
    wte__find_sort(f);
    WTE_TRY(wte__choose_input(f));
    WTE_TRY(wte__choose_head(f));
    WTE_TRY(wte__note_others(f));
    return publish(f);
}

wte_status wte__model_find(wte_model *m, const wte_model_options *opt, wte_error *err)
{
    struct wte__find f;
    memset(&f, 0, sizeof f);
    f.m = m;
    f.opt = opt;
    f.err = err;
    f.tokens = m->vocab ? wte_vocab_size(m->vocab) : 0;
    f.last_matrix = WTE_NO_INDEX;
    f.gguf = wte_file_format(m->file) == WTE_FORMAT_GGUF;
    wte_status status = find_all(&f);
    wte__free(m->allocator, f.list, f.cap * sizeof *f.list);
    return status;
}
