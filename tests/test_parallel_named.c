/* The names that parts have, and parts in safetensors: which are joined, and every allocation that
 * can fail meanwhile. */
#include "format/parallel.h"
#include "parallel_files.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_scratch());
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_scratch_remove(folder);
    return 0;
}

static const char *in_scratch(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void names_of_parts_are_told_from_others(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        const char *writer; /* NULL: none */
        uint64_t number;
        const char *third; /* the path of part 3 */
    } list[] = {
        { "a/consolidated.00.pth", "Llama", 0, "a/consolidated.03.pth" },
        { "consolidated.100.pth", "Llama", 100, "consolidated.03.pth" },
        { "consolidated.0.pth", NULL, 0, NULL },
        { "consolidated.007.pth", NULL, 0, NULL },
        { "consolidated.00.pt", NULL, 0, NULL },
        { "consolidated.00.pth.x", NULL, 0, NULL },
        { "x/rank12.safetensors", "TensorRT-LLM", 12, "x/rank3.safetensors" },
        { "x/rank01.safetensors", NULL, 0, NULL },
        { "x/rank.safetensors", NULL, 0, NULL },
        { "rank1234567890.safetensors", NULL, 0, NULL },
        { "model-rank-2-part-0.safetensors", "vLLM", 2, "model-rank-3-part-5.safetensors" },
        { "model-rank-2-part-.safetensors", NULL, 0, NULL },
        { "layer_00-model_01-model_states.pt", "GPT-NeoX", 1, "layer_00-model_03-model_states.pt" },
        { "mp_rank_01_model_states.pt", "DeepSpeed", 1, "mp_rank_03_model_states.pt" },
        { "zero_pp_rank_0_mp_rank_01_model_states.pt", NULL, 0, NULL },
        { "reshard-model_part-7.pt", "metaseq", 7, "reshard-model_part-3.pt" },
        { "i/mp_rank_01/model_optim_rng.pt", "Megatron", 1, "i/mp_rank_03/model_optim_rng.pt" },
        { "mp_rank_01//m.pt", "Megatron", 1, "mp_rank_03//m.pt" },
        { "mp_rank_01_002/m.pt", "Megatron", 1, "mp_rank_03_002/m.pt" },
        { "mp_rank_01_002_000/m.pt", "Megatron", 1, "mp_rank_03_002_000/m.pt" },
        { "tp_rank_01_pp_rank_000/w.ckpt", "NeMo", 1, "tp_rank_03_pp_rank_000/w.ckpt" },
        { "mp_rank_01", NULL, 0, NULL },
        { "mp_rank_x/m.pt", NULL, 0, NULL },
        { "", NULL, 0, NULL },
        { "/", NULL, 0, NULL },
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        wte__parallel_name name;
        char path[WTE_LIMIT_PATH];
        const bool found = wte__parallel_name_of(list[i].path, &name);
        if (!list[i].writer) {
            assert_false(found);
            assert_null(name.scheme);
            continue;
        }
        assert_true(found);
        assert_string_equal(name.scheme->writer, list[i].writer);
        assert_int_equal(name.number, list[i].number);
        assert_true(wte__parallel_path(list[i].path, &name, 3, 5, path));
        assert_string_equal(path, list[i].third);
    }
}

static void a_path_of_another_part_may_be_too_long(void **state)
{
    (void)state;
    static char path[WTE_LIMIT_PATH + 64], out[WTE_LIMIT_PATH];
    wte__parallel_name name;
    memset(path, 'x', WTE_LIMIT_PATH - 18);
    memcpy(path + WTE_LIMIT_PATH - 19, "/rank9.safetensors", 19);
    assert_true(wte__parallel_name_of(path, &name));
    assert_true(wte__parallel_path(path, &name, 8, 0, out));
    assert_false(wte__parallel_path(path, &name, 10, 0, out));
}

/* Two files of two parts: a table of four rows each, and a list. */
static void write_ranks(const char *config)
{
    static const char head[] = "{\"lm_head.weight\":{\"dtype\":\"F32\",\"shape\":[4,2],"
                               "\"data_offsets\":[0,32]},\"norm\":{\"dtype\":\"F32\",\"shape\":"
                               "[2],\"data_offsets\":[32,40]}}";
    for (int rank = 0; rank < 2; rank++) {
        char name[32];
        made_file m = make_safetensors(head, 40);
        uint8_t *data = m.data + m.bytes - 40;
        for (int i = 0; i < 8; i++) {
            const float value = (float)(8 * rank + i);
            memcpy(data + 4 * i, &value, sizeof value);
        }
        snprintf(name, sizeof name, "rank%d.safetensors", rank);
        test_write_file(in_scratch(name), m.data, (size_t)m.bytes);
        made_file_free(&m);
    }
    test_write_file(in_scratch("config.json"), config, strlen(config));
}

static void ranks_in_safetensors_are_joined_by_the_config(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    wte_row_source rows;
    float out[16];
    write_ranks(
        "{\"vocab_size\": 7, \"hidden_size\": 2, \"mapping\": {\"tp_size\": 2}, \"a\": [1]}");
    assert_ok(wte_file_open(in_scratch("rank1.safetensors"), NULL, &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_SAFETENSORS_PARALLEL);
    assert_string_equal(wte_format_name(WTE_FORMAT_SAFETENSORS_PARALLEL), "safetensors parts");
    assert_int_equal(wte_file_n_tensors(f), 2);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_int_equal(rows.rows, 8);
    assert_int_equal(rows.cols, 2);
    assert_ok(rows.read_block(rows.ctx, 0, 8, out, &err), err);
    for (int i = 0; i < 16; i++) assert_true(out[i] == (float)i);
    assert_int_equal(wte_file_row_shard(f, 0, 4), 1);
    wte_file_free(f);
}

static void a_config_of_parts_must_be_json(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t where;
        const char *message;
    } list[] = {
        { "{\"vocab_size\": 8", 16, "config.json: not valid JSON" },
        { "[8]", 0, "an object was expected" },
        { "{\"mapping\": {\"tp_size\": 2}} x", 28, "config.json: not valid JSON" },
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        wte_error err = { 0 };
        wte_file *f;
        write_ranks(list[i].text);
        assert_fails(wte_file_open(in_scratch("rank0.safetensors"), NULL, &f, &err), err,
                     WTE_E_FORMAT, list[i].where, list[i].message);
    }
}

static void values_of_another_kind_say_nothing(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    write_ranks(
        "{\"vocab_size\": null, \"hidden_size\": [2], \"mapping\": [2], \"text_config\": null}");
    assert_fails(wte_file_open(in_scratch("rank0.safetensors"), NULL, &f, &err), err,
                 WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "[8, 2] joined by rows or [4, 4] by columns; nothing tells which");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    write_ranks("{\"vocab_size\": 7, \"hidden_size\": 2}");
    for (size_t i = 0;; i++) {
        test_memory memory;
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        wte_error err = { 0 };
        wte_file *f;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        const wte_status status = wte_file_open(in_scratch("rank0.safetensors"), &opt, &f, &err);
        wte_file_free(f);
        assert_int_equal(memory.live, 0);
        if (status == WTE_OK) break;
        assert_int_equal(status, WTE_E_MEMORY);
        assert_true(i < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "parts: names of parts are told from others", names_of_parts_are_told_from_others, NULL,
          NULL, NULL },
        { "parts: a path of another part may be too long", a_path_of_another_part_may_be_too_long,
          NULL, NULL, NULL },
        { "parts: ranks in safetensors are joined by the config",
          ranks_in_safetensors_are_joined_by_the_config, make_folder, remove_folder, NULL },
        { "parts: a config of parts must be JSON", a_config_of_parts_must_be_json, make_folder,
          remove_folder, NULL },
        { "parts: values of another kind say nothing", values_of_another_kind_say_nothing,
          make_folder, remove_folder, NULL },
        { "parts: every allocation of ranks may fail", every_allocation_may_fail, make_folder,
          remove_folder, NULL },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
