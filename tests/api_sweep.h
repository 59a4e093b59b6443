/* The values, the processes and the judgement of the API sweep; the calls are made by
 * make_api_sweep.py.
 *
 * Each call runs in a process of its own: a crash or a hang is one line of the report, and handles
 * are as good as new for the next. What must hold for every one of them:
 *
 *   no signal, and an end in time
 *   a status: of success with the error untouched, or of failure with the error filled and outputs
 *   NULL or 0
 *   a handle that is NULL: an answer that is NULL, 0 or ""
 */
#ifndef WTE_TESTS_API_SWEEP_H
#define WTE_TESTS_API_SWEEP_H
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wte/all.h>

#define SECONDS 60 /* for one call; the longest takes milliseconds */

/* Callbacks ------------------------------------------------------------------------------------ */

static wte_status fail_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    (void)ctx, (void)ids, (void)n, (void)out, (void)err;
    return WTE_E_IO;
}
static wte_status fail_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    (void)ctx, (void)first, (void)n, (void)out, (void)err;
    return WTE_E_IO;
}
static bool stop(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx, (void)done, (void)total;
    return false;
}
static bool go_on(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx, (void)done, (void)total;
    return true;
}
static bool keep_training(void *ctx, const wte_train_status *now)
{
    (void)ctx, (void)now;
    return true;
}
static void *give_nothing(void *ctx, size_t bytes, size_t align)
{
    (void)ctx, (void)bytes, (void)align;
    return NULL;
}
static void *give(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    return align <= 16 ? malloc(bytes) : aligned_alloc(align, (bytes + align - 1) / align * align);
}
static void take_back(void *ctx, void *block, size_t bytes)
{
    (void)ctx, (void)bytes;
    free(block);
}

static const wte_progress no_report = { NULL, NULL }, stopping = { stop, NULL };
static const wte_allocator no_functions = { NULL, NULL, NULL },
                           has_nothing = { give_nothing, take_back, NULL };
static const wte_row_source rows_of_nothing = { .rows = 0 };
static const wte_row_source rows_that_fail = {
    .rows = 4, .cols = 3, .dtype = WTE_F32, .read_rows = fail_rows, .read_block = fail_block
};
static const float zeros[12];
static const wte_row_source rows_of_zeros = {
    .rows = 4, .cols = 3, .dtype = WTE_F32, .data = zeros, .row_bytes = 12
};
static const wte_named_source named_nothing = { NULL, { .rows = 0 } };

/* One of everything ---------------------------------------------------------------------------- */

static struct fixtures {
    float floats[256];
    double doubles[16];
    uint64_t row_pairs[8], shape[2];
    int64_t tokens[8];
    int32_t ids_i32[2];
    uint8_t block[128];
    wte_block_type no_blocks[4];
    const char *metadata[2][2];
    int64_t id[2], offset[2];
    unsigned char bytes[4096];
    uint64_t n_bytes;
    wte_ids ids, offsets;
    wte_word word;
    wte_row_source rows;
    wte_hidden hidden;
    wte_observed got;
    wte_tensor_out tensor_out;
    wte_allocator allocator;
    wte_progress progress;
    wte_train_callback watch;
    wte_diagnosis diagnosis;
    wte_gguf_options gguf_options;
    wte_lm_options lm_options;
    wte_wordvec_options words_options;
    wte_file *file, *fasttext, *sharded, *torch, *text;
    wte_model *model, *stored, *tied;
    wte_head *head;
    wte_vocab *vocab;
    wte_check *check;
    wte_corpus *corpus;
    wte_corpus_reader *reader;
    wte_pairs *pairs;
    wte_analogies *analogies;
    wte_grad *grad;
    wte_lm *lm;
    wte_wordvec *words;
    wte_optim *optim;
    wte_pool *pool;
    wte_table *table, *taller;
    wte_trace *trace;
} fix;

static void need(wte_status status, const wte_error *err, const char *what)
{
    if (status == WTE_OK) return;
    fprintf(stderr, "api_sweep: %s: %s\n", what, err->message);
    exit(1);
}
#define NEED(call) need((call), &err, #call)

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static void make_values(void)
{
    for (int i = 0; i < 256; i++) fix.floats[i] = (float)(i % 7) - 2.5f;
    for (int i = 0; i < 16; i++) fix.doubles[i] = i % 5;
    for (unsigned i = 0; i < 8; i++) fix.row_pairs[i] = i % 4;
    for (unsigned i = 0; i < 8; i++) fix.tokens[i] = 7 - i;
    fix.shape[0] = 4, fix.shape[1] = 3;
    fix.metadata[0][0] = "key", fix.metadata[0][1] = "value";
    fix.id[0] = 1, fix.id[1] = 2, fix.offset[1] = 1;
    fix.ids = (wte_ids){ fix.id, WTE_I64, 0, 2 };
    fix.offsets = (wte_ids){ fix.offset, WTE_I64, 0, 2 };
    fix.word = (wte_word){ "a", 1 };
    fix.rows = (wte_row_source){
        .rows = 4, .cols = 3, .dtype = WTE_F32, .data = fix.floats, .row_bytes = 12
    };
    fix.hidden = (wte_hidden){ fix.floats, WTE_F32, 0, 2, 3, 0 };
    fix.got = (wte_observed){ fix.floats, WTE_F32, 0, 2, 3, NULL };
    fix.tensor_out = (wte_tensor_out){ "a", WTE_F32, 2, fix.shape, fix.floats, NULL };
    fix.allocator = (wte_allocator){ give, take_back, NULL };
    fix.progress = (wte_progress){ go_on, NULL };
    fix.watch = (wte_train_callback){ keep_training, NULL };
    fix.gguf_options = (wte_gguf_options)WTE_GGUF_OPTIONS_INIT;
    fix.gguf_options.architecture = "llama";
    fix.lm_options = (wte_lm_options)WTE_LM_OPTIONS_INIT;
    fix.lm_options.dim = 4, fix.lm_options.context = 1, fix.lm_options.epochs = 1;
    fix.words_options = (wte_wordvec_options)WTE_WORDVEC_OPTIONS_INIT;
    fix.words_options.dim = 4, fix.words_options.epochs = 1, fix.words_options.buckets = 16;
}

static void make_files(void)
{
    wte_error err;
    write_text("table.txt", "a 0.5 1\nb 1.5 2\n");
    write_text("corpus.txt", "a b c a b a d\na b b c d\n");
    write_text("pairs.txt", "a b 1\nb c 2\n");
    write_text("analogies.txt", ": s\na b c d\n");
    write_text("vocab.txt", "a\nb\n");
    NEED(wte_safetensors_write("two.safetensors", &fix.tensor_out, 1, NULL, 0, &err));
    wte_tensor_out two[2] = { fix.tensor_out, fix.tensor_out };
    two[0].name = "wte.weight", two[1].name = "stray";
    if (mkdir("sharded", 0777) != 0) exit(1);
    NEED(wte_safetensors_write("sharded/a.safetensors", two, 2, NULL, 0, &err));
    write_text("sharded/model.safetensors.index.json",
               "{\"metadata\":{},\"weight_map\":{\"wte.weight\":\"a.safetensors\"}}");
    FILE *f = fopen("two.safetensors", "rb");
    if (!f) exit(1);
    fix.n_bytes = fread(fix.bytes, 1, sizeof fix.bytes, f);
    fclose(f);
    NEED(wte_file_open("two.safetensors", NULL, &fix.file, &err));
    NEED(wte_file_open("sharded/model.safetensors.index.json", NULL, &fix.sharded, &err));
    NEED(wte_file_open(WTE_TEST_DATA "/torch/views.pt", NULL, &fix.torch, &err));
    NEED(wte_model_open("demo", NULL, &fix.model, &err));
    NEED(wte_model_open("sharded", NULL, &fix.stored, &err));
    NEED(wte_model_open(WTE_TEST_DATA "/../../examples/data/tied", NULL, &fix.tied, &err));
    if ((fix.head = wte_head_open(fix.tied)) == NULL) exit(1);
    NEED(wte_vocab_open("vocab.txt", NULL, &fix.vocab, &err));
    NEED(wte_pairs_open("pairs.txt", NULL, &fix.pairs, &err));
    NEED(wte_analogies_open("analogies.txt", NULL, &fix.analogies, &err));
}

static void make_learners(void)
{
    wte_error err;
    wte_grad_options sparse = WTE_GRAD_OPTIONS_INIT;
    wte_optim_options adagrad = WTE_OPTIM_OPTIONS_INIT;
    wte_wordvec_options grams = fix.words_options;
    wte_wordvec *words;
    grams.max_n = 3;
    adagrad.kind = WTE_OPTIM_ADAGRAD;
    NEED(wte_corpus_open("corpus.txt", NULL, &fix.corpus, &err));
    NEED(wte_corpus_reader_create(fix.corpus, 0, 1, &fix.reader, &err));
    NEED(wte_wordvec_create(fix.corpus, &grams, &words, &err));
    NEED(wte_wordvec_save_fasttext(words, "words.bin", NULL, &err));
    wte_wordvec_free(words);
    NEED(wte_file_open("words.bin", NULL, &fix.fasttext, &err));
    NEED(wte_file_open("table.txt", NULL, &fix.text, &err));
    NEED(wte_wordvec_create(fix.corpus, &fix.words_options, &fix.words, &err));
    NEED(wte_lm_create(fix.corpus, NULL, &fix.lm_options, &fix.lm, &err));
    NEED(wte_grad_create(4, 3, &sparse, &fix.grad, &err));
    NEED(wte_table_create(4, 3, WTE_F32, NULL, &fix.table, &err));
    NEED(wte_table_create(6, 3, WTE_F32, NULL, &fix.taller, &err));
    NEED(wte_optim_create(fix.table, &adagrad, &fix.optim, &err));
    NEED(wte_model_check(fix.model, NULL, &fix.check, &err));
    NEED(wte_model_trace(fix.model, 0, NULL, &fix.trace, &err));
    NEED(wte_diagnose_rows(&fix.rows, (wte_ids){ fix.id, WTE_I64, 0, 1 },
                           &(wte_observed){ fix.floats, WTE_F32, 0, 1, 3, NULL }, NULL,
                           &fix.diagnosis, &err));
    NEED(wte_pool_create(2, &fix.pool, &err));
}

static wte_transaction *new_transaction(void)
{
    wte_error err;
    wte_transaction *transaction;
    NEED(wte_transaction_create(&transaction, &err));
    return transaction;
}

/* Its file is gone when it was used: every call has its own. */
static wte_writer *new_writer(void)
{
    wte_error err;
    wte_writer *writer;
    NEED(wte_writer_create("writer", &writer, &err));
    return writer;
}

/* Buffers for what calls write: number k of a call's arguments has its own. They begin filled, so
 * that an output that was not written shows. */
#define BUFFERS      12
#define BUFFER_BYTES 65536
static _Alignas(64) unsigned char buffers[BUFFERS][BUFFER_BYTES];
#define FILLING 0xa5
static void *buffer(int k)
{
    return buffers[k];
}

/* The judgement -------------------------------------------------------------------------------- */

typedef struct outcome {
    wte_status status;
    bool empty;
    const char *unset; /* an output that is not 0 */
} outcome;
typedef struct api_change {
    const char *what;
    bool must_fail, no_handle;
} api_change;
typedef struct api_function {
    const char *name;
    enum { STATUS, VALUE, NOTHING } kind;
    void (*call)(int change, wte_error *error, outcome *o);
    const api_change *changes;
    size_t n_changes;
} api_function;

static void note_output(outcome *o, const char *name, const void *at, size_t bytes)
{
    for (size_t i = 0; at && i < bytes; i++)
        if (((const unsigned char *)at)[i] != 0) o->unset = name;
}

/* Functions without an error argument (wte/wte.h) leave their message in the thread's last error.
 */
static void note_last_error(const outcome *o, wte_error *err)
{
    if (!err || o->status == WTE_OK) return;
    err->status = (int32_t)o->status;
    snprintf(err->message, sizeof err->message, "%s", wte_last_error());
}

static const char *judge(const api_function *f, const api_change *c, const outcome *o,
                         const wte_error *err)
{
    if (f->kind == VALUE && c->no_handle && !o->empty) return "gives an answer";
    if (f->kind != STATUS) return c->no_handle && o->unset ? "leaves an output" : NULL;
    if (o->status == WTE_OK) {
        if (c->must_fail) return "succeeds";
        for (size_t i = 0; err && i < sizeof *err; i++)
            if (((const unsigned char *)err)[i] != FILLING) return "succeeds and fills the error";
        return NULL;
    }
    if (c == f->changes) return err ? err->message : "fails";
    if (o->unset) return "fails and leaves an output";
    if (!err) return NULL;
    if (err->status != (int32_t)o->status) return "fails with another status in the error";
    if (!memchr(err->message, 0, sizeof err->message) || !err->message[0])
        return "fails without a message";
    return NULL;
}

static int try_change(const api_function *f, size_t i, bool with_error, bool shows)
{
    wte_error err;
    outcome o = { .status = WTE_OK };
    const api_change *c = &f->changes[i];
    memset(&err, FILLING, sizeof err);
    alarm(SECONDS);
    f->call((int)i, with_error ? &err : NULL, &o);
    const char *wrong = judge(f, c, &o, with_error ? &err : NULL);
    if (shows && f->kind == STATUS)
        printf("%s: %s: %d %s\n", f->name, c->what, (int)o.status,
               o.status != WTE_OK && with_error ? err.message : "");
    if (!wrong) return 0;
    printf("%s: %s: %s%s%s\n", f->name, c->what, wrong, o.unset ? " " : "", o.unset ? o.unset : "");
    return 1;
}

/* 0, or 1 when it is not as it must be. */
static int run_apart(const api_function *f, size_t i, bool with_error, bool shows)
{
    int status;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = { 0, 0 };
        setrlimit(RLIMIT_CORE, &none);
        const int wrong = try_change(f, i, with_error, shows);
        fflush(stdout);
        _exit(wrong);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("api_sweep");
        exit(1);
    }
    if (WIFSIGNALED(status))
        printf("%s: %s: signal %d%s\n", f->name, f->changes[i].what, WTERMSIG(status),
               WTERMSIG(status) == SIGALRM ? " (no end)" : "");
    else if (WEXITSTATUS(status) > 1)
        printf("%s: %s: exit %d\n", f->name, f->changes[i].what, WEXITSTATUS(status));
    return status != 0;
}

/* usage: api_sweep [FUNCTION [CHANGE]]: with a number, that change is made in this process. */
static int sweep(const api_function *functions, size_t n, int argc, char **argv)
{
    char scratch[] = "scratch-XXXXXX";
    size_t calls = 0, wrong = 0;
    if (!mkdtemp(scratch) || chdir(scratch) != 0) {
        perror("api_sweep");
        return 1;
    }
    make_values();
    make_files();
    make_learners();
    memset(buffers, FILLING, sizeof buffers);
    for (const api_function *f = functions; f < functions + n; f++) {
        if (argc > 1 && strcmp(argv[1], f->name) != 0) continue;
        if (argc > 2) return try_change(f, (size_t)strtoul(argv[2], NULL, 10), true, true);
        for (size_t i = 0; i < f->n_changes; i++)
            for (int with_error = 1; with_error >= 0; with_error--, calls++)
                wrong += (size_t)run_apart(f, i, with_error, argc > 1);
    }
    printf("%zu calls of %zu functions, %zu not as they must be\n", calls, n, wrong);
    if (chdir("..") != 0) return 1;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return system(command) != 0 || wrong != 0;
}
#endif
