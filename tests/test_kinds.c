/* The table of kinds that are recognised and not read, walked from first to last: each has a sample
 * that is told as this kind and no other, with the evidence and the tool. */
#include "format/kinds.h"

#include "format_files.h"

#define FILE_BYTES 700u

/* A sample of each kind that is told by a probe; several of one kind follow each other. */
#define SAMPLE(name, bytes)                                                                        \
    {                                                                                              \
        name, bytes, sizeof bytes - 1                                                              \
    }
static const struct {
    const char *name, *bytes;
    size_t n;
} samples[] = {
    SAMPLE("a TFRecord file of TensorFlow", "\5\0\0\0\0\0\0\0\xea\xb2\x04\x3e"
                                            "hello\0\0\0\0"),
    SAMPLE("a CTranslate2 model", "\6\0\0\0\x10\0TransformerSpec\0\7\0\0\0\1\0\0\0\x1a\0decoder/"
                                  "embeddings/weight\0\2"),
    SAMPLE("a CTranslate2 model", "\6\0\0\0\2\0W\0\1\0\0\0\3\0\0\0\5\0emb\0\2"),
    SAMPLE("a TensorFlow saved model",
           "\x08\x01\x12\x42\n\x40"
           "0123456789012345678901234567890123456789012345678901234567890123"),
    SAMPLE("an ONNX model", "\x08\x07\x12\x07pytorch\x1a\x03"
                            "1.9:\x04\n\0\n\0"),
    SAMPLE("an ONNX model", "\x08\x08:\x04\n\0\n\0B\x02\x10\x0d"),
    SAMPLE("a tensor of ONNX", "\x08\1\x08\1\x10\1B\3embJ\4\0\0\x80?"),
    SAMPLE("the index of a TensorFlow checkpoint", "\0\0\x06\x08\x01\x1a\x02\x08\x01\0\x0d"),
    SAMPLE("a sentencepiece tokenizer, not tensors",
           "\n\x0c\n\5<unk>\x15\0\0\0\0\n\x0a\n\3<s>\x15\0\0\0\0\n\x0b\n\4</s>\x15\0\0\0\0"),
    SAMPLE("the graph of a TensorFlow checkpoint", "\n\x09\x12\7\n\5\n\3Add\x10\1"),
    SAMPLE("a frozen graph of TensorFlow", "\n\x0c\n\3emb\x12\5Const\x12\0"),
    SAMPLE("a Flax checkpoint", "\x81\xa3wte\xc7\x0c\1\x93\x92\1\1\xa7"
                                "float32\xc4\4"),
    SAMPLE("the keys of spaCy vectors, key2row", "\x82\xcf\1\2\3\4\5\6\7\x08\0\xcf\1\2\3\4\5"),
    SAMPLE("a msgpack file", "\x82\xa6params\x81\xa3wte"),
    SAMPLE("a msgpack file", "\xde\x00\x10\xd9\x06"
                             "params\x81"),
    SAMPLE("the .metadata of a distributed checkpoint",
           "\x80\x02"
           "ctorch.distributed.checkpoint.metadata\nMetadata\nq\0"),
    SAMPLE("a gensim model", "\x80\x02"
                             "cgensim.models.keyedvectors\nKeyedVectors\nq\0"),
    SAMPLE("a dump of joblib", "\x80\x04\x95\0\0\0\0\0\0\0\0\x8c\x14joblib.numpy_pickle"),
    SAMPLE("a file of PaddlePaddle parameters",
           "\x80\x02}X\x1b\0\0\0StructuredToParameterName@@cnumpy.core.multiarray\n"),
    SAMPLE("a Python pickle of NumPy arrays", "\x80\x02"
                                              "cnumpy.core.multiarray\n_reconstruct\n"),
    SAMPLE("a Python pickle of NumPy arrays", "cnumpy._core.multiarray\n_reconstruct\n(tb."),
    SAMPLE("a Python pickle, but not one of PyTorch's", "\x80\x02\x8a\x0al\xfc\x9c"),
    SAMPLE("a Python pickle, but not one of PyTorch's", "\x80\x04\x95\x10\0\0\0\0\0\0\0}"),
    SAMPLE("a Python pickle, but not one of PyTorch's", "(dp0\nS'a'\np1\nI1\ns."),
    SAMPLE("a Python pickle, but not one of PyTorch's", "(lp0\nF1.5\na."),
    SAMPLE("a Python pickle, but not one of PyTorch's", "cbuiltins\nset\n(tR."),
    SAMPLE("a Python pickle, but not one of PyTorch's", "}q\0X\1\0\0\0aK\1s."),
    SAMPLE("zlib-compressed, as joblib does",
           "\x78\x9c\xab\xa8\x20\x0e\x00\x00\x80\x97\x12\xc1\0\0\0\0\0\0"),
    SAMPLE("text in UTF-16", "\xff\xfet\0h\0e\0 \0001\0"),
    SAMPLE("text in UTF-16", "\xfe\xff\0t\0h\0e\0 \0001"),
    SAMPLE("an ORC file", "ORC\0\0\0\0\0ORC\x10"),
    SAMPLE("the graph of an OpenVINO model", "<?xml version=\"1.0\"?>\n<net name=\"m\"><layers>"),
    SAMPLE("the graph of an OpenVINO model", "<?xml version=\"1.0\"?>\n<!-- a --><net>"),
    SAMPLE("text in JSON Lines", "{\"embedding\": [1, 2]}\n{\"embedding\": [3, 4]}\n"),
    SAMPLE("text in JSON Lines", "[1, 2]\r\n[3, 4]"),
    SAMPLE("text in JSON Lines", "{\"a\": \"}{\\\"\"}\n\n{\"a\": 1}"),
    SAMPLE("the metadata of a Zarr array", "{\"zarr_format\": 2}"),
    SAMPLE("a TensorFlow.js model", "{\"modelTopology\": {}, \"weightsManifest\": []}"),
    SAMPLE("JSON text with vectors", "{\"data\": [{\"index\": 0, \"embedding\": [1, 2]}]}"),
    SAMPLE("JSON text with vectors", "[{\"text\": \"a\", \"vector\": [1, 2]}]"),
    SAMPLE("JSON text with vectors", "[[1.5, 2], [3, 4]]"),
    SAMPLE("a tokenizer, not tensors", "{\"version\": \"1.0\", \"added_tokens\": []}"),
    SAMPLE("a config, not tensors", "{\"model_type\": \"gpt2\"}"),
    SAMPLE("JSON text", "[\"the\", \"of\"]"),
    SAMPLE("JSON text", "[ true, null]"),
    SAMPLE("settings in INI or TOML, not tensors", "[training]\r\nlr = 0.1\n"),
    SAMPLE("settings in INI or TOML, not tensors", "[tool.ruff]\nline-length = 100\n"),
    SAMPLE("the list of checkpoints of TensorFlow, not tensors",
           "model_checkpoint_path: \"bert_model.ckpt\"\n"),
    SAMPLE("a protobuf message of an unknown kind", "\x08\x96\1\x10\2\x18\3 \4(\5"),
};
#define N_SAMPLES (sizeof samples / sizeof samples[0])

/* The head of a file in memory, and the file behind it. */
static void head_of(wte__head *head, wte__file *file, const void *data, size_t n)
{
    wte_error err = { 0 };
    wte__file_over(file, data, n);
    assert_ok(wte__head_read(file, "t", head, &err), err);
}

static void check(const wte__kind *kind, const void *data, size_t n)
{
    uint8_t *exact = test_guarded(n);
    wte__head head;
    wte__file file;
    wte_error err = { 0 };
    memcpy(exact, data, n);
    head_of(&head, &file, exact, n);
    const wte__kind *told = wte__kind_of(&head);
    if (told != kind) fail_msg("%s: told as %s", kind->name, told ? told->name : "nothing");
    const wte_status status = wte__kind_refuse(kind, &head, "t", &err);
    assert_int_equal(status, err.status);
    assert_true(status == WTE_E_UNSUPPORTED || status == WTE_E_FORMAT);
    assert_true(kind->to_do || status == WTE_E_FORMAT);
    if (!strstr(err.message, kind->name) || (kind->to_do && !strstr(err.message, kind->to_do)))
        fail_msg("%s: %s", kind->name, err.message);
    assert_true(strlen(err.message) < 200); /* a path still fits */
    test_guarded_free(exact, n);
}

static void every_kind_is_told_by_its_bytes(void **state)
{
    (void)state;
    size_t n, fixed = 0;
    const wte__kind *kinds = wte__kinds(&n);
    for (size_t i = 0; i < n; i++) {
        const wte__kind *k = &kinds[i];
        uint8_t data[FILE_BYTES];
        memset(data, 0xee, sizeof data);
        if (k->form == WTE__KIND_AT) memcpy(data + k->at, k->bytes, k->n);
        if (k->form == WTE__KIND_END) memcpy(data + sizeof data - k->n, k->bytes, k->n);
        if (k->form != WTE__KIND_AT && k->form != WTE__KIND_END) continue;
        check(k, data, sizeof data);
        fixed++;
    }
    assert_true(fixed >= 50);
}

static void every_kind_is_told_by_its_structure(void **state)
{
    (void)state;
    size_t n, probed = 0;
    const wte__kind *kinds = wte__kinds(&n);
    for (size_t i = 0; i < n; i++) {
        size_t found = 0;
        if (kinds[i].form != WTE__KIND_PROBE) continue;
        for (size_t k = 0; k < N_SAMPLES; k++) {
            wte__head head;
            wte__file file;
            head_of(&head, &file, samples[k].bytes, samples[k].n);
            if (strcmp(samples[k].name, kinds[i].name) != 0 || !kinds[i].probe(&head)) continue;
            if (wte__kind_of(&head) == &kinds[i]) check(&kinds[i], samples[k].bytes, samples[k].n);
            found++;
        }
        if (strstr(kinds[i].name, "navec") || strstr(kinds[i].name, "MATLAB 7.3") ||
            strstr(kinds[i].name, "hnswlib") || strstr(kinds[i].name, "before 2017"))
            found = 1; /* too long for a list: below */
        if (!found) fail_msg("%s: no sample", kinds[i].name);
        probed++;
    }
    assert_true(probed >= 25);
}

static void every_sample_is_told_as_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        wte__head head;
        wte__file file;
        head_of(&head, &file, samples[i].bytes, samples[i].n);
        const wte__kind *told = wte__kind_of(&head);
        if (!told || strcmp(told->name, samples[i].name) != 0)
            fail_msg("sample %zu (%s): told as %s", i, samples[i].name,
                     told ? told->name : "nothing");
    }
}

static void expect(const void *data, size_t n, const char *name)
{
    wte__head head;
    wte__file file;
    head_of(&head, &file, data, n);
    const wte__kind *told = wte__kind_of(&head);
    if (!told ? name != NULL : !name || strcmp(told->name, name) != 0)
        fail_msg("not %s: %s", name ? name : "nothing", told ? told->name : "nothing");
}

static void long_samples_are_told_too(void **state)
{
    (void)state;
    uint8_t data[8300] = "pq.bin";
    memcpy(data + 257, "ustar", 5);
    expect(data, 600, "an archive of navec embeddings");
    memcpy(data, "modelx", 6);
    expect(data, 600, "a tar archive");
    for (size_t at = 512; at <= 8192; at *= 2) { /* past what is read at first, too */
        memset(data, 0, sizeof data);
        memcpy(data + at, "\x89HDF\r\n\x1a\n", 8);
        expect(data, sizeof data, "an HDF5 file, as of MATLAB 7.3");
    }
    memset(data, 0, sizeof data);
    memcpy(data + 1024 + 8, "\x89HDF\r\n\x1a\n", 8);
    expect(data, sizeof data, NULL);
    /* hnswlib: 10 elements at most, 2 there, of 44 bytes: 4 + 4 links, 28 of vector, 8 of label */
    memset(data, 0, sizeof data);
    const uint64_t header[6] = { 0, 10, 2, 44, 36, 8 };
    for (int i = 0; i < 6; i++) put_u64(data + 8 * i, header[i]);
    expect(data, 300, "an hnswlib index");
    put_u64(data + 32, 35); /* a label that is not the last 8 bytes */
    expect(data, 300, NULL);
    /* fastText before its magic number: dimension 4, two words, 15 tokens */
    static const uint32_t args[] = { 4, 5, 5, 1, 5, 1, 2, 2, 11, 3, 6, 100 };
    memset(data, 0, sizeof data);
    for (int i = 0; i < 12; i++) data[4 * i] = (uint8_t)args[i];
    put_u64(data + 48, UINT64_C(0x3f1a36e2eb1c432d)); /* 1e-4 */
    put_u64(data + 56, UINT64_C(2) << 32 | 2);
    put_u64(data + 68, 15);
    expect(data, 300, "a fastText model of before 2017");
    data[60] = 3; /* words and labels are not all entries */
    expect(data, 300, NULL);
    data[60] = 2;
    data[9 * 4] = 7; /* n-grams from 7 to 6 characters */
    expect(data, 300, NULL);
}

/* A literal with embedded NULs, and its length. */
#define NONE(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

/* What only looks like a kind, where a false word would be easy. */
static void what_only_looks_like_a_kind_is_not_told_as_one(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } none[] = {
        NONE("\x06\0\0\0\x08\0\0\0\x10\0\0\0\1\0\0\0\2\0\0\0"), /* a header of six ints */
        NONE("\0\0\x80?\0\0\0@\0\0@@\0\0\x80@"),                /* numbers */
        NONE("\x78\x9cnot zlib at all, but bytes"),
        NONE("\xff\xfe\0\0\x80?\0\0\0@\0\0"),
        NONE("ORCHARD 0.1 0.2 0.3"),
        NONE("case\nclosed\n"), /* "c", a line, no end of a pickle */
        NONE("{\"a\": 1}\n"),
        NONE("{\"weight_map\": {\"vectors\": \"embedding\"}}"),
        NONE("<?xml version=\"1.0\"?><network>"),
        NONE("\5\0\0\0\0\0\0\0\xeb\xb2\x04\x3ehello\0\0\0\0"), /* TFRecord, another CRC */
        NONE("[1] words in brackets"),
    };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        wte__head head;
        wte__file file;
        head_of(&head, &file, none[i].bytes, none[i].n);
        const wte__kind *told = wte__kind_of(&head);
        if (told) fail_msg("number %zu: told as %s", i, told->name);
    }
}

static void members_of_archives_tell_what_they_are(void **state)
{
    (void)state;
    size_t n, members = 0;
    const wte__kind *kinds = wte__kinds(&n);
    for (size_t i = 0; i < n; i++) {
        char name[128];
        const wte__kind *k = &kinds[i];
        if (k->form != WTE__KIND_MEMBER) continue;
        const bool ending = k->bytes[0] == '.' || k->bytes[0] == '/';
        snprintf(name, sizeof name, "%s%.*s", ending ? "folder/x" : "", k->n, k->bytes);
        assert_ptr_equal(wte__kind_of_member(name, strlen(name)), k);
        members++;
    }
    assert_true(members >= 8);
    assert_null(wte__kind_of_member("x/model.weights.h5.bak", 22));
    assert_null(wte__kind_of_member("", 0));
}

/* A line of JSON of 5000 numbers is longer than what is read at first. */
static void long_lines_of_json_are_told_as_lines(void **state)
{
    (void)state;
    static char text[40000];
    size_t n = 0;
    n += (size_t)snprintf(text, sizeof text, "{\"x\": [");
    for (int i = 0; i < 5000; i++) n += (size_t)snprintf(text + n, sizeof text - n, "1.25,");
    n += (size_t)snprintf(text + n, sizeof text - n, "0]}\n");
    expect(text, n, NULL); /* one line is no list of them */
    n += (size_t)snprintf(text + n, sizeof text - n, "{\"x\": []}\n");
    expect(text, n, "text in JSON Lines");
}

static const struct CMUnitTest tests[] = {
    TEST("every kind with fixed bytes is told by them", every_kind_is_told_by_its_bytes),
    TEST("every kind with a structure has a sample", every_kind_is_told_by_its_structure),
    TEST("every sample is told as what it is", every_sample_is_told_as_what_it_is),
    TEST("kinds with long samples are told", long_samples_are_told_too),
    TEST("what only looks like a kind is not told as one",
         what_only_looks_like_a_kind_is_not_told_as_one),
    TEST("members of zip archives tell what they are", members_of_archives_tell_what_they_are),
    TEST("long lines of JSON are told as lines", long_lines_of_json_are_told_as_lines),
};
TEST_MAIN(tests)
