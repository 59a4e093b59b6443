/* Draft heads (EAGLE-3 and kin): heads of some of the target's tokens alone, and the tensors that
 * say of which. d2t has a number for each row of the head: an offset (token = row + d2t[row]) or
 * the token itself. t2d has one for each token: whether the head has it, or in which row. Which of
 * the readings holds is decided by what each would mean; only where both would do and there is no
 * t2d does a name that says "token_id" decide for ids. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "model/model.h"

/* Numbers that are read at once, on the stack. */
#define AT_ONCE 256u

static const char *const to_target[] = { "d2t", "draft_id_to_target_id", "draft_to_target",
                                         "hot_token_id", "hot_token_ids" };
static const char *const to_draft[] = { "t2d", "target_id_to_draft_id", "target_to_draft" };
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* One of the two, as read. */
struct list {
    uint64_t tensor; /* WTE_NO_INDEX: there is none */
    const char *name;
    int64_t *value;
    uint64_t n;
};

struct draft {
    wte_model *m;
    wte_error *err;
    struct list d2t, t2d;
    uint64_t rows, tokens; /* of the head; ids that can be targets, 0 = unknown */
    int64_t *map;          /* rows numbers, to be filled */
};

/* printf what stands against a map; nothing is said twice. */
#define TELL(d, ...) tell((d), wte__arena_print(&(d)->m->arena, __VA_ARGS__))
static wte_status tell(struct draft *d, const char *text)
{
    d->m->output.map_problem = text ? text : "";
    return text ? WTE_OK : wte__no_memory(d->err, 512, "what is said of a draft head");
}

static bool is_named(const wte_tensor *t, const char *const *names, size_t n)
{
    static const char leaf[] = ".weight";
    uint64_t bytes = t->name_bytes;
    if (bytes > sizeof leaf && memcmp(t->name + bytes - (sizeof leaf - 1), leaf, 7) == 0)
        bytes -= sizeof leaf - 1;
    for (size_t i = 0; i < n; i++) {
        const size_t k = strlen(names[i]);
        if (bytes >= k && memcmp(t->name + bytes - k, names[i], k) == 0 &&
            (bytes == k || t->name[bytes - k - 1] == '.'))
            return true;
    }
    return false;
}

/* How many whole numbers a list has; 0 when it is none. */
static uint64_t length_of(const wte_tensor *t)
{
    const bool list = t->rank == 1 || (t->rank == 2 && t->shape[1] == 1);
    const bool whole = t->dtype == WTE_BOOL || t->dtype == WTE_U8 || t->dtype == WTE_I8 ||
                       t->dtype == WTE_U16 || t->dtype == WTE_I16 || t->dtype == WTE_U32 ||
                       t->dtype == WTE_I32 || t->dtype == WTE_I64 || t->dtype == WTE_U64;
    return list && whole && !t->block && t->shape[0] <= WTE_LIMIT_VOCAB_IDS ? t->shape[0] : 0;
}

static wte_status find_lists(struct draft *d)
{
    wte_tensor t;
    for (uint64_t i = 0; i < wte_file_n_tensors(d->m->file); i++) {
        WTE_TRY(wte_file_tensor(d->m->file, i, &t, d->err));
        struct list *list = is_named(&t, to_target, COUNT(to_target)) ? &d->d2t
                            : is_named(&t, to_draft, COUNT(to_draft)) ? &d->t2d
                                                                      : NULL;
        if (!list || list->tensor != WTE_NO_INDEX) continue;
        char shown[WTE__NAME_SHOWN];
        list->tensor = i;
        list->n = length_of(&t);
        list->name =
            wte__arena_print(&d->m->arena, "%.60s", wte__show(shown, t.name, t.name_bytes));
        if (!list->name) return wte__no_memory(d->err, 512, "a name");
    }
    return WTE_OK;
}

static wte_status fill(struct draft *d, struct list *list)
{
    unsigned char stored[AT_ONCE * 8];
    wte_row_source source; /* rows of one number */
    WTE_TRY(wte_file_row_source(d->m->file, list->tensor, &source, d->err));
    for (uint64_t at = 0; at < list->n; at += AT_ONCE) {
        const size_t now = list->n - at < AT_ONCE ? (size_t)(list->n - at) : AT_ONCE;
        int64_t *value = list->value + at;
        WTE_TRY(wte_row_source_read_block(&source, at, now, stored, d->err));
        if (source.dtype != WTE_BOOL)
            WTE_TRY(wte_convert(source.dtype, stored, WTE_I64, value, now, NULL, d->err));
        else
            for (size_t i = 0; i < now; i++) value[i] = stored[i] != 0;
    }
    return WTE_OK;
}

static wte_status load(struct draft *d, struct list *list)
{
    if (list->tensor == WTE_NO_INDEX) return WTE_OK;
    list->value = wte__alloc_array(d->m->allocator, list->n, sizeof *list->value);
    return list->value ? fill(d, list) : wte__no_memory(d->err, list->n * 8, list->name);
}

/* The mask or the rows of t2d against the map: whether they say the same. */
static bool agrees(const struct draft *d, const int64_t *map)
{
    const struct list *t = &d->t2d;
    uint64_t kept = 0;
    bool mask = true;
    if (!t->value) return true;
    for (uint64_t i = 0; i < t->n; i++) mask = mask && (t->value[i] == 0 || t->value[i] == 1);
    for (uint64_t i = 0; i < t->n; i++) kept += t->value[i] != 0;
    for (uint64_t row = 0; row < d->rows; row++) {
        if ((uint64_t)map[row] >= t->n) return false;
        const int64_t said = t->value[map[row]];
        if (mask ? said != 1 : said != (int64_t)row) return false;
    }
    return !mask || kept == d->rows;
}

/* Whether a reading can be: its tokens are there, none twice, and t2d says the same. */
static wte_status try_reading(struct draft *d, bool offsets, bool *fits, wte_error *why)
{
    for (uint64_t row = 0; row < d->rows; row++)
        d->map[row] = (int64_t)((uint64_t)d->d2t.value[row] + (offsets ? row : 0));
    wte_status status =
        wte_head_map_check(d->map, (size_t)d->rows, d->tokens, d->m->allocator, why);
    *fits = status == WTE_OK && agrees(d, d->map);
    if (status == WTE_OK && !*fits)
        (void)wte__fail(why, WTE_E_FORMAT, WTE_NO_INDEX, "'%s' says otherwise", d->t2d.name);
    if (status != WTE_E_MEMORY) return WTE_OK;
    if (d->err) *d->err = *why;
    return status;
}

static wte_status from_d2t(struct draft *d)
{
    wte_error why[2];
    bool offsets, ids;
    const char *name = d->d2t.name;
    if (d->d2t.n != d->rows)
        return TELL(d, "'%s' has %" PRIu64 " numbers, but the head has %" PRIu64 " rows", name,
                    d->d2t.n, d->rows);
    WTE_TRY(try_reading(d, false, &ids, &why[0]));
    WTE_TRY(try_reading(d, true, &offsets, &why[1]));
    /* where the numbers leave it open, a name that says ids is one more witness */
    if (ids && offsets && !d->t2d.value && strstr(name, "token_id")) offsets = false;
    bool same = true; /* all offsets 0: of one row */
    for (uint64_t row = 0; row < d->rows; row++) same = same && d->map[row] == d->d2t.value[row];
    if (ids && offsets && !same)
        return TELL(d,
                    "'%s' can be read as offsets (row r is token r + its number) and as "
                    "token ids",
                    name);
    if (!ids && !offsets)
        return TELL(d, "'%s' is no map: as token ids, %.100s; as offsets, %.100s", name,
                    why[0].message, why[1].message);
    if (!offsets) memcpy(d->map, d->d2t.value, (size_t)d->rows * sizeof *d->map);
    const char *said =
        offsets ? wte__arena_print(&d->m->arena,
                                   "%s holds offsets: row r is token r + "
                                   "%s[r]",
                                   name, name)
                : wte__arena_print(&d->m->arena, "%s holds token ids: row r is token %s[r]", name,
                                   name);
    if (!said) return wte__no_memory(d->err, 512, name);
    d->m->output.map_why = said;
    return WTE_OK;
}

/* t2d alone: the rows of the tokens, or which tokens there are, in their order. */
static wte_status from_t2d(struct draft *d)
{
    const struct list *t = &d->t2d;
    const char *name = t->name;
    uint64_t kept = 0;
    bool mask = true;
    for (uint64_t row = 0; row < d->rows; row++) d->map[row] = -1;
    for (uint64_t i = 0; i < t->n; i++) {
        mask = mask && (t->value[i] == 0 || t->value[i] == 1);
        if (t->value[i] == 1 && kept < d->rows) d->map[kept] = (int64_t)i;
        kept += t->value[i] == 1;
    }
    if (mask && kept == d->rows) {
        d->m->output.map_why =
            wte__arena_print(&d->m->arena, "%s marks the tokens of the head, in their order", name);
        return d->m->output.map_why ? WTE_OK : wte__no_memory(d->err, 512, name);
    }
    if (mask)
        return TELL(d, "'%s' marks %" PRIu64 " tokens, but the head has %" PRIu64 " rows", name,
                    kept, d->rows);
    for (uint64_t row = 0; row < d->rows; row++) d->map[row] = -1;
    for (uint64_t i = 0; i < t->n; i++) {
        if (t->value[i] < 0) continue;
        const uint64_t row = (uint64_t)t->value[i];
        if (row >= d->rows)
            return TELL(d, "'%s'[%" PRIu64 "] is %" PRIu64 ", but the head has %" PRIu64 " rows",
                        name, i, row, d->rows);
        if (d->map[row] >= 0)
            return TELL(d, "'%s' gives row %" PRIu64 " to tokens %" PRId64 " and %" PRIu64, name,
                        row, d->map[row], i);
        d->map[row] = (int64_t)i;
    }
    for (uint64_t row = 0; row < d->rows; row++)
        if (d->map[row] < 0) return TELL(d, "'%s' gives row %" PRIu64 " to no token", name, row);
    d->m->output.map_why = wte__arena_print(&d->m->arena, "%s holds the row of each token", name);
    return d->m->output.map_why ? WTE_OK : wte__no_memory(d->err, 512, name);
}

static wte_status settle(struct draft *d)
{
    wte_model *m = d->m;
    const bool alone = m->has_input && m->input.tensor != m->head.tensor;
    const uint64_t config = m->config.said.vocab_size;
    d->rows = m->head.rows;
    d->tokens = d->t2d.n;
    if (!d->tokens && alone) d->tokens = m->input.rows;
    if (!d->t2d.n && config > d->tokens) d->tokens = config;
    if (!d->t2d.n && m->vocab && wte_vocab_size(m->vocab) > d->tokens)
        d->tokens = wte_vocab_size(m->vocab);
    if (d->tokens && d->tokens < d->rows) d->tokens = 0; /* of another vocabulary */
    /* the target's own head, of all tokens, is in the file besides */
    if (d->tokens == d->rows && d->d2t.n != d->rows) return WTE_OK;
    m->output.map_tokens = d->tokens;
    const struct list *broken = d->d2t.name && !d->d2t.n   ? &d->d2t
                                : d->t2d.name && !d->t2d.n ? &d->t2d
                                                           : NULL;
    if (broken) return TELL(d, "'%s' is no list of whole numbers", broken->name);
    WTE_TRY(load(d, &d->d2t));
    WTE_TRY(load(d, &d->t2d));
    d->map = wte__alloc_array(m->allocator, d->rows, sizeof *d->map);
    if (!d->map) return wte__no_memory(d->err, d->rows * sizeof *d->map, "the tokens of a head");
    m->output.map_name = d->d2t.value ? d->d2t.name : d->t2d.name;
    WTE_TRY(d->d2t.value ? from_d2t(d) : from_t2d(d));
    return WTE_OK;
}

wte_status wte__draft_find(wte_model *m, wte_error *err)
{
    struct draft d = { .m = m, .err = err };
    wte_model_output *out = &m->output;
    d.d2t.tensor = d.t2d.tensor = WTE_NO_INDEX;
    if (!m->has_head || m->head.rows == 0) return WTE_OK;
    WTE_TRY(find_lists(&d));
    if (d.d2t.tensor == WTE_NO_INDEX && d.t2d.tensor == WTE_NO_INDEX) return WTE_OK;
    const wte_status status = settle(&d);
    const bool read = status == WTE_OK && d.map; /* else nothing is known of it */
    wte__free(m->allocator, d.t2d.value, (size_t)d.t2d.n * sizeof *d.t2d.value);
    out->n_map = read ? d.rows : 0;
    const bool kept = read && *out->map_why;
    if (kept) out->map = m->draft[0] = d.map;
    if (!kept) wte__free(m->allocator, d.map, (size_t)d.rows * sizeof *d.map);
    if (read && d.d2t.value && d.d2t.n == d.rows)
        out->map_stored = m->draft[1] = d.d2t.value;
    else
        wte__free(m->allocator, d.d2t.value, (size_t)d.d2t.n * sizeof *d.d2t.value);
    return status;
}

uint64_t wte_model_token(const wte_model *m, uint64_t id)
{
    if (!m || !m->output.map || !m->has_input || m->input.tensor != m->head.tensor) return id;
    return id < m->output.n_map ? (uint64_t)m->output.map[id] : id;
}
