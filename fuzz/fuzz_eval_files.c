/* Files of word pairs and of analogies over any bytes. Of what is accepted: words are not empty,
 * without line ends, and lie in the file in order; judgements are finite; lines ascend; sections
 * hold all questions, one after the other; and what is written anew is read as the same. */
#include "fuzz.h"

#include <math.h>
#include <string.h>
#include <wte/eval.h>

#define TEXT_MOST ((size_t)4096) /* larger files are not written anew */

static void check_word(wte_word w)
{
    HOLDS(w.text != NULL && w.bytes > 0 && !memchr(w.text, '\n', (size_t)w.bytes));
}

static bool same_word(wte_word a, wte_word b)
{
    return a.bytes == b.bytes && memcmp(a.text, b.text, (size_t)a.bytes) == 0;
}

static void put(char *to, size_t *used, const void *text, uint64_t n)
{
    memcpy(to + *used, text, (size_t)n);
    *used += (size_t)n;
}

/* Tabs cannot stand in a word that is parted by them; elsewhere they are written as they were. */
static void read_pairs_again(const wte_pairs *p, const wte_eval_file_options *opt)
{
    char *text = malloc(2 * TEXT_MOST + 64 * (size_t)wte_pairs_count(p) + 64), number[32];
    size_t used = 0;
    wte_pairs *again;
    HOLDS(text != NULL);
    put(text, &used, "a\tb\t0\n", 6);
    for (uint64_t i = 0; i < wte_pairs_count(p); i++) {
        const wte_pair *pair = wte_pairs_at(p, i);
        const bool odd = pair->a.text[0] == '#' || pair->a.text[0] == '"' ||
                         pair->b.text[0] == '"' || memchr(pair->a.text, '\t', pair->a.bytes) ||
                         memchr(pair->b.text, '\t', pair->b.bytes);
        if (odd) {
            free(text);
            return;
        }
        put(text, &used, pair->a.text, pair->a.bytes);
        put(text, &used, "\t", 1);
        put(text, &used, pair->b.text, pair->b.bytes);
        const int n = snprintf(number, sizeof number, "\t%.17g\n", pair->judged);
        put(text, &used, number, (uint64_t)n);
    }
    HOLDS(wte_pairs_open_memory(text, used, "again", opt, &again, NULL) == WTE_OK);
    HOLDS(wte_pairs_count(again) == wte_pairs_count(p) + 1);
    for (uint64_t i = 0; i < wte_pairs_count(p); i++) {
        const wte_pair *a = wte_pairs_at(p, i), *b = wte_pairs_at(again, i + 1);
        HOLDS(same_word(a->a, b->a) && same_word(a->b, b->b) && a->judged == b->judged);
    }
    wte_pairs_free(again);
    free(text);
}

static void check_pairs(const wte_pairs *p, const wte_eval_file_options *opt, size_t size)
{
    wte_pairs_layout layout;
    wte_pairs_layout_of(p, &layout);
    HOLDS(wte_pairs_count(p) > 0 && layout.column >= 2 && layout.column < 64);
    HOLDS(!layout.title.text || layout.titled);
    for (uint64_t i = 0; i < wte_pairs_count(p); i++) {
        const wte_pair *pair = wte_pairs_at(p, i);
        check_word(pair->a);
        check_word(pair->b);
        HOLDS(pair->b.text >= pair->a.text + pair->a.bytes);
        HOLDS(isfinite(pair->judged) && pair->line >= 1);
        HOLDS(i == 0 || pair->line > wte_pairs_at(p, i - 1)->line);
    }
    if (size <= TEXT_MOST) read_pairs_again(p, opt);
}

static void check_question(const wte_analogy *q, uint64_t section)
{
    HOLDS(q->section == section);
    for (int w = 0; w < 4; w++) {
        check_word(q->word[w]);
        HOLDS(w == 0 || q->word[w].text > q->word[w - 1].text + q->word[w - 1].bytes);
    }
}

static void check_analogies(const wte_analogies *a)
{
    uint64_t next = 0;
    HOLDS(wte_analogies_count(a) > 0);
    for (uint64_t s = 0; s < wte_analogies_n_sections(a); s++) {
        const wte_analogy_section *section = wte_analogies_section(a, s);
        HOLDS(section->first == next && section->count <= wte_analogies_count(a) - next);
        for (uint64_t i = 0; i < section->count; i++)
            check_question(wte_analogies_at(a, next++), s);
    }
    HOLDS(next == wte_analogies_count(a));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_memory memory;
    wte_eval_file_options opt = WTE_EVAL_FILE_OPTIONS_INIT;
    wte_error err;
    wte_pairs *pairs;
    wte_analogies *analogies;
    fuzz_memory_init(&memory);
    opt.allocator = &memory.allocator;
    wte_status status = wte_pairs_open_memory(data, size, "pairs", &opt, &pairs, &err);
    if (status == WTE_OK)
        check_pairs(pairs, &opt, size);
    else
        fuzz_check_error(&err, status, size);
    wte_pairs_free(pairs);
    status = wte_analogies_open_memory(data, size, "questions", &opt, &analogies, &err);
    if (status == WTE_OK)
        check_analogies(analogies);
    else
        fuzz_check_error(&err, status, size);
    wte_analogies_free(analogies);
    HOLDS(memory.live == 0);
    return 0;
}
