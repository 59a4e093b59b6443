/* The list of tokens that formats hand to the vocabulary. */
#include "test.h"

#include "base/tokens.h"

static wte__bytes text_of(const char *s)
{
    const wte__bytes text = { (const uint8_t *)s, strlen(s) };
    return text;
}

static void texts_come_back(void **state)
{
    (void)state;
    test_memory memory;
    wte_token_list list;
    wte_error err;
    char name[32];
    test_memory_init(&memory, SIZE_MAX);
    wte__token_list_init(&list, &memory.allocator);
    assert_ok(wte__token_list_add(&list, text_of(""), WTE_TAG_CONTROL, &err), err);
    for (int i = 1; i < 1000; i++) {
        snprintf(name, sizeof name, "token %d", i * i);
        assert_ok(wte__token_list_add(&list, text_of(name), WTE_TAG_NORMAL, &err), err);
        list.score[i] = (float)-i;
    }
    assert_int_equal(list.n, 1000);
    assert_int_equal(wte__token_list_text(&list, 0).size, 0);
    assert_non_null(wte__token_list_text(&list, 0).data);
    assert_int_equal(list.tag[0], WTE_TAG_CONTROL);
    for (int i = 1; i < 1000; i++) {
        const int n = snprintf(name, sizeof name, "token %d", i * i);
        const wte__bytes text = wte__token_list_text(&list, (uint64_t)i);
        assert_int_equal(text.size, n);
        assert_memory_equal(text.data, name, (size_t)n);
        assert_int_equal(list.tag[i], WTE_TAG_NORMAL);
        assert_true(list.score[i] == (float)-i);
    }
    wte__token_list_clear(&list);
    assert_int_equal(list.n, 0);
    assert_int_equal(memory.live, 0);
}

static void room_is_kept(void **state)
{
    (void)state;
    test_memory memory;
    wte_token_list list;
    wte_error err;
    test_memory_init(&memory, SIZE_MAX);
    wte__token_list_init(&list, &memory.allocator);
    assert_ok(wte__token_list_reserve(&list, 500, 1000, &err), err);
    memory.fail_at = memory.calls;
    for (int i = 0; i < 500; i++)
        assert_ok(wte__token_list_add(&list, text_of("ab"), WTE_TAG_NORMAL, &err), err);
    assert_int_equal(list.end[499], 1000);
    wte__token_list_clear(&list);
    assert_int_equal(memory.live, 0);
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    wte_status status = WTE_E_MEMORY;
    size_t failed = 0;
    for (; status == WTE_E_MEMORY; failed++) {
        test_memory memory;
        wte_token_list list;
        wte_error err = { 0 };
        test_memory_init(&memory, failed);
        wte__token_list_init(&list, &memory.allocator);
        status = WTE_OK;
        for (int i = 0; i < 600 && status == WTE_OK; i++)
            status = wte__token_list_add(&list, text_of("ten bytes "), WTE_TAG_USER, &err);
        if (status != WTE_OK) assert_int_equal(err.status, WTE_E_MEMORY);
        wte__token_list_clear(&list);
        assert_int_equal(memory.live, 0);
    }
    assert_true(failed > 6);
}

static void sizes_do_not_wrap(void **state)
{
    (void)state;
    wte_token_list list;
    wte_error err;
    wte__token_list_init(&list, NULL);
    assert_fails(wte__token_list_reserve(&list, UINT64_MAX / 2, 0, &err), err, WTE_E_MEMORY,
                 WTE_NO_INDEX, "a list of tokens");
    assert_ok(wte__token_list_add(&list, text_of("a"), WTE_TAG_NORMAL, &err), err);
    assert_fails(wte__token_list_reserve(&list, 0, UINT64_MAX, &err), err, WTE_E_MEMORY,
                 WTE_NO_INDEX, "a list of tokens");
    assert_fails(wte__token_list_reserve(&list, UINT64_MAX, 0, &err), err, WTE_E_MEMORY,
                 WTE_NO_INDEX, "a list of tokens");
    assert_int_equal(list.n, 1);
    wte__token_list_clear(&list);
}

static const struct CMUnitTest tests[] = {
    TEST("a text comes back as it was added, with tag and score", texts_come_back),
    TEST("tokens within the room reserved need no memory", room_is_kept),
    TEST("every allocation may fail, and nothing leaks", memory_may_end_anywhere),
    TEST("numbers of tokens and bytes do not wrap", sizes_do_not_wrap),
};
TEST_MAIN(tests)
