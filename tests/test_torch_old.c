/* PyTorch's two older containers, built byte by byte: what is in them, and every fault. */
#include "torch_files.h"

static void check_bytes(const bytes *b, size_t n, wte_status status, uint64_t where,
                        const char *part)
{
    wte_error err = { 0 };
    wte_file *f;
    uint8_t *data = test_guarded(n);
    memcpy(data, b->data, n);
    assert_fails(wte_file_open_memory(data, n, "t.bin", NULL, &f, &err), err, status, where, part);
    assert_non_null(strstr(err.message, "t.bin: "));
    test_guarded_free(data, n);
}

/* Before 1.6 -------------------------------------------------------------------------------------
 */

static void put_magic(bytes *b)
{
    put(b, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
}

static void put_start(bytes *b, const char *little)
{
    put_magic(b);
    put_pickle(b, "\x80\x02M\xe9\x03.\x80\x02}%sM\xe9\x03s%s", "protocol_version", "little_endian");
    put_pickle(b, little);
    put_pickle(b, "s.");
}

static void put_numbers(bytes *b, uint64_t count, size_t n)
{
    uint8_t raw[8];
    zip_put(raw, count, 8);
    put(b, raw, 8);
    for (size_t i = 0; i < n; i++) {
        const uint8_t byte = (uint8_t)i;
        put(b, &byte, 1);
    }
}

static const made_tensor six = { 6, 0, 2, 3, 3, 1 };

/* {'w': 2 x 3 over storage '0'}, its keys, its bytes. */
static bytes make_legacy(const char *little, const char *keys)
{
    bytes b = { { 0 }, 0 };
    put_start(&b, little);
    put_pickle(&b, "\x80\x02}%s", "w");
    put_tensor(&b, &six);
    put_pickle(&b, "s.\x80\x02");
    put_pickle(&b, keys, "0");
    put_pickle(&b, ".");
    return b;
}

static void either_byte_order_is_read(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        bytes b = make_legacy(big ? "\x89" : "\x88", "]%sa");
        put_numbers(&b, 6, 24);
        wte_error err = { 0 };
        wte_file *f;
        wte_row_source rows;
        uint8_t row[12];
        assert_ok(wte_file_open_memory(b.data, b.n, "t.bin", NULL, &f, &err), err);
        assert_string_equal(wte_format_name(wte_file_format(f)), "PyTorch");
        assert_int_equal(tensor_at(f, 0).offset, b.n - 24);
        assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
        assert_ok(wte_row_source_read(&rows, 1, row, &err), err);
        assert_int_equal(row[0], big ? 15 : 12);
        assert_int_equal(row[3], big ? 12 : 15);
        wte_file_free(f);
    }
}

/* A storage of its own key that is a window into another: elements 2 to 4 of 6. */
static void views_of_storages_are_followed(void **state)
{
    (void)state;
    bytes b = { { 0 }, 0 };
    wte_error err = { 0 };
    wte_file *f;
    put_start(&b, "\x88");
    put_pickle(&b,
               "\x80\x02}%sctorch._utils\n_rebuild_tensor\n((%sctorch\nFloatStorage\n%s%s%d(%s%d"
               "%dttQ%d%d\x85%d\x85tRs.\x80\x02]%sa.",
               "w", "storage", "root", "cpu", 6, "view", 2, 3, 1, 2, 1, "root");
    put_numbers(&b, 6, 24);
    assert_ok(wte_file_open_memory(b.data, b.n, "t.bin", NULL, &f, &err), err);
    assert_int_equal(tensor_at(f, 0).offset, b.n - 24 + 3 * 4);
    assert_int_equal(tensor_at(f, 0).bytes, 8);
    wte_file_free(f);
}

static void faults_of_the_form_before_1_6_are_told(void **state)
{
    (void)state;
    bytes b = { { 0 }, 0 };
    put_magic(&b);
    put_pickle(&b, "\x80\x02M\xea\x03.");
    check_bytes(&b, b.n, WTE_E_FORMAT, 15, "its version is not 1001");
    b.n = 15;
    put_pickle(&b, "\x80\x02M\xe9\x03.\x80\x02}.");
    check_bytes(&b, b.n, WTE_E_FORMAT, 21, "does not say whether it is little-endian");
    check_bytes(&b, b.n - 1, WTE_E_FORMAT, b.n - 1, "ends in the middle");
    check_bytes(&b, 15, WTE_E_FORMAT, 15, "ends in the middle");
    b = make_legacy("\x88", "]%sa");
    put_numbers(&b, 6, 24);
    check_bytes(&b, b.n - 1, WTE_E_FORMAT, b.n - 1,
                "truncated: storage '0' of 24 bytes begins at byte");
    b.data[b.n - 32] = 7;
    check_bytes(&b, b.n, WTE_E_FORMAT, b.n - 32,
                "storage '0' has 7 elements, but its pickle says 6");
    b = make_legacy("\x88", "}");
    check_bytes(&b, b.n, WTE_E_FORMAT, b.n, "the keys of its storages are no list");
    b = make_legacy("\x88", "](NNe");
    check_bytes(&b, b.n, WTE_E_FORMAT, b.n, "a key of a storage is no text");
    b = make_legacy("\x88", "]");
    check_bytes(&b, b.n, WTE_E_FORMAT, b.n, "storage '0' is missing: its key is not listed");
    b = make_legacy("\x88", "]K\5a");
    check_bytes(&b, b.n, WTE_E_FORMAT, b.n, "storage '5' are there, but nothing names it");
    b = make_legacy("\x88", "](%sq\1h\1e"); /* the key, recalled */
    put_numbers(&b, 6, 24);
    put_numbers(&b, 6, 24);
    check_bytes(&b, b.n, WTE_E_FORMAT, b.n - 32, "storage '0' is listed twice");
}

/* In tar --------------------------------------------------------------------------------------- */

typedef struct made_tar {
    bytes storages, tensors, pickle;
} made_tar;

static void put_member(bytes *b, const char *name, const bytes *data)
{
    uint8_t block[512] = { 0 };
    uint32_t sum = 0;
    snprintf((char *)block, 100, "%s", name);
    snprintf((char *)block + 124, 12, "%011o", (unsigned)data->n);
    memset(block + 148, ' ', 8);
    block[156] = '0';
    memcpy(block + 257, "ustar  ", 8);
    for (size_t i = 0; i < sizeof block; i++) sum += block[i];
    snprintf((char *)block + 148, 8, "%06o", sum);
    put(b, block, sizeof block);
    put(b, data->data, data->n);
    memset(block, 0, sizeof block);
    put(b, block, (512 - data->n % 512) % 512);
}

static bytes tar_of(const made_tar *t)
{
    static const bytes nothing = { { 0 }, 0 };
    bytes b = { { 0 }, 0 };
    put_member(&b, "sys_info", &nothing);
    put_member(&b, "storages", &t->storages);
    put_member(&b, "tensors", &t->tensors);
    put_member(&b, "pickle", &t->pickle);
    return b;
}

static void put_number(bytes *b, uint64_t v, unsigned n)
{
    uint8_t raw[8];
    zip_put(raw, v, n);
    put(b, raw, n);
}

/* Storage 'a' of 6 f32; view 'v' of its elements 2 to 5; tensor 1 is 2 x 3 over 'a', tensor 2 is 2
 * elements of 'v' from its second on; {'w': 1, 'tied': 1, 'part': 2}. */
static made_tar make_tar(void)
{
    made_tar t;
    memset(&t, 0, sizeof t);
    put_pickle(&t.storages, "\x80\x02%d.\x80\x02%s%sctorch\nFloatStorage\n\x87.", 1, "a", "cpu");
    put_numbers(&t.storages, 6, 24);
    put_pickle(&t.storages, "\x80\x02](%s%s%d%dta.", "v", "a", 2, 4);
    put_pickle(&t.tensors, "\x80\x02%d.\x80\x02%d%sctorch\nFloatTensor\n\x87.", 2, 1, "a");
    put_number(&t.tensors, 2, 8);
    static const uint64_t first[] = { 2, 3, 3, 1, 0 }, second[] = { 2, 1, 1 };
    for (int i = 0; i < 5; i++) put_number(&t.tensors, first[i], 8);
    put_pickle(&t.tensors, "\x80\x02%d%sctorch\nFloatTensor\n\x87.", 2, "v");
    put_number(&t.tensors, 1, 8);
    for (int i = 0; i < 3; i++) put_number(&t.tensors, second[i], 8);
    put_pickle(&t.pickle, "\x80\x02}(%s%dQ%s%sQ%s%dQu.", "w", 1, "tied", "1", "part", 2);
    return t;
}

static void the_tar_form_is_read(void **state)
{
    (void)state;
    const made_tar t = make_tar();
    bytes b = tar_of(&t);
    wte_error err = { 0 };
    wte_file *f;
    uint64_t w, tied, part;
    assert_ok(wte_file_open_memory(b.data, b.n, "t.bin", NULL, &f, &err), err);
    assert_int_equal(wte_file_n_tensors(f), 3);
    assert_ok(wte_file_find(f, "w", 1, &w, &err), err);
    assert_ok(wte_file_find(f, "tied", 4, &tied, &err), err);
    assert_ok(wte_file_find(f, "part", 4, &part, &err), err);
    assert_int_equal(tensor_at(f, w).offset, tensor_at(f, tied).offset);
    assert_int_equal(tensor_at(f, w).storage, tensor_at(f, tied).storage);
    assert_int_equal(b.data[tensor_at(f, w).offset + 23], 23);
    assert_int_equal(tensor_at(f, part).offset, tensor_at(f, w).offset + 3 * 4);
    assert_int_equal(tensor_at(f, part).rank, 1);
    wte_file_free(f);
}

static void check_tar(const made_tar *t, wte_status status, const char *part)
{
    const bytes b = tar_of(t);
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(wte_file_open_memory(b.data, b.n, "t.bin", NULL, &f, &err), err, status, err.where,
                 part);
    assert_true(err.where <= b.n || err.where == WTE_NO_INDEX);
}

static void faults_of_the_archive_are_told(void **state)
{
    (void)state;
    const made_tar t = make_tar();
    bytes b = tar_of(&t);
    check_bytes(&b, 512 + 600, WTE_E_FORMAT, 512 + 600,
                "truncated: a member of the tar archive ends at byte");
    b.data[130] ^= 1;
    check_bytes(&b, b.n, WTE_E_FORMAT, 0, "tar, byte 0: a header's checksum does not fit");
    b = tar_of(&t);
    memcpy(b.data + 124, "99999999999", 11);
    uint32_t sum = 8 * ' ';
    for (size_t i = 0; i < 512; i++) sum += i >= 148 && i < 156 ? 0 : b.data[i];
    snprintf((char *)b.data + 148, 8, "%06o", sum);
    check_bytes(&b, b.n, WTE_E_FORMAT, 0, "a size is no octal number");
    b = tar_of(&t);
    const size_t whole = b.n;
    put_member(&b, "pickle", &t.pickle);
    check_bytes(&b, b.n, WTE_E_FORMAT, whole, "a member comes twice");
    b.n = 0;
    put_member(&b, "storages", &t.storages);
    check_bytes(&b, b.n, WTE_E_FORMAT, b.n, "an old PyTorch file, but its member 'tensors' is");
}

static void faults_of_its_members_are_told(void **state)
{
    (void)state;
    made_tar t = make_tar();
    t.storages.n = 0;
    put_pickle(&t.storages, "\x80\x02%s.", "many");
    check_tar(&t, WTE_E_FORMAT, "how many there are is no number");
    t.storages.n = 0;
    put_pickle(&t.storages, "\x80\x02%d.", 1000000000);
    check_tar(&t, WTE_E_FORMAT, "ends in the middle");
    t.storages.n = 0;
    put_pickle(&t.storages, "\x80\x02%d.\x80\x02%s%s\x86.", 1, "a", "cpu");
    check_tar(&t, WTE_E_FORMAT, "is no tuple of three");
    t.storages.n = 0;
    put_pickle(&t.storages, "\x80\x02%d.\x80\x02%s%sctorch\nFloatStorage\n\x87.", 1, "a", "cpu");
    put_number(&t.storages, 7, 8);
    check_tar(&t, WTE_E_FORMAT, "28 bytes are needed, but its member has 0 left");
    t.storages.n = 0;
    put_pickle(&t.storages, "\x80\x02%d.", 2);
    for (int i = 0; i < 2; i++) {
        put_pickle(&t.storages, "\x80\x02%s%sctorch\nFloatStorage\n\x87.", "a", "cpu");
        put_numbers(&t.storages, 1, 4);
    }
    check_tar(&t, WTE_E_FORMAT, "a storage comes twice");
    t = make_tar();
    t.storages.n -= 1;
    check_tar(&t, WTE_E_FORMAT, "ends in the middle");
    static const struct {
        const char *root;
        int offset, count;
        const char *key, *part;
    } views[] = {
        { "b", 0, 1, "v", "a view is of no storage" },
        { "a", 5, 2, "v", "a view ends behind its storage" },
        { "a", 0, 1, "a", "a key stands for two storages" },
        { "a", -1, 1, "v", "a view of a storage is no (key, key, offset, count)" },
    };
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        t = make_tar();
        t.storages.n -= 29; /* the views */
        put_pickle(&t.storages, "\x80\x02](%s%s%d%dta.", views[i].key, views[i].root,
                   views[i].offset, views[i].count);
        check_tar(&t, WTE_E_FORMAT, views[i].part);
    }
}

static void faults_of_its_tensors_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *key, *class_;
        uint64_t rank, size, stride, offset;
        wte_status status;
        const char *part;
    } cases[] = {
        { "b", "FloatTensor", 1, 1, 1, 0, WTE_E_FORMAT, "a tensor is of no storage" },
        { "a", "Size", 1, 1, 1, 0, WTE_E_FORMAT, "a tensor is of no class of tensors" },
        { "a", "FloatTensor", 17, 1, 1, 0, WTE_E_LIMIT, "a tensor of 17 dimensions" },
        { "a", "FloatTensor", 1, 7, 1, 0, WTE_E_FORMAT, "'w' reaches to byte 28 of storage 'a'" },
        { "a", "DoubleTensor", 1, 4, 1, 0, WTE_E_FORMAT, "'w' reaches to byte 32 of storage 'a'" },
        { "v", "FloatTensor", 1, 1, 1, UINT64_MAX, WTE_E_FORMAT, "an offset overflows 64 bits" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        made_tar t = make_tar();
        t.tensors.n = 0;
        put_pickle(&t.tensors, "\x80\x02%d.\x80\x02%d%sctorch\n", 1, 1, cases[i].key);
        put_pickle(&t.tensors, cases[i].class_);
        put_pickle(&t.tensors, "\n\x87.");
        put_number(&t.tensors, cases[i].rank, 8);
        put_number(&t.tensors, cases[i].size, 8);
        put_number(&t.tensors, cases[i].stride, 8);
        put_number(&t.tensors, cases[i].offset, 8);
        check_tar(&t, cases[i].status, cases[i].part);
    }
    made_tar t = make_tar();
    t.tensors.data[2 + 5 + 1 + 2 + 1] = 2; /* the first one's key */
    check_tar(&t, WTE_E_FORMAT, "a tensor comes twice");
    t = make_tar();
    t.tensors.n -= 1;
    check_tar(&t, WTE_E_FORMAT, "8 bytes are needed, but its member has 7 left");
}

static const struct CMUnitTest tests[] = {
    TEST("the form before 1.6 is read in either byte order", either_byte_order_is_read),
    TEST("views of storages are followed", views_of_storages_are_followed),
    TEST("faults of the form before 1.6 are told", faults_of_the_form_before_1_6_are_told),
    TEST("the tar form is read", the_tar_form_is_read),
    TEST("faults of the archive are told", faults_of_the_archive_are_told),
    TEST("faults of its members are told", faults_of_its_members_are_told),
    TEST("faults of its tensors are told", faults_of_its_tensors_are_told),
};
TEST_MAIN(tests)
