/* The set of names: what was added is found with its number, and nothing else. */
#include "test.h"

#include "base/names.h"

static wte__bytes bytes_of(const char *text, size_t n)
{
    wte__bytes b = { (const uint8_t *)text, n };
    return b;
}

static void what_was_added_is_found(void **state)
{
    (void)state;
    enum { N = 20000, WIDTH = 16 };
    static char text[N][WIDTH];
    test_memory m;
    wte__names n;
    test_memory_init(&m, SIZE_MAX);
    wte__names_init(&n, &m.allocator);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t value = i * 7;
        bool found = true;
        int used = snprintf(text[i], WIDTH, "name %d", (int)i);
        assert_true(wte__names_add(&n, bytes_of(text[i], (size_t)used), &value, &found));
        assert_false(found);
        assert_int_equal(n.count, i + 1);
    }
    for (uint64_t i = 0; i < N; i++) {
        uint64_t value = 1;
        char copy[WIDTH];
        int used = snprintf(copy, WIDTH, "name %d", (int)i);
        assert_true(wte__names_find(&n, bytes_of(copy, (size_t)used), &value));
        assert_int_equal(value, i * 7);
        assert_int_equal(wte__names_find(&n, bytes_of(copy, (size_t)used - 1), &value), i >= 10);
        copy[0] = 'N';
        assert_false(wte__names_find(&n, bytes_of(copy, (size_t)used), &value));
    }
    wte__names_clear(&n);
    assert_int_equal(m.live, 0);
}

static void a_name_added_twice_keeps_its_first_number(void **state)
{
    (void)state;
    wte__names n;
    wte__names_init(&n, NULL);
    uint64_t value = 5;
    bool found;
    assert_true(wte__names_add(&n, bytes_of("a", 1), &value, &found));
    assert_false(found);
    value = 6;
    assert_true(wte__names_add(&n, bytes_of("a", 1), &value, &found));
    assert_true(found);
    assert_int_equal(value, 5);
    assert_int_equal(n.count, 1);
    wte__names_clear(&n);
    assert_false(wte__names_find(&n, bytes_of("a", 1), &value));
}

static void the_empty_name_and_nul_bytes_are_names(void **state)
{
    (void)state;
    wte__names n;
    wte__names_init(&n, NULL);
    uint64_t value = 1;
    bool found;
    assert_false(wte__names_find(&n, bytes_of(NULL, 0), &value));
    assert_true(wte__names_add(&n, bytes_of(NULL, 0), &value, &found));
    value = 2;
    assert_true(wte__names_add(&n, bytes_of("\0", 1), &value, &found));
    assert_false(found);
    value = 3;
    assert_true(wte__names_add(&n, bytes_of("\0\0", 2), &value, &found));
    assert_false(found);
    for (size_t i = 0; i < 3; i++) {
        assert_true(wte__names_find(&n, bytes_of("\0\0", i), &value));
        assert_int_equal(value, i + 1);
    }
    wte__names_clear(&n);
}

static void without_memory_nothing_changes(void **state)
{
    (void)state;
    static char text[100][4];
    test_memory m;
    wte__names n;
    test_memory_init(&m, 1);
    wte__names_init(&n, &m.allocator);
    uint64_t value, added = 0;
    bool found;
    for (; added < 100; added++) {
        value = added;
        int used = snprintf(text[added], sizeof text[added], "%d", (int)added);
        if (!wte__names_add(&n, bytes_of(text[added], (size_t)used), &value, &found)) break;
    }
    assert_in_range(added, 1, 99); /* the first table was full, and the second refused */
    assert_int_equal(n.count, added);
    for (uint64_t i = 0; i < added; i++) {
        assert_true(wte__names_find(&n, bytes_of(text[i], strlen(text[i])), &value));
        assert_int_equal(value, i);
    }
    assert_false(wte__names_reserve(&n, UINT64_MAX));
    wte__names_clear(&n);
    assert_int_equal(m.live, 0);
}

static void reserved_room_needs_no_more_memory(void **state)
{
    (void)state;
    static char text[1000][8];
    test_memory m;
    wte__names n;
    test_memory_init(&m, 1); /* any second allocation fails */
    wte__names_init(&n, &m.allocator);
    assert_true(wte__names_reserve(&n, 1000));
    for (uint64_t i = 0; i < 1000; i++) {
        bool found;
        uint64_t value = i;
        int used = snprintf(text[i], sizeof text[i], "%d", (int)i);
        assert_true(wte__names_add(&n, bytes_of(text[i], (size_t)used), &value, &found));
    }
    wte__names_clear(&n);
    assert_int_equal(m.live, 0);
}

static const struct CMUnitTest tests[] = {
    TEST("what was added is found with its number", what_was_added_is_found),
    TEST("a name added twice keeps its first number", a_name_added_twice_keeps_its_first_number),
    TEST("the empty name and NUL bytes are names", the_empty_name_and_nul_bytes_are_names),
    TEST("without memory nothing changes", without_memory_nothing_changes),
    TEST("reserved room needs no more memory", reserved_room_needs_no_more_memory),
};
TEST_MAIN(tests)
