/* wte check: ids that the config names, and what must be as long as the ids are many. */
#include "check_models.h"

#define V 100u

/* A tied model with that much more in its config; `added` goes into its tokenizer. */
static wte_check *checked(const char *config, const char *added, const stored *more)
{
    float *table = trained_table(V, DIM, 1);
    stored list[2] = { table_of(EMBED, V, DIM, table) };
    if (more) list[1] = *more;
    const char *dir = make_model(config, list, more ? 2 : 1);
    write_tokenizer(dir, V, added);
    wte_check *c = check_model(dir);
    test_scratch_remove(dir);
    free(table);
    return c;
}

static void ids_without_a_row_are_told_each(void **state)
{
    (void)state;
    wte_check *c = checked(LLAMA(",\"vocab_size\":100,\"tie_word_embeddings\":true,"
                                 "\"bos_token_id\":99,\"eos_token_id\":[2,100,7]"),
                           "", NULL);
    assert_faults(c, "special-id-outside");
    assert_finding(c, "special-id-outside", EMBED, 1, 100,
                   "says eos_token_id 100, but the table has rows for ids 0..99",
                   "m.config.eos_token_id = t.AutoTokenizer.from_pretrained(sys.argv[1])"
                   ".eos_token_id");
    wte_check_free(c);
    c = checked(LLAMA(",\"vocab_size\":100,\"tie_word_embeddings\":true,"
                      "\"bos_token_id\":120,\"eos_token_id\":[]"),
                "", NULL);
    assert_finding(c, "special-id-outside", EMBED, 1, 120,
                   "says bos_token_id 120, but the table has rows for ids 0..99",
                   "m.config.bos_token_id =");
    wte_check_free(c);
}

/* The token is there, its row is not: what is missing is the row. */
static void an_id_whose_token_is_known_wants_a_row(void **state)
{
    (void)state;
    wte_check *c = checked(LLAMA(",\"vocab_size\":100,\"tie_word_embeddings\":true,"
                                 "\"pad_token_id\":100,\"eos_token_id\":100"),
                           SPECIAL(100, "<pad>"), NULL);
    assert_faults(c, "pad-id-outside rows-uncovered-ids special-id-outside");
    assert_finding(c, "pad-id-outside", EMBED, 1, 100, "says pad_token_id 100",
                   "m.resize_token_embeddings(101)");
    assert_finding(c, "special-id-outside", EMBED, 1, 100, "says eos_token_id 100",
                   "m.resize_token_embeddings(101)");
    wte_check_free(c);
}

static void c4_a_bias_is_as_long_as_the_head(void **state)
{
    (void)state;
    static const float zeros[V] = { 0 };
    stored bias = { "cls.predictions.bias", "F32", V, 0, zeros, 4 };
    const char *config = "{\"model_type\":\"bert\",\"architectures\":[\"BertForMaskedLM\"],"
                         "\"vocab_size\":100,\"hidden_size\":64}";
    wte_check *c = checked(config, "", &bias);
    assert_faults(c, "");
    wte_check_free(c);
    bias.rows = 98;
    c = checked(config, "", &bias);
    assert_faults(c, "head-bias-length");
    assert_finding(c, "head-bias-length", "cls.predictions.bias", 0, 0,
                   "a bias of 98 numbers for 100 rows", "(0, 100 - b.shape[-1])");
    wte_check_free(c);
}

/* A -Inf keeps a token from being drawn: that is no fault. */
static void numbers_of_a_bias_are_looked_at(void **state)
{
    (void)state;
    static const char *const names[] = { "cls.predictions.bias", "cls.predictions.decoder.bias" };
    const char *config = "{\"model_type\":\"bert\",\"architectures\":[\"BertForMaskedLM\"],"
                         "\"vocab_size\":100,\"hidden_size\":64}";
    for (size_t i = 0; i < 2; i++) {
        float numbers[V] = { 0 };
        stored bias = { names[i], "F32", V, 0, numbers, 4 };
        stored flat = { names[i], "F32", 1, V, numbers, 4 };
        numbers[5] = -INFINITY;
        wte_check *c = checked(config, "", &bias);
        assert_faults(c, "");
        wte_check_free(c);
        numbers[7] = NAN;
        c = checked(config, "", &bias);
        assert_faults(c, "head-bias-nonfinite");
        assert_finding(c, "head-bias-nonfinite", names[i], 1, 7,
                       "1 of 100 numbers is NaN or +Inf, the first that of row 7", "download");
        wte_check_free(c);
        numbers[3] = INFINITY;
        c = checked(config, "", i ? &bias : &flat);
        assert_finding(c, "head-bias-nonfinite", names[i], 2, 3,
                       "2 of 100 numbers are NaN or +Inf, the first that of row 3", "download");
        wte_check_free(c);
    }
}

/* Nothing can be resized from nothing: one fault, and no repair of what follows from it. */
static void of_an_empty_table_only_that_is_told(void **state)
{
    (void)state;
    const stored t = { EMBED, "F32", 0, 8, "", 4 };
    const char *dir = make_model(LLAMA(",\"vocab_size\":0,\"hidden_size\":16,\"pad_token_id\":0,"
                                       "\"tie_word_embeddings\":true"),
                                 &t, 1);
    write_tokenizer(dir, V, "");
    wte_check *c = check_model(dir);
    assert_faults(c, "table-empty");
    assert_finding(c, "table-empty", EMBED, 0, 0, "the table is 0 x 8", "zero_to_fp32.py");
    wte_check_free(c);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("ids that the config names and no row has are told, each by its key",
         ids_without_a_row_are_told_each),
    TEST("an id whose token is known wants a row", an_id_whose_token_is_known_wants_a_row),
    TEST("C4: a bias is as long as the head", c4_a_bias_is_as_long_as_the_head),
    TEST("numbers of a bias are looked at", numbers_of_a_bias_are_looked_at),
    TEST("of an empty table only that is told", of_an_empty_table_only_that_is_told),
};
TEST_MAIN(tests)
