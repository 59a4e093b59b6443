/* PyTorch checkpoints that are broken or hostile: every fault between pickle and tensor, in zip
 * archives. Those of the two older containers are in test_torch_old.c. */
#include "torch_files.h"

#include "base/limits.h"

/* Data of the pickle begin here: behind the local header and "top/data.pkl". */
#define PICKLE_AT 42u

static void check_zip(const made_zip *z, wte_status status, uint64_t where, const char *part)
{
    wte_error err = { 0 };
    wte_file *f;
    uint8_t *data = zip_guarded(z);
    assert_fails(wte_file_open_memory(data, z->n, "t.pt", NULL, &f, &err), err, status, where,
                 part);
    assert_non_null(strstr(err.message, "t.pt: "));
    test_guarded_free(data, z->n);
}

static void tensors_must_lie_in_their_storage(void **state)
{
    (void)state;
    static const uint64_t big = (uint64_t)INT64_MAX;
    const struct {
        made_tensor t;
        const char *part;
    } cases[] = {
        { { 6, 1, 2, 3, 3, 1 }, "'w' reaches to byte 28 of storage '0', which has 24" },
        { { 6, 6, 1, 1, 1, 1 }, "'w' reaches to byte 28 of storage '0', which has 24" },
        { { 6, 0, 2, 3, 4, 1 }, "'w' reaches to byte 28 of storage '0', which has 24" },
        { { 6, 0, 3, 3, 1, 2 }, "'w' reaches to byte 28 of storage '0', which has 24" },
        { { 6, 0, 2, 3, big, 1 }, "'w': its shape and strides overflow 64 bits" },
        { { 6, 0, 5, 3, big / 2, 1 }, "'w': its shape and strides overflow 64 bits" },
        { { 6, big, 2, 3, 3, 1 }, "'w': its shape and strides overflow 64 bits" },
        { { 6, 0, big, 3, 0, 0 }, "'w': its shape and strides overflow 64 bits" },
        { { 6, 0, (uint64_t)-2, 3, 3, 1 }, "'w': a dimension or stride is negative: -2" },
        { { 6, 0, 2, 3, (uint64_t)-3, 1 }, "'w': a dimension or stride is negative: -3" },
        { { 6, (uint64_t)-1, 2, 3, 3, 1 }, "'w': its offset is no whole number" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        made_zip z = zip_tensor(&cases[i].t, 24);
        check_zip(&z, WTE_E_FORMAT, WTE_NO_INDEX, cases[i].part);
        zip_free(&z);
    }
}

/* Element [r, c] of what is accepted, by the plainest means: storage byte 4 k holds 4 k. */
static void strides_of_any_size_come_out_right(void **state)
{
    (void)state;
    static const made_tensor cases[] = {
        { 6, 0, 2, 3, 3, 1 },   { 6, 0, 2, 3, 1, 2 },     { 60, 3, 4, 5, 13, 2 },
        { 60, 1, 5, 4, 2, 13 }, { 250, 5, 3, 4, 1, 80 },  { 60, 0, 3, 4, 0, 5 },
        { 60, 0, 3, 4, 7, 0 },  { 200, 0, 30, 50, 3, 2 }, { 200, 0, 30, 50, 2, 2 },
        { 6, 2, 1, 4, 99, 1 },  { 6, 2, 4, 1, 1, 99 },    { 6, 9, 0, 4, 99, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const made_tensor *t = &cases[i];
        made_zip z = zip_tensor(t, (size_t)t->count * 4);
        wte_error err = { 0 };
        wte_file *f;
        wte_row_source rows;
        uint8_t got[30 * 50 * 4];
        assert_ok(open_zip_bytes(&z, NULL, &f, &err), err);
        assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
        assert_ok(rows.read_block(rows.ctx, 0, (size_t)t->rows, got, &err), err);
        for (uint64_t r = 0; r < t->rows; r++) {
            uint8_t one[50 * 4];
            assert_ok(wte_row_source_read(&rows, r, one, &err), err);
            assert_memory_equal(one, got + r * t->cols * 4, (size_t)t->cols * 4);
            for (uint64_t c = 0; c < t->cols; c++) {
                const uint64_t k = t->offset + r * t->row_stride + c * t->col_stride;
                assert_int_equal(got[(r * t->cols + c) * 4], (uint8_t)(4 * k));
                assert_int_equal(got[(r * t->cols + c) * 4 + 3], (uint8_t)(4 * k + 3));
            }
        }
        wte_file_free(f);
        zip_free(&z);
    }
}

/* What stands where a tensor or its storage should; '@' marks the opcode to be named. */
#define REBUILD "ctorch._utils\n_rebuild_tensor_v2\n"
static const struct {
    const char *value;
    bool anywhere; /* the place is not that of an opcode */
    wte_status status;
    const char *part;
} values[] = {
    { REBUILD ")R", true, WTE_E_FORMAT, "'w': is rebuilt from too few arguments" },
    { REBUILD "(NNNNtR", true, WTE_E_FORMAT, "'w': is rebuilt from no storage" },
    { REBUILD "(K\1@QNNNtR", false, WTE_E_FORMAT, "no ('storage', class, key, place, count)" },
    { REBUILD "()@QNNNtR", false, WTE_E_FORMAT, "no ('storage', class, key, place, count)" },
    { REBUILD "((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
              "0NNt@QNNNtR",
      false, WTE_E_FORMAT, "no ('storage', class, key, place, count)" },
    { REBUILD "((X\7\0\0\0storageNX\1\0\0\0"
              "0NK\6t@QNNNtR",
      false, WTE_E_FORMAT, "storage '0' is of no class of storages" },
    { REBUILD "((X\7\0\0\0storagectorch\nfloat32\nX\1\0\0\0"
              "0NK\6t@QNNNtR",
      false, WTE_E_FORMAT, "storage '0' is of no class of storages" },
    { REBUILD "((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
              "0N\x8a\x08\xff\xff\xff\xff\xff\xff"
              "\xff\x7ft@QNNNtR",
      false, WTE_E_FORMAT, "storage '0': 9223372036854775807 elements of f32 overflow" },
    { REBUILD "((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
              "0NK\6tQK\0N)tR",
      true, WTE_E_FORMAT, "'w': shape and strides are no tuples" },
    { REBUILD "((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
              "0NK\6tQK\0N\x85)tR",
      true, WTE_E_FORMAT, "'w': shape or strides are no whole numbers" },
    { REBUILD "((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
              "0NK\6tQK\0K\6\x85)tR",
      true, WTE_E_FORMAT, "'w': shape and strides differ in length" },
    { REBUILD "((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
              "0NK\6tQK\0(K\1K\1K\1K\1K\1K\1K\1K"
              "\1K\1K\1K\1K\1K\1K\1K\1K\1K\1t)tR",
      true, WTE_E_LIMIT, "'w' has 17 dimensions, but at most 16 are read" },
    { REBUILD "((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
              "0NK\6(X\1\0\0\0vK\5K\2tt@QNNNtR",
      false, WTE_E_FORMAT, "a view ends at element 7 of a storage of 6" },
    { REBUILD "((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
              "0NK\6K\1t@QNNNtR",
      false, WTE_E_FORMAT, "a view of a storage is no (key, offset, count)" },
    { "ctorch._utils\n_rebuild_parameter\nN\x85R", true, WTE_E_FORMAT,
      "'w': is rebuilt in a way that is not known" },
    { "ctorch._utils\n_rebuild_tensor_v3\n((X\7\0\0\0storagectorch.storage\nUntypedStorage\nX\1\0\0\0"
      "0NK\x18tQK\0K\6\x85K\1\x85NNNtR",
      true, WTE_E_FORMAT, "'w': its type is none of torch's" },
    { "ctorch._utils\n_rebuild_qtensor\n((X\7\0\0\0storagectorch\nQInt8Storage\nX\1\0\0\0"
      "0NK\x18tQK\0K\6\x85K\1\x85(ctorch\nper_tensor_affine\nK\1K\0t\x89NtR",
      true, WTE_E_UNSUPPORTED,
      "'w' is quantised (torch._utils._rebuild_qtensor), which is not read: save it as an ordinary "
      "one (x.dequantize())" },
    { "ctorch._utils\n_rebuild_sparse_tensor\n(N)tR", true, WTE_E_UNSUPPORTED,
      "'w' is sparse (torch._utils._rebuild_sparse_tensor), which is not read: save it as an "
      "ordinary one (x.to_dense())" },
    { "ctorch._utils\n_rebuild_meta_tensor_no_storage\n(N)tR", true, WTE_E_UNSUPPORTED,
      "'w' is of no data, on the device 'meta'" },
    { "ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_wrapper_subclass\nN)}tR",
      true, WTE_E_UNSUPPORTED, "'w' is of a kind of its own" },
    { "cnumpy.core.multiarray\n_reconstruct\n)R", true, WTE_E_UNSUPPORTED,
      "holds no tensors; 'w' is a NumPy array, which is not read" },
};

static void values_that_are_no_tensors_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        bytes b = { { 0 }, 0 };
        put_pickle(&b, "\x80\x02}%s", "w");
        uint64_t mark = WTE_NO_INDEX;
        /* the texts hold NULs: their ends are those of the opcode R */
        for (const char *c = values[i].value; *c != 'R' || c[1] != '\0'; c++) {
            if (*c == '@')
                mark = PICKLE_AT + b.n;
            else
                put(&b, c, 1);
        }
        put(&b, "Rs.", 3);
        assert_int_equal(mark == WTE_NO_INDEX, values[i].anywhere);
        made_zip z = zip_checkpoint(&b, 24);
        check_zip(&z, values[i].status, mark, values[i].part);
        zip_free(&z);
    }
}

/* What newer PyTorch writes: bytes without a type, the type as an argument; a torch.Size for a
 * shape; a parameter and an attribute-carrying tensor around it. */
static void newer_ways_to_rebuild_are_read(void **state)
{
    (void)state;
    bytes b = { { 0 }, 0 };
    wte_error err = { 0 };
    wte_file *f;
    float got;
    put_pickle(&b,
               "\x80\x02}(%sctorch._utils\n_rebuild_tensor_v3\n((%sctorch.storage\n"
               "UntypedStorage\n%s%s%dtQ%dctorch\nSize\n%d\x85\x85R%d\x85\x89Nctorch\nfloat16\n"
               "tR",
               "v3", "storage", "0", "cpu", 24, 4, 2, 1);
    put_pickle(&b,
               "%sctorch._utils\n_rebuild_parameter\n(ctorch._tensor\n_rebuild_from_type_v2\n("
               "ctorch._utils\n_rebuild_tensor_v2\nctorch.nn.parameter\nParameter\n(",
               "typed");
    put_pickle(&b, "(%sctorch\nFloatStorage\n%s%s%dtQ%d%d\x85%d\x85\x89Nt}tR\x89NtRu.", "storage",
               "1", "cpu", 2, 1, 1, 1);
    made_zip z;
    const float numbers[2] = { 1.5f, 2.5f };
    zip_begin(&z);
    zip_add(&z, "a/data.pkl", b.data, b.n, 0);
    zip_add(&z, "a/data/0", "0123456789abcdefghijklmn", 24, 0);
    zip_add(&z, "a/data/1", numbers, 8, 0);
    zip_end(&z, 0, "");
    assert_ok(open_zip_bytes(&z, NULL, &f, &err), err);
    uint64_t i;
    char half[4];
    assert_ok(wte_file_find(f, "v3", 2, &i, &err), err);
    assert_int_equal(tensor_at(f, i).dtype, WTE_F16);
    assert_int_equal(tensor_at(f, i).shape[0], 2);
    assert_ok(wte_file_read(f, i, 0, half, 4, &err), err);
    assert_memory_equal(half, "89ab", 4);
    assert_ok(wte_file_find(f, "typed", 5, &i, &err), err);
    assert_ok(wte_file_read(f, i, 0, &got, 4, &err), err);
    assert_true(got == 2.5f);
    wte_file_free(f);
    zip_free(&z);
}

static void storages_and_their_members_must_agree(void **state)
{
    (void)state;
    static const made_tensor t = { 6, 0, 2, 3, 3, 1 };
    made_zip z = zip_tensor(&t, 20);
    check_zip(&z, WTE_E_FORMAT, z.directory[46 + 12 + 42] + 256u * z.directory[46 + 12 + 43],
              "storage '0' of 6 elements of f32 takes 24 bytes, but its member has 20");
    zip_free(&z);
    bytes b = { { 0 }, 0 };
    put_pickle(&b, "\x80\x02}%s", "w");
    put_tensor(&b, &t);
    put_pickle(&b, "s%s", "v");
    put_pickle(&b, "ctorch._utils\n_rebuild_tensor_v2\n(");
    put_storage(&b, "0", 5);
    const uint64_t where = PICKLE_AT + b.n - 1;
    put_pickle(&b, "%d)))tRs.", 0);
    z = zip_checkpoint(&b, 24);
    check_zip(&z, WTE_E_FORMAT, where,
              "storage '0' is 5 elements of f32 here, but 6 of f32 before");
    zip_free(&z);
}

/* An archive of the members given, "NAME", "DATA", ...; the pickle is that of one tensor. */
static made_zip zip_with(const char *const *members, size_t n)
{
    static const made_tensor t = { 6, 0, 2, 3, 3, 1 };
    bytes b = { { 0 }, 0 };
    made_zip z;
    put_pickle(&b, "\x80\x02}%s", "w");
    put_tensor(&b, &t);
    put_pickle(&b, "s.");
    zip_begin(&z);
    zip_add(&z, "top/data.pkl", b.data, b.n, 0);
    for (size_t i = 0; i < n; i++)
        zip_add(&z, members[2 * i], members[2 * i + 1], strlen(members[2 * i + 1]), 0);
    zip_end(&z, 0, "");
    return z;
}

#define DATA "top/data/0", "abcdefghijklmnopqrstuvwx"

static void archives_must_be_whole_and_hide_nothing(void **state)
{
    (void)state;
    made_zip z = zip_with(NULL, 0);
    check_zip(&z, WTE_E_FORMAT, WTE_NO_INDEX, "storage '0' is missing: no member 'data/0'");
    zip_free(&z);
    z = zip_with((const char *const[]){ "other/x", "1", DATA }, 2);
    check_zip(&z, WTE_E_FORMAT, z.local - 30 - 7 - 1,
              "'other/x' lies outside of the folder 'top/' of its pickle");
    zip_free(&z);
    z = zip_with((const char *const[]){ DATA, "top/byteorder", "middle" }, 2);
    check_zip(&z, WTE_E_FORMAT, z.local, "its byteorder is neither 'little' nor 'big'");
    zip_free(&z);
}

static void big_endian_elements_come_out_in_order(void **state)
{
    (void)state;
    wte_error err = { 0 };
    static const char *const order[] = { "little", "big" };
    for (int big = 0; big < 2; big++) {
        made_zip z = zip_with((const char *const[]){ DATA, "top/byteorder", order[big] }, 2);
        wte_file *f;
        wte_row_source rows;
        char row[12];
        assert_ok(open_zip_bytes(&z, NULL, &f, &err), err);
        assert_int_equal(tensor_at(f, 0).big_endian, big);
        assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
        assert_ok(wte_row_source_read(&rows, 1, row, &err), err);
        assert_memory_equal(row, big ? "ponmtsrqxwvu" : "mnopqrstuvwx", 12);
        wte_file_free(f);
        zip_free(&z);
    }
}

/* The dict {'a': {'a': ... }} that deep, around a tensor; or without one. */
static made_zip zip_nested(uint32_t depth, bool tensor)
{
    static const made_tensor t = { 6, 0, 2, 3, 3, 1 };
    bytes b = { { 0 }, 0 };
    put_pickle(&b, "\x80\x02%s", "a");
    put(&b, "q\0000", 3); /* remembered, and popped */
    for (uint32_t i = 0; i < depth; i++) put(&b, "}h\0", 3);
    if (tensor)
        put_tensor(&b, &t);
    else
        put_pickle(&b, "N");
    for (uint32_t i = 0; i < depth; i++) put_pickle(&b, "s");
    put_pickle(&b, ".");
    return zip_checkpoint(&b, 24);
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    made_zip z = zip_nested(WTE_LIMIT_PICKLE_DEPTH, true);
    assert_ok(open_zip_bytes(&z, NULL, &f, &err), err);
    assert_int_equal(tensor_at(f, 0).name_bytes, 2 * WTE_LIMIT_PICKLE_DEPTH - 1);
    wte_file_free(f);
    zip_free(&z);
    z = zip_nested(WTE_LIMIT_PICKLE_DEPTH + 1, true);
    check_zip(&z, WTE_E_LIMIT, WTE_NO_INDEX, "more than 256 dicts, one in the other");
    zip_free(&z);
    z = zip_nested(1, false); /* holds no tensor, but is a dict */
    assert_ok(open_zip_bytes(&z, NULL, &f, &err), err);
    assert_int_equal(wte_file_n_tensors(f), 0);
    wte_file_free(f);
    zip_free(&z);
}

/* 40 dicts, each of which holds the one before twice: 2^40 paths to the innermost value. */
static void values_that_are_shared_without_end_are_refused(void **state)
{
    (void)state;
    bytes b = { { 0 }, 0 };
    put_pickle(&b, "\x80\x02}");
    for (uint8_t i = 0; i < 40; i++) {
        const uint8_t put_it[] = { 'q', i, '0', '}', '(', 'K', 1, 'h', i, 'K', 2, 'h', i, 'u' };
        put(&b, put_it, sizeof put_it);
    }
    put_pickle(&b, ".");
    made_zip z = zip_checkpoint(&b, 4);
    check_zip(&z, WTE_E_LIMIT, WTE_NO_INDEX, "more than 4000000 values");
    zip_free(&z);
    bytes itself = { { 0 }, 0 };
    put(&itself, "\x80\x02}q\1X\1\0\0\0ah\1s.", 15);
    z = zip_checkpoint(&itself, 4);
    check_zip(&z, WTE_E_LIMIT, WTE_NO_INDEX, "more than 256 dicts, one in the other");
    zip_free(&z);
}

static void names_must_differ(void **state)
{
    (void)state;
    static const made_tensor t = { 6, 0, 2, 3, 3, 1 };
    bytes b = { { 0 }, 0 };
    put_pickle(&b, "\x80\x02}%s", "a.b");
    put_tensor(&b, &t);
    put_pickle(&b, "s%s}%s", "a", "b");
    put_tensor(&b, &t);
    put_pickle(&b, "ss.");
    made_zip z = zip_checkpoint(&b, 24);
    check_zip(&z, WTE_E_FORMAT, WTE_NO_INDEX, "two tensors are named 'a.b'");
    zip_free(&z);
}

static void what_is_neither_dict_nor_tensor_is_refused(void **state)
{
    (void)state;
    bytes b = { { 0 }, 0 };
    put_pickle(&b, "\x80\x02%d.", 5);
    made_zip z = zip_checkpoint(&b, 4);
    check_zip(&z, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "its pickle holds neither tensors nor a dict");
    zip_free(&z);
}

/* A tensor, an array of NumPy and two objects: the first that is passed over is told by name. */
static made_zip zip_with_others(bytes *b)
{
    static const made_tensor t = { 6, 0, 2, 3, 3, 1 };
    put_pickle(b, "\x80\x02}(%s", "w");
    put_tensor(b, &t);
    put_pickle(b,
               "%scnumpy._core.multiarray\n_reconstruct\n)R(%d%d%d\x86"
               "cnumpy\ndtype\n%s\x85R\x89Ntb%sc_io\nBytesIO\n)\x81%scx\nConfig\n)\x81u.",
               "emb", 1, 7, 5, "f4", "state", "config");
    return zip_checkpoint(b, 24);
}

static void what_is_passed_over_is_told(void **state)
{
    (void)state;
    bytes b = { { 0 }, 0 };
    made_zip z = zip_with_others(&b);
    wte_error err = { 0 };
    wte_file *f;
    const char *value;
    assert_ok(open_zip_bytes(&z, NULL, &f, &err), err);
    assert_int_equal(wte_file_n_tensors(f), 1);
    assert_string_equal(wte_file_metadata(f, 0, &value), "emb");
    assert_string_equal(value, "not read: a NumPy array, 7 x 5 'f4'; and 2 more");
    wte_file_free(f);
    wte_status status = WTE_E_MEMORY;
    for (size_t i = 0; status != WTE_OK; i++) {
        test_memory memory;
        test_memory_init(&memory, i);
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        opt.allocator = &memory.allocator;
        status = open_zip_bytes(&z, &opt, &f, &err);
        assert_true(status == WTE_OK || status == WTE_E_MEMORY);
        wte_file_free(f);
        assert_int_equal(memory.live, 0);
        assert_true(i < 300);
    }
    zip_free(&z);
}

static const struct CMUnitTest tests[] = {
    TEST("what is passed over is told", what_is_passed_over_is_told),
    TEST("tensors must lie in their storage", tensors_must_lie_in_their_storage),
    TEST("strides of any size come out right", strides_of_any_size_come_out_right),
    TEST("values that are no tensors are told", values_that_are_no_tensors_are_told),
    TEST("newer ways to rebuild are read", newer_ways_to_rebuild_are_read),
    TEST("storages and their members must agree", storages_and_their_members_must_agree),
    TEST("archives must be whole and hide nothing", archives_must_be_whole_and_hide_nothing),
    TEST("big-endian elements come out in order", big_endian_elements_come_out_in_order),
    TEST("nesting is bounded", nesting_is_bounded),
    TEST("values that are shared without end are refused",
         values_that_are_shared_without_end_are_refused),
    TEST("names must differ", names_must_differ),
    TEST("what is neither dict nor tensor is refused", what_is_neither_dict_nor_tensor_is_refused),
};
TEST_MAIN(tests)
