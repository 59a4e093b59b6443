/* wte check as a whole: it writes nothing, its findings depend on neither threads nor types, every
 * failing allocation is told, and it can be stopped. */
#include "check_models.h"

#define V 200u

/* A table with a fault of most kinds. */
static float *faulty_table(void)
{
    float *table = trained_table(V, DIM, 1);
    fill_row(ROW(table, 3), 0);
    fill_row(ROW(table, 4), 0.5f);
    ROW(table, 5)[7] = NAN;
    ROW(table, 6)[7] = 1e6f;
    for (size_t i = 0; i < DIM; i++) {
        ROW(table, 9)[i] = ROW(table, 8)[i];
        ROW(table, 11)[i] = 3 * ROW(table, 10)[i];
        ROW(table, 12)[i] *= 1e-6f;
    }
    return table;
}
#define FAULTY                                                                                     \
    "rows-nonfinite narrow-f16 padding-sampled rows-constant rows-duplicate rows-near-zero rows-zero"

static void d3_the_model_is_left_byte_for_byte(void **state)
{
    (void)state;
    float *table = faulty_table();
    const char *dir = tied_model(table, V, 190, "");
    char before[100], after[100], command[300];
    snprintf(command, sizeof command,
             "cd %s && cat * | cksum && ls -l --time-style=full-iso | cksum", dir);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    assert_int_equal(fread(before, 1, sizeof before, f) > 5, 1);
    pclose(f);
    wte_check *c = check_model(dir);
    assert_faults(c, FAULTY);
    wte_check_free(c);
    f = popen(command, "r");
    assert_non_null(f);
    assert_int_equal(fread(after, 1, sizeof after, f) > 5, 1);
    pclose(f);
    assert_memory_equal(before, after, 20);
    test_scratch_remove(dir);
    free(table);
}

static void assert_equal_reports(const wte_check *a, const wte_check *b)
{
    const wte_finding *f, *g;
    assert_int_equal(wte_check_n_findings(a), wte_check_n_findings(b));
    for (uint64_t i = 0; (f = wte_check_finding(a, i)) && (g = wte_check_finding(b, i)); i++) {
        assert_string_equal(f->code, g->code);
        assert_string_equal(f->fact, g->fact);
        assert_memory_equal(f->ids, g->ids, sizeof f->ids);
    }
    for (uint64_t i = 0; wte_check_glitch(a, i); i++) {
        assert_int_equal(wte_check_glitch(a, i)->id, wte_check_glitch(b, i)->id);
        assert_true(wte_check_glitch(a, i)->indicator == wte_check_glitch(b, i)->indicator);
    }
    assert_memory_equal(wte_check_facts_of(a), wte_check_facts_of(b), sizeof(wte_check_facts));
}

static void threads_and_types_do_not_change_the_findings(void **state)
{
    (void)state;
    const uint64_t rows = 6000; /* several blocks */
    float *table = trained_table(rows, DIM, 4);
    memcpy(ROW(table, 5000), ROW(table, 17), DIM * sizeof(float));
    for (size_t i = 0; i < DIM; i++) ROW(table, 5500)[i] = 2 * ROW(table, 9)[i];
    fill_row(ROW(table, 3333), 0);
    const char *dir = tied_model(table, rows, rows, "");
    wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
    opt.glitch = 20;
    wte_check *one = check_with(dir, &opt);
    assert_faults(one, "rows-duplicate rows-zero");
    for (uint32_t threads = 2; threads <= 5; threads++) {
        wte_error err;
        assert_ok(wte_pool_create(threads, &opt.pool, &err), err);
        wte_check *many = check_with(dir, &opt);
        assert_equal_reports(one, many);
        wte_check_free(many);
        wte_pool_free(opt.pool);
    }
    test_scratch_remove(dir);
    /* the same numbers as f64 go another way */
    double *wide = malloc((size_t)rows * DIM * sizeof *wide);
    assert_non_null(wide);
    for (size_t i = 0; i < rows * DIM; i++) wide[i] = (double)table[i];
    const stored t = { EMBED, "F64", rows, DIM, wide, 8 };
    dir = make_model(LLAMA(",\"vocab_size\":6000,\"tie_word_embeddings\":true"), &t, 1);
    write_tokenizer(dir, rows, "");
    opt.pool = NULL;
    wte_check *f64 = check_with(dir, &opt);
    assert_faults(f64, "rows-duplicate rows-zero");
    assert_finding(f64, "rows-duplicate", EMBED, 2, 17, "2 of 6000 rows", "python3");
    assert_int_equal(wte_check_facts_of(f64)->n_near_duplicates,
                     wte_check_facts_of(one)->n_near_duplicates);
    wte_check_free(f64);
    wte_check_free(one);
    test_scratch_remove(dir);
    free(table);
    free(wide);
}

static void every_allocation_that_fails_is_told(void **state)
{
    (void)state;
    float *table = faulty_table(), *head = trained_table(V, DIM, 8);
    const stored t[] = { table_of(EMBED, V, DIM, table), table_of(HEAD, V, DIM, head) };
    const char *dir = make_model(LLAMA(",\"vocab_size\":199,\"tie_word_embeddings\":true"), t, 2);
    write_tokenizer(dir, 190, SPECIAL(210, "<far>"));
    wte_model *m = open_model(dir);
    bool done = false;
    for (size_t i = 0; !done && i < 500; i++) {
        test_memory memory;
        wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
        wte_check *c = NULL;
        wte_error err = { 0 };
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        opt.glitch = 5;
        const wte_status status = wte_model_check(m, &opt, &c, &err);
        done = status == WTE_OK;
        if (!done) {
            assert_int_equal(status, WTE_E_MEMORY);
            assert_int_equal(err.status, WTE_E_MEMORY);
            assert_null(c);
        }
        wte_check_free(c);
        assert_int_equal(memory.live, 0);
        if (done) assert_true(i == memory.calls && i > 25); /* every one counted */
    }
    assert_true(done);
    wte_model_free(m);
    test_scratch_remove(dir);
    free(table);
    free(head);
}

static bool stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
    uint64_t *calls = ctx;
    assert_true(done <= total);
    ++*calls;
    return false;
}

static void a_check_can_be_stopped(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    const char *dir = tied_model(table, V, V, "");
    wte_model *m = open_model(dir);
    uint64_t calls = 0;
    const wte_progress progress = { stop_at_once, &calls };
    wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
    wte_check *c = (wte_check *)&opt;
    wte_error err;
    opt.progress = &progress;
    assert_fails(wte_model_check(m, &opt, &c, &err), err, WTE_E_CANCELLED, V, "stopped after 200");
    assert_null(c);
    assert_int_equal(calls, 1);
    wte_model_free(m);
    test_scratch_remove(dir);
    free(table);
}

static const struct CMUnitTest tests[] = {
    TEST("D3: the model is left byte for byte", d3_the_model_is_left_byte_for_byte),
    TEST("threads and wider types do not change the findings",
         threads_and_types_do_not_change_the_findings),
    TEST("every allocation that fails is told, and nothing leaks",
         every_allocation_that_fails_is_told),
    TEST("a check can be stopped", a_check_can_be_stopped),
};
TEST_MAIN(tests)
