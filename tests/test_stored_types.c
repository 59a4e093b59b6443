/* Every type that a file may hold, as table and head of a small model: what is said of it must be
 * true whether its values are known here or not. */
#include <math.h>
#include <wte/inspect.h>
#include <wte/lookup.h>

#include "model_files.h"

#define ROWS ((size_t)4)
#define DIM  ((size_t)2)

static const char llama[] =
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"],"
    " \"tie_word_embeddings\": true, \"vocab_size\": 4, \"hidden_size\": 2}";

static const struct {
    const char *name;
    wte_dtype dtype;
    unsigned bytes;
} types[] = {
    { "F64", WTE_F64, 8 },
    { "F32", WTE_F32, 4 },
    { "F16", WTE_F16, 2 },
    { "BF16", WTE_BF16, 2 },
    { "F8_E4M3", WTE_F8_E4M3, 1 },
    { "F8_E5M2", WTE_F8_E5M2, 1 },
    { "I8", WTE_I8, 1 },
    { "U8", WTE_U8, 1 },
    { "I16", WTE_I16, 2 },
    { "U16", WTE_U16, 2 },
    { "I32", WTE_I32, 4 },
    { "U32", WTE_U32, 4 },
    { "I64", WTE_I64, 8 },
    { "U64", WTE_U64, 8 },
    { "BOOL", WTE_BOOL, 1 },
    { "C64", WTE_C64, 8 },
    { "F8_E8M0", WTE_F8_E8M0, 1 },
    { "F8_E4M3FNUZ", WTE_F8_E4M3FNUZ, 1 },
    { "F8_E5M2FNUZ", WTE_F8_E5M2FNUZ, 1 },
};
#define N_TYPES (sizeof types / sizeof types[0])

/* A model with this table and this head; remove *dir. */
static wte_model *model_of(size_t input, size_t head, const void *table, const void *other,
                           const char **dir)
{
    const stored list[] = {
        { "embed_tokens.weight", types[input].name, ROWS, DIM, table, types[input].bytes },
        { "lm_head.weight", types[head].name, ROWS, DIM, other, types[head].bytes },
    };
    *dir = make_model(llama, list, 2);
    return open_model(*dir);
}

static wte_tie tie_of(size_t input, size_t head, const void *table, const void *other)
{
    const char *dir;
    wte_tie t;
    wte_error err;
    wte_model *m = model_of(input, head, table, other, &dir);
    assert_ok(wte_model_tie(m, NULL, &t, &err), err);
    wte_model_free(m);
    test_scratch_remove(dir);
    return t;
}

static void a_table_of_any_type_is_found_and_looked_up(void **state)
{
    (void)state;
    unsigned char table[ROWS * DIM * 8];
    for (size_t i = 0; i < sizeof table; i++) table[i] = (unsigned char)(i % 2);
    for (size_t k = 0; k < N_TYPES; k++) {
        const char *dir;
        const wte_model_table *input;
        wte_error err;
        unsigned char row[DIM * 8];
        wte_model *m = model_of(k, k, table, table, &dir);
        assert_ok(wte_model_input(m, &input, &err), err);
        assert_int_equal(input->dtype, types[k].dtype);
        assert_non_null(wte_model_head(m));
        const int64_t id = 3;
        const wte_ids ids = { &id, WTE_I64, 0, 1 };
        assert_ok(wte_lookup(&input->source, ids, NULL, row, 0, &err), err);
        assert_memory_equal(row, table + 3 * DIM * types[k].bytes, DIM * types[k].bytes);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

static void equal_bytes_are_equal_in_every_type(void **state)
{
    (void)state;
    unsigned char table[ROWS * DIM * 8] = { 1, 1, 1 }, head[ROWS * DIM * 8] = { 1, 1, 1 };
    for (size_t k = 0; k < N_TYPES; k++) {
        wte_tie t = tie_of(k, k, table, head);
        assert_int_equal(t.verdict, WTE_TIE_EQUAL_BYTES);
        head[0] = 2;
        t = tie_of(k, k, table, head);
        assert_int_equal(t.verdict, WTE_TIE_INDEPENDENT);
        assert_int_equal(t.rows_different, 1);
        assert_int_equal(t.first_different, 0);
        assert_int_equal(isnan(t.max_difference), !wte_dtype_converts(types[k].dtype));
        assert_null(strstr(t.why, "nan"));
        head[0] = 1;
    }
}

/* Zeros are equal values in all types whose values are known; of the others nothing was compared.
 */
static void types_that_cannot_be_compared_are_not_called_equal(void **state)
{
    (void)state;
    const unsigned char zeros[ROWS * DIM * 8] = { 0 };
    for (size_t a = 0; a < N_TYPES; a++) {
        for (size_t b = 0; b < N_TYPES; b++) {
            if (a == b) continue;
            const bool known =
                wte_dtype_converts(types[a].dtype) && wte_dtype_converts(types[b].dtype);
            const wte_tie t = tie_of(a, b, zeros, zeros);
            assert_int_equal(t.verdict, known ? WTE_TIE_EQUAL_VALUES : WTE_TIE_INDEPENDENT);
            assert_int_equal(t.rows_different, known ? 0 : ROWS);
            assert_int_equal(t.first_different, known ? WTE_NO_INDEX : 0);
            assert_int_equal(t.flag_agrees, known);
            if (!known) assert_true(isnan(t.max_difference));
            if (!known) assert_non_null(strstr(t.why, "whose values are not compared here"));
        }
    }
}

static void a_type_without_values_is_told_with_the_model(void **state)
{
    (void)state;
    const unsigned char zeros[ROWS * DIM * 8] = { 0 };
    for (size_t k = 0; k < N_TYPES; k++) {
        if (wte_dtype_converts(types[k].dtype)) continue;
        const char *dir;
        char part[200];
        wte_error err;
        wte_trace *trace;
        wte_diagnosis found;
        const int64_t id = 0;
        const double numbers[DIM] = { 0, 0 };
        const wte_ids ids = { &id, WTE_I64, 0, 1 };
        const wte_observed got = { numbers, WTE_F64, 0, 1, DIM, NULL };
        wte_model *m = model_of(k, k, zeros, zeros, &dir);
        snprintf(part, sizeof part, "%s: a table of type %s cannot be traced", dir,
                 wte_dtype_name(types[k].dtype));
        assert_fails(wte_model_trace(m, 0, NULL, &trace, &err), err, WTE_E_UNSUPPORTED,
                     WTE_NO_INDEX, part);
        snprintf(part, sizeof part, "%s: numbers of type f64 cannot be compared with a table", dir);
        assert_fails(wte_model_diagnose(m, ids, &got, NULL, &found, &err), err, WTE_E_UNSUPPORTED,
                     WTE_NO_INDEX, part);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

static const struct CMUnitTest tests[] = {
    TEST("a table of any type is found and looked up", a_table_of_any_type_is_found_and_looked_up),
    TEST("equal bytes are equal in every type", equal_bytes_are_equal_in_every_type),
    TEST("types that cannot be compared are not called equal",
         types_that_cannot_be_compared_are_not_called_equal),
    TEST("a type without values is told with the model",
         a_type_without_values_is_told_with_the_model),
};
TEST_MAIN(tests)
