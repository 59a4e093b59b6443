/* Reading safetensors: every rule of the format, legal corner cases, hostile sizes. */
#include "format_files.h"

#include "base/limits.h"

static const fault entry_faults[] = {
    { "an unknown type alone is refused",
      "{\"a\":{\"dtype\":@\"F7\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, WTE_E_FORMAT,
      "tensor 'a': unknown dtype 'F7'" },
    { "a type has a name of at most 32 letters",
      "{\"a\":{\"dtype\":@\"FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF\",\"shape\":[1],"
      "\"data_offsets\":[0,4]}}",
      4, WTE_E_FORMAT, "tensor 'a': unknown dtype 'FFFFFFFF" },
    { "a type has a name", "{\"a\":{\"dtype\":@\"\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
      WTE_E_FORMAT, "tensor 'a': unknown dtype ''" },
    { "types are upper case", "{\"a\":{\"dtype\":@\"f32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
      4, WTE_E_FORMAT, "unknown dtype 'f32'" },
    { "a type is a string", "{\"a\":{\"dtype\":@32,\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
      WTE_E_FORMAT, "tensor 'a': dtype is not a string" },
    { "a type is given once",
      "{\"a\":{\"dtype\":\"U8\",@\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1,
      WTE_E_FORMAT, "duplicate key 'dtype'" },
    { "a type is given", "{@\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, WTE_E_FORMAT,
      "tensor 'a' has no 'dtype'" },
    { "a shape is given", "{@\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, WTE_E_FORMAT,
      "tensor 'a' has no 'shape'" },
    { "offsets are given", "{@\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, WTE_E_FORMAT,
      "tensor 'a' has no 'data_offsets'" },
    { "a shape is a list", "{\"a\":{\"dtype\":\"F32\",\"shape\":@1,\"data_offsets\":[0,4]}}", 4,
      WTE_E_FORMAT, "shape is not a list" },
    { "a shape is given once",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[],@\"shape\":[],\"data_offsets\":[0,1]}}", 1,
      WTE_E_FORMAT, "duplicate key 'shape'" },
    { "dimensions are not negative",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[@-1],\"data_offsets\":[0,4]}}", 4, WTE_E_FORMAT,
      "shape holds something else than integers" },
    { "dimensions are integers",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[@1.0],\"data_offsets\":[0,4]}}", 4, WTE_E_FORMAT,
      "shape holds something else than integers" },
    { "dimensions are numbers",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[@\"1\"],\"data_offsets\":[0,4]}}", 4, WTE_E_FORMAT,
      "shape holds something else than integers" },
    { "dimensions fit 64 bits",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[@18446744073709551616],\"data_offsets\":[0,4]}}", 4,
      WTE_E_FORMAT, "shape holds something else than integers" },
    { "a tensor has at most 16 dimensions",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,@1],"
      "\"data_offsets\":[0,1]}}",
      1, WTE_E_LIMIT, "tensor 'a': more than 16 dimensions" },
    { "an entry is an object", "{\"a\":@[1,2]}", 4, WTE_E_FORMAT,
      "tensor 'a': its entry is not an object" },
    { "offsets are a list", "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":@{}}}", 4,
      WTE_E_FORMAT, "data_offsets is not a list" },
    { "offsets are given once",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1],@\"data_offsets\":[0,1]}}", 1,
      WTE_E_FORMAT, "duplicate key 'data_offsets'" },
    { "offsets are not negative",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[@-4,0]}}", 4, WTE_E_FORMAT,
      "data_offsets holds something else than integers" },
    { "offsets are integers", "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,@4.5]}}",
      4, WTE_E_FORMAT, "data_offsets holds something else than integers" },
    { "one offset is too few", "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4@]}}", 4,
      WTE_E_FORMAT, "data_offsets has 1 number, not 2" },
    { "no offset is too few", "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[@]}}", 4,
      WTE_E_FORMAT, "data_offsets is empty" },
    { "three offsets are too many",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,@4]}}", 4, WTE_E_FORMAT,
      "data_offsets has more than 2 numbers" },
    { "offsets are not reversed",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":@[4,0]}}", 4, WTE_E_FORMAT,
      "tensor 'a': data_offsets are reversed: begin 4, end 0" },
    { "a shape fills its span (PAINS: 100 x 100 floats in 8 bytes)",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[100,100],\"data_offsets\":@[0,8]}}", 8, WTE_E_FORMAT,
      "tensor 'a': shape x f32 is 40000 bytes, but its data_offsets span 8" },
    { "2^32 x 2^32 floats do not wrap to nothing",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":@[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
      WTE_E_FORMAT, "tensor 'a': shape x f32 overflows 64 bits, but its data_offsets span 0" },
    { "2^61 doubles are 2^67 bits, which do not wrap either",
      "{\"a\":{\"dtype\":\"F64\",\"shape\":@[2305843009213693952],\"data_offsets\":[0,0]}}", 0,
      WTE_E_FORMAT, "overflows 64 bits" },
    { "three elements of 4 bits are no whole bytes",
      "{\"a\":{\"dtype\":\"F4\",\"shape\":@[3],\"data_offsets\":[0,1]}}", 1, WTE_E_FORMAT,
      "shape x f4 is 12 bits, which is not a whole number of bytes" },
};

static const fault layout_faults[] = {
    { "a name comes once (and the message says so, not something about offsets)",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
      "@\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
      2, WTE_E_FORMAT, "duplicate tensor 'a'" },
    { "a name comes once however it is spelt",
      "{\"ab\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]},"
      "@\"\\u0061b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
      4, WTE_E_FORMAT, "duplicate tensor 'ab'" },
    { "no two tensors overlap",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[32],\"data_offsets\":[0,32]},"
      "@\"b\":{\"dtype\":\"U8\",\"shape\":[32],\"data_offsets\":[16,48]}}",
      48, WTE_E_FORMAT, "overlap: 'a' ends at data byte 32, but 'b' begins at 16" },
    { "no two tensors share their bytes",
      "{\"embed\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
      "@\"head\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
      4, WTE_E_FORMAT,
      "overlap: 'embed' ends at data byte 4, but 'head' begins at 0 (the same bytes)" },
    { "there is no hole between tensors",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
      "@\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[3,5]}}",
      5, WTE_E_FORMAT, "hole: 'a' ends at data byte 2, but the next tensor 'b' begins at 3" },
    { "there is no hole at the start",
      "{@\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}", 3, WTE_E_FORMAT,
      "hole: the first tensor 'a' begins at data byte 1, not 0" },
    { "metadata is an object", "{\"__metadata__\":@\"pt\"}", 0, WTE_E_FORMAT,
      "__metadata__: is not an object of strings" },
    { "metadata values are strings", "{\"__metadata__\":{\"step\":@5}}", 0, WTE_E_FORMAT,
      "__metadata__: a value is not a string" },
    { "metadata keys come once", "{\"__metadata__\":{\"a\":\"1\",@\"a\":\"2\"}}", 0, WTE_E_FORMAT,
      "__metadata__: duplicate key" },
    { "there is one metadata", "{\"__metadata__\":{},@\"__metadata__\":{}}", 0, WTE_E_FORMAT,
      "__metadata__: duplicate key" },
    { "the header is JSON", "{\"a\"@;}", 0, WTE_E_FORMAT,
      "the header is not valid JSON at byte 12: a colon was expected" },
    { "an entry is JSON", "{\"a\":{\"x\":@nul}}", 0, WTE_E_FORMAT, "not valid JSON at byte 18" },
    { "a list is JSON", "{\"a\":{\"shape\":[1,@,2]}}", 0, WTE_E_FORMAT,
      "not valid JSON at byte 25" },
    { "metadata is JSON", "{\"__metadata__\":{@1}}", 0, WTE_E_FORMAT, "not valid JSON at byte 25" },
    { "nothing follows the object", "{}  @{}", 0, WTE_E_FORMAT,
      "something follows after the value" },
    { "the header is complete", "{\"a\":{@", 0, WTE_E_FORMAT, "the text ends too early" },
    { "the header is UTF-8", "{\"a@\xff\":{}}", 0, WTE_E_FORMAT, "not valid UTF-8" },
    { "an ignored key is UTF-8 too", "{\"a\":{\"x\":\"@\xc0\x80\"}}", 0, WTE_E_FORMAT,
      "not valid UTF-8" },
    { "nesting is bounded",
      "{\"a\":{\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[@[", 0,
      WTE_E_FORMAT, "nested more than 64 levels" },
    { "the header begins with a brace", "@ {}", 0, WTE_E_FORMAT, "does not begin with '{'" },
};

static void a_broken_entry_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof entry_faults / sizeof entry_faults[0]; i++)
        check_fault(&entry_faults[i], NULL);
}

static void a_broken_header_or_layout_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layout_faults / sizeof layout_faults[0]; i++)
        check_fault(&layout_faults[i], NULL);
}

static void a_cut_file_says_what_it_needs_and_has(void **state)
{
    (void)state;
    made_file made =
        make_safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                         "\"b\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[8,20]}}",
                         20);
    const uint64_t header = made.bytes - 28;
    wte_error err = { 0 };
    wte_file *f;
    /* in the data */
    assert_fails(wte_file_open_memory(made.data, made.bytes - 5, "t", NULL, &f, &err), err,
                 WTE_E_FORMAT, made.bytes - 5,
                 "truncated: its tensors need 20 bytes of data, but it has 15; 'b' is the first");
    /* in the header */
    assert_fails(wte_file_open_memory(made.data, 20, "t", NULL, &f, &err), err, WTE_E_FORMAT, 0,
                 "truncated: needs 116 bytes for its header, but has 20");
    assert_int_equal(header + 8, 116);
    /* right behind and in the length */
    assert_fails(wte_file_open_memory(made.data, 8, "t", NULL, &f, &err), err, WTE_E_FORMAT, 0,
                 "truncated: needs 116 bytes for its header, but has 8");
    assert_fails(wte_file_open_memory(made.data, 7, "t", NULL, &f, &err), err, WTE_E_FORMAT, 7,
                 "has 7 bytes");
    made_file_free(&made);
}

static void bytes_after_the_last_tensor_are_refused(void **state)
{
    (void)state;
    made_file made =
        make_safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 9);
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err,
                 WTE_E_FORMAT, made.bytes - 1,
                 "the tensors end at byte 70, but the file has 71: trailing bytes");
    made_file_free(&made);
}

static void a_header_without_tensors_is_a_file_of_none(void **state)
{
    (void)state;
    made_file made = make_safetensors("{} \n ", 0);
    wte_error err = { 0 };
    wte_file *f;
    uint64_t i;
    assert_ok(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_SAFETENSORS);
    assert_int_equal(wte_file_n_tensors(f), 0);
    assert_fails(wte_file_find(f, "a", 1, &i, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "t: has no tensor 'a'");
    wte_file_free(f);
    made_file_free(&made);
}

static void legal_corner_cases_are_read(void **state)
{
    (void)state;
    /* in any order, empty tensors at a seam, a scalar, unknown keys, escaped names, metadata last
     */
    static const char header[] =
        "{\"z\":{\"data_offsets\":[4,6],\"note\":{\"shape\":[[9]]},\"shape\":[1,2],\"dtype\":\"\\u00558\"},"
        " \"empty\":{\"dtype\":\"F32\",\"shape\":[0,4],\"data_offsets\":[4,4]},"
        "\"\\u0041\\n\\u0000\\ud83d\\ude00\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
        "\"\":{\"dtype\":\"BOOL\",\"shape\":[18446744073709551615,0],\"data_offsets\":[6,6]},"
        "\"__metadata__\":{\"format\":\"p\\u0074\",\"\":\"x\"}}    ";
    made_file made = make_safetensors(header, 6);
    wte_error err = { 0 };
    wte_file *f;
    uint64_t i;
    const char *value;
    assert_ok(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err);
    assert_int_equal(wte_file_n_tensors(f), 4);
    wte_tensor scalar = tensor_at(f, 0), empty = tensor_at(f, 1), z = tensor_at(f, 2);
    assert_int_equal(scalar.rank, 0);
    assert_int_equal(scalar.bytes, 4);
    assert_int_equal(scalar.offset, made.bytes - 6);
    assert_int_equal(scalar.name_bytes, 7);
    assert_memory_equal(scalar.name, "A\n\0\xf0\x9f\x98\x80", 8);
    assert_string_equal(empty.name, "empty");
    assert_int_equal(empty.rank, 2);
    assert_int_equal(empty.shape[0], 0);
    assert_int_equal(empty.shape[1], 4);
    assert_int_equal(empty.bytes, 0);
    assert_string_equal(z.name, "z");
    assert_int_equal(z.dtype, WTE_U8);
    assert_int_equal(z.offset, made.bytes - 2);
    assert_string_equal(tensor_at(f, 3).name, "");
    assert_int_equal(tensor_at(f, 3).shape[0], UINT64_MAX);
    assert_ok(wte_file_find(f, "A\n\0\xf0\x9f\x98\x80", 7, &i, &err), err);
    assert_int_equal(i, 0);
    assert_string_equal(wte_file_metadata(f, 0, &value), "format");
    assert_string_equal(value, "pt");
    assert_string_equal(wte_file_metadata(f, 1, &value), "");
    assert_string_equal(value, "x");
    assert_null(wte_file_metadata(f, 2, &value));
    assert_null(value);
    wte_file_free(f);
    made_file_free(&made);
}

static void metadata_that_is_null_is_none(void **state)
{
    (void)state;
    made_file made = make_safetensors("{\"__metadata__\":null}", 0);
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err);
    assert_null(wte_file_metadata(f, 0, NULL));
    wte_file_free(f);
    made_file_free(&made);
}

static void every_type_has_its_size(void **state)
{
    (void)state;
    /* eight elements each, so that the size in bytes is the number of bits of one */
    static const struct {
        const char *name;
        wte_dtype type;
        uint64_t bits;
    } types[] = {
        { "BOOL", WTE_BOOL, 8 },
        { "F4", WTE_F4, 4 },
        { "F6_E2M3", WTE_F6_E2M3, 6 },
        { "F6_E3M2", WTE_F6_E3M2, 6 },
        { "U8", WTE_U8, 8 },
        { "I8", WTE_I8, 8 },
        { "F8_E5M2", WTE_F8_E5M2, 8 },
        { "F8_E4M3", WTE_F8_E4M3, 8 },
        { "F8_E8M0", WTE_F8_E8M0, 8 },
        { "F8_E4M3FNUZ", WTE_F8_E4M3FNUZ, 8 },
        { "F8_E5M2FNUZ", WTE_F8_E5M2FNUZ, 8 },
        { "I16", WTE_I16, 16 },
        { "U16", WTE_U16, 16 },
        { "F16", WTE_F16, 16 },
        { "BF16", WTE_BF16, 16 },
        { "I32", WTE_I32, 32 },
        { "U32", WTE_U32, 32 },
        { "F32", WTE_F32, 32 },
        { "C64", WTE_C64, 64 },
        { "F64", WTE_F64, 64 },
        { "I64", WTE_I64, 64 },
        { "U64", WTE_U64, 64 },
    };
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        char header[128];
        snprintf(header, sizeof header,
                 "{\"a\":{\"dtype\":\"%s\",\"shape\":[2,4],\"data_offsets\":[0,%d]}}",
                 types[k].name, (int)types[k].bits);
        made_file made = make_safetensors(header, types[k].bits);
        wte_error err = { 0 };
        wte_file *f;
        assert_ok(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err);
        assert_int_equal(tensor_at(f, 0).dtype, types[k].type);
        assert_int_equal(tensor_at(f, 0).bytes, types[k].bits);
        wte_file_free(f);
        made_file_free(&made);
    }
}

static void real_models_are_read(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(wte_file_open(test_data("format/static-f16.safetensors"), NULL, &f, &err), err);
    assert_int_equal(wte_file_n_tensors(f), 1);
    wte_tensor t = tensor_at(f, 0);
    assert_string_equal(t.name, "embeddings");
    assert_int_equal(t.dtype, WTE_F16);
    assert_int_equal(t.rank, 2);
    assert_int_equal(t.shape[0], 29528);
    assert_int_equal(t.shape[1], 2);
    assert_int_equal(t.offset, 88);
    assert_int_equal(t.bytes, 118112);
    uint8_t row[4]; /* the bytes at 88 + 4 * 29527, looked up with another tool */
    assert_ok(wte_file_read(f, 0, UINT64_C(4) * 29527, row, 4, &err), err);
    assert_memory_equal(row, "\x84\xc8\xaa\xcc", 4);
    wte_file_free(f);
    assert_ok(wte_file_open(test_data("static-f32/model.safetensors"), NULL, &f, &err), err);
    t = tensor_at(f, 0);
    assert_string_equal(t.name, "embeddings");
    assert_int_equal(t.dtype, WTE_F32);
    assert_int_equal(t.shape[0], 29528);
    wte_file_free(f);
}

static void headers_of_other_real_models_are_read(void **state)
{
    (void)state;
    /* a vocabulary-quantised static model: three tensors of three types, data order F64 F32 I32 */
    made_file made = make_safetensors(
        "{\"weights\":{\"dtype\":\"F64\",\"shape\":[29524],\"data_offsets\":[0,236192]},"
        "\"embeddings\":{\"dtype\":\"F32\",\"shape\":[128,64],\"data_offsets\":[236192,268960]},"
        "\"mapping\":{\"dtype\":\"I32\",\"shape\":[29524],\"data_offsets\":[268960,387056]}}     ",
        387056);
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err);
    assert_int_equal(wte_file_n_tensors(f), 3);
    assert_string_equal(tensor_at(f, 1).name, "embeddings");
    assert_int_equal(tensor_at(f, 1).offset, 232 + 236192);
    assert_int_equal(tensor_at(f, 2).dtype, WTE_I32);
    wte_file_free(f);
    made_file_free(&made);
}

/* A header of n bytes, padded with spaces. */
static void header_of_length_is_read(size_t n)
{
    static const char text[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    char *header = malloc(n);
    assert_non_null(header);
    memset(header, ' ', n);
    memcpy(header, text, sizeof text - 1);
    made_file made = make_safetensors_of(header, n, 1);
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err);
    assert_int_equal(wte_file_n_tensors(f), 1);
    wte_file_free(f);
    made_file_free(&made);
    free(header);
}

static void a_length_that_looks_like_a_magic_number_is_a_length(void **state)
{
    (void)state;
    header_of_length_is_read(0x9c78);   /* zlib: 78 9c */
    header_of_length_is_read(0x088b1f); /* gzip: 1f 8b 08 */
    header_of_length_is_read(0x0280);   /* pickle: 80 02 */
    header_of_length_is_read(100000);
    /* zip, 64 MB long: cut, it must be called cut and not a zip archive */
    uint8_t start[64] = "PK\x03\x04\0\0\0\0{\"a\":";
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(wte_file_open_memory(start, sizeof start, "t", NULL, &f, &err), err, WTE_E_FORMAT,
                 0, "truncated: needs 67324760 bytes for its header, but has 64");
}

static void the_cap_on_headers_is_exact_and_can_be_raised(void **state)
{
    (void)state;
    made_file made =
        make_safetensors("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1);
    const uint64_t n = made.bytes - 9;
    wte_error err = { 0 };
    wte_file *f;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    for (opt.max_header_bytes = n; opt.max_header_bytes <= n + 1; opt.max_header_bytes++) {
        assert_ok(wte_file_open_memory(made.data, made.bytes, "t", &opt, &f, &err), err);
        wte_file_free(f);
    }
    opt.max_header_bytes = n - 1;
    assert_fails(
        wte_file_open_memory(made.data, made.bytes, "t", &opt, &f, &err), err, WTE_E_LIMIT, 0,
        "a header of 53 bytes, but at most 52 are read (raise max_header_bytes, or --max-header)");
    made_file_free(&made);
    /* the format's own cap: at it the header is looked for, one above it is refused */
    uint8_t start[16] = "\0\0\0\0\0\0\0\0{\"a\":";
    put_u64(start, 99999999);
    assert_fails(wte_file_open_memory(start, 16, "t", NULL, &f, &err), err, WTE_E_FORMAT, 0,
                 "truncated");
    put_u64(start, 100000000);
    assert_fails(wte_file_open_memory(start, 16, "t", NULL, &f, &err), err, WTE_E_FORMAT, 0,
                 "truncated: needs 100000008 bytes");
    const uint64_t size = 100000001 + 8;
    uint8_t *large = calloc(size, 1);
    assert_non_null(large);
    put_u64(start, 100000001);
    memcpy(large, start, sizeof start);
    assert_fails(wte_file_open_memory(large, size, "t", NULL, &f, &err), err, WTE_E_LIMIT, 0,
                 "a header of 100000001 bytes, but at most 100000000 are read");
    free(large);
}

static void the_cap_on_names_is_exact(void **state)
{
    (void)state;
    static const char tail[] = "\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}";
    static char header[65536 + 64] = "{\"";
    memset(header + 2, 'n', 65535);
    memcpy(header + 2 + 65535, tail, sizeof tail);
    made_file made = make_safetensors(header, 1);
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err);
    assert_int_equal(tensor_at(f, 0).name_bytes, 65535);
    wte_file_free(f);
    made_file_free(&made);
    header[2 + 65535] = 'n';
    memcpy(header + 2 + 65536, tail, sizeof tail);
    made = make_safetensors(header, 1);
    assert_fails(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err, WTE_E_LIMIT,
                 9, "nnn...' has 65536 bytes, but at most 65535 are read");
    made_file_free(&made);
}

static void hostile_sizes_end_at_once_in_little_memory(void **state)
{
    (void)state;
    static const uint64_t lengths[] = { UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 7,
                                        UINT64_C(1) << 40 };
    uint8_t start[32] = "\0\0\0\0\0\0\0\0{\"a\":{}}";
    wte_error err = { 0 };
    wte_file *f;
    test_memory m;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    test_memory_init(&m, SIZE_MAX);
    opt.allocator = &m.allocator;
    static const char *const needs[] = { "9223372036854775816", "18446744073709551615",
                                         "18446744073709551615", "1099511627784" };
    for (size_t i = 0; i < 4; i++) {
        char message[96];
        snprintf(message, sizeof message, "truncated: needs %s bytes for its header, but has 32",
                 needs[i]);
        put_u64(start, lengths[i]);
        assert_fails(wte_file_open_memory(start, sizeof start, "t", &opt, &f, &err), err,
                     WTE_E_FORMAT, 0, message);
    }
    static const fault sizes = { "a huge shape",
                                 "{\"a\":{\"dtype\":\"F32\",\"shape\":@[4294967296,4294967296],"
                                 "\"data_offsets\":[0,0]}}",
                                 0, WTE_E_FORMAT, "overflows" };
    check_fault(&sizes, &opt);
    made_file made = make_safetensors("{\"a\":{\"dtype\":\"U8\",\"shape\":[1152921504606846976],"
                                      "\"data_offsets\":[0,1152921504606846976]}}",
                                      0);
    assert_fails(wte_file_open_memory(made.data, made.bytes, "t", &opt, &f, &err), err,
                 WTE_E_FORMAT, made.bytes,
                 "its tensors need 1152921504606846976 bytes of data, but it has 0");
    made_file_free(&made);
    assert_true(m.peak_bytes < 1 << 20);
    assert_int_equal(m.live, 0);
}

static void rows_of_an_8_gigabyte_file_cost_a_header_and_the_rows(void **state)
{
    (void)state;
    static const char header[] =
        "{\"wte.weight\":{\"dtype\":\"F32\",\"shape\":[2097152,1024],\"data_offsets\":[0,8589934592]}}";
    const char *dir = test_scratch();
    char path[128];
    uint8_t start[8 + sizeof header - 1];
    put_u64(start, sizeof header - 1);
    memcpy(start + 8, header, sizeof header - 1);
    snprintf(path, sizeof path, "%s/big.safetensors", dir);
    write_sparse(path, start, sizeof start, sizeof start + (UINT64_C(1) << 33));
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    const float mark = 1.5f;
    assert_int_equal(
        fseeko(file, (off_t)(sizeof start + (UINT64_C(2097151) * 1024 + 1023) * 4), SEEK_SET), 0);
    assert_int_equal(fwrite(&mark, 4, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    wte_error err = { 0 };
    wte_file *f;
    wte_row_source rows;
    test_memory m;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    test_memory_init(&m, SIZE_MAX);
    opt.allocator = &m.allocator;
    static float out[3][1024];
    for (opt.copy = 0; opt.copy <= 1; opt.copy++) {
        assert_ok(wte_file_open(path, &opt, &f, &err), err);
        assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
        assert_int_equal(rows.rows, 2097152);
        assert_int_equal(rows.data == NULL, opt.copy);
        memset(out, 1, sizeof out);
        assert_ok(rows.read_rows(rows.ctx, (const uint64_t[]){ 2097151, 0, 1 }, 3, out, &err), err);
        assert_true(out[0][1023] == 1.5f);
        assert_true(out[0][0] == 0 && out[1][0] == 0 && out[2][1023] == 0);
        if (rows.data) {
            const char *last = (const char *)rows.data + 2097151 * rows.row_bytes;
            assert_memory_equal(last, out[0], sizeof out[0]);
        }
        wte_file_free(f);
    }
    assert_true(m.peak_bytes < 4096);
    assert_int_equal(m.live, 0);
    test_scratch_remove(dir);
}

/* Open, find and rows with allocation number fail_at failing; nothing is left behind. */
static wte_status use_with_failure(const made_file *made, size_t fail_at, wte_error *err)
{
    test_memory m;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    wte_file *f;
    wte_row_source rows;
    uint64_t i = 9;
    test_memory_init(&m, fail_at);
    opt.allocator = &m.allocator;
    wte_status status = wte_file_open_memory(made->data, made->bytes, "t", &opt, &f, err);
    assert_true((f != NULL) == (status == WTE_OK));
    if (status == WTE_OK) status = wte_file_find(f, "b", 1, &i, err);
    if (status == WTE_OK) status = wte_file_row_source(f, i, &rows, err);
    wte_file_free(f);
    assert_int_equal(i, status == WTE_OK ? 1 : 9);
    assert_int_equal(m.live, 0);
    assert_int_equal(m.live_bytes, 0);
    return status;
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    made_file made = make_safetensors(
        "{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]},"
        "\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},\"__metadata__\":{\"k\":\"v\"}}",
        3);
    wte_error err = { 0 };
    size_t failures = 0;
    wte_status status;
    while ((status = use_with_failure(&made, failures, &err)) == WTE_E_MEMORY) {
        assert_non_null(strstr(err.message, "out of memory"));
        failures++;
    }
    assert_int_equal(status, WTE_OK);
    assert_true(failures >= 9); /* handle, path, parts and its path, header, list, shapes, ... */
    made_file_free(&made);
}

static const struct CMUnitTest tests[] = {
    TEST("a broken tensor entry is refused with its name, place and numbers",
         a_broken_entry_is_refused),
    TEST("a broken header or layout is refused", a_broken_header_or_layout_is_refused),
    TEST("a cut file says what it needs and what it has", a_cut_file_says_what_it_needs_and_has),
    TEST("bytes after the last tensor are refused", bytes_after_the_last_tensor_are_refused),
    TEST("a header without tensors is a file of none", a_header_without_tensors_is_a_file_of_none),
    TEST("legal corner cases are read", legal_corner_cases_are_read),
    TEST("metadata that is null is none", metadata_that_is_null_is_none),
    TEST("every type has its size", every_type_has_its_size),
    TEST("real models are read", real_models_are_read),
    TEST("headers of other real models are read", headers_of_other_real_models_are_read),
    TEST("a length that looks like a magic number is a length",
         a_length_that_looks_like_a_magic_number_is_a_length),
    TEST("the cap on headers is exact and can be raised",
         the_cap_on_headers_is_exact_and_can_be_raised),
    TEST("the cap on names is exact", the_cap_on_names_is_exact),
    TEST("hostile sizes end at once in little memory", hostile_sizes_end_at_once_in_little_memory),
    TEST("rows of an 8 GB file cost a header and the rows",
         rows_of_an_8_gigabyte_file_cost_a_header_and_the_rows),
    TEST("every failing allocation is survived", every_failing_allocation_is_survived),
};
TEST_MAIN(tests)
