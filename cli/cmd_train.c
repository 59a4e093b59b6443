/* wte train - learn a table from a text. All options are here; the methods are in train_*.c. */
#include <string.h>
#include <unistd.h>

#include "ids.h"
#include "out.h"
#include "train.h"

static const cli_option options[] = {
    { "output", 'o', false, CLI_WRITE_FOLDER, "DIR",
      "the folder to write; it is made when it is not there", NULL },
    { "method", '\0', false, CLI_CHOICE, "skip-gram|cbow|lm",
      "word vectors, or a language model whose head may be its table", "skip-gram" },
    { "ids-type", '\0', false, CLI_CHOICE, "u16|u32|i32|i64",
      "CORPUS is raw numbers of this type, little-endian, not text", NULL },
    { "no-eos", '\0', false, CLI_FLAG, NULL, "a line end is white space, not the word </s>", NULL },
    { "min-count", '\0', false, CLI_UNSIGNED, "N", "words that are rarer are left out", "5" },
    { "max-words", '\0', false, CLI_UNSIGNED, "N", "keep the N most frequent words", NULL },
    { "init-from", '\0', false, CLI_READ_MODEL, "MODEL", "begin with its table, and keep its ids",
      NULL },
    { "dim", '\0', false, CLI_UNSIGNED, "D", "numbers per vector", "100" },
    { "epochs", '\0', false, CLI_UNSIGNED, "N", "times that the corpus is read", "5" },
    { "lr", '\0', false, CLI_REAL, "X",
      "learning rate at first (default: 0.025; of cbow and with n-grams 0.05; of lm that of its "
      "optimizer)",
      NULL },
    { "window", '\0', false, CLI_UNSIGNED, "N", "words to each side, at most", "5" },
    { "negative", '\0', false, CLI_UNSIGNED, "N", "negative samples for each word", "5" },
    { "negative-power", '\0', false, CLI_REAL, "X", "they are drawn by count to this power",
      "0.75" },
    { "hierarchical", '\0', false, CLI_FLAG, NULL,
      "softmax over a Huffman tree instead of negative samples", NULL },
    { "sample", '\0', false, CLI_REAL, "X",
      "words of a larger share of the text are left out now and then; 0 = never", "0.0001" },
    { "min-n", '\0', false, CLI_UNSIGNED, "N", "least characters of n-grams", "3" },
    { "max-n", '\0', false, CLI_UNSIGNED, "N", "most characters of n-grams; 0 = none", "0" },
    { "buckets", '\0', false, CLI_UNSIGNED, "N", "rows that n-grams share by hash", "2000000" },
    { "seed", '\0', false, CLI_SEED, "S", "seed of all that is drawn", "0" },
    { "deterministic", '\0', false, CLI_FLAG, NULL,
      "the same bytes for any number of threads: one of them learns", NULL },
    { "time-limit", '\0', false, CLI_REAL, "SECONDS", "end after so long, with what there is then",
      NULL },
    { "checkpoint-every", '\0', false, CLI_REAL, "SECONDS",
      "keep DIR/checkpoint, to go on from after a break", NULL },
    { "resume", '\0', false, CLI_FLAG, NULL, "go on from DIR/checkpoint", NULL },
    { "threads", '\0', false, CLI_UNSIGNED, "N",
      "use N threads; what is learned depends on it, but for lm and --deterministic",
      "one per core" },
    { "max-bytes", '\0', false, CLI_UNSIGNED, "BYTES", "take up to so many bytes of memory",
      "1099511627776" },
    { "word2vec", '\0', false, CLI_WRITE_TEXT, "FILE", "write the vectors as text too", NULL },
    { "fasttext", '\0', false, CLI_WRITE_BINARY, "FILE",
      "write a fastText .bin too: with n-grams it has vectors of unknown words", NULL },
    { "output-layer", '\0', false, CLI_CHOICE, "tied|untied|projected|untied-projected",
      "lm: the input table once more, a table of its own, and each behind a projection", "tied" },
    { "context", '\0', false, CLI_UNSIGNED, "N", "lm: words that predict the next one", "4" },
    { "hidden", '\0', false, CLI_UNSIGNED, "N",
      "lm: numbers of the hidden layer (default: as --dim)", NULL },
    { "projection-decay", '\0', false, CLI_REAL, "X",
      "lm: times the norm of the projection, added to the loss", "0.0075" },
    { "optimizer", '\0', false, CLI_CHOICE, "adam|adamw|adagrad|rowwise-adagrad|sgd",
      "lm: how weights change", "adam" },
    { "momentum", '\0', false, CLI_REAL, "X", "lm: of sgd", "0" },
    { "weight-decay", '\0', false, CLI_REAL, "X", "lm: of all weights but biases", "0" },
    { "schedule", '\0', false, CLI_CHOICE, "constant|linear|cosine",
      "lm: how the learning rate falls, to 0 at the end", "constant" },
    { "warmup", '\0', false, CLI_UNSIGNED, "STEPS", "lm: in which the learning rate rises", "0" },
    { "batch", '\0', false, CLI_UNSIGNED, "N", "lm: words predicted in a step", "256" },
    { "clip", '\0', false, CLI_REAL, "X", "lm: norm of all gradients, at most; 0 = any", "5" },
    { "valid", '\0', false, CLI_READ_FILE, "FILE", "lm: a text to try the model on", NULL },
    { "valid-fraction", '\0', false, CLI_REAL, "X", "lm: hold out this last share of CORPUS for it",
      NULL },
    { "valid-every", '\0', false, CLI_UNSIGNED, "STEPS", "lm: try it (default: once an epoch)",
      NULL },
    { "patience", '\0', false, CLI_UNSIGNED, "N",
      "lm: end after N tries without a better one; the best weights are the result", NULL },
    { "train-ids", '\0', false, CLI_READ_FILE, "FILE",
      "lm: only these rows of the table learn, all others keep their bytes", NULL },
    { "log-every", '\0', false, CLI_UNSIGNED, "STEPS", "lm: tell how it goes", "100" },
    { "show-table", '\0', false, CLI_FLAG, NULL, "lm: print a small table with each report", NULL },
    CLI_OPTIONS_END,
};

/* What the folder gets, the first ones together. */
static const char *const files[] = {
    "model.safetensors", "config.json", "vocab.txt", "curve.svg", "", "checkpoint", NULL
};

static const cli_train_method *const methods[] = { &cli_train_skip_gram, &cli_train_cbow,
                                                   &cli_train_lm };
#define METHODS (sizeof methods / sizeof *methods)

static bool lists(const cli_train_method *method, const char *option)
{
    for (size_t i = 0; method->own[i]; i++)
        if (strcmp(method->own[i], option) == 0) return true;
    return false;
}

/* Options of other methods say nothing to this one. */
static int check_options(const cli *c, const cli_train_method *method)
{
    for (size_t m = 0; m < METHODS; m++) {
        for (size_t i = 0; methods[m]->own[i]; i++) {
            const char *name = methods[m]->own[i];
            if (cli_given(c, name) && !lists(method, name))
                return cli_usage(c, "--%s says nothing about --method '%s'", name, method->name);
        }
    }
    return CLI_DONE;
}

/* Zeros that the library takes for "not given", and what another option makes idle. */
static int check_values(const cli *c)
{
    static const char *const above_zero[] = { "lr", "negative-power", "time-limit",
                                              "checkpoint-every" };
    static const char *const not_below[] = { "sample", "clip", "projection-decay" };
    static const char *const counted[] = { "min-count", "max-words" };
    for (size_t i = 0; i < sizeof not_below / sizeof *not_below; i++) {
        double value;
        if (cli_real(c, not_below[i], 1, &value) && !(value >= 0))
            return cli_refuse_value(c, not_below[i], "wants 0 or more");
    }
    for (size_t i = 0; i < sizeof above_zero / sizeof *above_zero; i++) {
        double value;
        if (cli_real(c, above_zero[i], 1, &value) && value == 0)
            return cli_usage(c, "--%s must be above 0", above_zero[i]);
    }
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (cli_given(c, "init-from") && cli_given(c, counted[i]))
            return cli_usage(c, "--%s says nothing beside --init-from, which has every word",
                             counted[i]);
    return CLI_DONE;
}

/* Both texts are of one kind, since the words of one have the numbers of the other. */
static int check_valid(const cli *c, const char *corpus)
{
    const char *valid = cli_text(c, "valid");
    const bool raw = cli_given(c, "ids-type"), other = valid && cli_ids_is_npy(valid);
    if (!valid || access(valid, R_OK) != 0) return CLI_DONE; /* told when it is opened */
    if (raw ? !other : cli_ids_is_npy(corpus) == other) return CLI_DONE;
    if (raw)
        return cli_usage(c, "--valid '%s' is .npy, but --ids-type says that both files are raw",
                         valid);
    return cli_usage(c, "--valid '%s' is %s, but '%s' is %s: numbers of ids are not those of words",
                     valid, other ? "ids in .npy" : "no .npy", corpus,
                     other ? "a text" : "ids in .npy");
}

/* Options about words and lines say nothing about ids. */
static int check_kind(const cli *c, const char *corpus)
{
    static const char *const idle[][2] = {
        { "min-count", "every id has its row" },
        { "max-words", "every id has its row" },
        { "no-eos", "ids have no lines" },
        { "max-n", "ids have no characters" },
    };
    const bool raw = cli_given(c, "ids-type"), npy = cli_ids_is_npy(corpus);
    if (raw && npy)
        return cli_usage(
            c, "--ids-type says that %s is raw, but it is .npy, which has its own type", corpus);
    for (size_t i = 0; (raw || npy) && i < sizeof idle / sizeof *idle; i++) {
        if (!cli_given(c, idle[i][0])) continue;
        if (raw)
            return cli_usage(c, "--%s says nothing beside --ids-type: %s", idle[i][0], idle[i][1]);
        return cli_usage(c, "--%s says nothing about %s, which is ids in .npy: %s", idle[i][0],
                         corpus, idle[i][1]);
    }
    return check_valid(c, corpus);
}

static int run(cli *c)
{
    const char *name = cli_text(c, "method"), *folder = cli_text(c, "output");
    const cli_train_method *method = methods[0]; /* the option takes no other words */
    for (size_t i = 0; i < METHODS; i++)
        if (strcmp(methods[i]->name, name) == 0) method = methods[i];
    int code = check_options(c, method);
    if (!code) code = check_values(c);
    if (!code) code = check_kind(c, c->words[0]);
    if (code) return code;
    if (!folder || !*folder) return cli_usage(c, "-o DIR is missing");
    return method->run(c, c->words[0], folder);
}

const cli_command cmd_train = {
    .name = "train",
    .group = CLI_LEARN,
    .synopsis = "CORPUS",
    .summary = "learn a table from a text",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_LIMITS,
    .min_words = 1,
    .max_words = 1,
    .paths = 1,
    .path_kind = CLI_READ_FILE,
    .files = files,
    .notes =
        "CORPUS is a text: words are what stands between white space, a line end is the\n"
        "word </s>; nothing is lower-cased or split. Or ids of a tokenizer: .npy, or raw\n"
        "with --ids-type. It may be larger than memory.\n"
        "DIR gets model.safetensors (embedding.weight, and what words are predicted with),\n"
        "vocab.txt, config.json and curve.svg, and can be given to every other command.\n"
        "Threads change the table without waiting for each other, so that two runs differ;\n"
        "with --deterministic, with one thread, and with --method lm they do not. Then a run\n"
        "that was broken off, even by kill -9, ends with the same bytes when it is resumed.\n"
        "--method lm keeps DIR/checkpoint always, every 60 seconds and at the best try.\n"
        "--init-from of a fastText .bin with n-grams goes on with these too, and with the other\n"
        "table; --max-n 0 begins with its vectors alone.\n"
        "--json prints a record a line.",
    .run = run,
};
