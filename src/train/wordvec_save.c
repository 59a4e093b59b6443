/* Word vectors as files: checkpoints, and the folder that every other call can read. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "format/fasttext.h"
#include "train/checkpoint.h"
#include "train/corpus.h"
#include "train/trained.h"
#include "train/wordvec.h"

#define SETTINGS_MOST 1024u
#define PLACE         (sizeof(wte__wordvec_position) / sizeof(int64_t))

/* What decides over the result, a line each: two runs with the same are the same. */
static void put_settings(const wte__wordvec_plan *p, char out[SETTINGS_MOST])
{
    const wte_wordvec_options *o = &p->o;
    snprintf(out, SETTINGS_MOST,
             "{\n\"trainer\": \"words\",\n\"method\": \"%s\",\n\"loss\": \"%s\",\n\"dim\": %" PRIu64
             ",\n\"window\": %" PRIu64 ",\n\"negative\": %" PRIu64
             ",\n\"power\": %.17g,\n\"min_n\": %" PRIu64 ",\n\"max_n\": %" PRIu64
             ",\n\"buckets\": %" PRIu64 ",\n\"sample\": %.17g"
             ",\n\"lr\": %.17g,\n\"epochs\": %" PRIu64 ",\n\"seed\": %" PRIu64
             ",\n\"threads\": %" PRIu32 ",\n\"words\": %" PRIu64 ",\n\"tokens\": %" PRIu64
             ",\n\"unknown\": %" PRIu64 ",\n\"text\": %" PRIu64
             ",\n\"content of the corpus\": \"%016" PRIx64 "\",\n\"bytes\": %" PRIu64 "\n}\n",
             o->method == WTE_WORDVEC_CBOW ? "cbow" : "skip-gram",
             o->hierarchical ? "tree of fastText" : "samples", o->dim, o->window, o->negative,
             o->power, o->min_n, o->max_n, o->buckets, o->sample, o->lr, o->epochs, o->seed,
             p->parts, p->rows, p->corpus_info.tokens, p->corpus_info.oov,
             wte__corpus_hash(p->corpus), p->corpus->content, p->corpus_info.bytes);
}

static wte_row_source rows_of(const wte_wordvec *w, const float *data, uint64_t rows)
{
    return (wte_row_source){ .rows = rows,
                             .cols = w->plan.o.dim,
                             .dtype = WTE_F32,
                             .data = data,
                             .row_bytes = w->plan.stride * sizeof(float) };
}

wte_status wte__wordvec_checkpoint(const wte_wordvec *w, wte_error *err)
{
    const wte__wordvec_plan *p = &w->plan;
    char settings[SETTINGS_MOST];
    put_settings(p, settings);
    const wte__checkpoint_part parts[] = {
        { "input", rows_of(w, w->in, p->in_rows) },
        { "output", rows_of(w, w->out, p->out_rows) },
        { "places",
          { .rows = p->parts,
            .cols = PLACE,
            .dtype = WTE_I64,
            .data = &w->worker[0].place,
            .row_bytes = sizeof *w->worker } },
    };
    return wte__checkpoint_write(w->checkpoint, parts, sizeof parts / sizeof *parts, settings, err);
}

/* Rows are read tight, to the end of where they belong, and then moved apart. */
static wte_status read_matrix(const wte__checkpoint *c, const char *name, const wte_wordvec *w,
                              uint64_t rows, float *out, wte_error *err)
{
    const size_t dim = (size_t)w->plan.o.dim, stride = w->plan.stride;
    float *tight = out + rows * (stride - dim);
    WTE_TRY(wte__checkpoint_read(c, name, WTE_F32, rows, dim, tight, err));
    for (uint64_t r = 0; r < rows; r++) {
        memmove(out + r * stride, tight + r * dim, dim * sizeof *out);
        memset(out + r * stride + dim, 0, (stride - dim) * sizeof *out);
    }
    return WTE_OK;
}

static bool is_loss(const wte__wordvec_loss *l, uint64_t words)
{
    return l->sum >= 0 && isfinite(l->sum) && l->examples <= words;
}

static wte_status check_losses(const wte_wordvec *w, uint32_t part,
                               const wte__wordvec_position *place, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    if (place->until_loss < WTE__WORDS_LOSS_EVERY && is_loss(&place->running, place->words) &&
        is_loss(&place->finished, place->words))
        return WTE_OK;
    return wte__fail(
        err, WTE_E_FORMAT, part,
        "%s: part %" PRIu32 " of the checkpoint has losses %g of %" PRIu64
        " examples and %g of %" PRIu64 ", the next one in %" PRIu64 ", which no run leaves",
        wte__show_path(shown, w->checkpoint), part, place->finished.sum, place->finished.examples,
        place->running.sum, place->running.examples, place->until_loss);
}

static wte_status read_places(const wte__checkpoint *c, wte_wordvec *w, wte_error *err)
{
    const wte_allocator *a = w->plan.o.allocator;
    const size_t bytes = w->plan.parts * sizeof(wte__wordvec_position);
    wte__wordvec_position *places = wte__alloc(a, bytes);
    if (!places) return wte__no_memory(err, bytes, "places in the corpus");
    const uint64_t total = w->plan.corpus_info.tokens * w->plan.o.epochs;
    char shown[WTE__NAME_SHOWN];
    wte_status status =
        wte__checkpoint_read(c, "places", WTE_I64, w->plan.parts, PLACE, places, err);
    uint64_t done = 0;
    for (uint32_t i = 0; status == WTE_OK && i < w->plan.parts; i++) {
        /* what all parts have read together is no more than there is */
        const uint64_t left = total - done;
        if (places[i].epoch > w->plan.o.epochs || places[i].words > left) {
            status = wte__fail(err, WTE_E_FORMAT, i,
                               "%s: part %" PRIu32 " of the checkpoint has read %" PRIu64
                               " words in %" PRIu64 " epochs, but there are %" PRIu64
                               " left in %" PRIu64,
                               wte__show_path(shown, w->checkpoint), i, places[i].words,
                               places[i].epoch, left, w->plan.o.epochs);
            break;
        }
        status = check_losses(w, i, &places[i], err);
        if (status != WTE_OK) break;
        w->worker[i].place = places[i];
        done += places[i].words;
    }
    atomic_store_explicit(&w->done, done, memory_order_relaxed);
    wte__free(a, places, bytes);
    return status;
}

wte_status wte__wordvec_resume(wte_wordvec *w, wte_error *err)
{
    wte__checkpoint *c;
    char settings[SETTINGS_MOST];
    put_settings(&w->plan, settings);
    (void)wte_writer_remove_stale(w->checkpoint);
    WTE_TRY(wte__checkpoint_open(w->checkpoint, &c, err));
    wte_status status =
        wte__checkpoint_belongs(w->checkpoint, wte__checkpoint_settings(c), settings, err);
    if (status == WTE_OK) status = read_matrix(c, "input", w, w->plan.in_rows, w->in, err);
    if (status == WTE_OK) status = read_matrix(c, "output", w, w->plan.out_rows, w->out, err);
    if (status == WTE_OK) status = read_places(c, w, err);
    wte__checkpoint_free(c);
    return status;
}

/* The folder ----------------------------------------------------------------------------------- */

static wte_status save_tables(const wte_wordvec *w, wte_transaction *t, const char *folder,
                              wte_error *err)
{
    wte_row_source rows, out_rows;
    wte_wordvec_vectors(w, &rows);
    wte_wordvec_output_vectors(w, &out_rows);
    const uint64_t shape[2] = { rows.rows, rows.cols }, out_shape[2] = { out_rows.rows, rows.cols };
    const wte_tensor_out tensors[] = {
        { "embedding.weight", WTE_F32, 2, shape, NULL, &rows },
        { w->plan.o.hierarchical ? "tree.weight" : "lm_head.weight", WTE_F32, 2, out_shape, NULL,
          &out_rows },
    };
    return wte__trained_weights(t, folder, tensors, sizeof tensors / sizeof *tensors, err);
}

static wte_status save_config(const wte_wordvec *w, wte_transaction *t, const char *folder,
                              wte_error *err)
{
    const wte_wordvec_options *o = &w->plan.o;
    char text[1024];
    const int n =
        snprintf(text, sizeof text,
                 "%s"
                 "  \"vocab_size\": %" PRIu64 ",\n"
                 "  \"hidden_size\": %" PRIu64 ",\n"
                 "  \"tie_word_embeddings\": false,\n"
                 "  \"window\": %" PRIu64 ",\n"
                 "  \"negative\": %" PRIu64 ",\n"
                 "  \"hierarchical\": %s,\n"
                 "  \"min_n\": %" PRIu64 ",\n"
                 "  \"max_n\": %" PRIu64 ",\n"
                 "  \"epochs\": %" PRIu64 ",\n"
                 "  \"seed\": %" PRIu64 ",\n"
                 "  \"torch_dtype\": \"float32\"\n"
                 "}\n",
                 o->method == WTE_WORDVEC_CBOW ? WTE__TRAINED_CBOW : WTE__TRAINED_SKIP_GRAM,
                 w->plan.rows, o->dim, o->window, o->negative, o->hierarchical ? "true" : "false",
                 o->min_n, o->max_n, o->epochs, o->seed);
    return wte__trained_config(t, folder, text, (uint64_t)n, err);
}

wte_status wte_wordvec_save_to(const wte_wordvec *w, wte_transaction *t, const char *folder,
                               wte_error *err)
{
    WTE_TRY(wte__need(w, "wte_wordvec_save_to: w", err));
    WTE_TRY(wte__need(t, "wte_wordvec_save_to: the transaction", err));
    WTE_TRY(wte__need(folder, "wte_wordvec_save_to: folder", err));
    WTE_TRY(save_tables(w, t, folder, err));
    return save_config(w, t, folder, err);
}

wte_status wte_wordvec_save(const wte_wordvec *w, const char *folder, wte_error *err)
{
    wte_transaction *t;
    WTE_TRY(wte__need(w, "wte_wordvec_save: w", err));
    WTE_TRY(wte__need(folder, "wte_wordvec_save: folder", err));
    WTE_TRY(wte_transaction_create(&t, err));
    wte_status status = wte_wordvec_save_to(w, t, folder, err);
    if (status == WTE_OK) status = wte_transaction_commit(t, err);
    wte_transaction_free(t);
    return status;
}

/* fastText's own file -------------------------------------------------------------------------- */

static void fasttext_model(const wte_wordvec *w, const wte_progress *progress,
                           wte__fasttext_model *out)
{
    const wte__wordvec_plan *p = &w->plan;
    const wte_wordvec_options *o = &p->o;
    *out = (wte__fasttext_model){ .words = &p->corpus->words.list,
                                  .counts = p->corpus->counts,
                                  .tokens = p->corpus_info.tokens,
                                  .input = rows_of(w, w->in, p->in_rows),
                                  .output = rows_of(w, w->out, p->out_rows),
                                  .min_n = o->min_n,
                                  .max_n = o->max_n,
                                  .buckets = o->buckets,
                                  .tree = o->hierarchical != 0,
                                  .cbow = o->method == WTE_WORDVEC_CBOW,
                                  .window = o->window,
                                  .epochs = o->epochs,
                                  .min_count = p->corpus->min_count,
                                  .negative = o->negative,
                                  .sample = o->sample < 0 ? 1 : o->sample, /* 1: all stay */
                                  .progress = progress };
}

wte_status wte_wordvec_save_fasttext_to(const wte_wordvec *w, wte_writer *to,
                                        const wte_progress *progress, wte_error *err)
{
    wte__fasttext_model m;
    WTE_TRY(wte__need(w, "wte_wordvec_save_fasttext_to: w", err));
    WTE_TRY(wte__need(to, "wte_wordvec_save_fasttext_to: the writer", err));
    WTE_TRY(wte__need_functions(NULL, progress, err));
    fasttext_model(w, progress, &m);
    return wte__fasttext_write(to, &m, err);
}

wte_status wte_wordvec_save_fasttext(const wte_wordvec *w, const char *path,
                                     const wte_progress *progress, wte_error *err)
{
    wte__fasttext_model m;
    wte_writer *to;
    WTE_TRY(wte__need(w, "wte_wordvec_save_fasttext: w", err));
    WTE_TRY(wte__need_functions(NULL, progress, err));
    fasttext_model(w, progress, &m);
    if (!path) return wte__fasttext_check(w->plan.corpus->path, &m, err);
    WTE_TRY(wte_writer_create(path, &to, err));
    wte_status status = wte__fasttext_write(to, &m, err);
    if (status == WTE_OK) status = wte_writer_commit(to, err);
    wte_writer_free(to);
    return status;
}
