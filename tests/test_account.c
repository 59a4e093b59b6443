/* Where the bytes of a file go: storages and what is used of them, tensors stored twice. */
#include "torch_files.h"

/* A view of few of many: {'few': rows x cols over storage '0' of 1000 elements, ...}. */
static made_zip zip_views(const made_tensor *t, size_t n)
{
    static const char *const names[] = { "few", "more", "third" };
    static uint8_t storage[4000];
    bytes b = { { 0 }, 0 };
    made_zip z;
    put_pickle(&b, "\x80\x02}");
    for (size_t i = 0; i < n; i++) {
        put_pickle(&b, "%s", names[i]);
        put_tensor(&b, &t[i]);
        put_pickle(&b, "s");
    }
    put_pickle(&b, ".");
    zip_begin(&z);
    zip_add(&z, "top/data.pkl", b.data, b.n, 0);
    zip_add(&z, "top/data/0", storage, sizeof storage, ZIP_PAD);
    zip_end(&z, 0, "");
    return z;
}

static void check_use(const made_tensor *t, size_t n, uint64_t used)
{
    made_zip z = zip_views(t, n);
    wte_error err = { 0 };
    wte_disk_usage a;
    wte_file *f;
    uint64_t of_storage = 7;
    assert_ok(open_zip_bytes(&z, NULL, &f, &err), err);
    assert_ok(wte_file_disk_usage(f, &of_storage, NULL, NULL, &a, &err), err);
    assert_int_equal(of_storage, used);
    assert_int_equal(a.used, used);
    assert_int_equal(a.sliced, 4000 - used);
    assert_int_equal(a.stored, z.n);
    assert_int_equal(a.strays, 0);
    assert_int_equal(a.duplicate, 0);
    wte_file_free(f);
    zip_free(&z);
}

static void a_view_of_4_of_1000_uses_16_of_4000_bytes(void **state)
{
    (void)state;
    static const made_tensor few = { 1000, 10, 2, 2, 2, 1 };
    made_zip z = zip_views(&few, 1);
    wte_error err = { 0 };
    wte_storage s;
    wte_file *f;
    assert_ok(open_zip_bytes(&z, NULL, &f, &err), err);
    assert_int_equal(wte_file_n_storages(f), 1);
    assert_int_equal(tensor_at(f, 0).storage, 0);
    assert_ok(wte_file_storage(f, 0, &s, &err), err);
    assert_string_equal(s.name, "0");
    assert_int_equal(s.name_bytes, 1);
    assert_int_equal(s.bytes, 4000);
    assert_int_equal(tensor_at(f, 0).offset, s.offset + 40);
    assert_int_equal(s.shard, 0);
    assert_false(s.decompressed);
    assert_fails(wte_file_storage(f, 1, &s, &err), err, WTE_E_RANGE, 1,
                 "t.pt: storage number 1, but it has 1");
    wte_file_free(f);
    zip_free(&z);
    check_use(&few, 1, 16);
}

static void a_byte_of_two_views_is_used_once(void **state)
{
    (void)state;
    static const made_tensor both[] = { { 1000, 0, 10, 10, 10, 1 }, { 1000, 50, 10, 10, 10, 1 } };
    static const made_tensor inside[] = { { 1000, 0, 100, 10, 10, 1 },
                                          { 1000, 50, 10, 10, 10, 1 },
                                          { 1000, 990, 1, 10, 10, 1 } };
    static const made_tensor apart[] = { { 1000, 900, 10, 10, 10, 1 }, { 1000, 0, 2, 2, 2, 1 } };
    check_use(both, 2, 600);
    check_use(inside, 3, 4000);
    check_use(apart, 2, 416);
}

static void elements_with_gaps_are_counted_without_them(void **state)
{
    (void)state;
    static const made_tensor column = { 1000, 3, 100, 1, 10, 1 };
    static const made_tensor two[] = { { 1000, 0, 100, 1, 10, 1 }, { 1000, 1, 100, 1, 10, 1 } };
    static const made_tensor repeated = { 1000, 5, 1, 900, 1, 0 };
    static const made_tensor turned = { 1000, 0, 10, 20, 1, 10 };
    check_use(&column, 1, 400);
    check_use(two, 2, 800);
    check_use(&repeated, 1, 4);
    check_use(&turned, 1, 800);
}

static void all_three_forms_of_a_checkpoint_tell_their_storages(void **state)
{
    (void)state;
    static const char *const files[] = { "views.pt", "views-legacy.pt", "views-tar.pt" };
    for (size_t k = 0; k < 3; k++) {
        char path[64];
        wte_error err = { 0 };
        wte_file *f;
        wte_disk_usage a;
        wte_storage s;
        snprintf(path, sizeof path, "torch/%s", files[k]);
        assert_ok(wte_file_open(test_data(path), NULL, &f, &err), err);
        const uint64_t n = wte_file_n_storages(f);
        uint64_t used[8] = { 0 }, whole = 0, sum = 0;
        assert_true(n >= 2 && n <= 8);
        assert_ok(wte_file_disk_usage(f, used, NULL, NULL, &a, &err), err);
        for (uint64_t i = 0; i < n; i++) {
            assert_ok(wte_file_storage(f, i, &s, &err), err);
            assert_true(used[i] <= s.bytes && (used[i] > 0 || s.bytes == 0));
            whole += s.bytes;
            sum += used[i];
        }
        for (uint64_t i = 0; i < wte_file_n_tensors(f); i++) {
            const wte_tensor t = tensor_at(f, i);
            assert_true(t.storage < n);
            assert_ok(wte_file_storage(f, t.storage, &s, &err), err);
            assert_true(t.offset >= s.offset && t.offset + t.bytes <= s.offset + s.bytes);
        }
        assert_int_equal(a.used, sum);
        assert_int_equal(a.sliced, whole - sum);
        wte_file_free(f);
    }
}

/* Three of 2 x 3 floats, one of 3 x 2, one of 2 x 3 bytes. */
#define TENSOR(name, type, shape, from, to)                                                        \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]}"
static const char five[] = "{" /* data are 0, 1, 2, ... */
    TENSOR("a", "F32", "[2,3]", "0", "24") "," TENSOR("b", "F32", "[2,3]", "24", "48") "," TENSOR(
        "c", "F32", "[3,2]", "48", "72") "," TENSOR("d", "F32", "[2,3]", "72",
                                                    "96") "," TENSOR("e", "U8", "[2,3]", "96",
                                                                     "102") "}";

static bool stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    (void)ctx;
    return false;
}

static void tensors_stored_twice_are_found(void **state)
{
    (void)state;
    made_file made = make_safetensors(five, 102);
    uint8_t *data = made.data + made.bytes - 102;
    wte_error err = { 0 };
    wte_file *f;
    wte_disk_usage a;
    uint64_t same[5];
    memcpy(data + 48, data, 24); /* c, of another shape */
    memcpy(data + 72, data, 24); /* d */
    memcpy(data + 96, data, 6);  /* e, of another type */
    assert_ok(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err);
    assert_ok(wte_file_disk_usage(f, NULL, same, NULL, &a, &err), err);
    for (uint64_t i = 0; i < 5; i++) assert_int_equal(same[i], i == 3 ? 0 : WTE_NO_INDEX);
    assert_int_equal(a.duplicates, 1);
    assert_int_equal(a.duplicate, 24);
    assert_int_equal(a.used, 102);
    assert_int_equal(a.stored, made.bytes);
    data[95] ^= 1; /* the last byte alone */
    assert_ok(wte_file_disk_usage(f, NULL, same, NULL, &a, &err), err);
    assert_int_equal(a.duplicates, 0);
    assert_int_equal(same[3], WTE_NO_INDEX);
    memcpy(data + 24, data + 72, 24); /* b and d, but not a */
    assert_ok(wte_file_disk_usage(f, NULL, same, NULL, &a, &err), err);
    assert_int_equal(same[1], WTE_NO_INDEX);
    assert_int_equal(same[3], 1);
    const wte_progress stop = { stop_at_once, NULL };
    assert_int_equal(wte_file_disk_usage(f, NULL, same, &stop, &a, &err), WTE_E_CANCELLED);
    assert_true(err.where < 5); /* which kind comes first is no promise */
    assert_non_null(strstr(err.message, "t: comparing tensors was stopped at "));
    wte_file_free(f);
    made_file_free(&made);
}

/* Two tensors of 100000 bytes that differ in one byte, which the samples do not reach; then in
 * none.
 */
static void a_difference_anywhere_is_seen(void **state)
{
    (void)state;
    static const char two[] = "{" TENSOR("a", "U8", "[100000]", "0", "100000") "," TENSOR(
        "b", "U8", "[100000]", "100000", "200000") "}";
    made_file made = make_safetensors(two, 200000);
    uint8_t *data = made.data + made.bytes - 200000;
    wte_error err = { 0 };
    wte_file *f;
    wte_disk_usage a;
    uint64_t same[2];
    memcpy(data + 100000, data, 100000);
    assert_ok(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err);
    for (uint64_t at = 0; at < 100000; at += 3331) {
        data[at] ^= 0x80;
        assert_ok(wte_file_disk_usage(f, NULL, same, NULL, &a, &err), err);
        assert_int_equal(a.duplicates, 0);
        data[at] ^= 0x80;
    }
    assert_ok(wte_file_disk_usage(f, NULL, same, NULL, &a, &err), err);
    assert_int_equal(same[1], 0);
    assert_int_equal(a.duplicate, 100000);
    wte_file_free(f);
    made_file_free(&made);
}

static void two_names_of_one_place_are_no_duplicate(void **state)
{
    (void)state;
    static const made_tensor twice[] = { { 1000, 0, 10, 10, 10, 1 },
                                         { 1000, 0, 10, 10, 10, 1 },
                                         { 1000, 100, 10, 10, 10, 1 } };
    made_zip z = zip_views(twice, 3);
    wte_error err = { 0 };
    wte_file *f;
    wte_disk_usage a;
    uint64_t same[3];
    assert_ok(open_zip_bytes(&z, NULL, &f, &err), err);
    assert_ok(wte_file_disk_usage(f, NULL, same, NULL, &a, &err), err);
    assert_int_equal(same[0], WTE_NO_INDEX);
    assert_int_equal(same[1], WTE_NO_INDEX);
    assert_int_equal(same[2], 0); /* zeros too, but other ones */
    assert_int_equal(a.duplicates, 1);
    assert_int_equal(a.duplicate, 400);
    wte_file_free(f);
    zip_free(&z);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const made_tensor few = { 6, 0, 2, 3, 3, 1 };
    made_zip z = zip_tensor(&few, 24);
    for (size_t i = 0;; i++) {
        wte_error err = { 0 };
        wte_disk_usage a;
        wte_file *f;
        uint64_t same[1];
        test_memory m;
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        test_memory_init(&m, i);
        opt.allocator = &m.allocator;
        wte_status status = open_zip_bytes(&z, &opt, &f, &err);
        if (status == WTE_OK) {
            status = wte_file_disk_usage(f, NULL, same, NULL, &a, &err);
            wte_file_free(f);
        }
        assert_int_equal(m.live, 0);
        if (status == WTE_OK) break;
        assert_int_equal(status, WTE_E_MEMORY);
        assert_true(i < 200);
    }
    zip_free(&z);
}

static const struct CMUnitTest tests[] = {
    TEST("a view of 4 of 1000 uses 16 of 4000 bytes", a_view_of_4_of_1000_uses_16_of_4000_bytes),
    TEST("a byte of two views is used once", a_byte_of_two_views_is_used_once),
    TEST("elements with gaps are counted without them",
         elements_with_gaps_are_counted_without_them),
    TEST("all three forms of a checkpoint tell their storages",
         all_three_forms_of_a_checkpoint_tell_their_storages),
    TEST("tensors stored twice are found", tensors_stored_twice_are_found),
    TEST("a difference anywhere is seen", a_difference_anywhere_is_seen),
    TEST("two names of one place are no duplicate", two_names_of_one_place_are_no_duplicate),
    TEST("every allocation may fail", every_allocation_may_fail),
};
TEST_MAIN(tests)
