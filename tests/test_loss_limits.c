/* What the cross-entropy refuses and what it needs: bad calls, the budget of work memory,
 * allocations that fail. */
#include "loss_cases.h"

static wte_error err;

static void bad_calls_are_refused(void **state)
{
    (void)state;
    loss_case l = make_loss(10, 4, 2, 1);
    const wte_loss_options init = WTE_LOSS_OPTIONS_INIT;
    wte_loss out;
    uint64_t least, best;
#define REFUSED(status, where, part)                                                               \
    assert_fails(wte_head_loss(&l.c.table, &l.c.hidden, ids_of(&l), &l.opt, &l.how, &out, &err),   \
                 err, status, where, part)
    l.targets[1] = 10;
    REFUSED(WTE_E_RANGE, 1, "target 10 at position 1, but the table has 10 rows");
    l.targets[1] = -1;
    REFUSED(WTE_E_RANGE, 1, "target -1 at position 1");
    l.targets[1] = 1;
    l.how.label_smoothing = 1.5f;
    REFUSED(WTE_E_ARGUMENT, WTE_NO_INDEX, "label_smoothing is 1.5");
    l.how = init;
    l.how.z_loss = NAN;
    REFUSED(WTE_E_ARGUMENT, WTE_NO_INDEX, "z_loss is nan");
    l.how = init;
    l.how.grad_scale = INFINITY;
    REFUSED(WTE_E_ARGUMENT, WTE_NO_INDEX, "upstream is inf");
    l.how = init;
    l.how.skip_below = -1;
    REFUSED(WTE_E_ARGUMENT, WTE_NO_INDEX, "skip_below is -1");
    l.how = init;
    l.opt.precision = WTE_PRECISION_FAST;
    REFUSED(WTE_E_UNSUPPORTED, WTE_NO_INDEX, "the loss has the exact precision only");
    l.opt.precision = WTE_PRECISION_EXACT;
    assert_fails(wte_head_loss(&l.c.table, &l.c.hidden, ids_of(&l), NULL, NULL, NULL, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_head_loss: out is NULL");
    assert_fails(wte_loss_workspace_size(&l.c.table, &l.c.hidden, NULL, NULL, NULL, &best, &err),
                 err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_loss_workspace_size: least is NULL");
    assert_fails(wte_loss_workspace_size(&l.c.table, &l.c.hidden, NULL, NULL, &least, NULL, &err),
                 err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_loss_workspace_size: best is NULL");
    wte_ids few = ids_of(&l);
    few.count = 1;
    assert_fails(wte_head_loss(&l.c.table, &l.c.hidden, few, NULL, NULL, &out, &err), err,
                 WTE_E_SHAPE, WTE_NO_INDEX, "1 targets for 2 hidden vectors");
    free_loss(&l);
}

/* With what was said to be needed it works and takes no more; with a byte less it does not. */
static void memory_is_what_was_said(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        loss_case l = make_loss(3000, 70, 200, 5);
        uint64_t least, best;
        wte_loss out;
        test_memory memory;
        test_memory_init(&memory, SIZE_MAX);
        l.opt.allocator = &memory.allocator;
        if (i & 1) want_all(&l);
        if (i & 2) l.how.label_smoothing = 0.1f;
        if (i & 2) assert_ok(wte_pool_create(3, &l.opt.pool, &err), err);
        assert_ok(
            wte_loss_workspace_size(&l.c.table, &l.c.hidden, &l.opt, &l.how, &least, &best, &err),
            err);
        l.opt.work_bytes = least - 1;
        assert_fails(wte_head_loss(&l.c.table, &l.c.hidden, ids_of(&l), &l.opt, &l.how, &out, &err),
                     err, WTE_E_LIMIT, WTE_NO_INDEX, " are needed");
        for (uint64_t bytes = least; bytes < best * 2; bytes += bytes / 3) {
            test_memory_init(&memory, SIZE_MAX);
            l.opt.work_bytes = bytes;
            assert_ok(
                wte_head_loss(&l.c.table, &l.c.hidden, ids_of(&l), &l.opt, &l.how, &out, &err),
                err);
            assert_true(memory.live == 0 && memory.peak_bytes <= bytes);
            assert_true(memory.peak_bytes <= best);
            if (bytes == least) assert_int_equal(memory.peak_bytes, least);
        }
        wte_pool_free(l.opt.pool);
        free_loss(&l);
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    loss_case l = make_loss(60, 5, 30, 5);
    uint16_t half[60 * 5] = { 0 };
    wte_status status = WTE_E_MEMORY;
    want_all(&l);
    l.c.table.data = half; /* so that there is scratch */
    l.c.table.dtype = WTE_F16;
    l.c.table.row_bytes = 10;
    for (size_t i = 0; status != WTE_OK; i++) {
        wte_loss out;
        test_memory memory;
        test_memory_init(&memory, i);
        l.opt.allocator = &memory.allocator;
        status = wte_head_loss(&l.c.table, &l.c.hidden, ids_of(&l), &l.opt, &l.how, &out, &err);
        assert_true(memory.live == 0 && i < 20);
        if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
        if (status == WTE_OK) assert_true(i >= 6);
    }
    free_loss(&l);
}

static const struct CMUnitTest tests[] = {
    TEST("bad calls are refused", bad_calls_are_refused),
    TEST("memory is what was said", memory_is_what_was_said),
    TEST("every failed allocation is reported", every_failed_allocation_is_reported),
};
TEST_MAIN(tests)
