/* Memory: the default allocator, arrays that grow, and the arena. */
#include "test.h"

#include "base/alloc.h"

static void nothing_is_no_block(void **state)
{
    (void)state;
    test_memory m;
    test_memory_init(&m, SIZE_MAX);
    assert_null(wte__alloc(&m.allocator, 0));
    assert_null(wte__alloc(NULL, 0));
    assert_null(wte__alloc_array(&m.allocator, 0, 8));
    assert_int_equal(m.calls, 0);
    wte__free(&m.allocator, NULL, 0);
    wte__free(NULL, NULL, 0);
    wte__strfree(NULL, NULL);
}

static void blocks_are_aligned(void **state)
{
    (void)state;
    const size_t huge = (size_t)2 << 20;
    const size_t sizes[] = { 1, 15, 4096, huge - 1, huge, huge + huge / 2 + 5 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint8_t *block = wte__alloc_zeroed(NULL, sizes[i]);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % (sizes[i] < huge ? 16 : huge), 0);
        for (size_t k = 0; k < sizes[i]; k++)
            if (block[k]) fail_msg("byte %d is not zero", (int)k);
        wte__free(NULL, block, sizes[i]);
    }
}

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
    assert_in_range(m.calls, 2, 12); /* doubling */
    wte__free(&m.allocator, block, cap * sizeof(uint32_t));
    assert_int_equal(m.live, 0);
}

static void growing_without_memory_changes_nothing(void **state)
{
    (void)state;
    test_memory m;
    test_memory_init(&m, 1);
    void *block = NULL;
    size_t cap = 0;
    assert_true(wte__grow(&m.allocator, &block, &cap, 8, 1));
    memcpy(block, "contents", 8);
    void *before = block;
    assert_false(wte__grow(&m.allocator, &block, &cap, 9, 1));
    assert_false(wte__grow(&m.allocator, &block, &cap, SIZE_MAX, 1));
    assert_false(wte__grow(&m.allocator, &block, &cap, SIZE_MAX / 4, 8));
    assert_ptr_equal(block, before);
    assert_int_equal(cap, 8);
    assert_memory_equal(block, "contents", 8);
    wte__free(&m.allocator, block, cap);
    assert_int_equal(m.live, 0);
}

static void a_product_that_wraps_is_no_memory(void **state)
{
    (void)state;
    assert_null(wte__alloc_array(NULL, UINT64_C(1) << 62, 8));
}

static void texts_are_copied(void **state)
{
    (void)state;
    test_memory m;
    test_memory_init(&m, 1);
    char text[] = "path";
    char *copy = wte__strdup(&m.allocator, text);
    text[0] = 'x';
    assert_string_equal(copy, "path");
    assert_null(wte__strdup(&m.allocator, text));
    wte__strfree(&m.allocator, copy);
    assert_int_equal(m.live_bytes, 0);
}

static void the_usual_message_says_how_much_for_what(void **state)
{
    (void)state;
    wte_error err;
    assert_fails(wte__no_memory(&err, 4096, "a table"), err, WTE_E_MEMORY, WTE_NO_INDEX,
                 "out of memory: 4096 bytes for a table");
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
    size_t calls = m.calls;
    char *second = wte__arena_text(&arena, "second", 6);
    assert_int_equal(m.calls, calls); /* the first block still had room */
    for (int i = 0; i < 5000; i++) {
        char *piece = wte__arena_text(&arena, "some text", 9);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % 8, 0);
    }
    assert_string_equal(first, "first");
    assert_string_equal(second, "second");
    assert_int_equal(large[99999], 1);
    wte__arena_clear(&arena);
    assert_int_equal(m.live, 0);
    assert_int_equal(m.live_bytes, 0);
    assert_non_null(wte__arena_text(&arena, NULL, 0)); /* and it can be used again */
    wte__arena_clear(&arena);
    assert_int_equal(m.live, 0);
}

static void an_arena_without_memory_gives_none(void **state)
{
    (void)state;
    test_memory m;
    test_memory_init(&m, 1);
    wte__arena arena;
    wte__arena_init(&arena, &m.allocator);
    char *first = wte__arena_text(&arena, "first", 5);
    assert_null(wte__arena_take(&arena, 100000));
    assert_null(wte__arena_take(&arena, SIZE_MAX));
    assert_null(wte__arena_text(&arena, "", SIZE_MAX));
    assert_string_equal(first, "first");
    assert_non_null(wte__arena_take(&arena, 8)); /* what is there is still given out */
    wte__arena_clear(&arena);
    assert_int_equal(m.live, 0);
}

static const struct CMUnitTest tests[] = {
    TEST("nothing is no block", nothing_is_no_block),
    TEST("blocks are aligned, and zeroed when asked for", blocks_are_aligned),
    TEST("growing keeps what was there", growing_keeps_what_was_there),
    TEST("growing without memory changes nothing", growing_without_memory_changes_nothing),
    TEST("a product that wraps is no memory", a_product_that_wraps_is_no_memory),
    TEST("texts are copied", texts_are_copied),
    TEST("the usual message says how much for what", the_usual_message_says_how_much_for_what),
    TEST("arena pieces stay where they are and are all freed", arena_pieces_stay_and_are_freed),
    TEST("an arena without memory gives none", an_arena_without_memory_gives_none),
};
TEST_MAIN(tests)
