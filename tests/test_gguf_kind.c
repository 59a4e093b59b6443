/* GGUF files that are no models: each is named by its own metadata, and only where it has no token
 * table. */
#include "gguf_files.h"

#include <wte/model.h>

#include "model_files.h"

static gguf_file g; /* tests run one after the other */

/* The message of a model without an input table, that of the file after "m.gguf: ". */
static void check_told(const char *dir, const char *expected)
{
    const char *path = in_folder(dir, "m.gguf");
    const wte_model_table *input;
    wte_model *m;
    wte_error err = { 0 };
    test_write_file(path, g.data, g.n);
    assert_ok(wte_model_open(path, NULL, &m, &err), err);
    assert_fails(wte_model_input(m, &input, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX, expected);
    wte_model_free(m);
}

static void add_tensor(const char *name)
{
    g_tensor(&g, name, 32, 4, 0, 0);
    g_data(&g, 512);
}

static void general_type_names_it(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    g_begin(&g, 1, 4);
    g_pair_text(&g, "general.architecture", "gemma2");
    g_pair_text(&g, "general.type", "adapter");
    g_pair_text(&g, "adapter.type", "lora");
    g_pair_text(&g, "general.base_model.0.name", "Gemma 2 9b");
    add_tensor("token_embd.weight.lora_b");
    check_told(dir, "m.gguf: no input table: the file is an adapter (general.type 'adapter', "
                    "adapter.type 'lora', of 'Gemma 2 9b'): its tensors change a base model");
    g_begin(&g, 1, 1);
    g_pair_text(&g, "general.type", "imatrix");
    add_tensor("output.weight.in_sum2");
    check_told(dir, "no input table: the file is an importance matrix (general.type 'imatrix'): "
                    "sums over activations");
    g_begin(&g, 1, 2);
    g_pair_text(&g, "general.architecture", "clip");
    g_pair_text(&g, "general.type", "mmproj");
    add_tensor("v.position_embd.weight");
    check_told(dir, "no input table: the file is a projector of images or sounds (general.type "
                    "'mmproj'): the token table is in the file of the language model");
    g_begin(&g, 1, 1);
    g_pair_text(&g, "general.type", "data\nset");
    add_tensor("rows");
    check_told(dir, "the file is of general.type 'data\\x0aset', which is no model");
    test_scratch_remove(dir);
}

static void older_files_are_told_by_their_architecture(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    g_begin(&g, 1, 1);
    g_pair_text(&g, "general.architecture", "clip");
    add_tensor("v.position_embd.weight");
    check_told(dir, "the file is a projector of images or sounds (general.architecture 'clip')");
    g_begin(&g, 1, 1);
    g_pair_text(&g, "general.architecture", "controlvector");
    add_tensor("direction.1");
    check_told(dir, "the file is a control vector (general.architecture 'controlvector')");
    test_scratch_remove(dir);
}

static void files_without_a_tensor(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    g_begin(&g, 0, 3);
    g_pair_text(&g, "general.architecture", "llama");
    g_pair_text(&g, "tokenizer.ggml.model", "llama");
    g_array(&g, "tokenizer.ggml.tokens", WTE__GGUF_STRING, 2);
    g_text(&g, "a");
    g_text(&g, "b");
    g_pad(&g, 32);
    check_told(dir, "no input table: the file is a vocabulary alone: 2 tokens and no tensors");
    g_begin(&g, 0, 1);
    g_pair_text(&g, "general.architecture", "llama");
    check_told(dir, "no input table: the file is metadata alone, without a tensor");
    test_scratch_remove(dir);
}

static void a_model_stays_a_model(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    const wte_model_table *input;
    wte_model *m;
    wte_error err = { 0 };
    g_begin(&g, 1, 2); /* a table is a table, whatever the file says that it is */
    g_pair_text(&g, "general.architecture", "llama");
    g_pair_text(&g, "general.type", "adapter");
    add_tensor("token_embd.weight");
    const char *path = in_folder(dir, "m.gguf");
    test_write_file(path, g.data, g.n);
    assert_ok(wte_model_open(path, NULL, &m, &err), err);
    assert_ok(wte_model_input(m, &input, &err), err);
    assert_int_equal(input->rows, 4);
    wte_model_free(m);
    for (uint32_t i = 0; i < 2; i++) { /* the one matrix of a model may be its table */
        g_begin(&g, 1, 1);
        if (i == 0)
            g_pair_text(&g, "general.type", "model");
        else
            g_pair_u32(&g, "general.type", 1); /* which says nothing */
        add_tensor("blk.0.odd");
        test_write_file(path, g.data, g.n);
        assert_ok(wte_model_open(path, NULL, &m, &err), err);
        assert_ok(wte_model_input(m, &input, &err), err);
        assert_string_equal(input->name, "blk.0.odd");
        wte_model_free(m);
    }
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("adapters, importance matrices and projectors are named", general_type_names_it),
    TEST("older files are told by their architecture", older_files_are_told_by_their_architecture),
    TEST("a vocabulary alone is named", files_without_a_tensor),
    TEST("a file with a table is a model", a_model_stays_a_model),
};
TEST_MAIN(tests)
