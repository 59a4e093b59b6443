/* The language model's arithmetic, against the same in doubles and in plain loops: what it gives,
 * and what each of its weights changes by; how words reach it; what it is as a model on disk. */
#include <math.h>
#include <wte/model.h>

#include "lm_help.h"

/* The same in doubles ----------------------------------------------------------------------------
 */

#define MOST_PARTS  WTE__LM_PARTS
#define MOST_VALUES 1024u

typedef struct plain {
    const wte__lm_plan *p;
    double w[MOST_PARTS][MOST_VALUES]; /* row by row */
} plain;

static void plain_copy(plain *to, const wte_lm *lm)
{
    to->p = &lm->plan;
    for (int i = 0; i < WTE__LM_PARTS; i++) {
        const wte__lm_weight *w = &lm->weight[i];
        const float *from = w->rows ? wte_table_data(w->table) : NULL;
        assert_true(w->rows * w->cols <= MOST_VALUES);
        for (uint64_t k = 0; k < w->rows * w->cols; k++) to->w[i][k] = (double)from[k];
    }
}

static double dot(const double *a, const double *b, uint64_t n)
{
    double sum = 0;
    for (uint64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* -log of the probability of `target` after the words `ids`. */
static double plain_loss(const plain *m, const uint32_t *ids, uint32_t target)
{
    const wte_lm_options *o = &m->p->o;
    double x[64], next[64], most = -HUGE_VAL, sum = 0, logit[64];
    for (uint64_t i = 0; i < o->context * o->dim; i++)
        x[i] = m->w[WTE__LM_TABLE][ids[i / o->dim] * o->dim + i % o->dim];
    for (uint64_t r = 0; r < o->hidden; r++)
        next[r] = tanh(dot(m->w[WTE__LM_HIDDEN] + r * o->context * o->dim, x, o->context * o->dim) +
                       m->w[WTE__LM_HIDDEN_BIAS][r]);
    memcpy(x, next, sizeof x);
    for (uint64_t r = 0; o->hidden != o->dim && r < o->dim; r++)
        next[r] =
            dot(m->w[WTE__LM_DOWN] + r * o->hidden, x, o->hidden) + m->w[WTE__LM_DOWN_BIAS][r];
    memcpy(x, next, sizeof x);
    for (uint64_t r = 0; o->projected && r < o->dim; r++)
        next[r] = dot(m->w[WTE__LM_PROJECTION] + r * o->dim, x, o->dim);
    const double *head = m->w[o->tied ? WTE__LM_TABLE : WTE__LM_HEAD];
    for (uint64_t r = 0; r < m->p->rows; r++) {
        logit[r] = dot(head + r * o->dim, next, o->dim) + m->w[WTE__LM_HEAD_BIAS][r];
        if (logit[r] > most) most = logit[r];
    }
    for (uint64_t r = 0; r < m->p->rows; r++) sum += exp(logit[r] - most);
    return most + log(sum) - logit[target];
}

/* The mean over a mini-batch, and the penalty. */
static double plain_mean(const plain *m, const uint32_t *ids, const uint32_t *targets, uint64_t n)
{
    const wte_lm_options *o = &m->p->o;
    double sum = 0;
    for (uint64_t i = 0; i < n; i++) sum += plain_loss(m, ids + i * o->context, targets[i]);
    const double *p = m->w[WTE__LM_PROJECTION];
    const double norm = o->projected ? sqrt(dot(p, p, o->dim * o->dim)) : 0;
    return sum / (double)n + o->projection_decay * norm;
}

/* d loss / d number k of a weight, by differences on both sides. */
static double plain_slope(plain *m, const wte_lm *lm, int part, uint64_t k, uint64_t n)
{
    const double step = 1e-5, was = m->w[part][k];
    m->w[part][k] = was + step;
    const double above = plain_mean(m, lm->ids, lm->targets, n);
    m->w[part][k] = was - step;
    const double below = plain_mean(m, lm->ids, lm->targets, n);
    m->w[part][k] = was;
    return (above - below) / (2 * step);
}

/* Words of a mini-batch, the same one more than once, and one as a target of itself. */
static void fill_batch(wte_lm *lm, uint64_t n)
{
    uint64_t noise = 5;
    for (uint64_t i = 0; i < n * lm->plan.o.context; i++)
        lm->ids[i] = (uint32_t)(test_noise(&noise) % (lm->plan.rows - 1));
    for (uint64_t i = 0; i < n; i++)
        lm->targets[i] = (uint32_t)(test_noise(&noise) % (lm->plan.rows - 1));
    lm->targets[0] = lm->ids[0];
}

/* One step of plain gradient descent moves every weight by minus rate times the slope. */
static void check_step(uint32_t tied, uint32_t projected, uint64_t hidden)
{
    static plain m;
    const uint64_t n = 7;
    wte_corpus *c = lm_corpus("text", 1);
    wte_lm_options o = lm_options();
    wte_error err;
    double loss, mean, sum;
    o.tied = tied;
    o.projected = projected;
    o.hidden = hidden;
    o.optim = WTE_OPTIM_SGD;
    o.clip = -1;
    o.init = 0.8; /* so that slopes are not small */
    wte_lm *lm = lm_make(c, &o);
    plain_copy(&m, lm);
    fill_batch(lm, n);
    assert_ok(wte__lm_score(lm, n, &sum, &err), err);
    mean = plain_mean(&m, lm->ids, lm->targets, n);
    const double *p = m.w[WTE__LM_PROJECTION];
    mean -= lm->plan.o.projection_decay * sqrt(dot(p, p, 9)) * projected;
    assert_true(fabs(sum / (double)n - mean) < 1e-5);
    assert_ok(wte__lm_step(lm, n, 1.0, &loss, &err), err);
    assert_true(fabs(loss - mean) < 1e-5);
    uint64_t moved = 0;
    for (int part = 0; part < WTE__LM_PARTS; part++) {
        const wte__lm_weight *w = &lm->weight[part];
        const float *now = w->rows ? wte_table_data(w->table) : NULL;
        for (uint64_t k = 0; k < w->rows * w->cols; k++) {
            const double slope = plain_slope(&m, lm, part, k, n);
            if (fabs(m.w[part][k] - (double)now[k] - slope) > 2e-5)
                fail_msg("%s, number %d: moved by %g, slope %g", wte__lm_name((wte__lm_part)part),
                         (int)k, m.w[part][k] - (double)now[k], slope);
            moved += fabs(slope) > 1e-3;
        }
    }
    assert_true(moved > lm->plan.parameters / 2);
    wte_lm_free(lm);
    wte_corpus_free(c);
}

static void an_untied_step_is_the_slope_of_the_loss(void **state)
{
    (void)state;
    check_step(0, 0, 0);
    check_step(0, 0, 5);
}
static void a_tied_step_is_the_slope_of_the_loss(void **state)
{
    (void)state;
    check_step(1, 0, 0);
    check_step(1, 0, 5);
}
static void a_projected_step_is_the_slope_of_the_loss_and_the_penalty(void **state)
{
    (void)state;
    check_step(1, 1, 0);
    check_step(0, 1, 0);
    check_step(1, 1, 4);
}

/* What it is -------------------------------------------------------------------------------------
 */

static void parameters_are_counted_once_when_tied(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_lm_options o = lm_options();
    wte_lm_info info;
    wte_error err;
    assert_ok(wte_lm_plan(c, NULL, &o, &info, &err), err);
    /* 11 x 3 twice; 3 x 6 and 3 of the hidden layer; 11 of the head's bias */
    assert_int_equal(info.rows, 11);
    assert_int_equal(info.oov, WTE_NO_INDEX);
    assert_int_equal(info.parameters, 2 * 33 + 18 + 3 + 11);
    assert_int_equal(info.train_words, 398);
    assert_int_equal(info.steps, 2 * 50);
    o.tied = 1;
    assert_ok(wte_lm_plan(c, NULL, &o, &info, &err), err);
    assert_int_equal(info.parameters, 33 + 18 + 3 + 11);
    o.projected = 1;
    o.hidden = 5;
    assert_ok(wte_lm_plan(c, NULL, &o, &info, &err), err);
    assert_int_equal(info.parameters, 33 + 5 * 6 + 5 + 3 * 5 + 3 + 9 + 11);
    wte_corpus_free(c);
}

/* A run and, from its checkpoint, another one: what they take of the allocator, windows into texts
 * with it. The estimate is never less, and more by no more than what a window and some small things
 * take, which not every run needs at once with all else. */
static void check_estimate(const char *text, const wte_corpus_options *as_given, wte_lm_options o,
                           uint32_t threads)
{
    test_memory memory, more;
    wte_corpus_options as = *as_given;
    wte_corpus *c;
    wte_error err;
    test_memory_init(&memory, SIZE_MAX);
    test_memory_init(&more, SIZE_MAX);
    as.allocator = &more.allocator;
    o.allocator = &memory.allocator;
    o.checkpoint = lm_path("checkpoint");
    assert_ok(wte_corpus_open(lm_path(text), &as, &c, &err), err);
    const size_t words = more.live_bytes;
    more.peak_bytes = words;
    assert_ok(wte_pool_create(threads, &o.pool, &err), err);
    for (o.resume = 0; o.resume < 2; o.resume++) {
        wte_lm_info plan, info;
        assert_ok(wte_lm_plan(c, NULL, &o, &plan, &err), err);
        memory.peak_bytes = 0;
        wte_lm *lm = lm_make(c, &o);
        wte_lm_get(lm, &info);
        assert_int_equal(info.bytes, plan.bytes);
        assert_ok(wte_lm_train(lm, NULL, &err), err);
        wte_lm_free(lm);
        assert_int_equal(memory.live, 0);
        const uint64_t taken = memory.peak_bytes + (more.peak_bytes - words);
        assert_true(taken <= info.bytes);
        /* what goes on has little left to do */
        if (!o.resume) assert_true(info.bytes <= taken + taken / 20 + (340u << 10));
    }
    o.max_bytes = 1000000;
    o.resume = 0;
    wte_lm *lm;
    assert_fails(wte_lm_create(c, NULL, &o, &lm, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "bytes, but at most 1000000 are allowed");
    assert_int_equal(memory.live, 0);
    wte_pool_free(o.pool);
    wte_corpus_free(c);
}

static void the_estimate_is_what_training_takes(void **state)
{
    (void)state;
    wte_corpus_options as = WTE_CORPUS_OPTIONS_INIT;
    wte_lm_options o = lm_options();
    as.no_eos = 1;
    o.epochs = 1;
    o.hold_out = 5;
    check_estimate("text", &as, o, 1);
    o.checkpoint_every = 20;
    for (uint32_t i = 0; i < 8; i++) {
        static const wte_optim_kind kinds[] = { WTE_OPTIM_ADAM, WTE_OPTIM_ADAGRAD, WTE_OPTIM_SGD,
                                                WTE_OPTIM_ROWWISE_ADAGRAD };
        o.tied = i % 2;
        o.projected = i / 2 % 2;
        o.hidden = i % 3 ? 0 : 40;
        o.optim = kinds[i % 4];
        o.dim = i < 4 ? 16 : 128;
        o.context = i < 4 ? 2 : 3;
        o.batch = o.shuffle = i < 4 ? 64 : 256;
        check_estimate("long", &as, o, i % 2 ? 2 : 1);
    }
}

/* 60000 rows and 512 words at once would be 123 MB of logits: the loss keeps to 64 MiB. */
static void the_estimate_holds_where_logits_do_not_fit(void **state)
{
    (void)state;
    uint16_t ids[1025];
    wte_corpus_options as = WTE_CORPUS_OPTIONS_INIT;
    wte_lm_options o = lm_options();
    for (unsigned i = 0; i < 1025; i++) ids[i] = (uint16_t)(i * 58);
    test_write_file(lm_path("ids"), ids, sizeof ids);
    as.ids_type = WTE_U16;
    as.ids_rows = 60000;
    o.dim = 4;
    o.context = 1;
    o.batch = o.shuffle = 512;
    o.epochs = o.checkpoint_every = 1;
    for (o.tied = 0; o.tied < 2; o.tied++) check_estimate("ids", &as, o, 2);
}

static void the_loss_falls_to_what_the_language_allows(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("long", 1);
    wte_lm_options o = lm_options();
    wte_lm_info info;
    wte_error err;
    o.hold_out = 10;
    o.dim = 8;
    o.epochs = 4;
    o.lr = 0.02;
    o.schedule = WTE_LM_LINEAR;
    o.tied = 1;
    wte_lm *lm = lm_make(c, &o);
    lm_train(lm);
    wte_lm_get(lm, &info);
    /* a word is right with 7/8 + 1/88, each other one comes with 1/88: 0.66 nats; a guess: 2.4 */
    const double right = 7.0 / 8 + 1.0 / 88;
    const double least = -right * log(right) - 10.0 / 88 * log(1.0 / 88);
    assert_int_equal(info.stop_reason, WTE_LM_ALL_STEPS);
    assert_true(info.valid_loss < least + 0.15 && info.valid_loss > least - 0.15);
    double again;
    uint64_t words;
    assert_ok(wte_lm_loss(lm, c, 9, 10, &again, &words, &err), err);
    assert_true(again == info.valid_loss);
    assert_int_equal(words, info.valid_words);
    wte_lm_free(lm);
    wte_corpus_free(c);
}

/* Words ------------------------------------------------------------------------------------------
 */

/* Every word but the first two, once, in blocks of any size; and from a block in the middle on. */
static void every_word_of_an_epoch_comes_once(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    uint32_t all[400], carried[2];
    size_t n;
    wte_error err;
    wte_corpus_reader *r;
    assert_ok(wte_corpus_reader_create(c, 0, 1, &r, &err), err);
    assert_ok(wte_corpus_read(r, all, 400, &n, &err), err);
    assert_int_equal(n, 400);
    wte_corpus_reader_free(r);
    for (uint64_t cap = 1; cap < 500; cap = cap * 3 + 1) {
        wte__lm_stream s = { .rows = 11, .unknown = WTE_NO_INDEX, .end = 3, .parts = 3 };
        wte__lm_place middle = { 0, 0, 0 };
        uint64_t at = 2, from = 0;
        assert_ok(wte__lm_stream_open(&s, c, 2, cap, &err), err);
        for (;;) {
            assert_ok(wte__lm_stream_fill(&s, &err), err);
            if (s.n == 0) break;
            assert_memory_equal(s.words, all + at - 2, (size_t)(s.n + 2) * sizeof *all);
            if (at < 200) {
                middle = s.block;
                memcpy(carried, s.words, sizeof carried);
                from = at;
            }
            at += s.n;
        }
        assert_int_equal(at, 400);
        assert_ok(wte__lm_stream_seek(&s, &middle, carried, &err), err);
        assert_ok(wte__lm_stream_fill(&s, &err), err);
        assert_memory_equal(s.words, all + from - 2, (size_t)(s.n + 2) * sizeof *all);
        wte__lm_stream_close(&s);
    }
    wte_corpus_free(c);
}

static void an_order_has_every_number_once(void **state)
{
    (void)state;
    uint32_t order[1000], other[1000];
    bool seen[1000] = { false };
    size_t fixed = 0;
    wte__lm_shuffle(order, 1000, 3, 9);
    for (size_t i = 0; i < 1000; i++) {
        assert_true(order[i] < 1000 && !seen[order[i]]);
        seen[order[i]] = true;
        fixed += order[i] == i;
    }
    assert_true(fixed < 10); /* 1 is expected */
    wte__lm_shuffle(other, 1000, 3, 10);
    assert_true(memcmp(order, other, sizeof order) != 0);
    wte__lm_shuffle(other, 1000, 3, 9);
    assert_memory_equal(order, other, sizeof order);
}

static void unknown_words_share_a_row(void **state)
{
    (void)state;
    wte_lm_options o = lm_options();
    wte_lm_info info;
    wte_error err;
    double loss;
    test_write_file(lm_path("rare"), "a b a b a c a b a b a b a d a b\n", 32);
    test_write_file(lm_path("marked"), "a b <unk> b a <unk> <unk> b a b c a b\n", 38);
    wte_corpus *c = lm_corpus("rare", 2);
    assert_ok(wte_lm_plan(c, NULL, &o, &info, &err), err);
    assert_int_equal(info.rows, 3);
    assert_int_equal(info.oov, 2);
    wte_lm *lm = lm_make(c, &o);
    lm_train(lm);
    wte_lm_free(lm);
    wte_corpus_free(c);
    c = lm_corpus("marked", 2); /* the text has a word for them */
    assert_ok(wte_lm_plan(c, NULL, &o, &info, &err), err);
    assert_int_equal(info.rows, 3);
    assert_true(info.oov < 3);
    wte_corpus_free(c);
    c = lm_corpus("marked", 1); /* and one that has none is told of them */
    wte_corpus *whole = lm_corpus("text", 1);
    wte_corpus_options as_whole = WTE_CORPUS_OPTIONS_INIT;
    as_whole.vocab = wte_corpus_words(whole);
    test_write_file(lm_path("foreign"), "w1 w2 w3 what w1\n", 17);
    wte_corpus *foreign;
    assert_ok(wte_corpus_open(lm_path("foreign"), &as_whole, &foreign, &err), err);
    lm = lm_make(whole, &o);
    assert_fails(wte_lm_loss(lm, foreign, 0, 1, &loss, NULL, &err), err, WTE_E_RANGE, WTE_NO_INDEX,
                 "the text has words that the model does not know");
    wte_lm_free(lm);
    wte_corpus_free(foreign);
    wte_corpus_free(whole);
    wte_corpus_free(c);
}

/* Ids of a tokenizer, the largest of which has no row. */
static void ids_are_learned_and_foreign_ones_told(void **state)
{
    (void)state;
    uint16_t ids[200];
    wte_corpus_options as_ids = WTE_CORPUS_OPTIONS_INIT;
    wte_lm_options o = lm_options();
    wte_corpus *c, *valid;
    wte_lm_info info;
    wte_error err;
    wte_lm *lm;
    double loss;
    for (unsigned i = 0; i < 200; i++) ids[i] = (uint16_t)(i * i % 23);
    as_ids.ids_type = WTE_U16;
    test_write_file(lm_path("ids"), ids, sizeof ids);
    assert_ok(wte_corpus_open(lm_path("ids"), &as_ids, &c, &err), err);
    ids[7] = 40;
    test_write_file(lm_path("more"), ids, sizeof ids);
    assert_ok(wte_corpus_open(lm_path("more"), &as_ids, &valid, &err), err);
    lm = lm_make(c, &o);
    lm_train(lm);
    wte_lm_get(lm, &info);
    assert_int_equal(info.rows, 19); /* 18 is the largest square modulo 23 */
    assert_int_equal(info.oov, WTE_NO_INDEX);
    assert_ok(wte_lm_loss(lm, c, 0, 1, &loss, NULL, &err), err);
    assert_true(loss < log(19));
    assert_fails(wte_lm_loss(lm, valid, 0, 1, &loss, NULL, &err), err, WTE_E_RANGE, WTE_NO_INDEX,
                 "the text has words that the model does not know");
    wte_lm_free(lm);
    wte_corpus_free(valid);
    wte_corpus_free(c);
}

/* Id 3 is not the fourth word of a text. */
static void a_text_is_not_tried_on_ids_nor_ids_on_a_text(void **state)
{
    (void)state;
    static const uint16_t ids[] = { 1, 2, 3, 1, 2, 3, 1, 2, 3, 0, 2, 1 };
    wte_corpus_options as_ids = WTE_CORPUS_OPTIONS_INIT;
    wte_lm_options o = lm_options();
    wte_corpus *text = lm_corpus("text", 1), *numbers, *other;
    wte_lm_info info;
    wte_error err;
    wte_lm *lm;
    double loss;
    as_ids.ids_type = WTE_U16;
    test_write_file(lm_path("ids"), ids, sizeof ids);
    assert_ok(wte_corpus_open(lm_path("ids"), &as_ids, &numbers, &err), err);
    assert_fails(wte_lm_plan(text, numbers, &o, &info, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "/ids is a file of ids, but ");
    assert_fails(wte_lm_create(numbers, text, &o, &lm, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "/text is a text, but ");
    assert_null(lm);
    lm = lm_make(text, &o);
    assert_fails(wte_lm_loss(lm, numbers, 0, 1, &loss, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "which the model is trained on, is a text");
    /* a text that has numbered its words by itself */
    test_write_file(lm_path("other"), "w3 w1 w2 w1 w3", 14);
    other = lm_corpus("other", 1);
    assert_fails(wte_lm_loss(lm, other, 0, 1, &loss, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "/other was opened with 3 words, but ");
    wte_lm_free(lm);
    wte_corpus_free(other);
    wte_corpus_free(numbers);
    wte_corpus_free(text);
}

/* On disk ----------------------------------------------------------------------------------------
 */

static void check_saved(uint32_t tied, wte_tie_verdict verdict)
{
    wte_corpus *c = lm_corpus("text", 1);
    wte_lm_options o = lm_options();
    wte_model *m;
    wte_tie tie;
    const wte_model_table *table;
    wte_row_source rows;
    wte_error err;
    o.tied = tied;
    o.projected = 1;
    wte_lm *lm = lm_make(c, &o);
    lm_train(lm);
    mkdir(lm_path("model"), 0777);
    assert_ok(wte_lm_save(lm, lm_path("model"), &err), err);
    assert_ok(wte_model_open(lm_path("model"), NULL, &m, &err), err);
    assert_ok(wte_model_input(m, &table, &err), err);
    assert_string_equal(table->name, "model.embed_tokens.weight");
    assert_int_equal(table->rows, 11);
    assert_int_equal(table->dim, 3);
    float have[33];
    assert_ok(wte_row_source_read_block(&table->source, 0, 11, have, &err), err);
    assert_ok(wte_lm_tensor(lm, 0, NULL, &rows, &err), err);
    assert_memory_equal(have, rows.data, sizeof have);
    assert_string_equal(wte_model_output_of(m)->bias_name, "lm_head.bias");
    assert_int_equal(wte_model_config_of(m)->tied, tied);
    assert_ok(wte_model_tie(m, NULL, &tie, &err), err);
    assert_int_equal(tie.verdict, verdict);
    assert_true(tie.flag_agrees);
    wte_model_free(m);
    wte_lm_free(lm);
    wte_corpus_free(c);
}

static void what_is_saved_is_a_model_that_says_whether_it_is_tied(void **state)
{
    (void)state;
    check_saved(1, WTE_TIE_SAME_STORAGE);
    check_saved(0, WTE_TIE_INDEPENDENT);
}

static void a_folder_that_is_not_there_is_told(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    const wte_lm_options o = lm_options();
    wte_error err;
    wte_lm *lm = lm_make(c, &o);
    assert_fails(wte_lm_save(lm, lm_path("none"), &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "none/model.safetensors");
    wte_lm_free(lm);
    wte_corpus_free(c);
}

static int make_texts(void **state)
{
    lm_make_folder(state);
    lm_write_text("text", 400, 11, 1);
    lm_write_text("long", 6000, 11, 2);
    return 0;
}

static const struct CMUnitTest tests[] = {
    TEST("lm: a step of an untied model is the slope of the loss",
         an_untied_step_is_the_slope_of_the_loss),
    TEST("lm: a step of a tied model is the slope of the loss by both ways to the table",
         a_tied_step_is_the_slope_of_the_loss),
    TEST("lm: a step of a projected model is the slope of the loss and the penalty",
         a_projected_step_is_the_slope_of_the_loss_and_the_penalty),
    TEST("lm: a tied table counts once among the parameters",
         parameters_are_counted_once_when_tied),
    TEST("lm: the estimate is what training takes", the_estimate_is_what_training_takes),
    TEST("lm: the estimate holds where logits do not fit",
         the_estimate_holds_where_logits_do_not_fit),
    TEST("lm: the loss falls to the entropy of the language",
         the_loss_falls_to_what_the_language_allows),
    TEST("lm: every word of an epoch comes once, in blocks of any size",
         every_word_of_an_epoch_comes_once),
    TEST("lm: an order of words has every number once", an_order_has_every_number_once),
    TEST("lm: unknown words share a row, and are told where there is none",
         unknown_words_share_a_row),
    TEST("lm: ids are learned, and foreign ones told", ids_are_learned_and_foreign_ones_told),
    TEST("lm: a text is not tried on ids, nor ids on a text",
         a_text_is_not_tried_on_ids_nor_ids_on_a_text),
    TEST("lm: what is saved is a model that says whether it is tied",
         what_is_saved_is_a_model_that_says_whether_it_is_tied),
    TEST("lm: a folder that is not there is told", a_folder_that_is_not_there_is_told),
};

int main(void)
{
    return cmocka_run_group_tests(tests, make_texts, lm_remove_folder);
}
