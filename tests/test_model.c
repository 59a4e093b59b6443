/* Opening a model: which files a path stands for, the views of its tables, and every refusal. */
#include <math.h>
#include <wte/format.h>

#include "base/limits.h"
#include "model_files.h"

#define CFG "{\"vocab_size\": 6, \"hidden_size\": 4}"

static const wte_model_table *input_of(const wte_model *m)
{
    const wte_model_table *t = NULL;
    wte_error err;
    assert_ok(wte_model_input(m, &t, &err), err);
    return t;
}

/* PyTorch 1.13: torch.manual_seed(123); torch.nn.Embedding(6, 3). */
static const float demo_table[6][3] = {
    { 0x1.597792p-2f, -0x1.6c1676p-3f, -0x1.5a05cp-3f },
    { 0x1.d5e53ep-1f, 0x1.94ba6cp+0f, 0x1.4d10f4p+0f },
    { 0x1.467a24p+0f, -0x1.9b8d4cp-3f, -0x1.48d5aap-3f },
    { -0x1.9b1facp-2f, 0x1.eee278p-1f, -0x1.25ecc4p+0f },
    { -0x1.28ab9p+0f, 0x1.4d4846p-2f, -0x1.4354acp-1f },
    { -0x1.6b84ecp+1f, -0x1.91d84cp-1f, -0x1.68d9bep+0f },
};

static void the_demo_has_pytorchs_bits(void **state)
{
    (void)state;
    wte_model *m = open_model("demo");
    const wte_model_table *t = input_of(m);
    float row[3];
    wte_error err;
    assert_string_equal(t->name, "demo");
    assert_int_equal(t->rows, 6);
    assert_int_equal(t->dim, 3);
    assert_int_equal(t->dtype, WTE_F32);
    assert_int_equal(t->tensor, WTE_NO_INDEX);
    assert_int_equal(t->offset, WTE_NO_INDEX);
    for (uint64_t r = 0; r < 6; r++) {
        assert_ok(wte_row_source_read(&t->source, r, row, &err), err);
        assert_memory_equal(row, demo_table[r], sizeof row);
    }
    assert_null(wte_model_file(m));
    assert_null(wte_model_head(m));
    assert_null(wte_model_vocab(m));
    assert_int_equal(wte_model_n_candidates(m), 0);
    assert_string_equal(wte_model_path(m), "demo");
    wte_model_free(m);
    wte_model_free(NULL);
}

static void the_demo_has_no_other_tensors(void **state)
{
    wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
    wte_model *m;
    wte_error err;
    (void)state;
    opt.tensor = "demo";
    assert_ok(wte_model_open("demo", &opt, &m, &err), err);
    wte_model_free(m);
    opt.tensor = "wte";
    assert_fails(wte_model_open("demo", &opt, &m, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "the only tensor is 'demo'; there is no 'wte'");
    opt.tensor = NULL;
    opt.head = "lm_head";
    assert_fails(wte_model_open("demo", &opt, &m, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "there is no 'lm_head'");
}

/* Element [r, c] is 10 r + c. */
static const float *numbered(void)
{
    static float t[6 * 4];
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 4; c++) t[r * 4 + c] = (float)(r * 10 + c);
    return t;
}

static void assert_row(const wte_model_table *t, uint64_t row, float first)
{
    float got[4];
    wte_error err;
    assert_ok(wte_row_source_read(&t->source, row, got, &err), err);
    for (int c = 0; c < 4; c++) assert_true(got[c] == first + (float)c);
}

static void a_file_takes_its_folders_side_files(void **state)
{
    (void)state;
    const stored list[] = { { "pad", "F32", 2, 0, NULL, 4 },
                            { "wte.weight", "F32", 6, 4, numbered(), 4 } };
    const char *dir = make_model(CFG, list, 2);
    write_text(dir, "vocab.json", "{\"a\": 0, \"b\": 1}");
    wte_model *m = open_model(in_folder(dir, "model.safetensors"));
    const wte_model_table *t = input_of(m);
    assert_int_equal(wte_model_config_of(m)->vocab_size, 6);
    assert_non_null(strstr(wte_model_config_of(m)->path, "config.json"));
    assert_int_equal(wte_vocab_count(wte_model_vocab(m)), 2);
    assert_row(t, 5, 50);
    /* where it lies in the file */
    FILE *f = fopen(wte_file_shard_path(wte_model_file(m), t->shard), "rb");
    float there[4];
    fseek(f, (int)(t->offset + 3 * t->row_bytes), SEEK_SET);
    assert_int_equal(fread(there, 4, 4, f), 4);
    fclose(f);
    for (int c = 0; c < 4; c++) assert_true(there[c] == (float)(30 + c));
    assert_int_equal(t->row_bytes, 16);
    uint64_t row;
    wte_error err;
    assert_ok(wte_model_row(m, 5, &row, &err), err);
    assert_int_equal(row, 5);
    assert_fails(wte_model_row(m, 6, &row, &err), err, WTE_E_RANGE, 6, "valid ids are 0..5");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_vocabulary_can_be_left_out_or_broken(void **state)
{
    (void)state;
    const stored list[] = { { "wte.weight", "F32", 6, 4, NULL, 4 } };
    const char *dir = make_model(NULL, list, 1);
    wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
    wte_model *m;
    wte_error err;
    write_text(dir, "vocab.json", "{\"a\": 0");
    m = open_model(dir);
    assert_null(wte_model_vocab(m));
    assert_non_null(strstr(wte_model_vocab_problem(m), "vocab.json"));
    assert_int_equal(input_of(m)->rows, 6);
    wte_model_free(m);
    opt.without_vocab = 1;
    assert_ok(wte_model_open(dir, &opt, &m, &err), err);
    assert_null(wte_model_vocab(m));
    assert_string_equal(wte_model_vocab_problem(m), "");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_broken_config_is_told_an_empty_one_is_absent(void **state)
{
    (void)state;
    const stored list[] = { { "wte.weight", "F32", 6, 4, NULL, 4 } };
    const char *dir = make_model("{\"vocab_size\": }", list, 1);
    wte_model *m = NULL;
    wte_error err;
    assert_fails(wte_model_open(dir, NULL, &m, &err), err, WTE_E_FORMAT, 15,
                 "config.json: not valid JSON at line 1 column 16");
    assert_null(m);
    write_text(dir, "config.json", "");
    m = open_model(dir);
    assert_string_equal(wte_model_config_of(m)->path, "");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void one_index_beats_one_file_beats_the_only_one(void **state)
{
    (void)state;
    const stored one[] = { { "wte.weight", "F32", 1, 4, NULL, 4 } };
    const stored two[] = { { "wte.weight", "F32", 2, 4, NULL, 4 } };
    const stored three[] = { { "wte.weight", "F32", 3, 4, NULL, 4 } };
    const char *dir = test_scratch();
    wte_model *m;
    wte_error err;
    write_safetensors(in_folder(dir, "a.safetensors"), one, 1);
    m = open_model(dir);
    assert_int_equal(input_of(m)->rows, 1);
    wte_model_free(m);
    write_safetensors(in_folder(dir, "b.safetensors"), two, 1);
    assert_fails(wte_model_open(dir, NULL, &m, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "2 safetensors files and no index: name one of 'a.safetensors', 'b.safetensors'");
    write_safetensors(in_folder(dir, "model.safetensors"), two, 1);
    m = open_model(dir);
    assert_int_equal(input_of(m)->rows, 2);
    wte_model_free(m);
    write_safetensors(in_folder(dir, "model-00001-of-00001.safetensors"), three, 1);
    write_text(dir, "model.safetensors.index.json",
               "{\"metadata\": {}, \"weight_map\": {\"wte.weight\": "
               "\"model-00001-of-00001.safetensors\"}}");
    m = open_model(dir);
    assert_int_equal(input_of(m)->rows, 3);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void two_shards_are_one_model(void **state)
{
    (void)state;
    const stored one[] = { { "model.embed_tokens.weight", "F32", 6, 4, numbered(), 4 } };
    const stored two[] = { { "model.norm.weight", "F32", 4, 0, NULL, 4 },
                           { "lm_head.weight", "F32", 6, 4, numbered(), 4 } };
    const char *dir = test_scratch();
    write_safetensors(in_folder(dir, "one.safetensors"), one, 1);
    write_safetensors(in_folder(dir, "two.safetensors"), two, 2);
    write_text(dir, "model.safetensors.index.json",
               "{\"weight_map\": {\"model.embed_tokens.weight\": \"one.safetensors\","
               " \"model.norm.weight\": \"two.safetensors\","
               " \"lm_head.weight\": \"two.safetensors\"}}");
    wte_model *m = open_model(dir);
    const wte_model_table *head = wte_model_head(m);
    assert_row(input_of(m), 2, 20);
    assert_row(head, 4, 40);
    assert_true(input_of(m)->shard != head->shard);
    wte_tie t;
    wte_error err;
    assert_ok(wte_model_tie(m, NULL, &t, &err), err);
    assert_int_equal(t.verdict, WTE_TIE_EQUAL_BYTES);
    assert_true(t.experiment_ran);
    assert_false(t.head_changed);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_folder_without_weights_lists_what_it_has(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    wte_model *m;
    wte_error err;
    assert_fails(
        wte_model_open(dir, NULL, &m, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
        "no weights that can be read here (safetensors, PyTorch, GGUF, one .npy, .npz, .vec or .ftz); it "
        "holds nothing");
    write_text(dir, "merges.txt", "x");
    write_text(dir, "config.json", "{}");
    assert_fails(wte_model_open(dir, NULL, &m, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "it holds config.json, merges.txt");
    write_text(dir, "a\033[31m.safetensors", "x");
    write_text(dir, "b.safetensors", "x");
    assert_fails(wte_model_open(dir, NULL, &m, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "2 safetensors files and no index: name one of 'a\\x1b[31m.safetensors'");
    assert_fails(wte_model_open("no/such/model", NULL, &m, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "no/such/model");
    assert_null(m);
    test_scratch_remove(dir);
}

static void paths_that_are_too_long_are_refused(void **state)
{
    static char path[WTE_LIMIT_PATH + 8];
    wte_model *m;
    wte_error err;
    (void)state;
    memset(path, 'x', sizeof path - 1);
    assert_fails(wte_model_open(path, NULL, &m, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "path is longer than 4095 bytes");
}

static void a_matrix_in_npy_is_itself_the_table(void **state)
{
    static const uint64_t shape[] = { 6, 4 };
    (void)state;
    const char *dir = test_scratch();
    wte_error err;
    wte_tensor_out t = { "any", WTE_F32, 2, shape, numbered(), NULL };
    assert_ok(wte_npy_write(in_folder(dir, "t.npy"), &t, &err), err);
    for (int whole = 0; whole < 2; whole++) {
        wte_model *m = open_model(whole ? dir : in_folder(dir, "t.npy"));
        assert_int_equal(input_of(m)->rows, 6);
        assert_row(input_of(m), 3, 30);
        assert_non_null(strstr(input_of(m)->why, "itself the table"));
        wte_model_free(m);
    }
    test_scratch_remove(dir);
}

static void column_order_comes_out_as_rows(void **state)
{
    static const char header[] = "{'descr': '>f4', 'fortran_order': True, 'shape': (6, 4), }";
    unsigned char file[128 + 96];
    (void)state;
    memset(file, ' ', sizeof file);
    memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(file + 10, header, sizeof header - 1);
    file[127] = '\n';
    for (unsigned i = 0; i < 24; i++) { /* column by column, big-endian */
        uint32_t bits;
        memcpy(&bits, &numbered()[i % 6 * 4 + i / 6], 4);
        for (unsigned b = 0; b < 4; b++)
            file[128 + 4 * i + b] = (unsigned char)(bits >> (24 - 8 * b));
    }
    const char *dir = test_scratch();
    test_write_file(in_folder(dir, "t.npy"), file, sizeof file);
    wte_model *m = open_model(in_folder(dir, "t.npy"));
    assert_row(input_of(m), 5, 50);
    assert_row(input_of(m), 0, 0);
    assert_int_equal(input_of(m)->row_bytes, 0);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_head_stored_dim_by_rows_is_turned(void **state)
{
    float turned[4 * 6], row[4];
    uint64_t ids[] = { 5, 0, 3 };
    wte_error err;
    (void)state;
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 4; c++) turned[c * 6 + r] = numbered()[r * 4 + c];
    const stored list[] = { { "model.embed_tokens.weight", "F32", 6, 4, numbered(), 4 },
                            { "lm_head.kernel", "F32", 4, 6, turned, 4 } };
    const char *dir = make_model(CFG, list, 2);
    wte_model *m = open_model(dir);
    const wte_model_table *head = wte_model_head(m);
    assert_true(head->transposed);
    assert_int_equal(head->rows, 6);
    assert_int_equal(head->dim, 4);
    assert_int_equal(head->row_bytes, 0);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(head->source.read_rows(head->source.ctx, &ids[i], 1, row, &err), err);
        assert_memory_equal(row, numbered() + ids[i] * 4, sizeof row);
    }
    wte_tie t;
    assert_ok(wte_model_tie(m, NULL, &t, &err), err);
    assert_int_equal(t.verdict, WTE_TIE_EQUAL_VALUES);
    assert_non_null(strstr(t.why, "in another order"));
    assert_true(t.experiment_ran);
    assert_false(t.head_changed);
    assert_true(t.before == 30 && t.head_before == 30);
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* PAINS K3: 5 tokens, 2 rows. */
static void ids_reach_their_row_through_a_mapping(void **state)
{
    static const int32_t mapping[] = { 1, 0, 0, 1, 1 };
    (void)state;
    const stored list[] = { { "embeddings", "F32", 2, 4, numbered(), 4 },
                            { "mapping", "I32", 5, 0, mapping, 4 },
                            { "weights", "F64", 5, 0, NULL, 8 } };
    const char *dir = make_model(NULL, list, 3);
    wte_model *m = open_model(dir);
    const wte_model_table *t = input_of(m);
    assert_true(t->mapped);
    assert_int_equal(t->rows, 5);
    assert_int_equal(t->dim, 4);
    for (uint64_t id = 0; id < 5; id++) {
        uint64_t row;
        wte_error err;
        assert_ok(wte_model_row(m, id, &row, &err), err);
        assert_int_equal(row, mapping[id]);
        assert_row(t, id, (float)mapping[id] * 10);
    }
    wte_error err;
    uint64_t row;
    assert_fails(wte_model_row(m, 5, &row, &err), err, WTE_E_RANGE, 5, "valid ids are 0..4");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_mapping_that_leaves_the_table_is_refused(void **state)
{
    static const int64_t far[] = { 0, 1, 2 }, negative[] = { 0, -1, 1 };
    static const struct {
        stored mapping;
        wte_status status;
        uint64_t where;
        const char *part;
        bool empty;
    } cases[] = {
        { { "mapping", "I64", 3, 0, far, 8 },
          WTE_E_FORMAT,
          2,
          "mapping[2] is 2, but the table has rows 0..1",
          false },
        { { "mapping", "I64", 3, 0, negative, 8 }, WTE_E_FORMAT, 1, "mapping[1] is -1", false },
        { { "mapping", "F32", 3, 0, NULL, 4 },
          WTE_E_FORMAT,
          WTE_NO_INDEX,
          "must be a list of whole numbers, but has type f32 and rank 1",
          false },
        { { "mapping", "I32", 3, 1, NULL, 4 }, WTE_E_FORMAT, WTE_NO_INDEX, "rank 2", false },
        { { "mapping", "I64", 3, 0, far, 8 },
          WTE_E_FORMAT,
          0,
          "mapping[0] is 0, but the table is empty",
          true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const stored list[] = { { "embeddings", "F32", cases[i].empty ? 0 : 2, 4, numbered(), 4 },
                                cases[i].mapping };
        const char *dir = make_model(NULL, list, 2);
        wte_model *m = open_model(dir); /* opens: the tensors can still be listed */
        const wte_model_table *t;
        uint64_t row;
        wte_error err;
        assert_fails(wte_model_input(m, &t, &err), err, cases[i].status, cases[i].where,
                     cases[i].part);
        assert_fails(wte_model_row(m, 0, &row, &err), err, cases[i].status, cases[i].where,
                     cases[i].part);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

/* A mapping of one id more than the limit; the file is a hole. */
static void a_mapping_of_too_many_ids_is_refused(void **state)
{
    static const char header[] =
        "{\"embeddings\":{\"dtype\":\"U8\",\"shape\":[1,1],\"data_offsets\":[0,1]},"
        "\"mapping\":{\"dtype\":\"U8\",\"shape\":[16777217],\"data_offsets\":[1,16777218]}}";
    unsigned char file[8 + sizeof header] = { sizeof header };
    (void)state;
    memcpy(file + 8, header, sizeof header - 1);
    file[8 + sizeof header - 1] = ' ';
    const char *dir = test_scratch();
    const char *path = in_folder(dir, "model.safetensors");
    test_write_file(path, file, sizeof file);
    assert_int_equal(truncate(path, (off_t)sizeof file + 16777218), 0);
    wte_model *m = open_model(dir);
    const wte_model_table *t;
    wte_error err;
    assert_fails(wte_model_input(m, &t, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "'mapping' names 16777217 ids, but at most 16777216 are read");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_table_of_no_rows_is_found(void **state)
{
    (void)state;
    const stored list[] = { { "embed_tokens.weight", "F32", 0, 0, NULL, 4 } };
    const char *dir = make_model(NULL, list, 1);
    wte_model *m = open_model(dir);
    uint64_t row;
    wte_error err;
    assert_int_equal(input_of(m)->rows, 0);
    assert_fails(wte_model_row(m, 0, &row, &err), err, WTE_E_RANGE, 0, "the table is empty");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_static_model_that_people_use_opens(void **state)
{
    (void)state;
    wte_model *m = open_model(test_data("static-f32"));
    const wte_model_table *t = input_of(m);
    assert_string_equal(t->name, "embeddings");
    assert_int_equal(t->rows, 29528);
    assert_int_equal(t->dim, 2);
    assert_int_equal(wte_vocab_size(wte_model_vocab(m)), 29528);
    assert_string_equal(wte_model_config_of(m)->model_type, "model2vec");
    wte_model_free(m);
}

static void a_static_folder_below_is_entered(void **state)
{
    char folder[128];
    (void)state;
    const stored list[] = { { "embedding.weight", "F32", 6, 4, numbered(), 4 } };
    const char *dir = test_scratch();
    snprintf(folder, sizeof folder, "%s/0_StaticEmbedding", dir);
    assert_int_equal(mkdir(folder, 0755), 0);
    write_safetensors(in_folder(folder, "model.safetensors"), list, 1);
    write_text(folder, "vocab.txt", "a\nb\n");
    write_text(dir, "modules.json", "[]");
    wte_model *m = open_model(dir);
    assert_string_equal(input_of(m)->name, "embedding.weight");
    assert_row(input_of(m), 1, 10);
    assert_int_equal(wte_vocab_count(wte_model_vocab(m)), 2);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void the_factor_is_rounded_to_the_tables_type(void **state)
{
    (void)state;
    const stored list[] = { { "model.embed_tokens.weight", "BF16", 6, 4, NULL, 2 } };
    const char *dir = make_model("{\"model_type\": \"gemma\", \"hidden_size\": 3072}", list, 1);
    wte_model *m = open_model(dir);
    const wte_model_config *c = wte_model_config_of(m);
    assert_true(c->factor == 55.5);
    assert_true(fabs(c->factor_exact - sqrt(3072)) < 1e-12);
    assert_string_equal(c->factor_rule, "gemma: sqrt(hidden_size), rounded to bf16");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_copy_reads_without_a_map(void **state)
{
    (void)state;
    const stored list[] = { { "embeddings", "F32", 6, 4, numbered(), 4 } };
    const char *dir = make_model(NULL, list, 1);
    wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
    wte_model *m;
    wte_error err;
    opt.copy = 1;
    assert_ok(wte_model_open(dir, &opt, &m, &err), err);
    assert_null(input_of(m)->source.data);
    assert_row(input_of(m), 4, 40);
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* Every allocation of an open fails once; nothing leaks, and nothing is half open. */
static void starve(const char *path)
{
    wte_status status = WTE_E_MEMORY;
    size_t i = 0;
    for (; status != WTE_OK; i++) {
        test_memory memory;
        wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
        wte_model *m = NULL;
        wte_error err;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        status = wte_model_open(path, &opt, &m, &err);
        if (status != WTE_OK) {
            if (status != WTE_E_MEMORY) fail_msg("allocation %zu: %s", i, err.message);
            assert_null(m);
        }
        wte_model_free(m);
        assert_int_equal(memory.live, 0);
    }
    assert_true(i >= 3);
}

static void out_of_memory_is_told_wherever_it_strikes(void **state)
{
    static const int32_t mapping[] = { 1, 0 };
    (void)state;
    const stored list[] = { { "embeddings", "F32", 2, 4, NULL, 4 },
                            { "mapping", "I32", 2, 0, mapping, 4 },
                            { "lm_head.weight", "F32", 2, 4, NULL, 4 } };
    const char *dir = make_model("{\"model_type\": \"gemma\", \"hidden_size\": 4}", list, 3);
    write_text(dir, "vocab.json", "{\"a\": 0, \"b\": 1}");
    starve(dir);
    starve("demo");
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("the demo has PyTorch's bits", the_demo_has_pytorchs_bits),
    TEST("the demo has no tensor but 'demo'", the_demo_has_no_other_tensors),
    TEST("a file takes config and tokenizer from its folder", a_file_takes_its_folders_side_files),
    TEST("a vocabulary can be left out, and a broken one does not stop the model",
         a_vocabulary_can_be_left_out_or_broken),
    TEST("a broken config is told, an empty one is absent",
         a_broken_config_is_told_an_empty_one_is_absent),
    TEST("index before model.safetensors before the only file",
         one_index_beats_one_file_beats_the_only_one),
    TEST("two shards are one model", two_shards_are_one_model),
    TEST("a folder without weights lists what it has", a_folder_without_weights_lists_what_it_has),
    TEST("paths that are too long are refused", paths_that_are_too_long_are_refused),
    TEST("a matrix in .npy is itself the table", a_matrix_in_npy_is_itself_the_table),
    TEST("column order and big-endian come out as rows", column_order_comes_out_as_rows),
    TEST("a head stored dim x rows is turned", a_head_stored_dim_by_rows_is_turned),
    TEST("ids reach their row through a mapping", ids_reach_their_row_through_a_mapping),
    TEST("a mapping that leaves the table is refused", a_mapping_that_leaves_the_table_is_refused),
    TEST("a mapping of too many ids is refused", a_mapping_of_too_many_ids_is_refused),
    TEST("a table of no rows is found", a_table_of_no_rows_is_found),
    TEST("a static model that people use opens", a_static_model_that_people_use_opens),
    TEST("the folder of a static embedding is entered", a_static_folder_below_is_entered),
    TEST("the factor is rounded to the table's type", the_factor_is_rounded_to_the_tables_type),
    TEST("copy reads without a map", a_copy_reads_without_a_map),
    TEST("running out of memory is told wherever it strikes",
         out_of_memory_is_told_wherever_it_strikes),
};
TEST_MAIN(tests)
