/* What a run of the language model will be: defaults, shapes, how many steps there are, and the
 * settings that a checkpoint must share. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "train/corpus.h"
#include "train/lm.h"

const char *wte__lm_name(wte__lm_part part)
{
    static const char *const names[WTE__LM_PARTS] = {
        [WTE__LM_TABLE] = "model.embed_tokens.weight",
        [WTE__LM_HIDDEN] = "model.hidden.weight",
        [WTE__LM_HIDDEN_BIAS] = "model.hidden.bias",
        [WTE__LM_DOWN] = "model.down.weight",
        [WTE__LM_DOWN_BIAS] = "model.down.bias",
        [WTE__LM_PROJECTION] = "model.projection.weight",
        [WTE__LM_HEAD] = "lm_head.weight",
        [WTE__LM_HEAD_BIAS] = "lm_head.bias",
    };
    return names[part];
}

bool wte__lm_is_bias(wte__lm_part part)
{
    return part == WTE__LM_HIDDEN_BIAS || part == WTE__LM_DOWN_BIAS || part == WTE__LM_HEAD_BIAS;
}

wte__lm_part wte__lm_head_of(const wte__lm_plan *p)
{
    return p->o.tied ? WTE__LM_TABLE : WTE__LM_HEAD;
}

bool wte__lm_sparse(const wte__lm_plan *p)
{
    /* decay that is part of the gradient reaches every row */
    return !p->o.tied && (p->o.weight_decay == 0 || p->o.optim == WTE_OPTIM_ADAM ||
                          p->o.optim == WTE_OPTIM_ADAMW);
}

wte_optim_options wte__lm_optim(const wte__lm_plan *p, wte__lm_part part)
{
    wte_optim_options o = WTE_OPTIM_OPTIONS_INIT;
    o.kind = p->o.optim;
    o.lr = p->o.lr;
    o.momentum = p->o.momentum;
    o.weight_decay = wte__lm_is_bias(part) ? 0 : p->o.weight_decay;
    o.trainable = part == WTE__LM_TABLE ? p->o.trainable : NULL;
    o.pool = p->o.pool;
    o.allocator = p->o.allocator;
    return o;
}

/* Options ----------------------------------------------------------------------------------------
 */

static uint64_t or_else(uint64_t given, uint64_t other)
{
    return given ? given : other;
}

static double own_rate(wte_optim_kind kind)
{
    if (kind == WTE_OPTIM_SGD) return 0.5;
    return kind == WTE_OPTIM_ADAM || kind == WTE_OPTIM_ADAMW ? 0.001 : 0.05;
}

static void fill_defaults(wte_lm_options *o)
{
    o->context = or_else(o->context, 4);
    o->dim = or_else(o->dim, o->init_from ? o->init_from->cols : 100);
    o->hidden = or_else(o->hidden, o->dim);
    o->batch = or_else(o->batch, 256);
    o->epochs = or_else(o->epochs, 5);
    o->shuffle = or_else(o->shuffle, UINT64_C(1) << 20);
    o->log_every = or_else(o->log_every, 100);
    o->max_bytes = or_else(o->max_bytes, WTE_LIMIT_TABLE_BYTES);
    if (o->projection_decay == 0) o->projection_decay = 0.0075; /* 0.15 / 20: docs/training.md */
    if (o->projection_decay < 0) o->projection_decay = 0;
    if (o->lr == 0) o->lr = own_rate(o->optim);
    if (o->checkpoint_seconds == 0) o->checkpoint_seconds = 60;
    if (o->clip == 0) o->clip = 5;
    if (o->init == 0) o->init = 0.1;
}

static wte_status check_number(const char *what, double x, bool fine, wte_error *err)
{
    if (fine && isfinite(x)) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_lm: %s is %g", what, x);
}

static wte_status check_size(const char *what, uint64_t n, uint64_t most, wte_error *err)
{
    if (n <= most) return WTE_OK;
    return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                     "wte_lm: %s is %" PRIu64 ", but at most %" PRIu64 " is possible", what, n,
                     most);
}

static wte_status check_options(const wte_lm_options *o, wte_error *err)
{
    WTE_TRY(check_number("lr", o->lr, o->lr > 0, err));
    WTE_TRY(check_number("momentum", o->momentum, o->momentum >= 0, err));
    WTE_TRY(check_number("weight_decay", o->weight_decay, o->weight_decay >= 0, err));
    WTE_TRY(check_number("clip", o->clip, true, err));
    WTE_TRY(check_number("projection_decay", o->projection_decay, true, err));
    WTE_TRY(
        check_number("checkpoint_seconds", o->checkpoint_seconds, o->checkpoint_seconds > 0, err));
    WTE_TRY(check_number("seconds", o->seconds, o->seconds >= 0, err));
    WTE_TRY(check_number("init", o->init, o->init > 0, err));
    WTE_TRY(check_size("context", o->context, WTE_LIMIT_LM_CONTEXT, err));
    WTE_TRY(check_size("dim", o->dim, WTE_LIMIT_LM_WIDTH, err));
    WTE_TRY(check_size("hidden", o->hidden, WTE_LIMIT_LM_WIDTH, err));
    WTE_TRY(check_size("batch", o->batch, WTE_LIMIT_LM_BATCH, err));
    WTE_TRY(check_size("shuffle", o->shuffle, UINT32_MAX / 2, err));
    WTE_TRY(check_size("hold_out", o->hold_out, UINT32_MAX, err));
    WTE_TRY(check_size("epochs", o->epochs, UINT32_MAX, err));
    if (o->optim != WTE_OPTIM_ADAM && o->optim != WTE_OPTIM_ADAMW && o->optim != WTE_OPTIM_SGD &&
        o->optim != WTE_OPTIM_ADAGRAD && o->optim != WTE_OPTIM_ROWWISE_ADAGRAD)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "wte_lm: optimizer number %d cannot train the layers of the model",
                         (int)o->optim);
    if (o->schedule > WTE_LM_COSINE)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_lm: no schedule has the number %d",
                         (int)o->schedule);
    if (o->hold_out == 1)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "wte_lm: hold_out 1 leaves nothing to train on");
    if (o->resume && !o->checkpoint)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "wte_lm: no checkpoint is named to resume");
    return WTE_OK;
}

/* Words ------------------------------------------------------------------------------------------
 */

static void find_rows(wte__lm_plan *p)
{
    static const char unk[] = "<unk>";
    const wte_token_list *words = wte_corpus_words(p->train);
    wte_corpus_info train, valid = { 0 };
    wte_corpus_get(p->train, &train);
    if (p->valid) wte_corpus_get(p->valid, &valid);
    p->rows = train.words;
    p->unknown = WTE_NO_INDEX;
    for (uint64_t i = 0; i < train.words && p->unknown == WTE_NO_INDEX; i++) {
        uint64_t n;
        const char *text = wte_token_list_text(words, i, &n);
        if (n == sizeof unk - 1 && memcmp(text, unk, (size_t)n) == 0) p->unknown = i;
    }
    if (p->unknown == WTE_NO_INDEX && (train.oov || valid.oov)) p->unknown = p->rows++;
}

static wte_status count_words(wte__lm_plan *p, wte_error *err)
{
    const uint64_t c = p->o.context;
    char shown[WTE__NAME_SHOWN];
    wte_corpus_info info;
    wte_corpus_get(p->train, &info);
    uint64_t words = info.tokens;
    p->train_parts = p->train_end = p->valid_parts = p->valid_end = 1;
    p->valid_text = p->valid;
    if (p->o.hold_out) {
        p->valid_text = p->train;
        p->train_parts = p->valid_parts = p->valid_end = (uint32_t)p->o.hold_out;
        p->train_end = p->valid_first = p->train_parts - 1;
    }
    if (p->valid || p->o.hold_out) {
        wte__lm_stream s = { .unknown = 0,
                             .rows = p->rows,
                             .first = p->valid_first,
                             .end = p->valid_end,
                             .parts = p->valid_parts,
                             .allocator = p->o.allocator };
        wte_status status = wte__lm_stream_open(&s, p->valid_text, c, 4096, err);
        if (status == WTE_OK) status = wte__lm_stream_count(&s, &p->valid_words, err);
        wte__lm_stream_close(&s);
        WTE_TRY(status);
        if (p->valid_words == 0)
            return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                             "%s: %s has no more words than the %" PRIu64
                             " that predict the next one",
                             wte__show_path(shown, p->valid_text->path),
                             p->valid ? "the text for validation" : "the part for validation", c);
    }
    /* of a part held out, as many as are its context are neither trained nor tried */
    if (p->o.hold_out) words = words > p->valid_words + c ? words - p->valid_words - c : 0;
    if (words <= c)
        return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: the corpus has %" PRIu64 " words to train on, but %" PRIu64
                         " predict the next one",
                         wte__show_path(shown, p->train->path), words, c);
    p->train_words = words - c;
    p->epoch_steps = (p->train_words - 1) / p->o.batch + 1;
    /* whole mini-batches but for the last of an epoch; nothing beyond the corpus */
    if (p->o.shuffle > p->train_words) p->o.shuffle = p->train_words;
    p->o.shuffle = ((p->o.shuffle - 1) / p->o.batch + 1) * p->o.batch;
    if (!wte__mul_u64(p->epoch_steps, p->o.epochs, &p->steps))
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX, "%" PRIu64 " epochs of %" PRIu64 " steps",
                         p->o.epochs, p->epoch_steps);
    return WTE_OK;
}

/* Shapes -----------------------------------------------------------------------------------------
 */

static void add_layer(wte__lm_plan *p, wte__lm_part w, wte__lm_part b, uint64_t in, uint64_t out)
{
    wte__lm_layer *layer = &p->layer[p->n_layers++];
    *layer = (wte__lm_layer){ w, b, p->n_layers == 1, in, out };
    p->shape[w][0] = out;
    p->shape[w][1] = in;
    if (b != WTE__LM_PARTS) {
        p->shape[b][0] = out;
        p->shape[b][1] = 1;
    }
    if (in > p->widest) p->widest = in;
    if (out > p->widest) p->widest = out;
    if (in * out > p->largest) p->largest = in * out;
}

static void find_shapes(wte__lm_plan *p)
{
    const wte_lm_options *o = &p->o;
    p->shape[WTE__LM_TABLE][0] = p->rows;
    p->shape[WTE__LM_TABLE][1] = o->dim;
    add_layer(p, WTE__LM_HIDDEN, WTE__LM_HIDDEN_BIAS, o->context * o->dim, o->hidden);
    if (o->hidden != o->dim) add_layer(p, WTE__LM_DOWN, WTE__LM_DOWN_BIAS, o->hidden, o->dim);
    if (o->projected) add_layer(p, WTE__LM_PROJECTION, WTE__LM_PARTS, o->dim, o->dim);
    if (!o->tied) memcpy(p->shape[WTE__LM_HEAD], p->shape[WTE__LM_TABLE], sizeof p->shape[0]);
    p->shape[WTE__LM_HEAD_BIAS][0] = p->rows;
    p->shape[WTE__LM_HEAD_BIAS][1] = 1;
}

wte_status wte__lm_check_text(const wte_corpus *train, const wte_corpus *text, wte_error *err)
{
    static const char *const kinds[] = { "a text", "a file of ids" };
    char a[WTE__NAME_SHOWN], b[WTE__NAME_SHOWN];
    const bool ids = train->ids_type != WTE_DTYPE_NONE, other = text->ids_type != WTE_DTYPE_NONE;
    if (ids != other)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s is %s, but %s, which the model is trained on, is %s: their numbers "
                         "are not the same words",
                         wte__show_path(b, text->path), kinds[other],
                         wte__show_path(a, train->path), kinds[ids]);
    /* ids are what they are, and those without a row are told where they stand */
    if (ids || train->info.words == text->info.words) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                     "%s was opened with %" PRIu64 " words, but %s, which the model is trained on, "
                     "has %" PRIu64,
                     wte__show_path(b, text->path), text->info.words,
                     wte__show_path(a, train->path), train->info.words);
}

static wte_status check_start(const wte__lm_plan *p, wte_error *err)
{
    const wte_row_source *start = p->o.init_from;
    if (!start) return WTE_OK;
    WTE_TRY(wte_check_rows(start, err));
    if (start->cols == p->o.dim && start->rows <= p->rows) return WTE_OK;
    return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                     "the table to start from is %" PRIu64 " x %" PRIu64
                     ", but that of the model %" PRIu64 " x %" PRIu64,
                     start->rows, start->cols, p->rows, p->o.dim);
}

wte_status wte__lm_plan_make(wte__lm_plan *p, const wte_corpus *train, const wte_corpus *valid,
                             const wte_lm_options *opt, wte_error *err)
{
    const wte_lm_options none = WTE_LM_OPTIONS_INIT;
    memset(p, 0, sizeof *p);
    p->o = none;
    WTE_TRY(wte__options(&p->o, sizeof p->o, opt, err));
    WTE_TRY(wte__need_functions(p->o.allocator, NULL, err));
    WTE_TRY(wte__need(train, "wte_lm: the corpus", err));
    if (valid && p->o.hold_out)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "wte_lm: a text for validation and hold_out %" PRIu64 " at once",
                         p->o.hold_out);
    if (valid) WTE_TRY(wte__lm_check_text(train, valid, err));
    p->train = train;
    p->valid = valid;
    fill_defaults(&p->o);
    WTE_TRY(check_options(&p->o, err));
    find_rows(p);
    WTE_TRY(check_start(p, err));
    WTE_TRY(count_words(p, err));
    find_shapes(p);
    return wte__lm_memory(p, err);
}

/* Settings ---------------------------------------------------------------------------------------
 */

typedef struct lines {
    const wte_allocator *allocator;
    void *text;
    size_t n, cap;
    bool failed;
} lines;

__attribute__((format(printf, 2, 3))) static void put(lines *to, const char *fmt, ...)
{
    char line[160];
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    const size_t bytes = n > 0 ? (size_t)n : 0;
    if (to->failed || !wte__grow(to->allocator, &to->text, &to->cap, to->n + bytes + 1, 1)) {
        to->failed = true;
        return;
    }
    memcpy((char *)to->text + to->n, line, bytes + 1);
    to->n += bytes;
}

static void put_number(lines *to, const char *key, uint64_t value)
{
    put(to, "\"%s\": %" PRIu64 ",\n", key, value);
}

static void put_real(lines *to, const char *key, double value)
{
    put(to, "\"%s\": %.17g,\n", key, value);
}

static uint64_t hash_of(const void *data, uint64_t bytes)
{
    return data ? XXH3_64bits(data, (size_t)bytes) : 0;
}

static void put_corpus(lines *to, const char *key, const wte_corpus *c)
{
    wte_corpus_info info = { 0 };
    if (c) wte_corpus_get(c, &info);
    put(to, "\"%s\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "],\n", key, info.bytes,
        info.tokens, info.words, c ? wte__corpus_hash(c) : 0);
    put(to, "\"content of the %s\": \"%016" PRIx64 "\",\n", key, c ? c->content : 0);
}

wte_status wte__lm_settings(const wte__lm_plan *p, char **out, wte_error *err)
{
    const wte_lm_options *o = &p->o;
    lines to = { .allocator = o->allocator };
    put(&to, "{\n");
    put(&to, "\"trainer\": \"lm\",\n");
    put_corpus(&to, "corpus", p->train);
    put_corpus(&to, "validation corpus", p->valid);
    put_number(&to, "hold out", o->hold_out);
    put_number(&to, "tied", o->tied);
    put_number(&to, "projected", o->projected);
    put_number(&to, "context", o->context);
    put_number(&to, "dim", o->dim);
    put_number(&to, "hidden", o->hidden);
    put_real(&to, "projection decay", o->projection_decay);
    put_number(&to, "optimizer", (uint64_t)o->optim);
    put_number(&to, "schedule", (uint64_t)o->schedule);
    put_real(&to, "lr", o->lr);
    put_real(&to, "momentum", o->momentum);
    put_real(&to, "weight decay", o->weight_decay);
    put_real(&to, "clip", o->clip);
    put_number(&to, "warm-up", o->warmup);
    put_number(&to, "batch", o->batch);
    put_number(&to, "epochs", o->epochs);
    put_number(&to, "shuffle", o->shuffle);
    put_number(&to, "validate every", o->valid_every);
    put_number(&to, "patience", o->patience);
    put_number(&to, "seed", o->seed);
    put_real(&to, "init", o->init);
    put_number(&to, "started from rows", o->init_from ? o->init_from->rows : 0);
    put_number(&to, "trainable rows", hash_of(o->trainable, (p->rows + 7) / 8));
    put(&to, "\"rows\": %" PRIu64 "\n}\n", p->rows);
    *out = to.failed ? NULL : wte__strdup(o->allocator, to.text);
    wte__free(o->allocator, to.text, to.cap);
    return *out ? WTE_OK : wte__no_memory(err, to.n, "the settings");
}
