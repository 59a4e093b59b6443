/* What trainers take from files without believing it: checkpoints of this run whose numbers were
 * changed, corpora of another vocabulary; and what they give out to be written. */
#include <wte/format.h>

#include "lm_help.h"
#include "words_learn_help.h"

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
    assert_fails(wte_corpus_open(lm_path("strange"), &o, &c, &err), err, WTE_E_FORMAT, WTE_NOWHERE,
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
    const wte_train_watch watch = { stop, NULL };
    wte_error err;
    *o = lm_options();
    o->report_every = 3;
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
        { "counts", offsetof(wte__lm_counts, cursor) / 8, 33, "is at word 33 of a block of 32" },
        { "counts", offsetof(wte__lm_counts, step) / 8, 101, "at step 101 of 100" },
        { "counts", offsetof(wte__lm_counts, block) / 8, 0, "is at word 24 of a block of 0" },
        { "counts", offsetof(wte__lm_counts, best_step) / 8, 4, "the best one 4" },
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
        assert_fails(status, err, WTE_E_FORMAT, err.where, changes[i].message);
        assert_null(lm);
    }
    wte_corpus_free(c);
}

static void places_of_a_checkpoint_are_looked_at(void **state)
{
    (void)state;
    const uint64_t far = UINT64_MAX;
    wte_corpus *c = lm_corpus("text", 1);
    wte_words_options o = WTE_WORDS_OPTIONS_INIT;
    wte_words *w;
    wte_error err;
    o.dim = 4;
    o.checkpoint = lm_path("places");
    for (uint64_t at = 0; at < 4; at += 3) { /* the epoch, the words */
        o.resume = 0;
        assert_ok(wte_words_create(c, &o, &w, &err), err);
        assert_ok(wte__words_checkpoint(w, &err), err);
        wte_words_free(w);
        change(o.checkpoint, "places", at, &far, sizeof far);
        o.resume = 1;
        assert_fails(wte_words_create(c, &o, &w, &err), err, WTE_E_FORMAT, 0,
                     at ? "has read 18446744073709551615 words in 0 epochs, but there are 2000 in 5"
                        : "has read 0 words in 18446744073709551615 epochs");
        assert_null(w);
    }
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
    wte_words_options o = WTE_WORDS_OPTIONS_INIT;
    wte_lm_options p = lm_options();
    wte_words *w;
    wte_lm *lm;
    wte_error err;
    o.dim = 4;
    o.checkpoint = lm_path("of words");
    assert_ok(wte_words_create(c, &o, &w, &err), err);
    assert_ok(wte__words_checkpoint(w, &err), err);
    wte_words_free(w);
    o.resume = 1;
    assert_ok(wte_words_create(c, &o, &w, &err), err);
    wte_words_free(w);
    assert_fails(wte_words_create(d, &o, &w, &err), err, WTE_E_SHAPE, WTE_NOWHERE, "\"text\": ");
    p.checkpoint = lm_path("of lm");
    p.checkpoint_every = 1;
    lm = lm_make(c, &p);
    lm_train(lm);
    wte_lm_free(lm);
    p.resume = 1;
    wte_lm_free(lm_make(c, &p));
    assert_fails(wte_lm_create(d, NULL, &p, &lm, &err), err, WTE_E_SHAPE, WTE_NOWHERE,
                 "the checkpoint was made with \"corpus\": [");
    wte_corpus_free(c);
    wte_corpus_free(d);
}

static void a_start_that_is_not_finite_is_refused(void **state)
{
    (void)state;
    wte_corpus *c = lm_corpus("text", 1);
    wte_words_options o = WTE_WORDS_OPTIONS_INIT;
    wte_lm_options p = lm_options();
    wte_words *w;
    wte_lm *lm;
    wte_error err;
    float values[11 * 3] = { 0 };
    const wte_rows start = {
        .rows = 11, .cols = 3, .dtype = WTE_F32, .data = values, .row_bytes = 12
    };
    o.dim = 3;
    o.start = p.start = &start;
    values[8 * 3 + 1] = INFINITY;
    values[9 * 3] = NAN;
    assert_fails(wte_words_create(c, &o, &w, &err), err, WTE_E_RANGE, 8,
                 "row 8 of the table to start from holds NaN or infinity");
    assert_null(w);
    assert_fails(wte_lm_create(c, NULL, &p, &lm, &err), err, WTE_E_RANGE, 8,
                 "row 8 of the table to start from holds NaN or infinity");
    assert_null(lm);
    o.start = NULL;
    o.start_out = &start;
    values[8 * 3 + 1] = 0;
    assert_fails(wte_words_create(c, &o, &w, &err), err, WTE_E_RANGE, 9,
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
    wte_rows saved, rows;
    wte_error err;
    uint64_t i;
    float values[33];
    assert_ok(wte_lm_save(lm, lm_folder, &err), err);
    assert_ok(wte_file_open(lm_path("model.safetensors"), NULL, &file, &err), err);
    assert_ok(wte_file_find(file, "model.embed_tokens.weight", 25, &i, &err), err);
    assert_ok(wte_file_rows(file, i, &saved, &err), err);
    assert_ok(wte_rows_read_block(&saved, 0, 11, values, &err), err);
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
    wte_words_options o = WTE_WORDS_OPTIONS_INIT;
    wte_words_info info;
    wte_error err;
    o.epochs = UINT64_MAX / 400;
    assert_ok(wte_words_plan(c, &o, &info, &err), err);
    assert_int_equal(info.total, o.epochs * 400);
    o.epochs++;
    assert_fails(wte_words_plan(c, &o, &info, &err), err, WTE_E_LIMIT, WTE_NOWHERE,
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
    TEST("words: places of a checkpoint are looked at", places_of_a_checkpoint_are_looked_at),
    TEST("learn: a checkpoint belongs to its words", a_checkpoint_belongs_to_its_words),
    TEST("learn: a start that is not finite is refused", a_start_that_is_not_finite_is_refused),
    TEST("lm: what a stopped run saves is up to date", what_a_stopped_run_saves_is_up_to_date),
    TEST("lm: a last step that is too large is noticed", a_last_step_that_is_too_large_is_noticed),
    TEST("words: epochs beyond counting are refused", epochs_beyond_counting_are_refused),
};

int main(void)
{
    return cmocka_run_group_tests(tests, make_texts, lm_remove_folder);
}
