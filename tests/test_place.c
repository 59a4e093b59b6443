/* Where a model is looked for: the cache of a hub with its links, diffusion pipelines, adapters,
 * and what is told when a part of it is not there. */
#include <sys/stat.h>
#include <unistd.h>

#include "model_files.h"

#define TEXT_CONFIG "{\"vocab_size\": 6, \"hidden_size\": 2, \"model_type\": \"llama\"}"
#define CLIP_CONFIG "{\"vocab_size\": 5, \"hidden_size\": 2, \"model_type\": \"clip_text_model\"}"
#define TOKENS      "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":2},\"merges\":[]}}"

static void make_folder(const char *dir, const char *name)
{
    assert_int_equal(mkdir(in_folder(dir, name), 0755), 0);
}

static void make_link(const char *target, const char *dir, const char *name)
{
    assert_int_equal(symlink(target, in_folder(dir, name)), 0);
}

/* A cache with one model in blobs; returns its folder. */
static const char *make_cache(void)
{
    static const float rows[12] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
    const stored t = { "model.embed_tokens.weight", "F32", 6, 2, rows, 4 };
    const char *dir = test_scratch();
    make_folder(dir, "blobs");
    make_folder(dir, "refs");
    make_folder(dir, "snapshots");
    write_safetensors(in_folder(dir, "blobs/5e1f"), &t, 1);
    write_text(dir, "blobs/c0ff", TEXT_CONFIG);
    write_text(dir, "blobs/70ce", TOKENS);
    return dir;
}

static void add_snapshot(const char *dir, const char *revision)
{
    char name[100];
    snprintf(name, sizeof name, "snapshots/%s", revision);
    make_folder(dir, name);
    snprintf(name, sizeof name, "snapshots/%s/model.safetensors", revision);
    make_link("../../blobs/5e1f", dir, name);
    snprintf(name, sizeof name, "snapshots/%s/config.json", revision);
    make_link("../../blobs/c0ff", dir, name);
    snprintf(name, sizeof name, "snapshots/%s/tokenizer.json", revision);
    make_link("../../blobs/70ce", dir, name);
}

/* The input table has these rows and this width, and its vocabulary that many tokens. */
static void assert_table(const char *path, uint64_t rows, uint64_t dim, uint64_t tokens)
{
    const wte_model_table *input;
    wte_error err;
    wte_model *m = open_model(path);
    assert_ok(wte_model_input(m, &input, &err), err);
    assert_int_equal(input->rows, rows);
    assert_int_equal(input->dim, dim);
    assert_int_equal(wte_model_vocab(m) ? wte_vocab_size(wte_model_vocab(m)) : 0, tokens);
    wte_model_free(m);
}

static void assert_note(const char *path, const char *note)
{
    wte_model *m = open_model(path);
    assert_string_equal(wte_model_note(m), note);
    wte_model_free(m);
}

static void assert_refused_at(const char *path, wte_status status, uint64_t where, const char *part)
{
    wte_model *m = NULL;
    wte_error err;
    assert_fails(wte_model_open(path, NULL, &m, &err), err, status, where, part);
    assert_null(m);
}
static void assert_refused(const char *path, wte_status status, const char *part)
{
    assert_refused_at(path, status, WTE_NO_INDEX, part);
}

static void a_snapshot_of_links_opens_like_any_folder(void **state)
{
    (void)state;
    const char *dir = make_cache();
    add_snapshot(dir, "1234abcd");
    const char *snapshot = in_folder(dir, "snapshots/1234abcd");
    assert_table(snapshot, 6, 2, 3);
    assert_note(snapshot, "");
    wte_model *m = open_model(snapshot);
    assert_int_equal(wte_model_config_of(m)->vocab_size, 6);
    wte_model_free(m);
    /* the blob alone has no ending: its content decides */
    assert_table(in_folder(dir, "blobs/5e1f"), 6, 2, 0);
    /* a file of the snapshot has the other files beside it */
    assert_table(in_folder(dir, "snapshots/1234abcd/model.safetensors"), 6, 2, 3);
    test_scratch_remove(dir);
}

static void shards_that_are_links_are_found_beside_the_index(void **state)
{
    (void)state;
    const stored head = { "lm_head.weight", "F32", 6, 2, NULL, 4 };
    const char *dir = make_cache();
    write_safetensors(in_folder(dir, "blobs/4ead"), &head, 1);
    write_text(dir, "blobs/1dec",
               "{\"weight_map\": {\"model.embed_tokens.weight\": \"a-00001-of-00002.safetensors\","
               "\"lm_head.weight\": \"a-00002-of-00002.safetensors\"}}");
    make_folder(dir, "snapshots/aa");
    make_link("../../blobs/1dec", dir, "snapshots/aa/model.safetensors.index.json");
    make_link("../../blobs/5e1f", dir, "snapshots/aa/a-00001-of-00002.safetensors");
    assert_refused_at(in_folder(dir, "snapshots/aa"), WTE_E_FORMAT, 76,
                      "shard 'a-00002-of-00002.safetensors' is missing");
    make_link("../../blobs/gone", dir, "snapshots/aa/a-00002-of-00002.safetensors");
    assert_refused(in_folder(dir, "snapshots/aa"), WTE_E_IO, "is a link to '../../blobs/gone'");
    assert_int_equal(unlink(in_folder(dir, "snapshots/aa/a-00002-of-00002.safetensors")), 0);
    make_link("../../blobs/4ead", dir, "snapshots/aa/a-00002-of-00002.safetensors");
    wte_model *m = open_model(dir);
    assert_string_equal(wte_model_head(m)->name, "lm_head.weight");
    assert_int_equal(wte_file_n_shards(wte_model_file(m)), 2);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void the_root_of_a_cache_opens_the_snapshot_that_main_names(void **state)
{
    (void)state;
    const char *dir = make_cache();
    add_snapshot(dir, "bb22");
    assert_note(dir, "snapshot bb22 of a hub's cache, the only one");
    assert_table(dir, 6, 2, 3);
    add_snapshot(dir, "aa11");
    assert_refused(dir, WTE_E_FORMAT,
                   "2 snapshots, and refs/main names none of them: name one of snapshots/ aa11, "
                   "bb22");
    write_text(dir, "refs/main", "bb22\n");
    assert_note(dir, "snapshot bb22 of a hub's cache, which refs/main names");
    assert_table(dir, 6, 2, 3);
    /* a revision that is not there, and names that lead elsewhere */
    static const char *const bad[] = { "cc33", "", "\n", "../refs", "..", ".", "aa11/../bb22" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text(dir, "refs/main", bad[i]);
        assert_refused(dir, WTE_E_FORMAT, "2 snapshots, and refs/main names none of them");
    }
    test_scratch_remove(dir);
}

static void a_cache_without_a_snapshot_is_a_folder_without_weights(void **state)
{
    (void)state;
    const char *dir = make_cache();
    assert_refused(dir, WTE_E_FORMAT, "it holds blobs, refs, snapshots");
    test_scratch_remove(dir);
}

static void a_link_to_nothing_says_where_it_leads(void **state)
{
    (void)state;
    const char *dir = make_cache();
    add_snapshot(dir, "aa");
    const char *snapshot = in_folder(dir, "snapshots/aa");
    /* the tokenizer does not stop the model, but is not passed over either */
    assert_int_equal(unlink(in_folder(dir, "blobs/70ce")), 0);
    wte_model *m = open_model(snapshot);
    assert_null(wte_model_vocab(m));
    if (!strstr(wte_model_vocab_problem(m), "tokenizer.json: is a link to '../../blobs/70ce', "
                                            "which is not there"))
        fail_msg("%s", wte_model_vocab_problem(m));
    wte_model_free(m);
    assert_int_equal(unlink(in_folder(dir, "blobs/c0ff")), 0);
    assert_refused(snapshot, WTE_E_IO,
                   "config.json: is a link to '../../blobs/c0ff', which is not "
                   "there (a download that was not finished?)");
    assert_int_equal(unlink(in_folder(dir, "blobs/5e1f")), 0);
    assert_refused(snapshot, WTE_E_IO, "model.safetensors: is a link to '../../blobs/5e1f'");
    test_scratch_remove(dir);
}

/* model_index.json and two text encoders, each with a tokenizer of its own. */
static const char *make_pipeline(void)
{
    const stored one = { "text_model.embeddings.token_embedding.weight", "F32", 5, 2, NULL, 4 };
    const stored two = { "text_model.embeddings.token_embedding.weight", "F32", 4, 3, NULL, 4 };
    const char *dir = test_scratch();
    write_text(dir, "model_index.json", "{\"_class_name\": \"StableDiffusionXLPipeline\"}");
    make_folder(dir, "text_encoder");
    make_folder(dir, "tokenizer");
    make_folder(dir, "unet");
    write_safetensors(in_folder(dir, "text_encoder/model.safetensors"), &one, 1);
    write_text(dir, "text_encoder/config.json", CLIP_CONFIG);
    write_text(dir, "tokenizer/vocab.json", "{\"a\": 0, \"b\": 1, \"c\": 2, \"d\": 3}");
    assert_note(dir, "text_encoder of a diffusion pipeline");
    make_folder(dir, "text_encoder_2");
    make_folder(dir, "tokenizer_2");
    write_safetensors(in_folder(dir, "text_encoder_2/model.safetensors"), &two, 1);
    write_text(dir, "tokenizer_2/tokenizer.json", TOKENS);
    return dir;
}

static void a_pipeline_opens_its_text_encoder_with_its_tokenizer(void **state)
{
    (void)state;
    const char *dir = make_pipeline();
    assert_table(dir, 5, 2, 4);
    assert_note(dir, "text_encoder of a diffusion pipeline; it has text_encoder, text_encoder_2: "
                     "name such a folder to open it");
    assert_table(in_folder(dir, "text_encoder"), 5, 2, 4);
    assert_table(in_folder(dir, "text_encoder_2"), 4, 3, 3);
    assert_table(in_folder(dir, "text_encoder_2/"), 4, 3, 3);
    assert_table(in_folder(dir, "text_encoder_2/model.safetensors"), 4, 3, 3);
    /* its own tokenizer comes first */
    write_text(dir, "text_encoder_2/vocab.json", "{\"a\": 0, \"b\": 1}");
    assert_table(in_folder(dir, "text_encoder_2"), 4, 3, 2);
    test_scratch_remove(dir);
}

static void a_pipeline_in_a_cache_is_entered_twice(void **state)
{
    (void)state;
    char pipeline[256];
    snprintf(pipeline, sizeof pipeline, "%s", make_pipeline());
    const char *dir = test_scratch();
    make_folder(dir, "snapshots");
    char target[600];
    snprintf(target, sizeof target, "../../%s", pipeline);
    make_link(target, dir, "snapshots/ab");
    assert_table(dir, 5, 2, 4);
    assert_note(dir, "snapshot ab of a hub's cache, the only one; text_encoder of a diffusion "
                     "pipeline; it has text_encoder, text_encoder_2: name such a folder to open "
                     "it");
    test_scratch_remove(dir);
    test_scratch_remove(pipeline);
}

static void a_pipeline_without_a_text_encoder_has_no_weights(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    write_text(dir, "model_index.json", "{}");
    make_folder(dir, "unet");
    assert_refused(dir, WTE_E_FORMAT, "it holds model_index.json, unet");
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("a snapshot of links to blobs opens like any folder",
         a_snapshot_of_links_opens_like_any_folder),
    TEST("shards that are links are found beside the index",
         shards_that_are_links_are_found_beside_the_index),
    TEST("the root of a cache opens the snapshot that refs/main names, or the only one",
         the_root_of_a_cache_opens_the_snapshot_that_main_names),
    TEST("a cache without a snapshot is a folder without weights",
         a_cache_without_a_snapshot_is_a_folder_without_weights),
    TEST("a link to nothing says where it leads", a_link_to_nothing_says_where_it_leads),
    TEST("a pipeline opens its text encoder with its tokenizer",
         a_pipeline_opens_its_text_encoder_with_its_tokenizer),
    TEST("a pipeline in a cache is entered twice", a_pipeline_in_a_cache_is_entered_twice),
    TEST("a pipeline without a text encoder has no weights",
         a_pipeline_without_a_text_encoder_has_no_weights),
};
TEST_MAIN(tests)
