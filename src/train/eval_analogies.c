/* Files of analogies: four words a line, in sections. */
#include <inttypes.h>
#include <string.h>

#include "train/eval_file.h"

#define WORDS 4u

struct wte_analogies {
    wte__eval_text text;
    wte_analogy *questions;
    size_t cap, count;
    wte_analogy_section *sections;
    size_t sections_cap, n_sections;
};

static wte_status add_section(wte_analogies *a, wte__bytes name, wte_error *err)
{
    static const char syntactic[] = "gram";
    const size_t n = sizeof syntactic - 1;
    if (!wte__grow(a->text.allocator, (void **)&a->sections, &a->sections_cap, a->n_sections + 1,
                   sizeof *a->sections))
        return wte__no_memory(err, (a->n_sections + 1) * sizeof *a->sections,
                              "sections of analogies");
    a->sections[a->n_sections++] = (wte_analogy_section){
        .name = { (const char *)name.data, name.size },
        .first = a->count,
        .syntactic = name.size >= n && memcmp(name.data, syntactic, n) == 0,
    };
    return WTE_OK;
}

/* ": capital-common-countries" */
static bool is_title(wte__bytes line, wte__bytes *name)
{
    wte__bytes word = wte__eval_text_word(&line);
    if (word.data[0] != ':') return false;
    *name = word;
    name->data++;
    name->size--;
    if (name->size == 0) *name = wte__eval_text_word(&line);
    return true;
}

static wte_status add_question(wte_analogies *a, wte__bytes line, wte_error *err)
{
    const wte__eval_text *t = &a->text;
    wte_analogy question = { .line = t->line };
    wte__bytes word;
    uint64_t n = 0;
    while ((word = wte__eval_text_word(&line)).size) {
        WTE_TRY(wte__eval_text_check(t, word, err));
        if (n < WORDS) question.word[n] = (wte_word){ (const char *)word.data, word.size };
        n++;
    }
    if (n != WORDS)
        return wte__fail(err, WTE_E_FORMAT, t->line_at,
                         "%s: line %" PRIu64 " has %" PRIu64
                         " words, but an analogy is four: a is to b as c is to d",
                         t->name, t->line, n);
    if (a->n_sections == 0) WTE_TRY(add_section(a, (wte__bytes){ (const uint8_t *)"", 0 }, err));
    if (!wte__grow(t->allocator, (void **)&a->questions, &a->cap, a->count + 1,
                   sizeof *a->questions))
        return wte__no_memory(err, (a->count + 1) * sizeof *a->questions, "analogies");
    question.section = a->n_sections - 1;
    a->sections[question.section].count++;
    a->questions[a->count++] = question;
    return WTE_OK;
}

static wte_status read_questions(wte_analogies *a, wte_error *err)
{
    wte__bytes line, name;
    while (wte__eval_text_line(&a->text, &line)) {
        const bool title = is_title(line, &name);
        WTE_TRY(title ? add_section(a, name, err) : add_question(a, line, err));
    }
    if (a->count) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, a->text.bytes, "%s: no analogy", a->text.name);
}

/* Takes the text over, whether it succeeds or not. */
static wte_status open_text(wte__eval_text *text, wte_analogies **out, wte_error *err)
{
    wte_analogies *a = wte__alloc_zeroed(text->allocator, sizeof *a);
    if (!a) {
        wte__eval_text_free(text);
        return wte__no_memory(err, sizeof *a, "analogies");
    }
    a->text = *text;
    const wte_status status = read_questions(a, err);
    if (status == WTE_OK)
        *out = a;
    else
        wte_analogies_free(a);
    return status;
}

wte_status wte_analogies_open(const char *path, const wte_eval_file_options *opt,
                              wte_analogies **out, wte_error *err)
{
    wte__eval_text text;
    WTE_TRY(wte__need(out, "wte_analogies_open: out", err));
    *out = NULL;
    WTE_TRY(wte__eval_text_load(&text, path, opt, err));
    return open_text(&text, out, err);
}

wte_status wte_analogies_open_memory(const void *data, uint64_t bytes, const char *name,
                                     const wte_eval_file_options *opt, wte_analogies **out,
                                     wte_error *err)
{
    wte__eval_text text;
    WTE_TRY(wte__need(out, "wte_analogies_open_memory: out", err));
    *out = NULL;
    WTE_TRY(wte__eval_text_copy(&text, data, bytes, name, opt, err));
    return open_text(&text, out, err);
}

void wte_analogies_free(wte_analogies *a)
{
    if (!a) return;
    const wte_allocator *allocator = a->text.allocator;
    wte__free(allocator, a->questions, a->cap * sizeof *a->questions);
    wte__free(allocator, a->sections, a->sections_cap * sizeof *a->sections);
    wte__eval_text_free(&a->text);
    wte__free(allocator, a, sizeof *a);
}

uint64_t wte_analogies_count(const wte_analogies *a)
{
    return a ? a->count : 0;
}

const wte_analogy *wte_analogies_at(const wte_analogies *a, uint64_t i)
{
    return a && i < a->count ? &a->questions[i] : NULL;
}

uint64_t wte_analogies_n_sections(const wte_analogies *a)
{
    return a ? a->n_sections : 0;
}

const wte_analogy_section *wte_analogies_section(const wte_analogies *a, uint64_t i)
{
    return a && i < a->n_sections ? &a->sections[i] : NULL;
}
