/* Which tensor is the input table and which the output head. Every tensor is scored: its name by
 * rules.c, its shape against the config and the tokenizer; a head also against the input table.
 * The best of each role is taken, and all are kept so that they can be shown. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "model/model.h"
#include "model/rules.h"

/* Shape evidence. Rows that are not vocab_size count more than a width that is not hidden_size:
 * factorised tables have widths of their own. */
enum evidence {
    ROWS_EQUAL = 1,
    ROWS_NEAR = 2,
    ROWS_OTHER = 4,
    ROWS_TOKENS = 8,
    WIDTH_EQUAL = 16,
    WIDTH_OTHER = 32,
    LIKE_INPUT = 64,
    UNLIKE_INPUT = 128,
    TURNED = 256
};
static const struct {
    enum evidence bit;
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
};
#define N_WEIGHTS (sizeof weights / sizeof *weights)

/* Padding of a vocabulary to a multiple: the largest seen is 1024 rows times some ranks. */
#define PADDING 4096u
/* What a tensor scores that no name rule knows, by its shape alone. */
#define SCORE_SHAPE 15
#define SCORE_ONLY  20
/* From here on it has a table's name, and its shape does not speak against it. */
#define NAMED_SCORE 60

struct scored {
    uint64_t tensor, rows, dim;
    int32_t score;
    wte_role role;
    uint32_t evidence;
    const char *rule, *outside;
    const char *name;
    uint64_t name_bytes;
    bool map, weak, both;
    wte_part part;
    bool packed; /* a quantised table: rows and dim are its own, 0 when they cannot be told */
};

struct find {
    wte_model *m;
    const wte_model_options *opt;
    wte_error *err;
    struct scored *list;
    size_t n, cap;
    uint64_t tokens; /* size of the vocabulary, 0 = none */
    uint64_t matrices, last_matrix;
    uint64_t mapping;
    bool gguf; /* names are the format's own */
};

/* Rows and width of a tensor as a matrix, as wte_file_rows sees it: the last dimension is the
 * width, and of the others only one may differ from 1. */
static bool matrix_of(const wte_tensor *t, uint64_t *rows, uint64_t *dim)
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

static bool near(uint64_t rows, uint64_t size)
{
    return rows >= size && rows - size < PADDING && rows - size <= size;
}

static uint32_t judge_shape(const struct find *f, uint64_t rows, uint64_t dim)
{
    const wte_model_config *c = &f->m->config.said;
    uint32_t seen = 0;
    bool turned = c->vocab_size && c->hidden_size && dim == c->vocab_size &&
                  rows == c->hidden_size && rows != dim;
    if (turned) return TURNED | ROWS_EQUAL | WIDTH_EQUAL;
    if (c->vocab_size)
        seen |= rows == c->vocab_size       ? ROWS_EQUAL
                : near(rows, c->vocab_size) ? ROWS_NEAR
                                            : ROWS_OTHER;
    if (f->tokens && !(seen & ROWS_EQUAL) && near(rows, f->tokens)) seen |= ROWS_TOKENS;
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

static wte_status add(struct find *f, const struct scored *s)
{
    void *list = f->list;
    if (!wte__grow(f->m->allocator, &list, &f->cap, f->n + 1, sizeof *f->list))
        return wte__no_memory(f->err, f->n * sizeof *f->list, "candidates");
    f->list = list;
    f->list[f->n++] = *s;
    return WTE_OK;
}

/* A tensor that no rule knows: a candidate when its shape is the table's. */
static wte_status add_by_shape(struct find *f, struct scored *s)
{
    const uint32_t whole = ROWS_EQUAL | WIDTH_EQUAL;
    s->evidence = judge_shape(f, s->rows, s->dim);
    if ((s->evidence & whole) != whole || (s->evidence & TURNED)) return WTE_OK;
    if (wte__name_is_outside(s->name, s->name_bytes)) return WTE_OK;
    s->role = wte__name_hints_head(s->name, s->name_bytes) ? WTE_ROLE_HEAD : WTE_ROLE_INPUT;
    s->rule = "no known name, but the table's shape";
    s->score = SCORE_SHAPE + weight_of(s->evidence);
    s->weak = true;
    return add(f, s);
}

/* "cls.output.weight" ends like it, and is a classifier. */
static bool is_gguf_head(const struct scored *s)
{
    static const char name[] = "output.weight";
    return s->name_bytes == sizeof name - 1 && memcmp(s->name, name, sizeof name - 1) == 0;
}

/* Size of the table whose packed codes a tensor holds. What is wrong with its parts is told when it
 * is chosen; its shape speaks neither for it nor against it then. */
static wte_status judge_packed(struct find *f, struct scored *s, bool *is_matrix, bool *usable)
{
    wte_model *m = f->m;
    wte__quant q;
    wte_error err;
    const wte_status status =
        wte__quant_open(m->file, s->tensor, &m->said, m->path, m->allocator, &q, &err);
    if (status == WTE_E_MEMORY) {
        if (f->err) *f->err = err;
        return status;
    }
    if (status == WTE_OK && q.dim == 0) return WTE_OK;
    *is_matrix = *usable = true;
    s->packed = true;
    s->rows = q.dim ? q.rows : 0;
    s->dim = q.dim;
    if (status == WTE_OK) wte__quant_clear(&q);
    return WTE_OK;
}

static wte_status judge_named(struct find *f, const wte__name *name, struct scored *s,
                              bool is_matrix, bool usable)
{
    const wte__rule *rule = name->rule;
    if (rule->role != WTE_ROLE_OTHER && !name->outside)
        WTE_TRY(judge_packed(f, s, &is_matrix, &usable));
    s->role = rule->role;
    s->rule = rule->why;
    s->part = name->part;
    s->map = rule->flags & WTE__RULE_MAP;
    s->weak = (rule->flags & WTE__RULE_WEAK) && !f->gguf;
    if (s->map && f->mapping == WTE_NOWHERE) s->map = false;
    if (rule->role == WTE_ROLE_OTHER) return add(f, s);
    s->outside = name->outside;
    if (f->gguf && rule->role == WTE_ROLE_HEAD && !is_gguf_head(s))
        s->outside = "the head of a GGUF file is called output.weight";
    if (!s->outside && !is_matrix) s->outside = "not a matrix";
    if (!s->outside && !usable) s->outside = "its elements are not whole bytes";
    if (s->outside) {
        s->role = WTE_ROLE_OTHER;
        return add(f, s);
    }
    const bool unknown = s->packed && s->dim == 0;
    if (!s->map && !unknown) s->evidence = judge_shape(f, s->rows, s->dim);
    s->score = rule->score + name->context + weight_of(s->evidence);
    WTE_TRY(add(f, s));
    if (!(rule->flags & WTE__RULE_BOTH)) return WTE_OK;
    s->role = WTE_ROLE_HEAD;
    s->both = true;
    return add(f, s);
}

static wte_status judge_tensor(struct find *f, uint64_t i)
{
    wte_tensor t;
    WTE_TRY(wte_file_tensor(f->m->file, i, &t, f->err));
    struct scored s;
    memset(&s, 0, sizeof s);
    s.tensor = i;
    s.name = t.name;
    s.name_bytes = t.name_bytes;
    bool is_matrix = matrix_of(&t, &s.rows, &s.dim);
    /* an unknown name with the shape of the table may be a mask or a table of rotations */
    bool usable = t.block || wte_dtype_bytes(t.dtype) != 0,
         numbers = t.dtype != WTE_BOOL && t.dtype != WTE_C64;
    /* a table whose rows were never gathered is saved as an empty list: still the table */
    if (!is_matrix && t.rank == 1 && t.shape[0] == 0) is_matrix = true;
    wte__name name = wte__name_judge(t.name, t.name_bytes);
    if (wte_file_format(f->m->file) == WTE_FORMAT_NPY) numbers = true;
    if (is_matrix && usable && numbers) {
        f->matrices++;
        f->last_matrix = f->matrices == 1 ? i : WTE_NOWHERE;
    }
    if (name.rule) return judge_named(f, &name, &s, is_matrix, usable);
    return is_matrix && usable && numbers ? add_by_shape(f, &s) : WTE_OK;
}

/* Best first; equal scores: the shorter name, then by bytes, so that the order in the file does not
 * matter. */
static int by_role_and_score(const void *va, const void *vb)
{
    const struct scored *a = va, *b = vb;
    if (a->role != b->role) return a->role < b->role ? -1 : 1;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    if (a->name_bytes != b->name_bytes) return a->name_bytes < b->name_bytes ? -1 : 1;
    int order = memcmp(a->name, b->name, (size_t)a->name_bytes);
    return order ? order : a->tensor < b->tensor ? -1 : 1;
}

static void sort(struct find *f)
{
    if (f->n > 1) qsort(f->list, f->n, sizeof *f->list, by_role_and_score);
}

static struct scored *best(struct find *f, wte_role role)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].role == role && f->list[i].score > 0) return &f->list[i];
    return NULL;
}

/* Heads are judged against the input table as well. */
static void judge_heads(struct find *f, const wte_model_table *input)
{
    const bool known = f->m->config.said.vocab_size || f->m->config.said.hidden_size;
    for (size_t i = 0; i < f->n; i++) {
        struct scored *s = &f->list[i];
        if (s->role != WTE_ROLE_HEAD || s->both || (s->evidence & TURNED)) continue;
        if (s->packed && s->dim == 0) continue;
        uint32_t seen = 0;
        if (s->dim != input->dim) seen |= UNLIKE_INPUT;
        if (s->dim == input->dim && s->rows == input->rows) seen |= LIKE_INPUT;
        s->evidence |= seen;
        s->score += weight_of(seen);
        /* "head.weight" of another width is a classifier, not this table's head */
        if (s->weak && (seen & UNLIKE_INPUT) && !(known && (s->evidence & ROWS_EQUAL)))
            s->score = -1;
    }
}

static const char *explain(const struct find *f, const struct scored *s)
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
static wte_status publish(struct find *f)
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
        const struct scored *s = &f->list[i];
        wte_candidate c = { s->tensor, s->role, s->score, explain(f, s), s->part };
        if (!c.why) return wte__no_memory(f->err, 400, "candidates");
        m->candidates[i] = c;
    }
    return WTE_OK;
}

static wte_status view(struct find *f, unsigned slot, const struct scored *s, const char *why)
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

/* Whether the first `bytes` bytes of a name are `end`, or end in it after a dot. */
static bool has_end(const char *name, uint64_t bytes, const char *end, size_t n)
{
    if (bytes < n || (bytes > n && name[bytes - n - 1] != '.')) return false;
    return memcmp(name + bytes - n, end, n) == 0;
}

/* Index of the tensor that the caller named: whole, or by a unique ending. */
static wte_status find_named(struct find *f, const char *name, uint64_t *out)
{
    const wte_file *file = f->m->file;
    const size_t n = strlen(name);
    char shown[WTE__NAME_SHOWN], first[WTE__NAME_SHOWN], second[WTE__NAME_SHOWN];
    uint64_t hits = 0, hit[2] = { 0, 0 };
    wte_tensor t;
    if (wte_file_find(file, name, n, out, f->err) == WTE_OK) return WTE_OK;
    if (n == 0) return wte_file_find(file, name, n, out, f->err);
    for (uint64_t i = 0; i < wte_file_tensors(file); i++) {
        WTE_TRY(wte_file_tensor(file, i, &t, f->err));
        const char *suffix = wte__code_suffix(t.name, t.name_bytes);
        uint64_t bare = suffix ? t.name_bytes - strlen(suffix) : 0;
        if (!has_end(t.name, t.name_bytes, name, n) && !has_end(t.name, bare, name, n)) continue;
        if (hits < 2) hit[hits] = i;
        hits++;
    }
    *out = hit[0];
    if (hits == 1) return WTE_OK;
    if (hits == 0) return wte_file_find(file, name, n, out, f->err);
    WTE_TRY(wte_file_tensor(file, hit[0], &t, f->err));
    wte__show(first, t.name, t.name_bytes);
    WTE_TRY(wte_file_tensor(file, hit[1], &t, f->err));
    wte__show(second, t.name, t.name_bytes);
    return wte__fail(f->err, WTE_E_NOT_FOUND, WTE_NOWHERE,
                     "'%s' is the end of %" PRIu64 " tensor names, '%s' and '%s' among them: give "
                     "more of it",
                     wte__show(shown, name, n), hits, first, second);
}

/* A tensor that the caller named: no scores, but its shape must be a matrix. */
static wte_status view_named(struct find *f, unsigned slot, const char *name)
{
    wte_model *m = f->m;
    wte_tensor t;
    wte__view_want want = { 0, false, WTE_NOWHERE, "named by the caller" };
    WTE_TRY(find_named(f, name, &want.tensor));
    WTE_TRY(wte_file_tensor(m->file, want.tensor, &t, f->err));
    const wte__name judged = wte__name_judge(t.name, t.name_bytes);
    uint64_t rows, dim;
    if (judged.rule && (judged.rule->flags & WTE__RULE_MAP)) want.mapping = f->mapping;
    if (matrix_of(&t, &rows, &dim)) want.transposed = judge_shape(f, rows, dim) & TURNED;
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
static void tell_no_input(struct find *f)
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

static wte_status choose_input(struct find *f)
{
    wte_model *m = f->m;
    const struct scored *s;
    if (f->opt->tensor) return view_named(f, 0, f->opt->tensor);
    if ((s = best(f, WTE_ROLE_INPUT))) return view(f, 0, s, explain(f, s));
    s = best(f, WTE_ROLE_HEAD);
    if (s && (!s->weak || (s->evidence & ROWS_EQUAL))) {
        m->head_serves_input = true;
        return view(f, 0, s, "no input table is stored: the head serves both roles");
    }
    tell_no_input(f);
    return WTE_OK;
}

/* Where encoder and decoder have tables of their own and no head is stored, a tied head is the
 * decoder's. */
static const struct scored *decoder_head(const struct find *f)
{
    const wte_model *m = f->m;
    const struct scored *decoder = NULL;
    wte_part taken = WTE_PART_NONE;
    for (size_t i = 0; i < f->n; i++) {
        const struct scored *s = &f->list[i];
        if (s->role != WTE_ROLE_INPUT || s->score <= 0) continue;
        if (s->tensor == m->input.tensor) taken = s->part;
        if (s->part == WTE_PART_DECODER && !decoder) decoder = s;
    }
    const bool tied = m->config.said.tied && m->config.head_class == WTE__HEAD_EXPECTED;
    return tied && taken == WTE_PART_ENCODER ? decoder : NULL;
}

/* More than one table of its own kind: the others are not lost from sight. */
static wte_status note_others(struct find *f)
{
    wte_model *m = f->m;
    char shown[WTE__NAME_SHOWN];
    for (size_t i = 0; m->has_input && !m->named && i < f->n; i++) {
        const struct scored *s = &f->list[i];
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

static wte_status choose_head(struct find *f)
{
    const struct scored *s;
    if (f->opt->head) return view_named(f, 1, f->opt->head);
    if (!f->m->has_input) return WTE_OK;
    judge_heads(f, &f->m->input);
    sort(f);
    s = best(f, WTE_ROLE_HEAD);
    if (s) return view(f, 1, s, explain(f, s));
    s = decoder_head(f);
    f->m->decoder_serves_head = s != NULL;
    return s ? view(f, 1, s, "no head is stored: the decoder's table serves it") : WTE_OK;
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
static wte_status add_the_only(struct find *f)
{
    struct scored s;
    wte_tensor t;
    const char *only = only_table(wte_file_format(f->m->file));
    if (f->matrices != 1 || (f->n && !only) || f->m->is_adapter) return WTE_OK;
    WTE_TRY(wte_file_tensor(f->m->file, f->last_matrix, &t, f->err));
    memset(&s, 0, sizeof s);
    s.tensor = f->last_matrix;
    s.name = t.name;
    s.name_bytes = t.name_bytes;
    matrix_of(&t, &s.rows, &s.dim);
    s.role = WTE_ROLE_INPUT;
    s.rule = only ? only : "the only matrix in the file";
    s.score = SCORE_ONLY;
    return add(f, &s);
}

static wte_status find_all(struct find *f)
{
    const wte_file *file = f->m->file;
    if (wte_file_find(file, "mapping", 7, &f->mapping, NULL) != WTE_OK) f->mapping = WTE_NOWHERE;
    const bool fasttext = wte_file_format(file) == WTE_FORMAT_FASTTEXT;
    const uint64_t n =
        fasttext ? 1 : wte_file_tensors(file); /* the others are what it is made of */
    for (uint64_t i = 0; i < n; i++) WTE_TRY(judge_tensor(f, i));
    WTE_TRY(add_the_only(f));
    sort(f);
    WTE_TRY(choose_input(f));
    WTE_TRY(choose_head(f));
    WTE_TRY(note_others(f));
    return publish(f);
}

wte_status wte__model_find(wte_model *m, const wte_model_options *opt, wte_error *err)
{
    struct find f;
    memset(&f, 0, sizeof f);
    f.m = m;
    f.opt = opt;
    f.err = err;
    f.tokens = m->vocab ? wte_vocab_size(m->vocab) : 0;
    f.last_matrix = WTE_NOWHERE;
    f.gguf = wte_file_format(m->file) == WTE_FORMAT_GGUF;
    wte_status status = find_all(&f);
    wte__free(m->allocator, f.list, f.cap * sizeof *f.list);
    return status;
}
