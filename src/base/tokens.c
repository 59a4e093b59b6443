/* A growing list of token texts in one block, with arrays of their ends, tags and scores. */
#include "base/tokens.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"

void wte__token_list_init(wte_token_list *list, const wte_allocator *a)
{
    memset(list, 0, sizeof *list);
    list->allocator = a;
}

static wte_status no_memory(uint64_t bytes, wte_error *err)
{
    return wte__no_memory(err, bytes, "a list of tokens");
}

/* The three arrays next to the text have one capacity: they grow together or not at all. */
static bool grow_arrays(wte_token_list *list, uint64_t need)
{
    size_t cap = list->cap ? list->cap : 256;
    while (cap < need) {
        if (cap > SIZE_MAX / 32) return false;
        cap *= 2;
    }
    uint64_t *end = wte__alloc_array(list->allocator, cap, sizeof *end);
    uint8_t *tag = wte__alloc(list->allocator, cap);
    float *score = wte__alloc_array(list->allocator, cap, sizeof *score);
    const bool ok = end && tag && score;
    if (ok && list->n) {
        memcpy(end, list->end, (size_t)list->n * sizeof *end);
        memcpy(tag, list->tag, (size_t)list->n);
        memcpy(score, list->score, (size_t)list->n * sizeof *score);
    }
    wte__free(list->allocator, ok ? list->end : end, (ok ? list->cap : cap) * sizeof *end);
    wte__free(list->allocator, ok ? list->tag : tag, ok ? list->cap : cap);
    wte__free(list->allocator, ok ? list->score : score, (ok ? list->cap : cap) * sizeof *score);
    if (!ok) return false;
    list->end = end;
    list->tag = tag;
    list->score = score;
    list->cap = cap;
    return true;
}

wte_status wte__token_list_reserve(wte_token_list *list, uint64_t tokens, uint64_t text_bytes,
                                   wte_error *err)
{
    uint64_t need, bytes;
    void *text = list->text;
    if (!wte__add_u64(list->n, tokens, &need)) return no_memory(UINT64_MAX, err);
    if (!wte__add_u64(list->n ? list->end[list->n - 1] : 0, text_bytes, &bytes) || bytes > SIZE_MAX)
        return no_memory(UINT64_MAX, err);
    if (need > list->cap && !grow_arrays(list, need)) return no_memory(need * 13, err);
    if (bytes == 0) bytes = 1; /* so that the text of a token is never NULL */
    if (!wte__grow(list->allocator, &text, &list->text_cap, (size_t)bytes, 1))
        return no_memory(bytes, err);
    list->text = text;
    return WTE_OK;
}

wte_status wte__token_list_add(wte_token_list *list, wte__bytes text, wte__token_tag tag,
                               wte_error *err)
{
    WTE_TRY(wte__token_list_reserve(list, 1, text.size, err));
    const uint64_t at = list->n ? list->end[list->n - 1] : 0;
    if (text.size) memcpy(list->text + at, text.data, (size_t)text.size);
    list->end[list->n] = at + text.size;
    list->tag[list->n] = (uint8_t)tag;
    list->score[list->n] = 0;
    list->n++;
    return WTE_OK;
}

wte_status wte__token_list_extend(wte_token_list *list, wte__bytes text, wte_error *err)
{
    WTE_TRY(wte__token_list_reserve(list, 0, text.size, err));
    uint64_t *end = &list->end[list->n - 1];
    if (text.size) memcpy(list->text + *end, text.data, (size_t)text.size);
    *end += text.size;
    return WTE_OK;
}

wte__bytes wte__token_list_text(const wte_token_list *list, uint64_t i)
{
    const uint64_t at = i ? list->end[i - 1] : 0;
    const wte__bytes text = { list->text + at, list->end[i] - at };
    return text;
}

void wte__token_list_clear(wte_token_list *list)
{
    wte__free(list->allocator, list->text, list->text_cap);
    wte__free(list->allocator, list->end, list->cap * sizeof *list->end);
    wte__free(list->allocator, list->tag, list->cap);
    wte__free(list->allocator, list->score, list->cap * sizeof *list->score);
    wte__token_list_init(list, list->allocator);
}

uint64_t wte_token_list_count(const wte_token_list *list)
{
    return list ? list->n : 0;
}

const char *wte_token_list_text(const wte_token_list *list, uint64_t i, uint64_t *bytes)
{
    const bool there = list && i < list->n;
    const wte__bytes text = there ? wte__token_list_text(list, i) : (wte__bytes){ NULL, 0 };
    if (bytes) *bytes = text.size;
    return (const char *)text.data;
}

bool wte_token_list_score(const wte_token_list *list, uint64_t i, float *score)
{
    const bool known = list && list->scored && i < list->n;
    if (score) *score = known ? list->score[i] : 0;
    return known;
}
