/* Arrays that grow, and the arena. */
#include "test.h"

#include "base/alloc.h"

static void growing_keeps_what_was_there(void **state)
{
    (void)state;
    test_memory m;
    test_memory_init(&m, SIZE_MAX);
    void *block = NULL;
    size_t cap = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(wte__grow(&m.allocator, &block, &cap, i + 1, sizeof(uint32_t)));
        ((uint32_t *)block)[i] = i * 3;
    }
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(((uint32_t *)block)[i], i * 3);
    wte__free(&m.allocator, block, cap * sizeof(uint32_t));
    assert_int_equal(m.live, 0);
}
static void a_product_that_wraps_is_no_memory(void **state)
{
    (void)state;
    assert_null(wte__alloc_array(NULL, UINT64_C(1) << 62, 8));
}
static void arena_pieces_stay_and_are_freed(void **state)
{
    (void)state;
    test_memory m;
    test_memory_init(&m, SIZE_MAX);
    wte__arena arena;
    wte__arena_init(&arena, &m.allocator);
    char *first = wte__arena_text(&arena, "first", 5);
    char *large = wte__arena_take(&arena, 100000);
    assert_non_null(large);
    memset(large, 1, 100000);
    for (int i = 0; i < 5000; i++) assert_non_null(wte__arena_text(&arena, "some text", 9));
    assert_string_equal(first, "first");
    wte__arena_clear(&arena);
    assert_int_equal(m.live, 0);
    assert_int_equal(m.live_bytes, 0);
}

static const struct CMUnitTest tests[] = {
    TEST("growing keeps what was there", growing_keeps_what_was_there),
    TEST("a product that wraps is no memory", a_product_that_wraps_is_no_memory),
    TEST("arena pieces stay where they are and are all freed", arena_pieces_stay_and_are_freed),
};
TEST_MAIN(tests)
