/* The head's bias: a list with a number for each of its rows. Its name is the head's with "bias"
 * for "weight", or one that a rule knows; any other list of that length whose name says "bias" and
 * that belongs to no other tensor may be one, which is told and never passed over. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/model.h"
#include "model/name_rules.h"

/* How surely a tensor is the bias. */
enum grade { NONE, UNCLEAR, BY_RULE, BY_STEM };

struct seek {
    wte_model *m;
    wte_error *err;
    uint64_t rows;    /* of the head */
    const char *stem; /* of the head's name; bytes 0: there is none */
    size_t stem_bytes;
    bool gguf;
    uint64_t tensor[2]; /* the best one, and another of other numbers */
    enum grade grade;   /* of the best */
    unsigned found;     /* that differ from each other */
};

struct name {
    const char *at;
    size_t bytes;
};

static bool ends_with(struct name n, const char *end)
{
    const size_t k = strlen(end);
    return n.bytes >= k && memcmp(n.at + n.bytes - k, end, k) == 0;
}

/* "lm_head.bias", "output_bias", "decoder_ff_logit_out_b": what stands before the word, or bytes 0.
 */
static struct name owner_of(struct name n)
{
    static const char *const words[] = { "bias", "b" };
    struct name none = { n.at, 0 };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t k = strlen(words[i]);
        if (!ends_with(n, words[i]) || n.bytes == k) continue;
        const char before = n.at[n.bytes - k - 1];
        if (before != '.' && before != '_' && before != '/' && before != ':') continue;
        none.bytes = n.bytes - k - 1;
        return none;
    }
    return none;
}

static bool is_there(const struct seek *s, struct name owner, const char *end)
{
    char name[512];
    uint64_t at;
    const size_t k = strlen(end);
    if (owner.bytes + k > sizeof name) return true; /* of no real model */
    memcpy(name, owner.at, owner.bytes);
    memcpy(name + owner.bytes, end, k);
    return wte_file_find(s->m->file, name, owner.bytes + k, &at, NULL) == WTE_OK &&
           (!s->m->has_head || at != s->m->head.tensor);
}

/* Whether it is the bias of some other layer or norm, whose weights stand beside it. */
static bool is_owned(const struct seek *s, struct name owner)
{
    static const char *const ends[] = { ".weight", "_weight",  ".kernel",
                                        "/kernel", ".qweight", ".weight_packed",
                                        ".gamma",  ".scale",   "_W",
                                        "_w",      ".W" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (is_there(s, owner, ends[i])) return true;
    return false;
}

static enum grade grade_of(const struct seek *s, const wte_tensor *t, bool fits)
{
    const struct name n = { t->name, (size_t)t->name_bytes }, owner = owner_of(n);
    const bool own = s->stem_bytes && owner.bytes == s->stem_bytes &&
                     memcmp(owner.at, s->stem, s->stem_bytes) == 0;
    if (own) return BY_STEM;
    if (s->gguf) /* names are the format's own */
        return n.bytes == 11 && memcmp(n.at, "output.bias", 11) == 0 ? BY_RULE : NONE;
    const wte__name judged = wte__name_judge(t->name, t->name_bytes);
    if (judged.rule && judged.rule->kind == WTE_KIND_HEAD_BIAS && !judged.outside) {
        const bool weak = judged.rule->flags & WTE__RULE_WEAK;
        /* "head.bias" of two numbers is a classifier's */
        return fits || !weak ? BY_RULE : NONE;
    }
    if (!fits || !owner.bytes || judged.rule || wte__name_is_outside(t->name, t->name_bytes))
        return NONE;
    return is_owned(s, owner) ? NONE : UNCLEAR;
}

/* How many numbers a list has, whatever its dimensions of 1; 0 when it is none. */
static uint64_t length_of(const wte_tensor *t)
{
    uint64_t n = 1;
    for (uint32_t d = 0; d < t->rank; d++)
        if (t->shape[d] != 1) n = n == 1 ? t->shape[d] : 0;
    return t->rank && !t->block && wte_dtype_converts(t->dtype) ? n : 0;
}

/* Two biases of one head: one of them when they are two copies. */
static wte_status same_bytes(const struct seek *s, uint64_t a, uint64_t b, bool *same)
{
    wte_tie_options opt = WTE_TIE_OPTIONS_INIT;
    wte_tensor x, y;
    *same = false;
    opt.allocator = s->m->allocator;
    WTE_TRY(wte_file_tensor(s->m->file, a, &x, s->err));
    WTE_TRY(wte_file_tensor(s->m->file, b, &y, s->err));
    if (x.dtype != y.dtype || x.bytes != y.bytes) return WTE_OK;
    return wte__tensors_compare(s->m->file, a, b, &opt, same, s->err);
}

static wte_status see(struct seek *s, uint64_t i)
{
    wte_tensor t;
    bool same = false;
    WTE_TRY(wte_file_tensor(s->m->file, i, &t, s->err));
    const uint64_t n = length_of(&t);
    const enum grade grade = n && t.rank <= 3 ? grade_of(s, &t, n == s->rows) : NONE;
    if (grade == NONE) return WTE_OK;
    if (s->found) WTE_TRY(same_bytes(s, s->tensor[0], i, &same));
    const bool better = grade > s->grade;
    if (!same) s->tensor[1] = better ? s->tensor[0] : i;
    if (!same) s->found++;
    if (!better) return WTE_OK;
    s->tensor[0] = i;
    s->grade = grade;
    return WTE_OK;
}

static wte_status tell(struct seek *s, const char *text)
{
    wte_model *m = s->m;
    m->output.bias_problem = text ? text : "";
    return text ? WTE_OK : wte__no_memory(s->err, 512, "what is said of a bias");
}

static wte_status settle(struct seek *s)
{
    wte_model *m = s->m;
    wte_tensor t, u;
    char a[WTE__NAME_SHOWN], b[WTE__NAME_SHOWN];
    if (!s->found) return WTE_OK;
    WTE_TRY(wte_file_tensor(m->file, s->tensor[0], &t, s->err));
    wte__show(a, t.name, t.name_bytes);
    if (s->found > 1) {
        WTE_TRY(wte_file_tensor(m->file, s->tensor[1], &u, s->err));
        return tell(s, wte__arena_print(&m->arena,
                                        "%u tensors can be the bias of the head, and differ: "
                                        "'%.100s', '%.100s'",
                                        s->found, a, wte__show(b, u.name, u.name_bytes)));
    }
    if (s->grade == UNCLEAR)
        return tell(s, wte__arena_print(&m->arena,
                                        "'%.100s' has a number for each of the %" PRIu64
                                        " rows of the head and can be its bias, but no rule knows "
                                        "that name",
                                        a, s->rows));
    if (length_of(&t) != s->rows)
        return tell(s, wte__arena_print(&m->arena,
                                        "the bias '%.100s' has %" PRIu64
                                        " numbers, but the head has %" PRIu64 " rows",
                                        a, length_of(&t), s->rows));
    m->output.bias = s->tensor[0];
    m->output.bias_name = t.name;
    return WTE_OK;
}

wte_status wte__bias_find(wte_model *m, wte_error *err)
{
    const wte_model_table *head = m->has_head ? &m->head : &m->input;
    struct seek s = { .m = m, .err = err, .rows = head->rows };
    wte_tensor t;
    s.gguf = wte_file_format(m->file) == WTE_FORMAT_GGUF;
    if ((m->has_head || m->head_serves_input) &&
        wte_file_tensor(m->file, head->tensor, &t, NULL) == WTE_OK) {
        s.stem = t.name;
        const char *suffix = wte__code_suffix(t.name, t.name_bytes);
        s.stem_bytes = (size_t)t.name_bytes - (suffix ? strlen(suffix) : 0);
    }
    for (uint64_t i = 0; i < wte_file_n_tensors(m->file); i++) WTE_TRY(see(&s, i));
    return settle(&s);
}
