/* Reading .npy: files that NumPy wrote, the grammar of the header, every fault. */
#include "format_npy.h"

typedef struct npy_fault {
    const char *rule;
    const char *text; /* of the header; '@' before the byte to be named */
    wte_status status;
    const char *message;
} npy_fault;

/* A file of version major.0 with that header and n bytes of data. */
static made_file make_npy(int major, const char *text, size_t data_bytes)
{
    const char *at = strchr(text, '@');
    const size_t n = strlen(text) - (at != NULL), lead = major == 1 ? 10 : 12;
    made_file f = { NULL, lead + n + data_bytes, at ? lead + (size_t)(at - text) : WTE_NO_INDEX };
    f.data = test_guarded((size_t)f.bytes);
    memset(f.data, 0, (size_t)f.bytes);
    memcpy(f.data, "\x93NUMPY", 6);
    f.data[6] = (uint8_t)major;
    f.data[8] = (uint8_t)n;
    f.data[9] = (uint8_t)(n >> 8);
    uint8_t *to = f.data + lead;
    for (const char *c = text; *c; c++)
        if (c != at) *to++ = (uint8_t)*c;
    return f;
}

static wte_status open_npy(const made_file *made, wte_file **f, wte_error *err)
{
    return wte_file_open_memory(made->data, made->bytes, "t.npy", NULL, f, err);
}

/* Row by row and as a block, a 2 x 3 array holds its golden values. */
static void check_2x3(const char *name, const struct npy_type *t, bool view)
{
    char path[64];
    wte_error err = { 0 };
    wte_file *f;
    wte_row_source rows;
    uint8_t want[6 * 8], got[6 * 8];
    const size_t row = 3 * (size_t)wte_dtype_bytes(t->type);
    snprintf(path, sizeof path, "npy/%s.npy", name);
    assert_ok(wte_file_open(test_data(path), NULL, &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_NPY);
    assert_int_equal(wte_file_n_tensors(f), 1);
    wte_tensor tensor = tensor_at(f, 0);
    assert_string_equal(tensor.name, "array");
    assert_int_equal(tensor.dtype, t->type);
    assert_int_equal(tensor.rank, 2);
    assert_int_equal(tensor.shape[0], 2);
    assert_int_equal(tensor.shape[1], 3);
    assert_int_equal(tensor.bytes, 2 * row);
    assert_int_equal(tensor.offset % 64, 0);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_ok(wte_check_rows(&rows, &err), err);
    npy_values(t, 0, 6, want);
    assert_ok(rows.read_block(rows.ctx, 0, 2, got, &err), err);
    assert_memory_equal(got, want, 2 * row);
    assert_ok(rows.read_rows(rows.ctx, (const uint64_t[]){ 1, 0 }, 2, got, &err), err);
    assert_memory_equal(got, want + row, row);
    assert_memory_equal(got + row, want, row);
    assert_int_equal(rows.data != NULL, view);
    if (view) assert_memory_equal(rows.data, want, 2 * row);
    wte_file_free(f);
}

static void every_type_of_numpy_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_NPY_TYPES; i++) check_2x3(npy_types[i].code, &npy_types[i], true);
}

static const struct npy_type *type_of(const char *code)
{
    size_t i = 0;
    while (strcmp(npy_types[i].code, code) != 0) i++;
    return &npy_types[i];
}

static void big_endian_and_column_order_come_out_right(void **state)
{
    (void)state;
    static const char *const big[] = { "f2", "f4", "f8", "i2", "u8", "c8" };
    for (size_t i = 0; i < sizeof big / sizeof big[0]; i++) {
        char name[16];
        snprintf(name, sizeof name, "%s-big", big[i]);
        check_2x3(name, type_of(big[i]), false);
    }
    check_2x3("f4-fortran", type_of("f4"), false);
    check_2x3("i1-fortran", type_of("i1"), false);
    check_2x3("f4-big-fortran", type_of("f4"), false);
    check_2x3("c8-big-fortran", type_of("c8"), false);
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(wte_file_open(test_data("npy/c8-big-fortran.npy"), NULL, &f, &err), err);
    assert_true(tensor_at(f, 0).column_major);
    assert_true(tensor_at(f, 0).big_endian);
    wte_file_free(f);
}

static void versions_2_and_3_are_read(void **state)
{
    (void)state;
    check_2x3("f4-v2", type_of("f4"), true);
    check_2x3("f4-v3", type_of("f4"), true);
}

static void shapes_other_than_matrices_are_listed(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    wte_row_source rows;
    float v[6];
    assert_ok(wte_file_open(test_data("npy/scalar.npy"), NULL, &f, &err), err);
    assert_int_equal(tensor_at(f, 0).rank, 0);
    assert_ok(wte_file_read(f, 0, 0, v, 4, &err), err);
    assert_true(v[0] == -2);
    assert_fails(wte_file_row_source(f, 0, &rows, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "tensor 'array' of shape [] is no matrix");
    wte_file_free(f);
    assert_ok(wte_file_open(test_data("npy/one.npy"), NULL, &f, &err), err);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_int_equal(rows.rows, 5);
    assert_int_equal(rows.cols, 1);
    assert_ok(wte_row_source_read(&rows, 4, v, &err), err);
    assert_true(v[0] == 2);
    wte_file_free(f);
    assert_ok(wte_file_open(test_data("npy/none.npy"), NULL, &f, &err), err);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_int_equal(rows.rows, 0);
    assert_int_equal(rows.cols, 4);
    wte_file_free(f);
    assert_ok(wte_file_open(test_data("npy/three.npy"), NULL, &f, &err), err);
    assert_fails(wte_file_row_source(f, 0, &rows, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "of shape [2, 3, 4] is no matrix");
    wte_file_free(f);
    assert_ok(wte_file_open(test_data("npy/inner.npy"), NULL, &f, &err), err);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_int_equal(rows.rows, 3);
    assert_int_equal(rows.cols, 2);
    assert_ok(wte_row_source_read(&rows, 2, v, &err), err);
    assert_true(v[0] == 2 && v[1] == 3);
    wte_file_free(f);
}

static void the_header_is_a_python_literal(void **state)
{
    (void)state;
    static const struct {
        int major;
        const char *text;
    } good[] = {
        { 1, "{'descr':'<f4','fortran_order':False,'shape':(2,3)}" },
        { 1, "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4', }" },
        { 1, "{\"shape\": (2, 3,), u\"fortran_order\": False, u'descr': U'<f4'}\n" },
        { 2,
          " \t\n{ # a comment: '{'\n 'descr'\n:\n'<f4'\n, 'fortran_order'\f: False, 'shape':(\n2 , 3 ) } # end" },
        { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0x2, 0b11)}   \r\n" },
        { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0o_2, 0x0_3)}" },
        { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L)}" },
        { 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (0x2L, 3)}" },
        { 1,
          "{'descr': '>f8', 'shape': (9,), 'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}" },
        { 3, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} # \xc3\xa9" },
        { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} # \xe9" },
        { 1, "{'descr': 'f4', 'fortran_order': False, 'shape': (2, 3)}" },
        { 1, "{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3)}" },
        { 1, "{'descr': 'float32', 'fortran_order': False, 'shape': (2, 3)}" },
        { 1, "{'descr': '<f', 'fortran_order': False, 'shape': (2, 3)}" },
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        made_file made = make_npy(good[i].major, good[i].text, 24);
        wte_error err = { 0 };
        wte_file *f;
        if (open_npy(&made, &f, &err) != WTE_OK) fail_msg("%s: %s", good[i].text, err.message);
        wte_tensor t = tensor_at(f, 0);
        assert_int_equal(t.dtype, WTE_F32);
        assert_int_equal(t.rank, 2);
        assert_int_equal(t.shape[0], 2);
        assert_int_equal(t.shape[1], 3);
        assert_false(t.big_endian);
        assert_false(t.column_major);
        wte_file_free(f);
        made_file_free(&made);
    }
}

#define HEAD "{'descr': '<f4', 'fortran_order': False, 'shape': "

static const npy_fault grammar_faults[] = {
    { "a header is a dictionary", "@['descr']", WTE_E_FORMAT,
      "is not a dictionary: '{' was expected" },
    { "an empty header is none", "@", WTE_E_FORMAT, "is not a dictionary" },
    { "a dictionary ends", HEAD "(2,)@", WTE_E_FORMAT, "a comma or '}' was expected" },
    { "nothing follows a dictionary", HEAD "(2,)} @x", WTE_E_FORMAT, "something follows" },
    { "keys are texts", "{@descr: '<f4'}", WTE_E_FORMAT, "a text in quotes was expected" },
    { "keys have a colon", "{'descr'@, '<f4'}", WTE_E_FORMAT, "a colon was expected" },
    { "pairs are kept apart", "{'descr': '<f4' @'shape': (2,)}", WTE_E_FORMAT,
      "a comma or '}' was expected" },
    { "a text ends", "{@'descr: <f4}", WTE_E_FORMAT, "a text without an end" },
    { "a text ends on its line", "{'des@\ncr': '<f4'}", WTE_E_FORMAT, "does not end on its line" },
    { "a text has no escapes", "{'des@\\x63r': '<f4'}", WTE_E_FORMAT, "an escape in a text" },
    { "a key more is refused", HEAD "(2,), @'extra': 1}", WTE_E_FORMAT,
      "does not contain the correct keys: 'extra' is none of them" },
    { "descr is needed", "@{'fortran_order': False, 'shape': (2,)}", WTE_E_FORMAT,
      "'descr' is missing" },
    { "fortran_order is needed", "@{'descr': '<f4', 'shape': (2,)}", WTE_E_FORMAT,
      "'fortran_order' is missing" },
    { "shape is needed", "@{'descr': '<f4', 'fortran_order': True}", WTE_E_FORMAT,
      "'shape' is missing" },
    { "fortran_order is a bool", "{'fortran_order': @0}", WTE_E_FORMAT, "neither True nor False" },
    { "a bool is spelt as in Python", "{'fortran_order': @true}", WTE_E_FORMAT,
      "neither True nor False" },
    { "(12) is no tuple", HEAD "(@12)}", WTE_E_FORMAT, "not a tuple (no comma)" },
    { "a list is no tuple", HEAD "@[2, 3]}", WTE_E_FORMAT, "shape is a list, not a tuple" },
    { "a number is no tuple", HEAD "@12}", WTE_E_FORMAT, "shape is no tuple" },
    { "dimensions are not negative", HEAD "(2, @-3)}", WTE_E_FORMAT, "a dimension is negative" },
    { "dimensions are integers", HEAD "(2, @3.0)}", WTE_E_FORMAT, "a dimension is no integer" },
    { "dimensions are numbers", HEAD "(2, @'3')}", WTE_E_FORMAT, "a dimension is no integer" },
    { "a dimension is not empty", HEAD "(@, 3)}", WTE_E_FORMAT, "a dimension is no integer" },
    { "two numbers need a comma", HEAD "(2 @3)}", WTE_E_FORMAT, "a comma or ')' was expected" },
    { "underscores stand between digits", HEAD "(2, @3_)}", WTE_E_FORMAT,
      "a dimension is no integer" },
    { "underscores stand alone", HEAD "(2, @3__0)}", WTE_E_FORMAT, "a dimension is no integer" },
    { "a number has no leading zero", HEAD "(2, @03)}", WTE_E_FORMAT, "a dimension begins with 0" },
    { "a base has digits", HEAD "(2, @0x)}", WTE_E_FORMAT, "a dimension is no integer" },
    { "digits fit their base", HEAD "(2, @0b2)}", WTE_E_FORMAT, "a dimension is no integer" },
    { "dimensions fit 64 bits", HEAD "(@18446744073709551616,)}", WTE_E_FORMAT, "over 2^64 - 1" },
    { "there are 16 dimensions", HEAD "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,@1)}", WTE_E_LIMIT,
      "more than 16 dimensions" },
    { "2^32 x 2^32 floats do not wrap",
      "{'descr': '<f4', 'fortran_order': False, 'shape': @(4294967296, 4294967296)}", WTE_E_FORMAT,
      "shape x f32 overflows 64 bits, but the file has 24 bytes of data" },
};

static const npy_fault type_faults[] = {
    { "objects are refused", "{'descr': @'|O'}", WTE_E_UNSUPPORTED,
      "descr '|O' is Python objects" },
    { "records are refused", "{'descr': @[('a', '<f4')]}", WTE_E_UNSUPPORTED, "record" },
    { "sub-arrays are refused", "{'descr': @('<f4', (2,))}", WTE_E_UNSUPPORTED, "sub-array" },
    { "complex128 is refused", "{'descr': @'<c16'}", WTE_E_UNSUPPORTED,
      "'<c16' is complex numbers" },
    { "bytes are refused", "{'descr': @'|S5'}", WTE_E_UNSUPPORTED, "'|S5' is text" },
    { "strings are refused", "{'descr': @'<U5'}", WTE_E_UNSUPPORTED, "'<U5' is text" },
    { "dates are refused", "{'descr': @'<M8[ns]'}", WTE_E_UNSUPPORTED, "'<M8[ns]' is dates" },
    { "durations are refused", "{'descr': @'<m8[D]'}", WTE_E_UNSUPPORTED, "'<m8[D]' is dates" },
    { "bfloat16 is not guessed", "{'descr': @'<V2'}", WTE_E_UNSUPPORTED,
      "ml_dtypes writes bfloat16 so" },
    { "raw bytes are refused", "{'descr': @'|V7'}", WTE_E_UNSUPPORTED, "raw bytes without a type" },
    { "float128 is refused", "{'descr': @'<f16'}", WTE_E_UNSUPPORTED, "extended precision" },
    { "C long is refused", "{'descr': @'<l'}", WTE_E_UNSUPPORTED, "differs between machines" },
    { "nonsense is no type", "{'descr': @'<q9\x1b'}", WTE_E_FORMAT,
      "'<q9\\x1b' is no NumPy type of numbers" },
    { "nothing is no type", "{'descr': @''}", WTE_E_FORMAT, "'' is no NumPy type" },
    { "an order alone is no type", "{'descr': @'<'}", WTE_E_FORMAT, "'<' is no NumPy type" },
    { "a type is a text", "{'descr': @4}", WTE_E_FORMAT, "a text in quotes was expected" },
};

static void check_npy_faults(const npy_fault *faults, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        made_file made = make_npy(1, faults[i].text, 24);
        wte_error err = { 0 };
        wte_file *f;
        wte_status status = open_npy(&made, &f, &err);
        if (status != faults[i].status || err.where != made.mark ||
            !strstr(err.message, faults[i].message) || !strstr(err.message, "t.npy"))
            fail_msg("%s: status %d, where %llu (not %llu, '%s'): %s", faults[i].rule, (int)status,
                     (unsigned long long)err.where, (unsigned long long)made.mark,
                     faults[i].message, err.message);
        made_file_free(&made);
    }
}

static void a_broken_header_is_refused(void **state)
{
    (void)state;
    check_npy_faults(grammar_faults, sizeof grammar_faults / sizeof grammar_faults[0]);
}

static void what_is_no_plain_number_is_named_and_refused(void **state)
{
    (void)state;
    check_npy_faults(type_faults, sizeof type_faults / sizeof type_faults[0]);
}

static void a_python_2_long_is_read_up_to_version_2_only(void **state)
{
    (void)state;
    made_file made = make_npy(3, HEAD "(@3L,)}", 24);
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(open_npy(&made, &f, &err), err, WTE_E_FORMAT, made.mark,
                 "a dimension is no integer");
    made_file_free(&made);
}

static void version_3_is_utf8(void **state)
{
    (void)state;
    made_file made = make_npy(3, HEAD "(3,)} # @\xe9", 24);
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(open_npy(&made, &f, &err), err, WTE_E_FORMAT, made.mark, "not valid UTF-8");
    made_file_free(&made);
}

static void a_nul_byte_is_no_end(void **state)
{
    (void)state;
    made_file made = make_npy(1, HEAD "(3,)}@_", 24);
    wte_error err = { 0 };
    wte_file *f;
    made.data[made.mark] = 0;
    assert_fails(open_npy(&made, &f, &err), err, WTE_E_FORMAT, made.mark, "a NUL byte");
    made_file_free(&made);
}

static void a_version_that_does_not_exist_is_refused(void **state)
{
    (void)state;
    made_file made = make_npy(4, HEAD "(3,)}", 24);
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(open_npy(&made, &f, &err), err, WTE_E_UNSUPPORTED, 6,
                 ".npy version 4.0, but only");
    made.data[6] = 1;
    made.data[7] = 1;
    assert_fails(open_npy(&made, &f, &err), err, WTE_E_UNSUPPORTED, 6, ".npy version 1.1");
    made_file_free(&made);
}

static void a_cut_file_is_refused_and_a_longer_one_is_not(void **state)
{
    (void)state;
    made_file made = make_npy(2, HEAD "(2, 3)}", 25);
    const uint64_t header = made.bytes - 25;
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(open_npy(&made, &f, &err), err); /* as NumPy, which does not look behind the data */
    assert_int_equal(tensor_at(f, 0).bytes, 24);
    wte_file_free(f);
    for (uint64_t n = 6; n < header + 24; n++) {
        const uint64_t where = n < 12 || n >= header ? n : 8;
        const char *part = n < 8    ? "has at least 8 bytes before its header"
                           : n < 12 ? "has at least 12 bytes before its header"
                           : n < header
                               ? "bytes for its header, but has"
                               : "truncated: shape x f32 needs 24 bytes of data, but it has";
        assert_fails(wte_file_open_memory(made.data, n, "t.npy", NULL, &f, &err), err, WTE_E_FORMAT,
                     where, part);
    }
    made_file_free(&made);
}

/* A header of n characters, of which the last ones are spaces. */
static wte_status open_header_of(int major, size_t n, const wte_file_options *opt, wte_error *err)
{
    static const char start[] = HEAD "(3,)}";
    char *text = malloc(n + 1);
    assert_non_null(text);
    memset(text, ' ', n);
    text[n] = '\0';
    memcpy(text, start, sizeof start - 1);
    made_file made = make_npy(major, text, 12);
    wte_file *f;
    wte_status status = wte_file_open_memory(made.data, made.bytes, "t.npy", opt, &f, err);
    wte_file_free(f);
    made_file_free(&made);
    free(text);
    return status;
}

static void the_limit_on_headers_is_numpys_and_can_be_raised(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    for (int major = 1; major <= 3; major++) {
        assert_ok(open_header_of(major, 9999, NULL, &err), err);
        assert_ok(open_header_of(major, 10000, NULL, &err), err);
        assert_fails(open_header_of(major, 10001, NULL, &err), err, WTE_E_LIMIT,
                     major == 3 ? 12 : 8, "at most 10000");
    }
    assert_fails(open_header_of(3, 40004, NULL, &err), err, WTE_E_LIMIT, 8, "at most 10000");
    opt.max_header_bytes = 10001;
    assert_ok(open_header_of(1, 10001, &opt, &err), err);
}

static void hostile_header_lengths_end_in_little_memory(void **state)
{
    (void)state;
    uint8_t start[64] = "\x93NUMPY\x02\0\xff\xff\xff\xff{";
    const char *dir = test_scratch();
    char path[128];
    wte_error err = { 0 };
    wte_file *f;
    test_memory m;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    test_memory_init(&m, SIZE_MAX);
    opt.allocator = &m.allocator;
    assert_fails(wte_file_open_memory(start, sizeof start, "t", &opt, &f, &err), err, WTE_E_FORMAT,
                 8, "truncated: needs 4294967307 bytes for its header, but has 64");
    snprintf(path, sizeof path, "%s/big.npy", dir);
    write_sparse(path, start, sizeof start, UINT64_C(1) << 33);
    assert_fails(wte_file_open(path, &opt, &f, &err), err, WTE_E_LIMIT, 8,
                 ".npy header of 4294967295 bytes, but at most 10000 characters are read");
    assert_true(m.peak_bytes < 4096);
    assert_int_equal(m.live, 0);
    test_scratch_remove(dir);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    made_file made = make_npy(1, HEAD "(2, 3)}", 24);
    wte_error err = { 0 };
    wte_status status = WTE_E_MEMORY;
    size_t failures = 0;
    while (status == WTE_E_MEMORY) {
        test_memory m;
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        wte_file *f;
        test_memory_init(&m, failures);
        opt.allocator = &m.allocator;
        status = wte_file_open_memory(made.data, made.bytes, "t.npy", &opt, &f, &err);
        failures += status != WTE_OK;
        wte_file_free(f);
        assert_int_equal(m.live, 0);
        assert_int_equal(m.live_bytes, 0);
    }
    assert_int_equal(status, WTE_OK);
    assert_int_equal(failures, 8); /* handle, path, parts, its path, header, list, shape, names */
    made_file_free(&made);
}

/* A column-major array large enough for several pieces: every element is its own number. */
static void large_columns_are_read_in_pieces(void **state)
{
    (void)state;
    enum { ROWS = 5000, COLS = 3 };
    const size_t data_bytes = 4 * (size_t)ROWS * COLS;
    made_file made =
        make_npy(1, "{'descr': '>u4', 'fortran_order': True, 'shape': (5000, 3)}", data_bytes);
    uint8_t *data = made.data + made.bytes - data_bytes;
    for (uint32_t c = 0; c < COLS; c++)
        for (uint32_t r = 0; r < ROWS; r++) {
            uint8_t *p = data + 4 * ((size_t)c * ROWS + r);
            uint32_t v = r * COLS + c;
            p[2] = (uint8_t)(v >> 8);
            p[3] = (uint8_t)v;
        }
    wte_error err = { 0 };
    wte_file *f;
    wte_row_source rows;
    static uint32_t out[ROWS][COLS];
    assert_ok(open_npy(&made, &f, &err), err);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_ok(rows.read_block(rows.ctx, 0, ROWS, out, &err), err);
    for (uint32_t k = 0; k < ROWS * COLS; k++) assert_int_equal(out[k / COLS][k % COLS], k);
    const uint64_t ids[] = { 4999, 7, 8, 7 };
    assert_ok(rows.read_rows(rows.ctx, ids, 4, out, &err), err);
    for (uint32_t k = 0; k < 4 * COLS; k++)
        assert_int_equal(out[k / COLS][k % COLS], ids[k / COLS] * COLS + k % COLS);
    wte_file_free(f);
    made_file_free(&made);
}

static const struct CMUnitTest tests[] = {
    TEST("every type of NumPy that we know is read", every_type_of_numpy_is_read),
    TEST("big-endian and column-ordered arrays come out right",
         big_endian_and_column_order_come_out_right),
    TEST("versions 2 and 3 are read", versions_2_and_3_are_read),
    TEST("shapes other than matrices are listed", shapes_other_than_matrices_are_listed),
    TEST("the header is a Python literal in any spelling", the_header_is_a_python_literal),
    TEST("a broken header is refused", a_broken_header_is_refused),
    TEST("what is no plain number is named and refused",
         what_is_no_plain_number_is_named_and_refused),
    TEST("a Python 2 long is read up to version 2 only",
         a_python_2_long_is_read_up_to_version_2_only),
    TEST("version 3 is UTF-8", version_3_is_utf8),
    TEST("a NUL byte in the header is refused", a_nul_byte_is_no_end),
    TEST("a version that does not exist is refused", a_version_that_does_not_exist_is_refused),
    TEST("a cut file is refused and a longer one is not",
         a_cut_file_is_refused_and_a_longer_one_is_not),
    TEST("the limit on headers is NumPy's and can be raised",
         the_limit_on_headers_is_numpys_and_can_be_raised),
    TEST("hostile header lengths end in little memory",
         hostile_header_lengths_end_in_little_memory),
    TEST("every failing allocation is survived", every_failing_allocation_is_survived),
    TEST("large columns are read in pieces", large_columns_are_read_in_pieces),
};
TEST_MAIN(tests)
