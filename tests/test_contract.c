/* What the public headers promise for all functions alike: NULL, errors, options of another age,
 * counts of zero. Written from the headers alone. */
#include <wte/all.h>

#include "test.h"

/* One of everything. */
static wte_model *demo;
static const wte_model_table *demo_table;
static wte_vocab *vocab;
static wte_file *file;

static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[2,2],\"data_offsets\":[0,4]}}";
static unsigned char bytes[8 + sizeof header - 1 + 4];

static int make_all(void **state)
{
    (void)state;
    wte_error err;
    bytes[0] = (unsigned char)(sizeof header - 1);
    memcpy(bytes + 8, header, sizeof header - 1);
    assert_ok(wte_model_open("demo", NULL, &demo, &err), err);
    assert_ok(wte_model_input(demo, &demo_table, &err), err);
    assert_ok(wte_vocab_open_memory("a\nb\n", 4, "v", WTE_VOCAB_TXT, NULL, &vocab, &err), err);
    assert_ok(wte_file_open_memory(bytes, sizeof bytes, "f", NULL, &file, &err), err);
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    wte_model_free(demo);
    wte_vocab_free(vocab);
    wte_file_free(file);
    return 0;
}

#define NEEDS(call) assert_fails(call, err, WTE_E_ARGUMENT, WTE_NO_INDEX, "NULL")

static void a_pointer_that_is_needed_must_be_there(void **state)
{
    (void)state;
    wte_error err;
    wte_tensor tensor;
    wte_storage storage;
    wte_disk_usage account;
    wte_row_source rows;
    wte_tie tie;
    wte_diagnosis found;
    uint64_t i;
    const int64_t id = 3;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    const float numbers[3] = { 0 };
    const wte_observed got = { numbers, WTE_F32, 0, 1, 3, NULL };
    NEEDS(wte_pool_create(1, NULL, &err));
    NEEDS(wte_writer_create("x", NULL, &err));
    NEEDS(wte_writer_write(NULL, "x", 1, &err));
    NEEDS(wte_writer_commit(NULL, &err));
    NEEDS(wte_check_rows(NULL, &err));
    NEEDS(wte_row_source_read(NULL, 0, bytes, &err));
    NEEDS(wte_row_source_read_block(NULL, 0, 1, bytes, &err));
    NEEDS(wte_table_create(1, 1, WTE_F32, NULL, NULL, &err));
    NEEDS(wte_table_wrap(&demo_table->source, NULL, NULL, &err));
    NEEDS(wte_file_open("x", NULL, NULL, &err));
    NEEDS(wte_file_open_memory(bytes, sizeof bytes, "f", NULL, NULL, &err));
    NEEDS(wte_file_tensor(NULL, 0, &tensor, &err));
    NEEDS(wte_file_tensor(file, 0, NULL, &err));
    NEEDS(wte_file_unlisted_tensor(NULL, 0, &tensor, &err));
    NEEDS(wte_file_storage(NULL, 0, &storage, &err));
    NEEDS(wte_file_storage(file, 0, NULL, &err));
    NEEDS(wte_file_disk_usage(NULL, NULL, NULL, NULL, &account, &err));
    NEEDS(wte_file_disk_usage(file, NULL, NULL, NULL, NULL, &err));
    NEEDS(wte_file_find(file, NULL, 1, &i, &err));
    NEEDS(wte_file_find(file, "a", 1, NULL, &err));
    NEEDS(wte_file_find(NULL, "a", 1, &i, &err));
    NEEDS(wte_file_row_source(file, 0, NULL, &err));
    NEEDS(wte_file_row_source(NULL, 0, &rows, &err));
    NEEDS(wte_file_read(file, 0, 0, NULL, 1, &err));
    NEEDS(wte_vocab_open("x", NULL, NULL, &err));
    NEEDS(wte_vocab_open_memory("a\n", 2, "v", WTE_VOCAB_TXT, NULL, NULL, &err));
    NEEDS(wte_vocab_find(vocab, "a", 1, NULL, NULL, &err));
    NEEDS(wte_vocab_find(vocab, NULL, 1, &i, NULL, &err));
    NEEDS(wte_vocab_find(NULL, "a", 1, &i, NULL, &err));
    NEEDS(wte_model_open("demo", NULL, NULL, &err));
    NEEDS(wte_model_input(NULL, &demo_table, &err));
    NEEDS(wte_model_input(demo, NULL, &err));
    assert_ok(wte_model_input(demo, &demo_table, &err), err);
    NEEDS(wte_model_row(demo, 0, NULL, &err));
    NEEDS(wte_model_row(NULL, 0, &i, &err));
    NEEDS(wte_model_tie(demo, NULL, NULL, &err));
    NEEDS(wte_model_tie(NULL, NULL, &tie, &err));
    NEEDS(wte_model_trace(demo, 0, NULL, NULL, &err));
    NEEDS(wte_trace_row(&demo_table->source, 0, NULL, NULL, &err));
    NEEDS(wte_model_diagnose(demo, ids, NULL, NULL, &found, &err));
    NEEDS(wte_model_diagnose(demo, ids, &got, NULL, NULL, &err));
    NEEDS(wte_model_diagnose(NULL, ids, &got, NULL, &found, &err));
    NEEDS(wte_diagnose_rows(NULL, ids, &got, NULL, &found, &err));
}

/* The handle behind `out` is NULL after a failure, also when another argument was at fault. */
static void a_failure_leaves_no_handle(void **state)
{
    (void)state;
    wte_error err;
    const wte_row_source broken = { .rows = 2, .cols = 2, .dtype = WTE_F32, .row_bytes = 8 };
    void *const junk = &err;
    wte_pool *pool = junk;
    wte_writer *writer = junk;
    wte_table *table = junk;
    wte_file *f = junk;
    wte_vocab *v = junk;
    wte_model *m = junk;
    wte_trace *trace = junk;
    assert_fails(wte_pool_create(257, &pool, &err), err, WTE_E_LIMIT, WTE_NO_INDEX, "257");
    assert_null(pool);
    NEEDS(wte_file_open(NULL, NULL, &f, &err));
    assert_null(f);
    assert_int_equal(wte_writer_create("", &writer, &err), WTE_E_ARGUMENT);
    assert_null(writer);
    assert_int_equal(wte_table_create(1, 1, WTE_F4, NULL, &table, &err), WTE_E_UNSUPPORTED);
    assert_null(table);
    table = junk;
    assert_int_equal(wte_table_wrap(&broken, NULL, &table, &err), WTE_E_ARGUMENT);
    assert_null(table);
    f = junk;
    assert_int_equal(wte_file_open_memory("GGUF1234", 8, "f", NULL, &f, &err), WTE_E_UNSUPPORTED);
    assert_null(f);
    NEEDS(wte_vocab_open(NULL, NULL, &v, &err));
    assert_null(v);
    v = junk;
    NEEDS(wte_vocab_open_memory("a\n", 2, NULL, WTE_VOCAB_TXT, NULL, &v, &err));
    assert_null(v);
    NEEDS(wte_model_open(NULL, NULL, &m, &err));
    assert_null(m);
    m = junk;
    assert_fails(wte_model_open("", NULL, &m, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "empty");
    assert_null(m);
    NEEDS(wte_model_trace(NULL, 0, NULL, &trace, &err));
    assert_null(trace);
    trace = junk;
    assert_fails(wte_model_trace(demo, 6, NULL, &trace, &err), err, WTE_E_RANGE, 6, "0..5");
    assert_null(trace);
    trace = junk;
    assert_fails(wte_trace_row(&demo_table->source, 6, NULL, &trace, &err), err, WTE_E_RANGE, 6,
                 "6 rows");
    assert_null(trace);
}

static void nobody_needs_to_listen_to_errors(void **state)
{
    (void)state;
    wte_model *m;
    wte_file *f;
    wte_vocab *v;
    wte_trace *t;
    wte_tensor tensor;
    uint64_t i;
    const int64_t id = 6;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    float row[3];
    assert_int_equal(wte_model_open("no such model", NULL, &m, NULL), WTE_E_IO);
    assert_int_equal(wte_file_open("no such file", NULL, &f, NULL), WTE_E_IO);
    assert_int_equal(wte_vocab_open("no such file", NULL, &v, NULL), WTE_E_IO);
    assert_int_equal(wte_model_row(demo, 6, &i, NULL), WTE_E_RANGE);
    assert_int_equal(wte_model_trace(demo, 6, NULL, &t, NULL), WTE_E_RANGE);
    assert_int_equal(wte_file_tensor(file, 1, &tensor, NULL), WTE_E_RANGE);
    assert_int_equal(wte_file_find(file, "b", 1, &i, NULL), WTE_E_NOT_FOUND);
    assert_int_equal(wte_vocab_find(vocab, "c", 1, &i, NULL, NULL), WTE_E_NOT_FOUND);
    assert_int_equal(wte_lookup(&demo_table->source, ids, NULL, row, 0, NULL), WTE_E_RANGE);
    assert_int_equal(wte_convert(WTE_F32, NULL, WTE_F16, NULL, 1, NULL, NULL), WTE_E_ARGUMENT);
}

static void success_leaves_the_error_alone(void **state)
{
    (void)state;
    wte_error err, before;
    wte_model *m;
    wte_tie tie;
    wte_trace *t;
    const wte_model_table *table;
    uint64_t i;
    float row[3];
    const int64_t id = 3;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    memset(&err, 0x5a, sizeof err);
    before = err;
    assert_ok(wte_model_open("demo", NULL, &m, &err), err);
    assert_ok(wte_model_input(m, &table, &err), err);
    assert_ok(wte_model_tie(m, NULL, &tie, &err), err);
    assert_ok(wte_model_trace(m, 3, NULL, &t, &err), err);
    assert_ok(wte_lookup(&table->source, ids, NULL, row, 0, &err), err);
    assert_ok(wte_file_find(file, "a", 1, &i, &err), err);
    assert_ok(wte_vocab_find(vocab, "b", 1, &i, NULL, &err), err);
    wte_trace_free(t);
    wte_model_free(m);
    assert_memory_equal(&err, &before, sizeof err);
    assert_int_equal(sizeof err, 256); /* frozen */
}

/* Options ---------------------------------------------------------------------------------------
 */

static wte_status use_table(const void *opt, wte_error *err)
{
    wte_table *t;
    wte_status status = wte_table_create(1, 1, WTE_F32, opt, &t, err);
    wte_table_free(t);
    return status;
}
static wte_status use_init(const void *opt, wte_error *err)
{
    wte_table *t;
    if (wte_table_create(2, 2, WTE_F32, NULL, &t, err) != WTE_OK) return WTE_E_MEMORY;
    wte_status status = wte_table_init(t, opt, err);
    wte_table_free(t);
    return status;
}
static wte_status use_lookup(const void *opt, wte_error *err)
{
    const uint16_t id = 3;
    const wte_ids ids = { &id, WTE_U16, 0, 1 };
    float row[3];
    return wte_lookup(&demo_table->source, ids, opt, row, 0, err);
}
static wte_status use_file(const void *opt, wte_error *err)
{
    wte_file *f;
    wte_status status = wte_file_open_memory(bytes, sizeof bytes, "f", opt, &f, err);
    wte_file_free(f);
    return status;
}
static wte_status use_vocab(const void *opt, wte_error *err)
{
    wte_vocab *v;
    wte_status status = wte_vocab_open_memory("a\n", 2, "v", WTE_VOCAB_TXT, opt, &v, err);
    wte_vocab_free(v);
    return status;
}
static wte_status use_model(const void *opt, wte_error *err)
{
    wte_model *m;
    wte_status status = wte_model_open("demo", opt, &m, err);
    wte_model_free(m);
    return status;
}
static wte_status use_tie(const void *opt, wte_error *err)
{
    wte_tie tie;
    return wte_model_tie(demo, opt, &tie, err);
}
static wte_status use_trace(const void *opt, wte_error *err)
{
    wte_trace *t;
    wte_status status = wte_model_trace(demo, 0, opt, &t, err);
    wte_trace_free(t);
    return status;
}
static wte_status use_rows_trace(const void *opt, wte_error *err)
{
    wte_trace *t;
    wte_status status = wte_trace_row(&demo_table->source, 0, opt, &t, err);
    wte_trace_free(t);
    return status;
}
static wte_status use_diagnose(const void *opt, wte_error *err)
{
    wte_diagnosis found;
    const int64_t id = 0;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    const wte_observed got = { demo_table->source.data, WTE_F32, 0, 1, 3, NULL };
    wte_status status = wte_model_diagnose(demo, ids, &got, opt, &found, err);
    return status != WTE_OK ? status
                            : wte_diagnose_rows(&demo_table->source, ids, &got, opt, &found, err);
}

/* Structs that take options, in the size that this program was compiled with and in others. */
static const struct {
    const char *name;
    wte_status (*use)(const void *opt, wte_error *err);
    size_t size;
} takers[] = {
    { "table", use_table, sizeof(wte_table_options) },
    { "init", use_init, sizeof(wte_init_options) },
    { "lookup", use_lookup, sizeof(wte_lookup_options) },
    { "file", use_file, sizeof(wte_file_options) },
    { "vocab", use_vocab, sizeof(wte_vocab_options) },
    { "model", use_model, sizeof(wte_model_options) },
    { "tie", use_tie, sizeof(wte_tie_options) },
    { "trace", use_trace, sizeof(wte_trace_options) },
    { "rows trace", use_rows_trace, sizeof(wte_trace_options) },
    { "diagnose", use_diagnose, sizeof(wte_diagnose_options) },
};

static void options_of_every_kind_may_be_older_or_newer(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof takers / sizeof takers[0]; k++) {
        union {
            size_t struct_size;
            unsigned char bytes[512];
        } opt;
        wte_error err = { 0 };
        const size_t now = takers[k].size;
        assert_true(now + 16 < sizeof opt);
        for (size_t size = 0; size <= now + 16; size += 8) {
            memset(&opt, 0, sizeof opt);
            memset(opt.bytes + size, 0xff, sizeof opt - size); /* not ours: must not be read */
            opt.struct_size = size;
            wte_status status = takers[k].use(&opt, &err);
            if (status != (size < 8 ? WTE_E_ARGUMENT : WTE_OK))
                fail_msg("%s options of %zu bytes (now %zu): %s", takers[k].name, size, now,
                         err.message);
        }
        memset(&opt, 0, sizeof opt);
        opt.struct_size = now + 16;
        opt.bytes[now + 15] = 1;
        assert_fails(takers[k].use(&opt, &err), err, WTE_E_UNSUPPORTED, now + 15, "options");
        assert_ok(takers[k].use(NULL, &err), err);
    }
}

/* Nothing ---------------------------------------------------------------------------------------
 */

static void no_ids_are_a_lookup_of_nothing(void **state)
{
    (void)state;
    wte_error err;
    wte_bad_ids report;
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    const wte_ids none = { NULL, WTE_I32, 0, 0 };
    const wte_observed got = { NULL, WTE_F32, 0, 0, 3, NULL };
    wte_diagnosis_summary sum;
    memset(&report, 0xff, sizeof report);
    opt.report = &report;
    assert_ok(wte_lookup(&demo_table->source, none, &opt, NULL, 0, &err), err);
    assert_int_equal(report.count, 0);
    assert_int_equal(report.ignored, 0);
    assert_int_equal(report.n_first, 0);
    assert_ok(wte_model_diagnose(demo, none, &got, NULL, NULL, &err), err);
    wte_diagnosis_summarize(NULL, 0, &sum);
    assert_int_equal(sum.n, 0);
    assert_int_equal(sum.first_bad, WTE_NO_INDEX);
    assert_false(sum.off_by);
    assert_ok(wte_convert(WTE_F64, NULL, WTE_F16, NULL, 0, NULL, &err), err);
    assert_ok(wte_file_read(file, 0, 4, NULL, 0, &err), err);
}

/* Rows may be further apart than they are long: what lies between is the caller's. */
static void gaps_between_rows_are_left_alone(void **state)
{
    (void)state;
    wte_error err;
    const uint32_t id[2] = { 3, 9 };
    const wte_ids ids = { id, WTE_U32, 0, 2 };
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    unsigned char out[2][24];
    memset(out, 0xaa, sizeof out);
    assert_fails(wte_lookup(&demo_table->source, ids, NULL, out, 24, &err), err, WTE_E_RANGE, 1,
                 "9");
    for (size_t i = 0; i < sizeof out; i++) assert_int_equal(((unsigned char *)out)[i], 0xaa);
    opt.bad_ids = WTE_BAD_ID_ZERO;
    assert_ok(wte_lookup(&demo_table->source, ids, &opt, out, 24, &err), err);
    const unsigned char zeros[12] = { 0 };
    assert_memory_equal(out[0], (const char *)demo_table->source.data + 36, 12);
    assert_memory_equal(out[1], zeros, 12);
    for (size_t i = 12; i < 24; i++) {
        assert_int_equal(out[0][i], 0xaa);
        assert_int_equal(out[1][i], 0xaa);
    }
}

static void texts_are_never_null(void **state)
{
    (void)state;
    char buf[64], tiny[4];
    for (int i = -2; i < 40; i++) {
        assert_non_null(wte_status_text((wte_status)i));
        assert_non_null(wte_dtype_name((wte_dtype)i));
        assert_non_null(wte_format_name((wte_format)i));
        assert_non_null(wte_tie_name((wte_tie_verdict)i));
        assert_non_null(wte_label_name((wte_label)i));
    }
    assert_string_equal(wte_ordinal(11, buf, sizeof buf), "11th");
    assert_string_equal(wte_ordinal(112, buf, sizeof buf), "112th");
    assert_string_equal(wte_ordinal(121, buf, sizeof buf), "121st");
    assert_string_equal(wte_ordinal(UINT64_MAX, buf, sizeof buf), "18446744073709551615th");
    assert_string_equal(wte_ordinal(1000, tiny, sizeof tiny), "100"); /* cut, and ended */
    const char *kernel = NULL;
    size_t n = 0;
    while (wte_kernel_isa(n, &kernel)) n++;
    assert_true(n > 0);
    assert_null(wte_kernel_isa(n, NULL));
    assert_null(wte_kernel_isa(SIZE_MAX, NULL));
}

static void handles_answer_past_their_end(void **state)
{
    (void)state;
    uint64_t n = 7;
    char buf[4] = "zzz";
    const char *value = buf;
    assert_null(wte_model_file(demo));
    assert_null(wte_model_vocab(demo));
    assert_string_equal(wte_model_vocab_problem(demo), "");
    assert_null(wte_model_head(demo));
    assert_null(wte_model_candidate(demo, wte_model_n_candidates(demo)));
    assert_int_equal(demo_table->tensor, WTE_NO_INDEX);
    assert_int_equal(demo_table->offset, WTE_NO_INDEX);
    assert_string_equal(demo_table->name, "demo");
    assert_int_equal(wte_vocab_kind(vocab, 2), WTE_TOKEN_NONE);
    assert_null(wte_vocab_raw_text(vocab, UINT64_MAX, &n));
    assert_int_equal(n, 0);
    assert_non_null(wte_vocab_raw_text(vocab, 1, NULL));
    assert_int_equal(wte_vocab_text(vocab, 2, buf, 4), 0);
    assert_int_equal(wte_vocab_text(vocab, 1, NULL, 4), 1); /* bytes needed */
    assert_string_equal(buf, "zzz");
    assert_null(wte_file_metadata(file, 0, &value));
    assert_null(wte_file_shard_path(file, 1));
    assert_int_equal(wte_file_n_unlisted_tensors(file), 0);
    assert_int_equal(wte_pool_n_threads(NULL), 1);
    wte_pool_free(NULL);
    wte_writer_free(NULL);
    wte_table_free(NULL);
    wte_file_free(NULL);
    wte_vocab_free(NULL);
    wte_model_free(NULL);
    wte_trace_free(NULL);
}

static const struct CMUnitTest tests[] = {
    TEST("a pointer that is needed must be there", a_pointer_that_is_needed_must_be_there),
    TEST("a failure leaves no handle", a_failure_leaves_no_handle),
    TEST("nobody needs to listen to errors", nobody_needs_to_listen_to_errors),
    TEST("success leaves the error alone", success_leaves_the_error_alone),
    TEST("options of every kind may be older or newer",
         options_of_every_kind_may_be_older_or_newer),
    TEST("no ids are a lookup of nothing", no_ids_are_a_lookup_of_nothing),
    TEST("gaps between rows are left alone", gaps_between_rows_are_left_alone),
    TEST("texts are never NULL", texts_are_never_null),
    TEST("handles answer past their end", handles_answer_past_their_end),
};

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, make_all, free_all);
}
