/* The pickle machine: every opcode, every refusal, and its budgets. Pickles are written as their
 * opcodes. */
#include "test.h"

#include "base/limits.h"
#include "format/pickle.h"

static const wte__pickle_allowed allowed[] = { { "collections", "OrderedDict", 7 },
                                               { "m", "f", 8 },
                                               { "conf", "*", 0 } };

/* A pickle of n bytes over an arena, which the caller clears. */
static wte__pickle pickle_of(const void *data, size_t n, wte__arena *arena)
{
    wte__pickle p;
    memset(&p, 0, sizeof p);
    p.data = data;
    p.size = n;
    p.path = "t.pkl";
    p.at = 1000;
    p.allowed = allowed;
    p.n_allowed = sizeof allowed / sizeof allowed[0];
    p.arena = arena;
    return p;
}

#define PICKLE(text) text, sizeof text - 1

/* Runs a pickle that must succeed. */
static wte__pickle_value run(const void *data, size_t n, wte__arena *arena)
{
    wte_error err = { 0 };
    uint8_t *exact = test_guarded(n);
    memcpy(exact, data, n);
    wte__pickle p = pickle_of(exact, n, arena);
    p.data = data; /* values point into it, and outlive the copy */
    assert_ok(wte__pickle_read(&p, &err), err);
    assert_int_equal(p.used, n);
    p.data = exact;
    assert_ok(wte__pickle_read(&p, &err), err);
    test_guarded_free(exact, n);
    p.data = data;
    assert_ok(wte__pickle_read(&p, &err), err);
    return p.root;
}

static void check_text(const wte__pickle_value *v, const char *text)
{
    assert_int_equal(v->kind, WTE__PICKLE_TEXT);
    assert_int_equal(v->n, strlen(text));
    assert_memory_equal(v->as.bytes, text, v->n);
}

static void check_int(const void *data, size_t n, int64_t want)
{
    wte__arena arena;
    wte__arena_init(&arena, NULL);
    const wte__pickle_value v = run(data, n, &arena);
    assert_int_equal(v.kind, WTE__PICKLE_INT);
    assert_true(v.as.integer == want);
    wte__arena_clear(&arena);
}

static void integers_of_every_width_are_read(void **state)
{
    (void)state;
    check_int(PICKLE("\x80\x02K\xff."), 255);
    check_int(PICKLE("\x80\x02M\x34\x12."), 0x1234);
    check_int(PICKLE("\x80\x02J\xff\xff\xff\xff."), -1);
    check_int(PICKLE("\x80\x02J\x00\x00\x00\x80."), INT32_MIN);
    check_int(PICKLE("\x80\x02\x8a\x00."), 0);
    check_int(PICKLE("\x80\x02\x8a\x01\x80."), -128);
    check_int(PICKLE("\x80\x02\x8a\x05\x00\x00\x00\x00\x01."), INT64_C(1) << 32);
    check_int(PICKLE("\x80\x02\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."), INT64_MAX);
    check_int(PICKLE("\x80\x05\x8b\x02\x00\x00\x00\x01\x02."), 513);
}

static void other_literals_are_read(void **state)
{
    (void)state;
    wte__arena arena;
    wte__arena_init(&arena, NULL);
    static const char data[] = "\x80\x04\x95\0\0\0\0\0\0\0\0"
                               "(N\x88\x89G\x3f\xf8\0\0\0\0\0\0X\2\0\0\0\xc3\xa9\x8c\1a"
                               "\x8d\1\0\0\0\0\0\0\0bU\1cT\1\0\0\0dU\1\xff" /* Python 2's texts */
                               "C\2\0\1B\1\0\0\0\2\x8e\1\0\0\0\0\0\0\0\3\x96\1\0\0\0\0\0\0\0\4"
                               "\x8a\x09\1\2\3\4\5\6\7\x08\x09t.";
    const wte__pickle_value v = run(PICKLE(data), &arena), *of = v.as.items;
    assert_int_equal(v.kind, WTE__PICKLE_TUPLE);
    assert_int_equal(v.n, 15);
    assert_int_equal(of[0].kind, WTE__PICKLE_NONE);
    assert_true(of[1].kind == WTE__PICKLE_BOOL && of[1].as.integer == 1);
    assert_true(of[2].kind == WTE__PICKLE_BOOL && of[2].as.integer == 0);
    assert_true(of[3].kind == WTE__PICKLE_FLOAT && of[3].as.number == 1.5);
    static const char *const texts[] = { "\xc3\xa9", "a", "b", "c", "d" };
    for (int i = 0; i < 5; i++) check_text(&of[4 + i], texts[i]);
    static const uint8_t bytes[] = { 0xff, 0, 2, 3, 4 };
    for (int i = 0; i < 5; i++) {
        assert_int_equal(of[9 + i].kind, WTE__PICKLE_BYTES);
        assert_int_equal(of[9 + i].as.bytes[0], bytes[i]);
    }
    assert_true(of[14].kind == WTE__PICKLE_LONG && of[14].n == 9);
    wte__arena_clear(&arena);
}

static void containers_are_filled_one_by_one_and_in_batches(void **state)
{
    (void)state;
    wte__arena arena;
    wte__arena_init(&arena, NULL);
    /* ({1: 2, 3: 4, 5: 6}, [1, 2, 3], set, frozenset) */
    static const char data[] = "\x80\x04(}K\1K\2s(K\3K\4K\5K\6u](K\1K\2eK\3a\x8f(K\1\x90(K\1\x91t.";
    const wte__pickle_value v = run(PICKLE(data), &arena);
    assert_int_equal(v.n, 4);
    const wte__pickle_items *dict = wte__pickle_entries(&v.as.items[0]);
    assert_int_equal(dict->n, 6);
    for (int i = 0; i < 6; i++) assert_int_equal(dict->items[i].as.integer, i + 1);
    const wte__pickle_items *list = v.as.items[1].as.list;
    assert_int_equal(v.as.items[1].kind, WTE__PICKLE_LIST);
    assert_int_equal(list->n, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(list->items[i].as.integer, i + 1);
    assert_int_equal(v.as.items[2].as.list->n, 1);
    assert_null(wte__pickle_entries(&v.as.items[1]));
    wte__arena_clear(&arena);
}

static void tuples_of_every_form_are_read(void **state)
{
    (void)state;
    wte__arena arena;
    wte__arena_init(&arena, NULL);
    const wte__pickle_value v = run(PICKLE("\x80\x02()K\1\x85K\1K\2\x86K\1K\2K\3\x87(tt."), &arena);
    static const uint32_t lengths[] = { 0, 1, 2, 3, 0 };
    assert_int_equal(v.n, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(v.as.items[i].kind, WTE__PICKLE_TUPLE);
        assert_int_equal(v.as.items[i].n, lengths[i]);
        for (uint32_t k = 0; k < lengths[i]; k++)
            assert_int_equal(v.as.items[i].as.items[k].as.integer, k + 1);
    }
    wte__arena_clear(&arena);
}

/* A container that is remembered while it is empty is the same one when it is recalled. */
static void the_memo_keeps_what_things_are(void **state)
{
    (void)state;
    wte__arena arena;
    wte__arena_init(&arena, NULL);
    static const char data[] = "\x80\x04(}q\0K\1K\2sh\0]\x94K\3ah\1r\5\0\0\0j\5\0\0\x00"
                               "2N0(N1t.";
    const wte__pickle_value v = run(PICKLE(data), &arena);
    assert_int_equal(v.n, 6);
    assert_ptr_equal(v.as.items[0].as.list, v.as.items[1].as.list);
    assert_int_equal(v.as.items[1].as.list->n, 2);
    for (int i = 3; i < 6; i++) assert_ptr_equal(v.as.items[2].as.list, v.as.items[i].as.list);
    assert_int_equal(v.as.items[5].as.list->n, 1);
    wte__arena_clear(&arena);
}

static void calls_are_kept_and_never_made(void **state)
{
    (void)state;
    wte__arena arena;
    wte__arena_init(&arena, NULL);
    /* (OrderedDict() filled with 1: 2 and given attributes, m.f(3), m.f by __new__) */
    static const char data[] = "\x80\x04(ccollections\nOrderedDict\n)RK\1K\2s}b"
                               "\x8c\1m\x8c\1f\x93K\3\x85Rcm\nf\n)\x81"
                               "cm\nf\n)}\x92t.";
    const wte__pickle_value v = run(PICKLE(data), &arena), *of = v.as.items;
    assert_int_equal(v.n, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(of[i].kind, WTE__PICKLE_CALL);
        assert_int_equal(of[i].as.call->callee.n, i == 0 ? 7 : 8);
    }
    assert_int_equal(wte__pickle_entries(&of[0])->n, 2);
    assert_int_equal(of[1].as.call->arguments.as.items[0].as.integer, 3);
    wte__arena_clear(&arena);
}

static wte_status number_them(const wte__pickle *p, const wte__pickle_value *id, uint64_t at,
                              uint32_t *number, wte_error *err)
{
    (void)p;
    (void)err;
    *number = (uint32_t)(id->as.integer * 100 + (int64_t)at);
    return WTE_OK;
}

static void what_is_kept_outside_is_the_callers(void **state)
{
    (void)state;
    wte__arena arena;
    wte_error err = { 0 };
    wte__arena_init(&arena, NULL);
    wte__pickle p = pickle_of(PICKLE("\x80\x02K\5Q."), &arena);
    p.persistent = number_them;
    assert_ok(wte__pickle_read(&p, &err), err);
    assert_int_equal(p.root.kind, WTE__PICKLE_PERSISTENT);
    assert_int_equal(p.root.n, 504);
    assert_int_equal(p.root.as.items->as.integer, 5);
    wte__arena_clear(&arena);
}

static void what_follows_a_pickle_is_not_looked_at(void **state)
{
    (void)state;
    wte__arena arena;
    wte_error err = { 0 };
    wte__arena_init(&arena, NULL);
    wte__pickle p = pickle_of(PICKLE("\x80\x02N.\xff\xff"), &arena);
    assert_ok(wte__pickle_read(&p, &err), err);
    assert_int_equal(p.used, 4);
    wte__arena_clear(&arena);
}

/* Objects of other classes, made with and without attributes, filled as a dict, and of a package
 * whose classes may be called: values that are read beside them come out. */
static void objects_of_other_classes_are_passed_over(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t n;
        uint32_t filled;
    } cases[] = {
        { PICKLE("\x80\x02}X\1\0\0\0acmy\nConfig\n)\x81s."), 0 },
        { PICKLE("\x80\x02}X\1\0\0\0ac_io\nBytesIO\n)\x81(K\1K\2Ntbs."), 0 },
        { PICKLE("\x80\x02}X\1\0\0\0acmy\nDict\n)\x81K\1K\5Qs}bs."), 2 },
        { PICKLE("\x80\x02}X\1\0\0\0acconf.base\nMode\nK\1\x85Rs."), 0 },
        { PICKLE("\x80\x02}X\1\0\0\0acconf\nNode\ncconf\nAny\n\x85Rs."), 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wte__arena arena;
        wte__arena_init(&arena, NULL);
        const wte__pickle_value root = run(cases[i].data, cases[i].n, &arena);
        assert_int_equal(root.kind, WTE__PICKLE_DICT);
        assert_int_equal(root.as.list->n, 2);
        const wte__pickle_value *v = &root.as.list->items[1];
        assert_int_equal(v->kind, WTE__PICKLE_CALL);
        assert_int_equal(v->as.call->callee.n, 0);
        assert_int_equal(v->as.call->filled.n, cases[i].filled);
        wte__arena_clear(&arena);
    }
}

/* Faults ----------------------------------------------------------------------------------------
 */

typedef struct bad_pickle {
    const char *data;
    size_t n;
    uint64_t at;
    wte_status status;
    const char *part;
} bad_pickle;

static const bad_pickle bad[] = {
    { PICKLE("\x80\x02"
             "cos\nsystem\nX\2\0\0\0id\x85R."),
      21, WTE_E_UNSUPPORTED, "tries to import 'os.system': refused, nothing was run" },
    { PICKLE("\x80\x04\x8c\5posix\x8c\6system\x93\x8c\2id\x85R."), 23, WTE_E_UNSUPPORTED,
      "tries to import 'posix.system'" },
    { PICKLE("\x80\x02(cbuiltins\neval\nt."), 19, WTE_E_UNSUPPORTED,
      "tries to import 'builtins.eval'" },
    { PICKLE("\x80\x02"
             "cos\nsystem\n0N."),
      15, WTE_E_UNSUPPORTED, "tries to import 'os.system'" },
    { PICKLE("\x80\x02"
             "c__main__\nNet\n)\x81}b."),
      17, WTE_E_UNSUPPORTED, "a pickled module of class '__main__.Net', not a state dict" },
    { PICKLE("\x80\x02}X\1\0\0\0ac__main__\nNet\n)\x81K\1Qbs."), 28, WTE_E_UNSUPPORTED,
      "holds an object of class '__main__.Net', with tensors in it, which are not read" },
    { PICKLE("\x80\x02}X\1\0\0\0ac__main__\nNet\n)\x81(K\5c__main__\nIn\n)\x81K\1Qbtbs."), 46,
      WTE_E_UNSUPPORTED, "holds an object of class '__main__.Net', with tensors in it" },
    { PICKLE("\x80\x02}X\1\0\0\0ac__main__\nList\n)\x81(K\1Qes."), 30, WTE_E_UNSUPPORTED,
      "holds an object of class '__main__.List', with tensors in it" },
    { PICKLE("\x80\x02}X\1\0\0\0ac__main__\nPair\nK\1Q\x85\x81s."), 28, WTE_E_UNSUPPORTED,
      "holds an object of class '__main__.Pair', with tensors in it" },
    { PICKLE("\x80\x02}X\1\0\0\0acconf.x\nsystem\n)Rs."), 25, WTE_E_UNSUPPORTED,
      "tries to import 'conf.x.system'" },
    { PICKLE("\x80\x02}X\1\0\0\0acconfer\nEnum\n)Rs."), 23, WTE_E_UNSUPPORTED,
      "tries to import 'confer.Enum'" },
    { PICKLE("\x80\x02}X\1\0\0\0acos\nsystem\nq\0)\x81h\0X\2\0\0\0id\x85Rs."), 34,
      WTE_E_UNSUPPORTED, "tries to import 'os.system'" },
    { PICKLE("\x80\x02(X\6\0\0\0modulecmy\nNet\nX\0\0\0\0X\0\0\0\0tQ)\x81."), 35, WTE_E_UNSUPPORTED,
      "a pickled module of class 'my.Net'" },
    { PICKLE("\x80\x02"
             "cm\nf\ncx\n\x1b[31m\n\x85R."),
      17, WTE_E_UNSUPPORTED, "a pickled module of class 'x.\\x1b[31m'" },
    { PICKLE("\x80\x02N)R."), 4, WTE_E_FORMAT, "calls what is no function" },
    { PICKLE("\x80\x02"
             "cm\nf\nNR."),
      8, WTE_E_FORMAT, "arguments of a call are no tuple" },
    { PICKLE("\x80\x01N."), 0, WTE_E_UNSUPPORTED, "no protocol of 2 to 5" },
    { PICKLE("\x80\x06N."), 0, WTE_E_UNSUPPORTED, "no protocol of 2 to 5" },
    { PICKLE("\x80\x02I1\n."), 2, WTE_E_UNSUPPORTED, "opcode 0x49 is none that a checkpoint" },
    { PICKLE("\x80\x02\x82\1."), 2, WTE_E_UNSUPPORTED, "opcode 0x82 is none" },
    { PICKLE("\x80\x02."), 2, WTE_E_FORMAT, "does not end with one value" },
    { PICKLE("\x80\x02NN."), 4, WTE_E_FORMAT, "does not end with one value" },
    { PICKLE("\x80\x02N(."), 4, WTE_E_FORMAT, "does not end with one value" },
    { PICKLE("\x80\x02N"), 3, WTE_E_FORMAT, "ends in the middle" },
    { PICKLE("\x80\x02X\5\0\0\0abc"), 2, WTE_E_FORMAT, "ends in the middle" },
    { PICKLE("\x80\x02"
             "cos\nsys"),
      2, WTE_E_FORMAT, "ends in the middle" },
    { PICKLE("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff"), 2, WTE_E_FORMAT,
      "ends in the middle" },
    { PICKLE("\x80\x02X\1\0\0\0\xff."), 2, WTE_E_FORMAT, "a text is not valid UTF-8" },
    { PICKLE("\x80\x02\x85."), 2, WTE_E_FORMAT, "takes more from the stack than there is" },
    { PICKLE("\x80\x02N(\x85."), 4, WTE_E_FORMAT, "takes more from the stack than there is" },
    { PICKLE("\x80\x02"
             "0."),
      2, WTE_E_FORMAT, "takes more from the stack" },
    { PICKLE("\x80\x02"
             "2."),
      2, WTE_E_FORMAT, "takes more from the stack" },
    { PICKLE("\x80\x02q\0."), 2, WTE_E_FORMAT, "takes more from the stack" },
    { PICKLE("\x80\x02t."), 2, WTE_E_FORMAT, "there is no mark on the stack" },
    { PICKLE("\x80\x02}u."), 3, WTE_E_FORMAT, "there is no mark on the stack" },
    { PICKLE("\x80\x02}(K\1u."), 6, WTE_E_FORMAT, "a key without a value" },
    { PICKLE("\x80\x02]K\1K\2s."), 7, WTE_E_FORMAT, "fills what is no container of that kind" },
    { PICKLE("\x80\x02}K\1a."), 5, WTE_E_FORMAT, "fills what is no container of that kind" },
    { PICKLE("\x80\x02N}b."), 4, WTE_E_FORMAT, "sets attributes of a value" },
    { PICKLE("\x80\x02h\0."), 2, WTE_E_FORMAT, "recalls a value that was not remembered" },
    { PICKLE("\x80\x02Nq\1h\0."), 5, WTE_E_FORMAT, "recalls a value that was not remembered" },
    { PICKLE("\x80\x02Nr\xff\xff\xff\x7f."), 3, WTE_E_FORMAT,
      "remembers a value under a number beyond what it can have" },
    { PICKLE("\x80\x04NN\x93."), 4, WTE_E_FORMAT, "a module or a name in it is no text" },
};

static void every_fault_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        wte__arena arena;
        wte_error err = { 0 };
        wte__arena_init(&arena, NULL);
        uint8_t *data = test_guarded(bad[i].n);
        memcpy(data, bad[i].data, bad[i].n);
        wte__pickle p = pickle_of(data, bad[i].n, &arena);
        const wte_status status = wte__pickle_read(&p, &err);
        if (status != bad[i].status || err.where != 1000 + bad[i].at ||
            !strstr(err.message, bad[i].part) || !strstr(err.message, "t.pkl: pickle, byte "))
            fail_msg("number %zu: status %d, where %llu (not '%s' at %llu): %s", i, (int)status,
                     (unsigned long long)err.where, bad[i].part,
                     (unsigned long long)bad[i].at + 1000, err.message);
        assert_int_equal(p.cut, strstr(bad[i].part, "ends in the middle") != NULL);
        p.packed = true;
        assert_fails(wte__pickle_read(&p, &err), err, bad[i].status, 1000, bad[i].part);
        wte__arena_clear(&arena);
        test_guarded_free(data, bad[i].n);
    }
}

static void every_cut_of_a_pickle_is_seen(void **state)
{
    (void)state;
    static const char whole[] =
        "\x80\x04\x95\0\0\0\0\0\0\0\0(X\1\0\0\0acm\nf\nK\3\x85RK\1M\1\0J\1\0"
        "\0\0G\0\0\0\0\0\0\0\0r\1\0\0\0j\1\0\0\0t.";
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        wte__arena arena;
        wte_error err = { 0 };
        wte__arena_init(&arena, NULL);
        wte__pickle p = pickle_of(whole, n, &arena);
        assert_int_equal(wte__pickle_read(&p, &err), WTE_E_FORMAT);
        assert_true(p.cut);
        wte__arena_clear(&arena);
    }
}

/* A pickle of `start`, then n times `unit`, then `end`; it must fail with E_LIMIT. */
static void check_budget(const char *unit, size_t n, const char *part, size_t most_bytes)
{
    const size_t k = strlen(unit);
    uint8_t *data = malloc(2 + n * k + 1);
    test_memory memory;
    wte__arena arena;
    wte_error err = { 0 };
    assert_non_null(data);
    data[0] = 0x80;
    data[1] = 2;
    for (size_t i = 0; i < n * k; i++) data[2 + i] = (uint8_t)unit[i % k];
    data[2 + n * k] = '.';
    test_memory_init(&memory, SIZE_MAX);
    wte__arena_init(&arena, &memory.allocator);
    wte__pickle p = pickle_of(data, 2 + n * k + 1, &arena);
    assert_int_equal(wte__pickle_read(&p, &err), WTE_E_LIMIT);
    if (!strstr(err.message, part)) fail_msg("'%s' does not contain '%s'", err.message, part);
    assert_true(memory.peak_bytes <= most_bytes);
    wte__arena_clear(&arena);
    assert_int_equal(memory.live, 0);
    free(data);
}

static void budgets_of_steps_depth_and_stack_hold(void **state)
{
    (void)state;
    check_budget("N0", WTE_LIMIT_PICKLE_OPCODES / 2, "more than 4000000 opcodes", 4096);
    check_budget("}0", WTE_LIMIT_PICKLE_OPCODES / 2, "more than 4000000 opcodes", 48u << 20);
    check_budget("(", WTE_LIMIT_PICKLE_DEPTH + 1, "more than 256 marks are open", 4096);
    check_budget("N", WTE_LIMIT_PICKLE_STACK + 1, "more than 1000000 values on the stack",
                 64u << 20);
}

static void depth_without_marks_costs_nothing(void **state)
{
    (void)state;
    enum { N = 100000 };
    static uint8_t data[N + 4] = { 0x80, 2, ')' };
    wte__arena arena;
    wte_error err = { 0 };
    memset(data + 3, 0x85, N);
    data[N + 3] = '.';
    wte__arena_init(&arena, NULL);
    wte__pickle p = pickle_of(data, sizeof data, &arena);
    assert_ok(wte__pickle_read(&p, &err), err);
    const wte__pickle_value *v = &p.root;
    for (int i = 0; i < N; i++) v = v->as.items;
    assert_int_equal(v->n, 0);
    wte__arena_clear(&arena);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char data[] = "\x80\x04(}q\0K\1K\2s](K\1K\2K\3K\4K\5e)cm\nf\n)RK\5Qt.";
    wte_status status = WTE_E_MEMORY;
    for (size_t i = 0; status != WTE_OK; i++) {
        test_memory memory;
        wte__arena arena;
        wte_error err = { 0 };
        test_memory_init(&memory, i);
        wte__arena_init(&arena, &memory.allocator);
        wte__pickle p = pickle_of(PICKLE(data), &arena);
        status = wte__pickle_read(&p, &err);
        assert_true(status == WTE_OK || status == WTE_E_MEMORY);
        wte__arena_clear(&arena);
        assert_int_equal(memory.live, 0);
        assert_true(i < 40);
    }
}

static const struct CMUnitTest tests[] = {
    TEST("integers of every width are read", integers_of_every_width_are_read),
    TEST("other literals are read", other_literals_are_read),
    TEST("containers are filled one by one and in batches",
         containers_are_filled_one_by_one_and_in_batches),
    TEST("tuples of every form are read", tuples_of_every_form_are_read),
    TEST("the memo keeps what things are", the_memo_keeps_what_things_are),
    TEST("calls are kept and never made", calls_are_kept_and_never_made),
    TEST("what is kept outside is the caller's", what_is_kept_outside_is_the_callers),
    TEST("what follows a pickle is not looked at", what_follows_a_pickle_is_not_looked_at),
    TEST("objects of other classes are passed over", objects_of_other_classes_are_passed_over),
    TEST("every fault is told", every_fault_is_told),
    TEST("every cut of a pickle is seen", every_cut_of_a_pickle_is_seen),
    TEST("budgets of steps, depth and stack hold", budgets_of_steps_depth_and_stack_hold),
    TEST("depth without marks costs nothing", depth_without_marks_costs_nothing),
    TEST("every allocation may fail", every_allocation_may_fail),
};
TEST_MAIN(tests)
