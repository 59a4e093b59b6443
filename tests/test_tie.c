/* The tie verdict and the experiment, on small models whose every element is known. */
#include <math.h>
#include <time.h>

#include "model_files.h"

#define ROWS ((size_t)6)
#define DIM  ((size_t)4)

static const char gpt2[] = "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"],"
                           " \"vocab_size\": 6, \"n_embd\": 4}";
static const char gpt2_untied[] =
    "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": 6,"
    " \"n_embd\": 4, \"tie_word_embeddings\": false}";
static const char llama_tied[] =
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"],"
    " \"tie_word_embeddings\": true}";
static const char llama_untied[] =
    "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"],"
    " \"tie_word_embeddings\": false}";

/* element [r, c] is r + c / 8: exact in every float type of 16 bits */
static void fill(float *t, size_t rows, size_t dim)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < dim; c++) t[r * dim + c] = (float)r + (float)c / 8;
}

static wte_tie tie_of(const char *path, wte_pool *pool)
{
    wte_tie t;
    wte_error err;
    wte_tie_options opt = WTE_TIE_OPTIONS_INIT;
    opt.pool = pool;
    wte_model *m = open_model(path);
    assert_ok(wte_model_tie(m, &opt, &t, &err), err);
    wte_model_free(m);
    return t;
}

/* The verdict on a model of these tensors, which is removed again. */
static wte_tie verdict(const char *config, const stored *t, size_t n)
{
    const char *dir = make_model(config, t, n);
    wte_tie tie = tie_of(dir, NULL);
    test_scratch_remove(dir);
    return tie;
}

static void assert_why(const wte_tie *t, const char *part)
{
    if (!strstr(t->why, part)) fail_msg("'%s' does not contain '%s'", t->why, part);
}

static void gpt2s_layout_is_one_storage(void **state)
{
    float table[ROWS * DIM];
    (void)state;
    fill(table, ROWS, DIM);
    const stored list[] = { { "wte.weight", "F32", ROWS, DIM, table, 4 },
                            { "wpe.weight", "F32", 3, DIM, NULL, 4 } };
    wte_tie t = verdict(gpt2, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_SAME_STORAGE);
    assert_true(t.tied);
    assert_true(t.flag_agrees);
    assert_int_equal(t.input_rows, ROWS);
    assert_int_equal(t.input_dim, DIM);
    assert_int_equal(t.head_rows, 0);
    assert_int_equal(t.params_tied, 24);
    assert_int_equal(t.params_untied, 48);
    assert_why(&t, "'wte.weight' is the only table stored and serves both roles");
    assert_why(&t, "family 'gpt2' is true");
    /* the fourth row's first element, 3, is turned into -3, and the head shows it */
    assert_true(t.experiment_ran);
    assert_true(t.head_changed);
    assert_int_equal(t.experiment_row, 3);
    assert_int_equal(t.experiment_col, 0);
    assert_true(t.before == 3 && t.after == -3 && t.head_before == 3 && t.head_after == -3);
}

static void an_equal_head_is_two_copies(void **state)
{
    float table[ROWS * DIM];
    (void)state;
    fill(table, ROWS, DIM);
    const stored list[] = { { "wte.weight", "F32", ROWS, DIM, table, 4 },
                            { "lm_head.weight", "F32", ROWS, DIM, table, 4 } };
    wte_tie t = verdict(gpt2, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_EQUAL_BYTES);
    assert_true(t.tied);
    assert_true(t.flag_agrees);
    assert_int_equal(t.wasted_bytes, 96);
    assert_int_equal(t.rows_different, 0);
    assert_int_equal(t.first_different, WTE_NO_INDEX);
    assert_int_equal(t.params_tied, 24);
    assert_int_equal(t.params_untied, 48);
    assert_why(&t, "two copies of the same bytes: 96 are wasted");
    /* equal, but two storages: the head does not move */
    assert_true(t.experiment_ran);
    assert_false(t.head_changed);
    assert_true(t.before == 3 && t.after == -3 && t.head_before == 3 && t.head_after == 3);
    t = verdict(gpt2_untied, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_EQUAL_BYTES);
    assert_true(t.tied);
    assert_false(t.flag_agrees);
    assert_why(&t, "the flag says they are apart");
}

static void one_changed_bit_is_independent(void **state)
{
    float table[ROWS * DIM], head[ROWS * DIM];
    (void)state;
    fill(table, ROWS, DIM);
    memcpy(head, table, sizeof head);
    uint32_t bits;
    memcpy(&bits, &head[2 * DIM + 1], 4); /* 2.125: its last bit is 2^-22 */
    bits ^= 1;
    memcpy(&head[2 * DIM + 1], &bits, 4);
    const stored list[] = { { "wte.weight", "F32", ROWS, DIM, table, 4 },
                            { "lm_head.weight", "F32", ROWS, DIM, head, 4 } };
    wte_tie t = verdict(gpt2_untied, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_INDEPENDENT);
    assert_false(t.tied);
    assert_true(t.flag_agrees);
    assert_int_equal(t.rows_different, 1);
    assert_int_equal(t.first_different, 2);
    assert_true(t.max_difference == ldexp(1, -22));
    assert_int_equal(t.max_row, 2);
    assert_int_equal(t.max_col, 1);
    assert_why(&t, "1 of 6 rows differ, the first is row 2");
}

/* PAINS A1: the flag says tied, but a trained head is stored. */
static void a_flag_that_lies_is_named(void **state)
{
    float table[ROWS * DIM], head[ROWS * DIM];
    (void)state;
    fill(table, ROWS, DIM);
    fill(head, ROWS, DIM);
    for (size_t c = 0; c < DIM; c++) head[2 * DIM + c] *= 1.5f;
    const stored list[] = { { "model.embed_tokens.weight", "F32", ROWS, DIM, table, 4 },
                            { "lm_head.weight", "F32", ROWS, DIM, head, 4 } };
    wte_tie t = verdict(llama_tied, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_INDEPENDENT);
    assert_false(t.tied);
    assert_false(t.flag_agrees);
    assert_int_equal(t.rows_different, 1);
    assert_int_equal(t.first_different, 2);
    assert_true(t.max_difference == (2 + 3 / 8.0) / 2);
    assert_int_equal(t.max_col, 3);
    assert_why(&t, "the flag says tied, and lies");
    assert_false(t.head_changed);
}

/* PAINS A3: three distinct answers when no head is stored. */
static void no_head_has_three_meanings(void **state)
{
    static const struct {
        const char *config;
        wte_tie_verdict verdict;
        bool tied;
        const char *why;
    } cases[] = {
        { gpt2, WTE_TIE_SAME_STORAGE, true, "serves both roles" },
        { gpt2_untied, WTE_TIE_BROKEN, false,
          "class GPT2LMHeadModel has one and tie_word_embeddings is false" },
        { llama_tied, WTE_TIE_SAME_STORAGE, true, "tie_word_embeddings is true" },
        { llama_untied, WTE_TIE_BROKEN, false, "the head was lost, or the flag is wrong" },
        { "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2Model\"]}", WTE_TIE_HEADLESS, false,
          "class GPT2Model has no head" },
        { "{\"architectures\": [\"BertModel\"], \"tie_word_embeddings\": true}", WTE_TIE_HEADLESS,
          false, "class BertModel has no head" },
        { "{\"model_type\": \"bert\"}", WTE_TIE_HEADLESS, false, "family 'bert'" },
        { "{\"model_type\": \"model2vec\", \"architectures\": [\"StaticModel\"]}", WTE_TIE_HEADLESS,
          false, "class StaticModel has no head" },
        { "{}", WTE_TIE_HEADLESS, false, "nothing says that a head exists" },
        { NULL, WTE_TIE_HEADLESS, false, "nothing says that a head exists" },
        /* A4: the same tensors, the flag nested, at the top, absent in a tied family, absent in an
         * untied one */
        { "{\"model_type\": \"llava\", \"architectures\": [\"LlavaForConditionalGeneration\"],"
          " \"text_config\": {\"model_type\": \"llama\", \"tie_word_embeddings\": true}}",
          WTE_TIE_SAME_STORAGE, true, "text_config.tie_word_embeddings is true" },
        { "{\"model_type\": \"gemma2\"}", WTE_TIE_SAME_STORAGE, true, "family 'gemma2' is true" },
        { "{\"model_type\": \"llama\"}", WTE_TIE_BROKEN, false, "family 'llama' is false" },
    };
    (void)state;
    const stored list[] = { { "embed_tokens.weight", "F32", ROWS, DIM, NULL, 4 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wte_tie t = verdict(cases[i].config, list, 1);
        if (t.verdict != cases[i].verdict)
            fail_msg("%s: %s: %s", cases[i].config, wte_tie_name(t.verdict), t.why);
        assert_int_equal(t.tied, cases[i].tied);
        assert_why(&t, cases[i].why);
        if (t.tied) continue;
        assert_false(t.experiment_ran);
        assert_string_equal(t.skip_reason, "there is no head to look at");
    }
}

static void an_embedding_models_files_mean_headless(void **state)
{
    (void)state;
    const stored list[] = { { "embed_tokens.weight", "F32", ROWS, DIM, NULL, 4 } };
    const char *dir = make_model(llama_untied, list, 1);
    write_text(dir, "modules.json", "");
    assert_int_equal(tie_of(dir, NULL).verdict, WTE_TIE_BROKEN); /* empty counts as absent */
    write_text(dir, "modules.json", "[]");
    wte_tie t = tie_of(dir, NULL);
    assert_int_equal(t.verdict, WTE_TIE_HEADLESS);
    assert_why(&t, "sentence embedding model");
    test_scratch_remove(dir);
}

static void the_demo_is_a_bare_table(void **state)
{
    (void)state;
    wte_tie t = tie_of("demo", NULL);
    assert_int_equal(t.verdict, WTE_TIE_HEADLESS);
    assert_false(t.tied);
    assert_true(t.flag_agrees);
    assert_int_equal(t.params_tied, 18);
    assert_int_equal(t.params_untied, 18);
    assert_false(t.experiment_ran);
}

/* PAINS A6: only the head is stored. */
static void only_a_head_is_tied_or_broken_by_the_flag(void **state)
{
    (void)state;
    const stored list[] = { { "lm_head.weight", "F32", ROWS, DIM, NULL, 4 } };
    wte_tie t = verdict(llama_tied, list, 1);
    assert_int_equal(t.verdict, WTE_TIE_SAME_STORAGE);
    assert_why(&t, "only the head is stored");
    assert_true(t.head_changed);
    assert_int_equal(t.params_untied, 48);
    t = verdict(llama_untied, list, 1);
    assert_int_equal(t.verdict, WTE_TIE_BROKEN);
    assert_false(t.tied);
    assert_false(t.flag_agrees);
    assert_why(&t, "the input table was lost");
}

static void one_tensor_by_design_is_one_storage(void **state)
{
    (void)state;
    const stored list[] = { { "transformer.in_out_embed.weight", "F32", ROWS, DIM, NULL, 4 } };
    wte_tie t = verdict("{\"model_type\": \"grok-1\"}", list, 1);
    assert_int_equal(t.verdict, WTE_TIE_SAME_STORAGE);
    assert_true(t.experiment_ran);
    assert_true(t.head_changed);
    assert_true(t.before == 0 && t.after == 1 && t.head_after == 1);
}

/* PAINS A13. */
static void a_flag_that_shapes_forbid_is_impossible(void **state)
{
    (void)state;
    const stored list[] = { { "embed_tokens.weight", "F32", 50, 4, NULL, 4 },
                            { "lm_head.weight", "F32", 8, 4, NULL, 4 } };
    wte_tie t = verdict(llama_tied, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_IMPOSSIBLE);
    assert_false(t.tied);
    assert_false(t.flag_agrees);
    assert_int_equal(t.head_rows, 8);
    assert_int_equal(t.params_tied, 200);
    assert_int_equal(t.params_untied, 232);
    assert_why(&t, "50 x 4 and the head 8 x 4");
    assert_true(t.experiment_ran);
    assert_false(t.head_changed);
}

/* PAINS B8. */
static void input_only_rows_are_accepted(void **state)
{
    float table[20 * 4], head[16 * 4];
    (void)state;
    fill(table, 20, 4);
    fill(head, 16, 4);
    const stored list[] = { { "embed_tokens.weight", "F32", 20, 4, table, 4 },
                            { "lm_head.weight", "F32", 16, 4, head, 4 } };
    wte_tie t = verdict(llama_untied, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_INDEPENDENT);
    assert_true(t.flag_agrees);
    assert_int_equal(t.rows_different, 0);
    assert_why(&t, "the 16 rows they share are equal; rows 16..19 are input-only");
    head[20] += 1; /* of row 5 */
    t = verdict(llama_untied, list, 2);
    assert_int_equal(t.rows_different, 1);
    assert_int_equal(t.first_different, 5);
    assert_true(t.max_difference == 1);
    assert_why(&t, "1 of 16 rows differ");
    assert_why(&t, "rows 16..19 are input-only");
}

static void rows_of_another_width_are_not_compared(void **state)
{
    (void)state;
    const stored list[] = { { "embed_tokens.weight", "F32", 6, 4, NULL, 4 },
                            { "lm_head.weight", "F32", 6, 8, NULL, 4 } };
    wte_tie t = verdict(llama_untied, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_INDEPENDENT);
    assert_true(t.flag_agrees);
    assert_int_equal(t.rows_different, 6);
    assert_int_equal(t.first_different, 0);
    assert_true(isnan(t.max_difference));
    assert_why(&t, "rows of 4 and of 8 elements");
}

static void equal_values_in_two_types_are_told_apart(void **state)
{
    float table[ROWS * DIM];
    uint16_t half[ROWS * DIM];
    wte_error err;
    (void)state;
    fill(table, ROWS, DIM);
    assert_ok(wte_convert(WTE_F32, table, WTE_BF16, half, ROWS * DIM, NULL, &err), err);
    stored list[] = { { "embed_tokens.weight", "F32", ROWS, DIM, table, 4 },
                      { "lm_head.weight", "BF16", ROWS, DIM, half, 2 } };
    wte_tie t = verdict(llama_tied, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_EQUAL_VALUES);
    assert_false(t.tied);
    assert_true(t.flag_agrees);
    assert_int_equal(t.wasted_bytes, 48);
    assert_why(&t, "the same values, stored as f32 and as bf16");
    table[9] += 0.0078125f; /* 2.125 + 2^-7: bf16 has no room for it */
    t = verdict(llama_tied, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_INDEPENDENT);
    assert_int_equal(t.rows_different, 1);
    assert_int_equal(t.first_different, 2);
    assert_true(t.max_difference == 0.0078125);
}

static void nan_is_handled_as_documented(void **state)
{
    float table[ROWS * DIM], head[ROWS * DIM];
    (void)state;
    fill(table, ROWS, DIM);
    table[0] = NAN;
    memcpy(head, table, sizeof head);
    const stored list[] = { { "embed_tokens.weight", "F32", ROWS, DIM, table, 4 },
                            { "lm_head.weight", "F32", ROWS, DIM, head, 4 } };
    assert_int_equal(verdict(llama_tied, list, 2).verdict, WTE_TIE_EQUAL_BYTES);
    head[0] = 0; /* NaN against a number */
    wte_tie t = verdict(llama_tied, list, 2);
    assert_true(t.max_difference == 0 && t.n_nan == 1);
    assert_non_null(strstr(t.why, "; 1 element is NaN in one table alone, the first at [0, 0]"));
    uint32_t payload = 0x7fc00001;
    memcpy(&head[0], &payload, 4); /* another NaN: the bytes differ, the distance is 0 */
    t = verdict(llama_tied, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_INDEPENDENT);
    assert_int_equal(t.rows_different, 1);
    assert_true(t.max_difference == 0);
    table[0] = 0;
    head[0] = -0.0f; /* equal numbers, other bytes */
    t = verdict(llama_tied, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_INDEPENDENT);
    assert_int_equal(t.rows_different, 1);
    assert_true(t.max_difference == 0);
}

/* PAINS A2: a head that differs in rows 10..12 only; large enough for several blocks. */
static void threads_do_not_change_the_answer(void **state)
{
    const size_t R = 20000, D = 64;
    float *table = malloc(R * D * 4), *head = malloc(R * D * 4);
    (void)state;
    assert_true(table && head);
    fill(table, R, D);
    memcpy(head, table, R * D * 4);
    for (size_t r = 10; r < 13; r++)
        for (size_t c = 0; c < D; c++) head[r * D + c] += 0.125f;
    head[19999 * D + 63] += 2;
    head[15000 * D] -= 2; /* as large: the first of them counts */
    const stored list[] = { { "embed_tokens.weight", "F32", R, D, table, 4 },
                            { "lm_head.weight", "F32", R, D, head, 4 } };
    const char *dir = make_model(llama_tied, list, 2);
    for (uint32_t threads = 1; threads <= 4; threads++) {
        wte_pool *pool = NULL;
        wte_error err;
        assert_ok(wte_pool_create(threads, &pool, &err), err);
        wte_tie t = tie_of(dir, pool);
        wte_pool_free(pool);
        assert_int_equal(t.verdict, WTE_TIE_INDEPENDENT);
        assert_int_equal(t.rows_different, 5);
        assert_int_equal(t.first_different, 10);
        assert_true(t.max_difference == 2);
        assert_int_equal(t.max_row, 15000);
        assert_int_equal(t.max_col, 0);
    }
    test_scratch_remove(dir);
    free(table);
    free(head);
}

static void the_file_is_never_written(void **state)
{
    float table[ROWS * DIM];
    char before[512], after[512];
    struct stat one, two;
    (void)state;
    fill(table, ROWS, DIM);
    const stored list[] = { { "wte.weight", "F32", ROWS, DIM, table, 4 } };
    const char *dir = make_model(gpt2, list, 1);
    const char *path = in_folder(dir, "model.safetensors");
    assert_int_equal(stat(path, &one), 0);
    FILE *f = fopen(path, "rb");
    size_t n = fread(before, 1, sizeof before, f);
    fclose(f);
    assert_true(tie_of(dir, NULL).head_changed);
    assert_int_equal(chmod(path, 0444), 0);
    assert_true(tie_of(dir, NULL).head_changed); /* a file that cannot be written serves as well */
    assert_int_equal(stat(path, &two), 0);
    f = fopen(path, "rb");
    assert_int_equal(fread(after, 1, sizeof after, f), n);
    fclose(f);
    assert_memory_equal(before, after, n);
    assert_int_equal(one.st_mtim.tv_sec, two.st_mtim.tv_sec);
    assert_int_equal(one.st_mtim.tv_nsec, two.st_mtim.tv_nsec);
    test_scratch_remove(dir);
}

static bool stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
    *(uint64_t *)ctx = total;
    return done > total;
}

static void comparing_can_be_stopped(void **state)
{
    (void)state;
    const stored list[] = { { "embed_tokens.weight", "F32", ROWS, DIM, NULL, 4 },
                            { "lm_head.weight", "F32", ROWS, DIM, NULL, 4 } };
    const char *dir = make_model(llama_tied, list, 2);
    wte_model *m = open_model(dir);
    uint64_t total = 0;
    const wte_progress progress = { stop_at_once, &total };
    wte_tie_options opt = WTE_TIE_OPTIONS_INIT;
    wte_tie t;
    wte_error err;
    opt.progress = &progress;
    assert_fails(wte_model_tie(m, &opt, &t, &err), err, WTE_E_CANCELLED, ROWS, "stopped at row 6");
    assert_int_equal(total, 2 * ROWS * DIM * 4);
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* With `copy` the element's bytes alone are read: the same answers without a map. */
static void the_experiment_needs_no_map(void **state)
{
    float table[ROWS * DIM];
    (void)state;
    const stored list[] = { { "wte.weight", "F32", ROWS, DIM, table, 4 },
                            { "lm_head.weight", "F32", ROWS, DIM, table, 4 } };
    fill(table, ROWS, DIM);
    for (size_t i = 0; i < 2; i++) {
        const char *dir = make_model(gpt2, list, i + 1);
        wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
        wte_model *m;
        wte_error err;
        wte_tie t;
        opt.copy = 1;
        assert_ok(wte_model_open(dir, &opt, &m, &err), err);
        assert_ok(wte_model_tie(m, NULL, &t, &err), err);
        assert_true(t.experiment_ran && t.head_changed == (i == 0));
        assert_true(t.before == (double)table[3 * DIM] && t.head_before == t.before);
        assert_true(t.head_after == (i == 0 ? t.after : t.before) && t.after != t.before);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

static void a_file_that_changed_is_not_experimented_on(void **state)
{
    (void)state;
    const stored list[] = { { "wte.weight", "F32", ROWS, DIM, NULL, 4 } };
    const char *dir = make_model(gpt2, list, 1);
    wte_model *m = open_model(dir);
    FILE *f = fopen(in_folder(dir, "model.safetensors"), "ab");
    fputc(0, f);
    fclose(f);
    wte_tie t;
    wte_error err;
    assert_fails(wte_model_tie(m, NULL, &t, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "model.safetensors: was written to while it was read");
    assert_string_equal(t.skip_reason, "the file has changed since it was opened");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void types_without_numbers_are_compared_by_their_bits(void **state)
{
    const unsigned char table[] = { 1, 2, 3, 4, 5, 6 }, head[] = { 1, 2, 3, 4, 5, 7 };
    (void)state;
    const stored list[] = { { "embed_tokens.weight", "F8_E8M0", 3, 2, table, 1 },
                            { "lm_head.weight", "F8_E8M0", 3, 2, head, 1 } };
    wte_tie t = verdict(llama_tied, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_INDEPENDENT);
    assert_int_equal(t.rows_different, 1);
    assert_int_equal(t.first_different, 2);
    assert_true(isnan(t.max_difference));
    assert_false(t.experiment_ran);
    assert_string_equal(t.skip_reason, "elements of type f8_e8m0 are not changed here");
}

static void empty_tables_have_nothing_to_change(void **state)
{
    (void)state;
    const stored list[] = { { "embed_tokens.weight", "F32", 0, 4, NULL, 4 },
                            { "lm_head.weight", "F32", 0, 4, NULL, 4 } };
    wte_tie t = verdict(llama_tied, list, 2);
    assert_int_equal(t.verdict, WTE_TIE_EQUAL_BYTES);
    assert_int_equal(t.params_untied, 0);
    assert_false(t.experiment_ran);
    assert_string_equal(t.skip_reason, "the tables share no element");
}

static void a_file_that_shrank_is_told(void **state)
{
    struct stat st;
    (void)state;
    const stored list[] = { { "embed_tokens.weight", "F32", ROWS, DIM, NULL, 4 },
                            { "lm_head.weight", "F32", ROWS, DIM, NULL, 4 } };
    const char *dir = make_model(llama_tied, list, 2);
    const char *path = in_folder(dir, "model.safetensors");
    wte_model *m = open_model(dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size - 8), 0);
    wte_tie t;
    wte_error err;
    assert_fails(wte_model_tie(m, NULL, &t, &err), err, WTE_E_FORMAT, (uint64_t)st.st_size - 8,
                 "it shrank");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void out_of_memory_is_told(void **state)
{
    (void)state;
    const stored list[] = { { "embed_tokens.weight", "F32", ROWS, DIM, NULL, 4 },
                            { "lm_head.weight", "F32", ROWS, DIM, NULL, 4 } };
    const char *dir = make_model(llama_tied, list, 2);
    wte_model *m = open_model(dir);
    wte_status status = WTE_E_MEMORY;
    size_t i = 0;
    for (; status != WTE_OK; i++) {
        test_memory memory;
        wte_tie_options opt = WTE_TIE_OPTIONS_INIT;
        wte_tie t;
        wte_error err;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        status = wte_model_tie(m, &opt, &t, &err);
        if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
        assert_int_equal(memory.live, 0);
    }
    assert_true(i >= 2);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void verdicts_have_names(void **state)
{
    static const char *const want[] = { "unknown",       "same storage", "equal bytes",
                                        "equal values",  "independent",  "headless",
                                        "broken export", "impossible",   "unknown" };
    (void)state;
    for (int i = 0; i < 9; i++) assert_string_equal(wte_tie_name((wte_tie_verdict)i), want[i]);
}

static const struct CMUnitTest tests[] = {
    TEST("gpt2's layout is one storage, and the head moves with the table",
         gpt2s_layout_is_one_storage),
    TEST("an equal head is two copies, whatever the flag says", an_equal_head_is_two_copies),
    TEST("one changed bit is an independent head", one_changed_bit_is_independent),
    TEST("a flag that says tied over different tensors is named a lie", a_flag_that_lies_is_named),
    TEST("no head stored means tied, headless or broken", no_head_has_three_meanings),
    TEST("files of a sentence embedding model mean headless",
         an_embedding_models_files_mean_headless),
    TEST("the demo is a bare table", the_demo_is_a_bare_table),
    TEST("a lone head is tied or broken by the flag", only_a_head_is_tied_or_broken_by_the_flag),
    TEST("one tensor by design is one storage", one_tensor_by_design_is_one_storage),
    TEST("a flag that the shapes forbid is impossible", a_flag_that_shapes_forbid_is_impossible),
    TEST("rows that only the input has are accepted and listed", input_only_rows_are_accepted),
    TEST("rows of another width are not compared", rows_of_another_width_are_not_compared),
    TEST("equal values in two types are neither tied nor different",
         equal_values_in_two_types_are_told_apart),
    TEST("NaN and zeros of either sign are handled as documented", nan_is_handled_as_documented),
    TEST("the number of threads does not change the answer", threads_do_not_change_the_answer),
    TEST("the experiment never writes the file", the_file_is_never_written),
    TEST("comparing can be stopped", comparing_can_be_stopped),
    TEST("the experiment needs no map", the_experiment_needs_no_map),
    TEST("a file that changed is not experimented on", a_file_that_changed_is_not_experimented_on),
    TEST("types without numbers are compared by their bits",
         types_without_numbers_are_compared_by_their_bits),
    TEST("empty tables have nothing to change", empty_tables_have_nothing_to_change),
    TEST("a file that shrank is told", a_file_that_shrank_is_told),
    TEST("running out of memory is told", out_of_memory_is_told),
    TEST("verdicts have names", verdicts_have_names),
};
TEST_MAIN(tests)
