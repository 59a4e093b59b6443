/* wte check: what stands in the rows. One small table for each fault, made as the reports of the
 * fault describe it (letters and numbers as in docs/check.md). */
#include "check_models.h"

#include <wte/dtype.h>

#define V 200u
static wte_check *check_table(const float *table, uint64_t rows, uint64_t tokens, const char *added)
{
    const char *dir = tied_model(table, rows, tokens, added);
    wte_check *c = check_model(dir);
    test_scratch_remove(dir);
    return c;
}

/* Padding -------------------------------------------------------------------------------------- */

static void b4_a_padding_row_that_can_win_is_told(void **state)
{
    (void)state;
    float *table = trained_table(12, DIM, 1);
    fill_row(ROW(table, 9), 0);
    fill_row(ROW(table, 10), 0);
    for (size_t i = 0; i < DIM; i++) ROW(table, 11)[i] = 10 * table[i];
    wte_check *c = check_table(table, 12, 9, "");
    assert_faults(c, "padding-sampled");
    assert_finding(c, "padding-sampled", EMBED, 1, 11,
                   "1 head row without a token is at least half",
                   "suppress_tokens = sorted(set(range(12)) - set(v.values()))");
    assert_finding(c, "padding-rows", EMBED, 3, 9,
                   "3 of 12 rows have no token (3 beyond the last "
                   "one): 2 zero, 1 longer than trained rows",
                   "");
    wte_check_free(c);
    free(table);
}

/* Without a config.json repairs of the table are made in the file; this one is of the model. */
static void what_is_drawn_is_no_matter_of_the_file(void **state)
{
    (void)state;
    float *table = trained_table(12, DIM, 1), *head = trained_table(12, DIM, 2);
    for (size_t i = 0; i < DIM; i++) ROW(head, 11)[i] = 10 * head[i];
    const stored t[] = { table_of(EMBED, 12, DIM, table),
                         table_of("lm_head.weight", 12, DIM, head) };
    const char *dir = make_model(NULL, t, 2);
    write_tokenizer(dir, 9, "");
    wte_check *c = check_model(dir);
    const wte_finding *f = finding(c, "padding-sampled");
    assert_non_null(f);
    assert_non_null(strstr(f->repair, "m.generation_config.suppress_tokens"));
    assert_non_null(strstr(f->repair, ".from_pretrained("));
    assert_null(strstr(f->repair, "safetensors"));
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
    free(head);
}

static void b12_padding_rows_are_proved_to_be_padding(void **state)
{
    (void)state;
    float *table = trained_table(64, DIM, 1);
    for (size_t r = 50; r < 64; r++) fill_row(ROW(table, r), 0);
    wte_check *c = check_table(table, 64, 50, "");
    assert_faults(c, "");
    assert_finding(c, "padding-rows", EMBED, 14, 50,
                   "14 of 64 rows have no token (14 beyond the "
                   "last one): 14 zero",
                   "");
    wte_check_free(c);
    trained_rows(ROW(table, 60), 1, DIM, 77);
    for (size_t i = 0; i < DIM; i++) ROW(table, 60)[i] *= 0.05f;
    c = check_table(table, 64, 50, "");
    assert_faults(c, "");
    assert_finding(c, "padding-rows", EMBED, 14, 50, ": 13 zero, 1 noise", "");
    wte_check_free(c);
    free(table);
}

static void trained_rows_beyond_a_tokenizer_say_that_it_is_cut_short(void **state)
{
    (void)state;
    float *table = trained_table(2000, DIM, 1);
    wte_check *c = check_table(table, 2000, 900, "");
    assert_faults(c, "vocab-truncated");
    assert_finding(c, "vocab-truncated", EMBED, 1100, 900,
                   "the tokenizer ends at id 899, the table at 1999:", "--force-download");
    wte_check_free(c);
    free(table);
}

/* Broken rows ---------------------------------------------------------------------------------- */

static void c8_a_table_of_one_value_names_its_loss(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    for (int i = 0; i < 2; i++) {
        for (size_t r = 0; r < V; r++) fill_row(ROW(table, r), i ? 0.25f : 0.0f);
        wte_check *c = check_table(table, V, V, "");
        assert_faults(c, "table-constant");
        assert_finding(c, "table-constant", EMBED, 0, 0,
                       i ? "all 200 x 64 numbers are of magnitude 0.25; ln(rows) = 5.2983"
                         : "all 200 x 64 numbers are 0; ln(rows) = 5.2983",
                       "--force-download");
        wte_check_free(c);
    }
    free(table);
}

static void d2_negative_rows_are_not_taken_for_zero(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    for (size_t i = 0; i < DIM; i++) ROW(table, 7)[i] = -fabsf(ROW(table, 7)[i]) - 0.01f;
    wte_check *c = check_table(table, V, V, "");
    assert_faults(c, "");
    wte_check_free(c);
    fill_row(ROW(table, 7), -0.3f);
    c = check_table(table, V, V, "");
    assert_faults(c, "rows-constant");
    assert_finding(c, "rows-constant", EMBED, 1, 7, "1 of 200 rows is of one number throughout",
                   "z = w.std(1) == 0");
    assert_int_equal(wte_check_facts_of(c)->n_zero, 0);
    assert_int_equal(wte_check_facts_of(c)->n_constant, 1);
    wte_check_free(c);
    free(table);
}

static void zero_and_almost_zero_rows_are_told_apart(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    fill_row(ROW(table, 3), 0);
    fill_row(ROW(table, 9), 0);
    ROW(table, 9)[5] = -0.0f;
    for (size_t i = 0; i < DIM; i++) ROW(table, 20)[i] *= 1e-25f;
    wte_check *c = check_table(table, V, V, "");
    assert_faults(c, "rows-near-zero rows-zero");
    assert_finding(c, "rows-zero", EMBED, 2, 3, "2 of 200 rows are zero", "z = n == 0");
    assert_finding(c, "rows-near-zero", EMBED, 1, 20, "1 of 200 rows is almost zero beside",
                   "n < 1e-3 * n.median()");
    assert_int_equal(finding(c, "rows-zero")->ids[1], 9);
    wte_check_free(c);
    free(table);
}

static void d7_numbers_that_are_none_are_counted(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    ROW(table, 0)[0] = NAN;
    ROW(table, 50)[63] = -INFINITY;
    ROW(table, 50)[2] = INFINITY;
    ROW(table, 199)[10] = NAN;
    wte_check *c = check_table(table, V, V, "");
    assert_faults(c, "rows-nonfinite");
    assert_finding(c, "rows-nonfinite", EMBED, 3, 0,
                   "3 of 200 rows not finite: 2 with NaN (2 numbers; rows 0, 199), 1 with "
                   "infinities (2 numbers; row 50)",
                   "w.isfinite()");
    assert_int_equal(finding(c, "rows-nonfinite")->ids[2], 199);
    wte_check_free(c);
    free(table);
}

static void d8_numbers_beyond_f16_are_counted(void **state)
{
    (void)state;
    static uint16_t half[V * DIM];
    float *table = trained_table(V, DIM, 1);
    wte_error err;
    ROW(table, 4)[1] = 80000.0f;
    ROW(table, 6)[1] = -70000.0f;
    ROW(table, 6)[2] = 1e30f;
    ROW(table, 8)[2] = 65504.0f; /* the largest f16 */
    assert_ok(wte_convert(WTE_F32, table, WTE_BF16, half, (size_t)V * DIM, NULL, &err), err);
    half[8 * DIM + 2] = 0; /* bf16 has no 65504 */
    const stored t = { EMBED, "BF16", V, DIM, half, 2 };
    const char *dir = make_model(LLAMA(",\"vocab_size\":200,\"tie_word_embeddings\":true"), &t, 1);
    write_tokenizer(dir, V, "");
    wte_check *c = check_model(dir);
    assert_faults(c, "narrow-f16");
    assert_finding(c, "narrow-f16", EMBED, 0, 0,
                   "3 numbers of 2 rows are beyond 65504, the first in row 4",
                   "torch_dtype = \"bfloat16\"");
    assert_int_equal(wte_check_facts_of(c)->beyond_f16, 3);
    wte_check_free(c);
    test_scratch_remove(dir);
    ROW(table, 4)[1] = ROW(table, 6)[1] = ROW(table, 6)[2] = 0;
    c = check_table(table, V, V, "");
    assert_null(finding(c, "narrow-f16"));
    wte_check_free(c);
    free(table);
}

/* Tokens --------------------------------------------------------------------------------------- */

#define CHAT SPECIAL(5, "<|start|>") "," SPECIAL(6, "<|end|>") "," SPECIAL(7, "[unused1]")

static void d1_special_tokens_that_a_template_uses_must_be_trained(void **state)
{
    (void)state;
    static const char chat[] = "{% for m in messages %}{{ m }}<|end|>{% endfor %}";
    float *table = trained_table(V, DIM, 1);
    for (size_t r = 5; r < 8; r++) fill_row(ROW(table, r), 0);
    const char *dir = tied_model(table, V, 5, CHAT);
    wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
    /* the rest of the ids: ordinary tokens with rows of their own */
    test_scratch_remove(dir);
    char *added = malloc(30000);
    assert_non_null(added);
    size_t used = (size_t)snprintf(added, 30000, "%s", CHAT);
    for (unsigned i = 8; i < V; i++)
        used += (size_t)snprintf(added + used, 30000 - used,
                                 ",{\"id\":%u,\"content\":\"w%u\",\"special\":false}", i, i);
    dir = tied_model(table, V, 5, added);
    wte_check *c = check_model(dir);
    assert_faults(c, "specials-untrained");
    assert_finding(c, "specials-untrained", EMBED, 2, 5,
                   "2 of 194 special tokens have untrained rows: 2 zero", "w[[5, 6]] =");
    assert_finding(c, "reserved-untrained", EMBED, 1, 7, "1 of 1 reserved tokens", "");
    wte_check_free(c);
    opt.template_text = chat;
    opt.template_bytes = sizeof chat - 1;
    c = check_with(dir, &opt);
    assert_faults(c, "tokens-untrained specials-untrained");
    assert_finding(c, "tokens-untrained", EMBED, 1, 6, "1 of 1 wanted tokens have untrained rows",
                   "w[[6]] =");
    assert_finding(c, "specials-untrained", EMBED, 1, 5, "1 of 193 special", "w[[5]] =");
    wte_check_free(c);
    const uint64_t ids[] = { 7, 20, 30 };
    for (size_t i = 0; i < DIM; i++) ROW(table, 30)[i] *= 40;
    test_scratch_remove(dir);
    dir = tied_model(table, V, 5, added);
    opt.template_text = NULL;
    opt.tokens = ids;
    opt.n_tokens = 3;
    c = check_with(dir, &opt);
    assert_faults(c, "tokens-untrained specials-untrained");
    assert_finding(c, "tokens-untrained", EMBED, 2, 7,
                   "2 of 3 wanted tokens have untrained rows: 1 zero, 1 of a norm ten times off",
                   "w[[7]] =");
    assert_null(finding(c, "reserved-untrained"));
    wte_check_free(c);
    test_scratch_remove(dir);
    free(added);
    free(table);
}

static void d4_glitch_candidates_are_ranked_by_the_indicator_that_fits(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1), *head = trained_table(V, DIM, 2);
    float common[DIM];
    trained_rows(common, 1, DIM, 99);
    /* 198 and 199 have no token; 17 is an ordinary one; 195 special, 196 reserved */
    static const size_t near[] = { 199, 198, 17, 195, 196 };
    for (size_t i = 0; i < 5; i++)
        for (size_t c = 0; c < DIM; c++)
            ROW(table, near[i])[c] = common[c] + 0.03f * (float)i * ROW(table, near[i])[c];
    const char *dir =
        tied_model(table, V, 195,
                   SPECIAL(195, "<y>") "," SPECIAL(196, "<|reserved_1|>") "," SPECIAL(197, "<z>"));
    wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
    static const char *const only[] = { "glitch-candidates" };
    opt.glitch = 6;
    opt.only = only;
    opt.n_only = 1;
    wte_check *c = check_with(dir, &opt);
    assert_non_null(strstr(wte_check_glitch_indicator(c), "cosine distance"));
    unsigned seen = 0;
    for (uint64_t i = 0; i < 6; i++) {
        const wte_glitch *g = wte_check_glitch(c, i);
        assert_non_null(g);
        if (i) assert_true(g->indicator >= wte_check_glitch(c, i - 1)->indicator);
        if (g->id == 17 && g->token_class == WTE_CLASS_NORMAL) seen |= 1;
        if (g->id == 196 && g->token_class == WTE_CLASS_UNUSED) seen |= 2;
        if (g->id == 199 && g->token_class == WTE_CLASS_UNUSED) seen |= 4;
        if (g->id == 198) seen |= 8;
        if (g->id == 195 && g->token_class == WTE_CLASS_SPECIAL) seen |= 16;
        if (i == 4) assert_int_equal(seen, 31); /* the five first */
    }
    assert_null(wte_check_glitch(c, 6));
    assert_int_equal(finding(c, "glitch-candidates")->count, 6);
    wte_check_free(c);
    test_scratch_remove(dir);
    /* with a head of its own: the shortest rows */
    for (size_t i = 0; i < DIM; i++) ROW(table, 42)[i] *= 0.01f;
    const stored t[] = { table_of(EMBED, V, DIM, table), table_of(HEAD, V, DIM, head) };
    dir = make_model(LLAMA(",\"vocab_size\":200,\"tie_word_embeddings\":false"), t, 2);
    write_tokenizer(dir, V, "");
    c = check_with(dir, &opt);
    assert_string_equal(wte_check_glitch_indicator(c), "input norm");
    assert_int_equal(wte_check_glitch(c, 0)->id, 42);
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
    free(head);
}

/* Rows alike ----------------------------------------------------------------------------------- */

static void d5_copies_and_scaled_copies_are_found(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    memcpy(ROW(table, 60), ROW(table, 10), DIM * sizeof(float));
    memcpy(ROW(table, 61), ROW(table, 10), DIM * sizeof(float));
    for (size_t i = 0; i < DIM; i++) {
        ROW(table, 100)[i] = 2 * ROW(table, 99)[i];
        ROW(table, 101)[i] = 2 * ROW(table, 98)[i];
    }
    wte_check *c = check_table(table, V, V, "");
    assert_faults(c, "rows-duplicate");
    assert_finding(c, "rows-duplicate", EMBED, 3, 10,
                   "3 of 200 rows equal another one byte for byte, in 1 group; the first: row 10",
                   "normal_()");
    assert_finding(c, "rows-near-duplicate", EMBED, 4, 98,
                   "4 tokens in 2 groups whose cosine is at least 0.95", "");
    assert_int_equal(wte_check_facts_of(c)->n_duplicates, 2);
    assert_int_equal(wte_check_facts_of(c)->n_near_duplicates, 2);
    wte_check_free(c);
    free(table);
}

/* Which findings are asked for changes none of them: whether the head is this table, too, decides
 * what a repair loads. */
static void a_finding_alone_has_the_repair_that_it_has_among_others(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    memcpy(ROW(table, 60), ROW(table, 10), DIM * sizeof(float));
    const char *dir = tied_model(table, V, V, "");
    wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
    static const char *const only[] = { "rows-duplicate" };
    wte_check *all = check_model(dir);
    opt.only = only;
    opt.n_only = 1;
    wte_check *c = check_with(dir, &opt);
    const wte_finding *alone = finding(c, only[0]), *among = finding(all, only[0]);
    assert_non_null(alone);
    assert_non_null(among);
    assert_string_equal(alone->repair, among->repair);
    assert_non_null(strstr(alone->repair, "AutoModelForCausalLM"));
    wte_check_free(c);
    wte_check_free(all);
    test_scratch_remove(dir);
    free(table);
}

/* Rows of an array in column order are gathered, and so looked for with a rough copy. */
static void near_rows_are_the_same_whatever_the_order_of_an_array(void **state)
{
    (void)state;
    enum { HEADER = 128 };
    static char file[HEADER + V * DIM * sizeof(float)];
    float *table = trained_table(V, DIM, 1);
    for (size_t r = 40; r < 60; r++)
        for (size_t i = 0; i < DIM; i++)
            ROW(table, r)[i] = ROW(table, 40)[i] + 0.02f * (float)(r - 40) * ROW(table, r)[i];
    uint64_t near[2];
    for (int by_columns = 0; by_columns < 2; by_columns++) {
        memcpy(file, "\223NUMPY\1\0\166\0", 10);
        snprintf(file + 10, HEADER - 10, "%-117s",
                 by_columns ? "{'descr': '<f4', 'fortran_order': True, 'shape': (200, 64), }"
                            : "{'descr': '<f4', 'fortran_order': False, 'shape': (200, 64), }");
        file[HEADER - 1] = '\n';
        for (size_t r = 0; r < V; r++)
            for (size_t i = 0; i < DIM; i++)
                memcpy(file + HEADER + (by_columns ? i * V + r : r * DIM + i) * sizeof(float),
                       &ROW(table, r)[i], sizeof(float));
        const char *dir = test_scratch();
        test_write_file(in_folder(dir, "t.npy"), file, sizeof file);
        wte_check *c = check_model(dir);
        near[by_columns] = wte_check_facts_of(c)->n_near_duplicates;
        wte_check_free(c);
        test_scratch_remove(dir);
    }
    assert_true(near[0] > 5 && near[0] < 19); /* some are near, some no longer */
    assert_int_equal(near[0], near[1]);
    free(table);
}

static void rows_that_differ_in_signs_alone_are_not_equal(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    for (size_t i = 0; i < DIM; i++) {
        ROW(table, 5)[i] = -ROW(table, 4)[i]; /* equal marks, equal norms */
        ROW(table, 6)[i] = i % 2 ? ROW(table, 4)[i] : -ROW(table, 4)[i];
    }
    wte_check *c = check_table(table, V, V, "");
    assert_faults(c, "");
    assert_int_equal(wte_check_facts_of(c)->n_duplicates, 0);
    assert_int_equal(wte_check_facts_of(c)->n_near_duplicates, 0);
    wte_check_free(c);
    free(table);
}

static void rows_that_fall_onto_one_direction_are_told_with_their_share(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    for (size_t r = 40; r < 60; r++)
        for (size_t i = 0; i < DIM; i++)
            ROW(table, r)[i] = ROW(table, 40)[i] + (r > 40 ? 0.05f * ROW(table, r)[i] : 0);
    wte_check *c = check_table(table, V, V, "");
    assert_faults(c, "rows-collapsed");
    assert_finding(c, "rows-collapsed", EMBED, 20, 40, "20 of 200 tokens (10%) have one direction",
                   "--glitch 100");
    assert_int_equal(wte_check_facts_of(c)->n_near_duplicates, 19);
    wte_check_free(c);
    free(table);
}

static void rows_that_a_resize_set_to_the_mean_are_told(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    double mean[DIM] = { 0 };
    /* a common part, so that the mean is no noise */
    for (size_t r = 0; r < V - 3; r++)
        for (size_t i = 0; i < DIM; i++) {
            ROW(table, r)[i] += i % 2 ? 0.2f : -0.15f;
            mean[i] += (double)ROW(table, r)[i] / (V - 3);
        }
    for (size_t r = V - 3; r < V; r++)
        for (size_t i = 0; i < DIM; i++)
            ROW(table, r)[i] = (float)(mean[i] + 1e-4 * (double)ROW(table, r)[i]);
    wte_check *c = check_table(table, V, V, "");
    assert_faults(c, "");
    assert_finding(c, "rows-mean", EMBED, 3, V - 3, "3 of 200 rows are the mean of all rows", "");
    wte_check_free(c);
    free(table);
}

/* Initial values ------------------------------------------------------------------------------- */

static void tables_and_rows_of_fresh_layers_are_told_by_their_norms(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1), *wide = malloc(V * 1024 * sizeof *wide);
    uint64_t seed = 5;
    assert_non_null(wide);
    for (size_t i = 0; i < V * DIM; i++) table[i] = (float)(0.02 * check_normal(&seed));
    wte_check *c = check_table(table, V, V, "");
    assert_faults(c, "table-initial");
    assert_finding(c, "table-initial", EMBED, 0, 0, "N(0, 0.02) gives 0.16", "--force-download");
    wte_check_free(c);
    /* some rows of a trained table; 1024 columns, so that norms say something */
    trained_rows(wide, V, 1024, 3);
    for (size_t r = 30; r < 42; r++)
        for (size_t i = 0; i < 1024; i++) wide[r * 1024 + i] = (float)(0.02 * check_normal(&seed));
    const stored t = table_of("wte.weight", V, 1024, wide);
    const char *dir = make_model(NULL, &t, 1);
    write_tokenizer(dir, V, "");
    c = check_model(dir);
    assert_faults(c, "");
    assert_finding(c, "rows-initial", "wte.weight", 12, 30, "12 rows have the norm that N(0, 0.02)",
                   "");
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
    free(wide);
}

static void d6_the_padding_row_is_told_with_its_norm(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    const stored t = table_of(EMBED, V, DIM, table);
    for (int i = 0; i < 2; i++) {
        if (i) fill_row(ROW(table, 3), 0);
        const char *dir = make_model(
            LLAMA(",\"vocab_size\":200,\"pad_token_id\":3,\"tie_word_embeddings\":true"), &t, 1);
        write_tokenizer(dir, V, "");
        wte_check *c = check_model(dir);
        assert_faults(c, "");
        assert_finding(
            c, "pad-row", EMBED, 1, 3,
            i ? "the padding row 3 is zero" : "the padding row 3 is not zero: its norm is", "");
        wte_check_free(c);
        test_scratch_remove(dir);
    }
    wte_check *c = check_table(table, V, V, ""); /* no padding id is said: row 3 is a fault then */
    assert_null(finding(c, "pad-row"));
    assert_faults(c, "rows-zero");
    wte_check_free(c);
    free(table);
}

static const struct CMUnitTest tests[] = {
    TEST("B4: a padding row that can win a draw is told", b4_a_padding_row_that_can_win_is_told),
    TEST("what is drawn is no matter of the file", what_is_drawn_is_no_matter_of_the_file),
    TEST("B12: padding rows are proved to be padding, and what is none is told",
         b12_padding_rows_are_proved_to_be_padding),
    TEST("trained rows beyond a tokenizer say that it is cut short",
         trained_rows_beyond_a_tokenizer_say_that_it_is_cut_short),
    TEST("C8: a table of one value names the loss it leads to",
         c8_a_table_of_one_value_names_its_loss),
    TEST("D2: negative rows are not taken for zero", d2_negative_rows_are_not_taken_for_zero),
    TEST("zero rows and almost zero rows are told apart", zero_and_almost_zero_rows_are_told_apart),
    TEST("D7: numbers that are none are counted", d7_numbers_that_are_none_are_counted),
    TEST("D8: numbers beyond f16 are counted", d8_numbers_beyond_f16_are_counted),
    TEST("D1: special tokens that a template uses must be trained",
         d1_special_tokens_that_a_template_uses_must_be_trained),
    TEST("D4: glitch candidates are ranked by the indicator that fits",
         d4_glitch_candidates_are_ranked_by_the_indicator_that_fits),
    TEST("D5: copies and scaled copies are found", d5_copies_and_scaled_copies_are_found),
    TEST("a finding alone has the repair that it has among others",
         a_finding_alone_has_the_repair_that_it_has_among_others),
    TEST("near rows are the same whatever the order of an array",
         near_rows_are_the_same_whatever_the_order_of_an_array),
    TEST("rows that differ in signs alone are not equal",
         rows_that_differ_in_signs_alone_are_not_equal),
    TEST("D5: rows that fall onto one direction are told with their share",
         rows_that_fall_onto_one_direction_are_told_with_their_share),
    TEST("rows that a resize set to the mean are told",
         rows_that_a_resize_set_to_the_mean_are_told),
    TEST("tables and rows of fresh layers are told by their norms",
         tables_and_rows_of_fresh_layers_are_told_by_their_norms),
    TEST("D6: the padding row is told with its norm", d6_the_padding_row_is_told_with_its_norm),
};
TEST_MAIN(tests)
