/* What trainers take from files without believing it: checkpoints of this run whose numbers were
 * changed, corpora of another vocabulary; and what they give out to be written. */
#include <inttypes.h>
#include <wte/format.h>

#include "lm_help.h"
#include "train/corpus.h"
#include "wordvec_help.h"

/* Given words ---------------------------------------------------------------------------------- */

static wte_vocab *two_words(void)
{
    static const char text[] = "cat\ndog\n";
    wte_vocab *vocab;
    wte_error err;
    test_write_file(lm_path("vocab.txt"), text, sizeof text - 1);
    assert_ok(wte_vocab_open(lm_path("vocab.txt"), NULL, &vocab, &err), err);
    return vocab;
}

static void a_text_without_a_word_of_the_model_is_refused(void **state)
{
    (void)state;
    wte_vocab *vocab = two_words();
    wte_corpus_options o = WTE_CORPUS_OPTIONS_INIT;
    wte_corpus *c;
    wte_error err;
    o.model_vocab = vocab;
    test_write_file(lm_path("strange"), "fish and fowl", 13);
    assert_fails(wte_corpus_open(lm_path("strange"), &o, &c, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "none of its 3 words is one of the 2 given");
    assert_null(c);
    wte_vocab_free(vocab);
}

static void ids_have_the_words_that_are_given(void **state)
{
    (void)state;
    const uint16_t ids[] = { 1, 0, 1, 0 }, beyond[] = { 0, 1, 2 };
    wte_vocab *vocab = two_words();
    wte_corpus_options o = WTE_CORPUS_OPTIONS_INIT;
    wte_corpus *c;
    wte_error err;
    uint64_t bytes;
    o.model_vocab = vocab;
    o.ids_type = WTE_U16;
    test_write_file(lm_path("ids"), ids,
                    2); /* the word 1 alone: rows are those of the vocabulary */
    assert_ok(wte_corpus_open(lm_path("ids"), &o, &c, &err), err);
    assert_int_equal(wte_token_list_count(wte_corpus_words(c)), 2);
    assert_memory_equal(wte_token_list_text(wte_corpus_words(c), 0, &bytes), "cat", 3);
    assert_memory_equal(wte_token_list_text(wte_corpus_words(c), 1, &bytes), "dog", 3);
    assert_int_equal(wte_corpus_counts(c)[0], 0);
    assert_int_equal(wte_corpus_counts(c)[1], 1);
    wte_corpus_free(c);
    o.ids_rows = 3; /* rows that have no word are numbers */
    assert_ok(wte_corpus_open(lm_path("ids"), &o, &c, &err), err);
    assert_int_equal(wte_token_list_count(wte_corpus_words(c)), 3);
    assert_memory_equal(wte_token_list_text(wte_corpus_words(c), 2, &bytes), "2", 1);
    wte_corpus_free(c);
    o.ids_rows = 0;
    test_write_file(lm_path("ids"), beyond, sizeof beyond);
    assert_fails(wte_corpus_open(lm_path("ids"), &o, &c, &err), err, WTE_E_RANGE, 2,
                 "id 2 at position 2, but the table has 2 rows");
    wte_vocab_free(vocab);
}

/* Checkpoints ---------------------------------------------------------------------------------- */

/* Number `at` of a part of a checkpoint becomes another one; each has `size` bytes. */
static void change(const char *path, const char *part, uint64_t at, const void *number, size_t size)
{
    wte_file *file;
    wte_tensor tensor;
    wte_error err;
    uint64_t i;
    assert_ok(wte_file_open(path, NULL, &file, &err), err);
    assert_ok(wte_file_find(file, part, strlen(part), &i, &err), err);
    assert_ok(wte_file_tensor(file, i, &tensor, &err), err);
    assert_true((at + 1) * size <= tensor.bytes);
    const uint64_t where = tensor.offset + at * size;
    wte_file_free(file);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (int)where, SEEK_SET), 0);
    assert_int_equal(fwrite(number, size, 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

static bool stop(void *ctx, const wte_train_status *now)
{
    (void)ctx;
    (void)now;
    return false;
}

/* A run that was stopped after three mini-batches of 8 words. */
static wte_lm *stopped_run(const wte_corpus *c, const char *checkpoint, wte_lm_options *o)
{
    const wte_train_callback watch = { stop, NULL };
    wte_error err;
    *o = lm_options();
    o->log_every = 3;
    o->checkpoint = checkpoint;
    wte_lm *lm = lm_make(c, o);
    assert_ok(wte_lm_train(lm, &watch, &err), err);
    return lm;
}

static void numbers_of_a_checkpoint_are_looked_at(void **state)
{
    (void)state;
    static const struct {
        const char *part;
        uint64_t at, number;
        const char *message;
    } changes[] = {
        { "counts", offsetof(wte__lm_counts, cursor) / 8, 16,
          "the place in the block is 16 in the checkpoint, but 24 at step 3 of 100" },
        { "counts", offsetof(wte__lm_counts, block) / 8, 2,
          "the block of words is 2 in the checkpoint, but 1 at step 3 of 100" },
        { "counts", offsetof(wte__lm_counts, block) / 8, 0,
          "the block of words is 0 in the checkpoint, but 1 at step 3" },
        { "counts", offsetof(wte__lm_counts, place.begun) / 8, 0,
          "the beginning of the block is 0 in the checkpoint, but 1 at step 3" },
        { "counts", offsetof(wte__lm_counts, place.part) / 8, 1,
          "the size of the block is 0 in the checkpoint, but 32 at step 3" },
        { "counts", offsetof(wte__lm_counts, place.at) / 8, UINT64_MAX, "checkpoint: scratch-" },
        { "counts", offsetof(wte__lm_counts, epoch) / 8, 1, "the epoch is 1 in the checkpoint" },
        { "counts", offsetof(wte__lm_counts, report_words) / 8, UINT64_MAX,
          "since the last report is 18446744073709551615 in the checkpoint, but at most 24 at" },
        { "counts", offsetof(wte__lm_counts, valid_step) / 8, 4,
          "the step of the last validation is 4 in the checkpoint, but at most 3 at step 3" },
        { "counts", offsetof(wte__lm_counts, best_step) / 8, 4,
          "the step of the best validation is 4 in the checkpoint, but 0 at step 3" },
        { "counts", offsetof(wte__lm_counts, worse) / 8, 4,
          "the number of validations since the best is 4 in the checkpoint, but at most 3 at" },
        { "counts", offsetof(wte__lm_counts, step) / 8, 4,
          "the optimizer of model.embed_tokens.weight has taken 3 steps in the checkpoint, but the "
          "run 4" },
        { "model.hidden.bias/steps", 0, UINT64_MAX,
          "model.hidden.bias: optimizer: 'steps' is 18446744073709551615, but at most "
          "9007199254740992 can be counted" },
        { "model.hidden.bias/steps", 0, 2, "the optimizer of model.hidden.bias has taken 2 steps" },
        { "losses", offsetof(wte__lm_losses, first) / 8, UINT64_C(0x7ff0000000000000),
          "the loss of the first step is inf in the checkpoint" },
        { "losses", offsetof(wte__lm_losses, window) / 8, UINT64_C(0x7ff8000000000000),
          "the sum of the last losses is nan in the checkpoint" },
        { "losses", offsetof(wte__lm_losses, told) / 8, UINT64_C(0x7ff0000000000000),
          "the loss that was told is inf in the checkpoint" },
        /* two numbers of f32: 0, and what must not be there */
        { "model.hidden.weight", 1, UINT64_C(0x7fc00000) << 32,
          "part 'model.hidden.weight' of the checkpoint is nan in row 0, column 3, but must be" },
        { "model.hidden.weight/exp_avg", 3, UINT64_C(0x7f800000),
          "model.hidden.weight: optimizer: 'exp_avg' is inf in row 1, column 0, but must be finite" },
        { "model.hidden.weight/exp_avg_sq", 0, UINT64_C(0xbf800000) << 32,
          "checkpoint: model.hidden.weight: optimizer: 'exp_avg_sq' is -1 in row 0, column 1, but "
          "must be finite, and 0 or more" },
        { "words", 0, UINT64_C(11) | UINT64_C(11) << 32,
          "is number 11, but the table has 11 rows" },
    };
    wte_corpus *c = lm_corpus("text", 1);
    wte_error err;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        wte_lm_options o;
        wte_lm *lm = stopped_run(c, lm_path("checkpoint"), &o);
        wte_lm_free(lm);
        o.resume = 1;
        change(o.checkpoint, changes[i].part, changes[i].at, &changes[i].number, 8);
        const wte_status status = wte_lm_create(c, NULL, &o, &lm, &err);
        const bool out = status == WTE_E_RANGE; /* as callees have it */
        assert_fails(status, err, out ? WTE_E_RANGE : WTE_E_FORMAT, err.where, changes[i].message);
        assert_null(lm);
    }
    wte_corpus_free(c);
}

/* 8-byte members of a place in the corpus, and which of them counts words. */
#define PLACE_MEMBERS (sizeof(wte__wordvec_position) / 8)
#define PLACE_WORDS   (offsetof(wte__wordvec_position, words) / 8)

static void losses_of_a_checkpoint_are_checked(void **state)
{
    (void)state;
    const uint64_t not_a_number = UINT64_C(0x7ff8000000000000), negative = UINT64_C(1) << 63 | 1;
    const struct {
        size_t at;
        uint64_t value;
    } bad[] = {
        { offsetof(wte__wordvec_position, until_loss), WTE__WORDS_LOSS_EVERY },
        { offsetof(wte__wordvec_position, running.sum), not_a_number },
        { offsetof(wte__wordvec_position, finished.sum), negative },
        { offsetof(wte__wordvec_position, finished.examples), 1 }, /* of no words */
    };
    wte_corpus *c = lm_corpus("text", 1);
    wte_wordvec_options o = WTE_WORDVEC_OPTIONS_INIT;
    wte_wordvec *w;
    wte_error err;
    o.dim = 4;
    o.checkpoint = lm_path("losses");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.resume = 0;
        assert_ok(wte_wordvec_create(c, &o, &w, &err), err);
        assert_ok(wte__wordvec_checkpoint(w, &err), err);
        wte_wordvec_free(w);
        change(o.checkpoint, "places", bad[i].at / 8, &bad[i].value, sizeof bad[i].value);
        o.resume = 1;
        assert_fails(wte_wordvec_create(c, &o, &w, &err), err, WTE_E_FORMAT, 0,
                     "part 0 of the checkpoint has losses");
        assert_null(w);
    }
    wte_corpus_free(c);
}

static void places_of_a_checkpoint_are_looked_at(void **state)
{
    (void)state;
    const uint64_t far = UINT64_MAX;
    wte_corpus *c = lm_corpus("text", 1);
    wte_wordvec_options o = WTE_WORDVEC_OPTIONS_INIT;
    wte_wordvec *w;
    wte_error err;
    o.dim = 4;
    o.checkpoint = lm_path("places");
    for (uint64_t at = 0; at <= PLACE_WORDS; at += PLACE_WORDS) { /* the epoch, the words */
        o.resume = 0;
        assert_ok(wte_wordvec_create(c, &o, &w, &err), err);
        assert_ok(wte__wordvec_checkpoint(w, &err), err);
        wte_wordvec_free(w);
        change(o.checkpoint, "places", at, &far, sizeof far);
        o.resume = 1;
        assert_fails(
            wte_wordvec_create(c, &o, &w, &err), err, WTE_E_FORMAT, 0,
            at ? "has read 18446744073709551615 words in 0 epochs, but there are 2000 left in 5"
               : "has read 0 words in 18446744073709551615 epochs");
        assert_null(w);
    }
    /* each alone is possible */
    const uint64_t some = 1500, rest = 501;
    o.resume = 0;
    assert_ok(wte_pool_create(2, &o.pool, &err), err);
    assert_ok(wte_wordvec_create(c, &o, &w, &err), err);
    assert_ok(wte__wordvec_checkpoint(w, &err), err);
    wte_wordvec_free(w);
    change(o.checkpoint, "places", PLACE_WORDS, &some, sizeof some);
    change(o.checkpoint, "places", PLACE_MEMBERS + PLACE_WORDS, &rest, sizeof rest);
    o.resume = 1;
    assert_fails(wte_wordvec_create(c, &o, &w, &err), err, WTE_E_FORMAT, 1,
                 "part 1 of the checkpoint has read 501 words in 0 epochs, but there are 500 left");
    wte_pool_free(o.pool);
    wte_corpus_free(c);
}

/* Texts of the same sizes and counts, in which words have changed places. */
static void a_checkpoint_belongs_to_its_words(void **state)
{
    (void)state;
    char one[800], other[800];
    for (size_t i = 0; i < sizeof one; i++) {
        one[i] = i % 2 ? ' ' : i % 4 ? 'x' : 'y';
        other[i] = i % 2 ? ' ' : i % 4 ? 'y' : 'x';
    }
    test_write_file(lm_path("one"), one, sizeof one);
    test_write_file(lm_path("two"), other, sizeof other);
    wte_corpus *c = lm_corpus("one", 1), *d = lm_corpus("two", 1);
    wte_wordvec_options o = WTE_WORDVEC_OPTIONS_INIT;
    wte_lm_options p = lm_options();
    wte_wordvec *w;
    wte_lm *lm;
    wte_error err;
    o.dim = 4;
    o.checkpoint = lm_path("of words");
    assert_ok(wte_wordvec_create(c, &o, &w, &err), err);
    assert_ok(wte__wordvec_checkpoint(w, &err), err);
    wte_wordvec_free(w);
    o.resume = 1;
    assert_ok(wte_wordvec_create(c, &o, &w, &err), err);
    wte_wordvec_free(w);
    assert_fails(wte_wordvec_create(d, &o, &w, &err), err, WTE_E_SHAPE, WTE_NO_INDEX, "\"text\": ");
    p.checkpoint = lm_path("of lm");
    p.checkpoint_every = 1;
    lm = lm_make(c, &p);
    lm_train(lm);
    wte_lm_free(lm);
    p.resume = 1;
    wte_lm_free(lm_make(c, &p));
    assert_fails(wte_lm_create(d, NULL, &p, &lm, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "the checkpoint was made with \"corpus\": [");
    wte_corpus_free(c);
    wte_corpus_free(d);
}

/* A run over `first` is stopped, and goes on over `second`, which it must not. */
static void goes_on_over(const wte_corpus *first, const wte_corpus *second, const char *content)
{
    wte_wordvec_options o = WTE_WORDVEC_OPTIONS_INIT;
    wte_lm_options p;
    wte_wordvec *w;
    wte_error err;
    o.dim = 4;
    o.checkpoint = lm_path("of words");
    assert_ok(wte_wordvec_create(first, &o, &w, &err), err);
    assert_ok(wte__wordvec_checkpoint(w, &err), err);
    wte_wordvec_free(w);
    o.resume = 1;
    assert_ok(wte_wordvec_create(first, &o, &w, &err), err);
    wte_wordvec_free(w);
    assert_fails(wte_wordvec_create(second, &o, &w, &err), err, WTE_E_SHAPE, WTE_NO_INDEX, content);
    wte_lm *lm = stopped_run(first, lm_path("of lm"), &p);
    wte_lm_free(lm);
    p.resume = 1;
    wte_lm_free(lm_make(first, &p));
    assert_fails(wte_lm_create(second, NULL, &p, &lm, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 content);
}

/* The same words in the same numbers, line by line in another order. */
static void a_checkpoint_belongs_to_the_order_of_its_text(void **state)
{
    (void)state;
    static const char *const texts[] = { "one a b c\n", "two d e f\n", "one a f c\n" };
    static const size_t swapped[] = { 1, 0 };
    char content[192], one[600], other[600];
    for (size_t i = 0; i < 60; i++) {
        memcpy(one + 10 * i, texts[i % 3], 10);
        memcpy(other + 10 * i, texts[i == 3 || i == 4 ? swapped[i - 3] : i % 3], 10);
    }
    test_write_file(lm_path("one"), one, sizeof one);
    test_write_file(lm_path("two"), other, sizeof other);
    wte_corpus *c = lm_corpus("one", 1), *d = lm_corpus("two", 1);
    assert_memory_equal(wte_corpus_counts(c), wte_corpus_counts(d), 8 * sizeof(uint64_t));
    snprintf(content, sizeof content,
             "made with \"content of the corpus\": \"%016" PRIx64
             "\", but this run has \"content of the corpus\": \"%016" PRIx64 "\"",
             c->content, d->content);
    goes_on_over(c, d, content);
    wte_corpus_free(c);
    wte_corpus_free(d);
}

static wte_corpus *ids_corpus(const char *name, wte_dtype type)
{
    wte_corpus_options o = WTE_CORPUS_OPTIONS_INIT;
    wte_corpus *c;
    wte_error err;
    o.ids_type = type;
    assert_ok(wte_corpus_open(lm_path(name), &o, &c, &err), err);
    return c;
}

/* Two ids far from the beginning change places; .npy and raw. */
static void a_checkpoint_belongs_to_the_order_of_its_ids(void **state)
{
    (void)state;
    static uint32_t wide[70000];
    static uint16_t ids[70000];
    for (size_t i = 0; i < 70000; i++) wide[i] = ids[i] = (uint16_t)(i * i % 7);
    for (int npy = 0; npy < 2; npy++) {
        wte_corpus *c[2];
        for (int changed = 0; changed < 2; changed++) {
            const char *path = lm_path(changed ? "other ids" : "some ids");
            const uint64_t shape[1] = { 70000 };
            const wte_tensor_out tensor = { "", WTE_U32, 1, shape, wide, NULL };
            wte_error err;
            wide[69990] = ids[69990] = changed ? 2 : 1;
            wide[69991] = ids[69991] = changed ? 1 : 2;
            if (npy)
                assert_ok(wte_npy_write(path, &tensor, &err), err);
            else
                test_write_file(path, ids, sizeof ids);
            c[changed] =
                ids_corpus(changed ? "other ids" : "some ids", npy ? WTE_DTYPE_NONE : WTE_U16);
        }
        goes_on_over(c[0], c[1], "made with \"content of the corpus\": \"");
        wte_corpus_free(c[0]);
        wte_corpus_free(c[1]);
    }
}

static void a_checkpoint_belongs_to_its_validation_text(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1), *valid[2];
    const wte_train_callback watch = { stop, NULL };
    wte_lm_options p = lm_options();
    wte_lm *lm;
    wte_error err;
    for (int i = 0; i < 2; i++) {
        wte_corpus_options o = WTE_CORPUS_OPTIONS_INIT;
        o.no_eos = 1;
        o.vocab = wte_corpus_words(c);
        const char *name = i ? "one valid" : "other valid";
        test_write_file(lm_path(name), i ? "w1 w2 w4 w3 w5\n" : "w1 w2 w3 w4 w5\n", 15);
        assert_ok(wte_corpus_open(lm_path(name), &o, &valid[i], &err), err);
    }
    p.checkpoint = lm_path("checkpoint");
    p.log_every = 3;
    assert_ok(wte_lm_create(c, valid[0], &p, &lm, &err), err);
    assert_ok(wte_lm_train(lm, &watch, &err), err);
    wte_lm_free(lm);
    p.resume = 1;
    assert_fails(wte_lm_create(c, valid[1], &p, &lm, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "made with \"content of the validation corpus\": \"");
    assert_ok(wte_lm_create(c, valid[0], &p, &lm, &err), err);
    wte_lm_free(lm);
    wte_corpus_free(valid[0]);
    wte_corpus_free(valid[1]);
    wte_corpus_free(c);
}

static void a_start_that_is_not_finite_is_refused(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_wordvec_options o = WTE_WORDVEC_OPTIONS_INIT;
    wte_lm_options p = lm_options();
    wte_wordvec *w;
    wte_lm *lm;
    wte_error err;
    float values[11 * 3] = { 0 };
    const wte_row_source start = {
        .rows = 11, .cols = 3, .dtype = WTE_F32, .data = values, .row_bytes = 12
    };
    o.dim = 3;
    o.init_from = p.init_from = &start;
    values[8 * 3 + 1] = INFINITY;
    values[9 * 3] = NAN;
    assert_fails(wte_wordvec_create(c, &o, &w, &err), err, WTE_E_RANGE, 8,
                 "row 8 of the table to start from holds NaN or infinity");
    assert_null(w);
    assert_fails(wte_lm_create(c, NULL, &p, &lm, &err), err, WTE_E_RANGE, 8,
                 "row 8 of the table to start from holds NaN or infinity");
    assert_null(lm);
    o.init_from = NULL;
    o.init_output_from = &start;
    values[8 * 3 + 1] = 0;
    assert_fails(wte_wordvec_create(c, &o, &w, &err), err, WTE_E_RANGE, 9,
                 "row 9 of the table to start from holds NaN or infinity");
    wte_corpus_free(c);
}

/* Results -------------------------------------------------------------------------------------- */

/* Rows of an untied table are behind while it is trained: what is written is not. */
static void what_a_stopped_run_saves_is_up_to_date(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_lm_options o;
    wte_lm *lm = stopped_run(c, NULL, &o);
    wte_file *file;
    wte_row_source saved, rows;
    wte_error err;
    uint64_t i;
    float values[33];
    assert_ok(wte_lm_save(lm, lm_folder, &err), err);
    assert_ok(wte_file_open(lm_path("model.safetensors"), NULL, &file, &err), err);
    assert_ok(wte_file_find(file, "model.embed_tokens.weight", 25, &i, &err), err);
    assert_ok(wte_file_row_source(file, i, &saved, &err), err);
    assert_ok(wte_row_source_read_block(&saved, 0, 11, values, &err), err);
    wte_file_free(file);
    assert_ok(wte_lm_tensor(lm, 0, NULL, &rows, &err), err); /* brings rows up to date */
    assert_memory_equal(values, rows.data, sizeof values);
    wte_lm_free(lm);
    wte_corpus_free(c);
}

/* The step after which nothing is trained any more is seen by the validation alone. */
static void a_last_step_that_is_too_large_is_noticed(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_lm_options o = lm_options();
    wte_lm_info info;
    wte_error err;
    o.optim = WTE_OPTIM_SGD;
    o.schedule = WTE_LM_LINEAR;
    o.lr = 1e6;
    o.hold_out = 2;
    o.epochs = 1;
    o.batch = o.shuffle = 256;
    wte_lm *lm = lm_make(c, &o);
    wte_lm_get(lm, &info);
    assert_int_equal(info.steps, 1);
    assert_fails(wte_lm_train(lm, NULL, &err), err, WTE_E_RANGE, 1,
                 "training diverges at step 1: the loss of a word is ");
    assert_non_null(strstr(err.message, "the rate 1e+06 is too large"));
    wte_lm_get(lm, &info);
    assert_int_equal(info.best_step, 0);
    wte_lm_free(lm);
    wte_corpus_free(c);
}

static void epochs_beyond_counting_are_refused(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_wordvec_options o = WTE_WORDVEC_OPTIONS_INIT;
    wte_wordvec_info info;
    wte_error err;
    o.epochs = UINT64_MAX / 400;
    assert_ok(wte_wordvec_plan(c, &o, &info, &err), err);
    assert_int_equal(info.total, o.epochs * 400);
    o.epochs++;
    assert_fails(wte_wordvec_plan(c, &o, &info, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "46116860184273880 epochs of 400 words are over 2^64 words");
    wte_corpus_free(c);
}

static int make_texts(void **state)
{
    lm_make_folder(state);
    lm_write_text("text", 400, 11, 1);
    return 0;
}

static const struct CMUnitTest tests[] = {
    TEST("corpus: a text without a word of the model is refused",
         a_text_without_a_word_of_the_model_is_refused),
    TEST("corpus: ids have the words that are given", ids_have_the_words_that_are_given),
    TEST("lm: numbers of a checkpoint are looked at", numbers_of_a_checkpoint_are_looked_at),
    TEST("words: losses of a checkpoint are checked", losses_of_a_checkpoint_are_checked),
    TEST("words: places of a checkpoint are looked at", places_of_a_checkpoint_are_looked_at),
    TEST("learn: a checkpoint belongs to its words", a_checkpoint_belongs_to_its_words),
    TEST("learn: a checkpoint belongs to the order of its text",
         a_checkpoint_belongs_to_the_order_of_its_text),
    TEST("learn: a checkpoint belongs to the order of its ids",
         a_checkpoint_belongs_to_the_order_of_its_ids),
    TEST("lm: a checkpoint belongs to its validation text",
         a_checkpoint_belongs_to_its_validation_text),
    TEST("learn: a start that is not finite is refused", a_start_that_is_not_finite_is_refused),
    TEST("lm: what a stopped run saves is up to date", what_a_stopped_run_saves_is_up_to_date),
    TEST("lm: a last step that is too large is noticed", a_last_step_that_is_too_large_is_noticed),
    TEST("words: epochs beyond counting are refused", epochs_beyond_counting_are_refused),
};

int main(void)
{
    return cmocka_run_group_tests(tests, make_texts, lm_remove_folder);
}
