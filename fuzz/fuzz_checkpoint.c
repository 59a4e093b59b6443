/* Checkpoints of which bytes were changed: the first byte chooses the trainer, the second how much
 * of the file is left out, then three for each change: its place, and what stands there.
 *
 * Properties: a run that is resumed is no further than its end, and goes on without a fault or
 * ends with a good error; nothing leaks. */
#include <wte/wordvec.h>

#include "../tests/small_lm.h"
#include "folder.h"

#define MOST_BYTES  65536u
#define MOST_STEPS  4u
#define CHANGE      3u
#define METHODS     3u   /* word vectors; language models, tied and not */
#define WORD_TOTALS 480u /* two times the text */

typedef struct original {
    uint8_t bytes[MOST_BYTES];
    size_t size;
} original;
static original originals[METHODS];
static wte_corpus *corpus;

/* Stops after some reports. */
static bool count_down(void *ctx, const wte_train_status *now)
{
    uint32_t *left = ctx;
    HOLDS(now->total > 0);
    return *left && --*left;
}

static wte_wordvec_options words_options(const wte_allocator *a)
{
    wte_wordvec_options o = WTE_WORDVEC_OPTIONS_INIT;
    o.dim = 3;
    o.window = 2;
    o.epochs = 2;
    o.deterministic = 1;
    o.checkpoint_words = 1;
    o.checkpoint = fuzz_path("checkpoint");
    o.allocator = a;
    return o;
}

static wte_lm_options saved_lm_options(const wte_allocator *a, bool tied)
{
    wte_lm_options o = lm_options();
    o.tied = tied;
    o.projected = tied;
    o.hidden = 4;
    o.hold_out = 4;
    o.valid_every = 2;
    o.log_every = 1;
    o.checkpoint_every = 2;
    o.checkpoint = fuzz_path("checkpoint");
    o.allocator = a;
    return o;
}

/* Makes a run, or resumes it, and lets it go on for a while. */
static wte_status run_words(const wte_allocator *a, bool resume, wte_error *err)
{
    wte_wordvec_options o = words_options(a);
    uint32_t left = 1;
    const wte_train_callback watch = { count_down, &left };
    wte_wordvec_info info;
    wte_wordvec *w;
    o.resume = resume;
    wte_status status = wte_wordvec_create(corpus, &o, &w, err);
    if (status == WTE_OK) {
        wte_wordvec_get(w, &info);
        HOLDS(info.total == WORD_TOTALS && info.done <= info.total);
        status = wte_wordvec_train(w, &watch, err);
    }
    wte_wordvec_free(w);
    return status;
}

static wte_status run_lm(const wte_allocator *a, bool tied, bool resume, wte_error *err)
{
    wte_lm_options o = saved_lm_options(a, tied);
    uint32_t left = MOST_STEPS;
    const wte_train_callback watch = { count_down, &left };
    wte_lm_info info;
    wte_lm *lm;
    o.resume = resume;
    wte_status status = wte_lm_create(corpus, NULL, &o, &lm, err);
    if (status == WTE_OK) {
        wte_lm_get(lm, &info);
        HOLDS(info.step <= info.steps && info.best_step <= info.step);
        status = wte_lm_train(lm, &watch, err);
    }
    wte_lm_free(lm);
    return status;
}

static wte_status run(const wte_allocator *a, size_t method, bool resume, wte_error *err)
{
    return method ? run_lm(a, method == 1, resume, err) : run_words(a, resume, err);
}

static void make_originals(void)
{
    char text[480];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? ' ' : (char)('a' + (i / 2 * i / 2 + i / 7) % 5);
    fuzz_write("corpus", text, sizeof text);
    HOLDS(wte_corpus_open(fuzz_path("corpus"), NULL, &corpus, NULL) == WTE_OK);
    fuzz_write("checkpoint", "", 0); /* so that it is removed */
    for (size_t i = 0; i < METHODS; i++) {
        HOLDS(run(NULL, i, false, NULL) == WTE_OK);
        FILE *f = fopen(fuzz_path("checkpoint"), "rb");
        HOLDS(f != NULL);
        originals[i].size = fread(originals[i].bytes, 1, MOST_BYTES, f);
        HOLDS(fclose(f) == 0 && originals[i].size < MOST_BYTES);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[MOST_BYTES];
    if (size < 2 || size > 2 + 256 * CHANGE) return 0;
    fuzz_memory memory;
    wte_error err = { 0 };
    fuzz_memory_init(&memory);
    if (fuzz_make_folder()) make_originals();
    const size_t method = data[0] % METHODS, whole = originals[method].size;
    memcpy(bytes, originals[method].bytes, whole);
    for (size_t i = 2; i + CHANGE <= size; i += CHANGE)
        bytes[(data[i] | (size_t)data[i + 1] << 8) % whole] = data[i + 2];
    fuzz_write("checkpoint", bytes, whole - whole * data[1] / 256);
    const wte_status status = run(&memory.allocator, method, true, &err);
    HOLDS(status == WTE_OK || size > 2 || data[1]);
    if (status != WTE_OK) {
        if (strstr(err.message, "lies outside the part"))
            err.where = 0; /* any number may be asked for */
        fuzz_check_error(&err, status, FUZZ_CAP);
    }
    HOLDS(memory.live == 0 && memory.live_bytes == 0);
    return 0;
}
