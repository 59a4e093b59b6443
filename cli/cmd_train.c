/* wte train - learn a table from a text. All options are here; the methods are in train_*.c. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "out.h"
#include "train.h"

static const cli_option options[] = {
    { "output", 'o', false, CLI_TEXT, "DIR", "the folder to write; it is made when it is not there",
      NULL },
    { "method", '\0', false, CLI_CHOICE, "skip-gram|cbow", "what is learned", "skip-gram" },
    { "ids-type", '\0', false, CLI_CHOICE, "u16|u32|i32|i64",
      "CORPUS is raw numbers of this type, little-endian, not text", NULL },
    { "no-lines", '\0', false, CLI_FLAG, NULL, "a line end is white space, not the word </s>",
      NULL },
    { "min-count", '\0', false, CLI_UNSIGNED, "N", "words that are rarer are left out", "5" },
    { "max-words", '\0', false, CLI_UNSIGNED, "N", "keep the N most frequent words", NULL },
    { "start", '\0', false, CLI_TEXT, "MODEL", "begin with its table, and keep its ids", NULL },
    { "dim", '\0', false, CLI_UNSIGNED, "D", "numbers per vector", "100" },
    { "epochs", '\0', false, CLI_UNSIGNED, "N", "times that the corpus is read", "5" },
    { "lr", '\0', false, CLI_REAL, "X",
      "learning rate at first (default: 0.025; of cbow and with n-grams 0.05)", NULL },
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
      "use N threads; what is learned depends on it, unless --deterministic", "one per core" },
    { "word2vec", '\0', false, CLI_TEXT, "FILE", "write the vectors as text too", NULL },
    CLI_OPTIONS_END,
};

static const cli_train_method *const methods[] = { &cli_train_skip_gram, &cli_train_cbow };
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
                return cli_usage(c, "--%s says nothing about --method %s", name, method->name);
        }
    }
    return CLI_DONE;
}

static int run(cli *c)
{
    const char *name = cli_text(c, "method"), *folder = cli_text(c, "output");
    const cli_train_method *method = NULL;
    for (size_t i = 0; i < METHODS; i++)
        if (strcmp(methods[i]->name, name) == 0) method = methods[i];
    int code = check_options(c, method);
    if (code) return code;
    if (!folder || !*folder) return cli_usage(c, "-o DIR is missing");
    struct stat st;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cli_say_fail(c, CLI_OUTPUT, "%s: %s", folder, strerror(errno));
    if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
        return cli_say_fail(c, CLI_OUTPUT, "%s: is no folder", folder);
    return method->run(c, c->words[0], folder);
}

const cli_command cmd_train = {
    .name = "train",
    .group = CLI_LEARN,
    .synopsis = "CORPUS",
    .summary = "learn a table from a text",
    .options = options,
    .common = CLI_WITH_JSON,
    .min_words = 1,
    .max_words = 1,
    .notes = "CORPUS is a text: words are what stands between white space, a line end is the\n"
             "word </s>; nothing is lower-cased or split. Or ids of a tokenizer: .npy, or raw\n"
             "with --ids-type. It may be larger than memory.\n"
             "DIR gets model.safetensors (embedding.weight, and what words are predicted with),\n"
             "vocab.txt, config.json and curve.svg, and can be given to every other command.\n"
             "Threads change the table without waiting for each other, so that two runs differ;\n"
             "with --deterministic, and with one thread, they do not. Then a run that was broken\n"
             "off, even by kill -9, ends with the same bytes when it is resumed.\n"
             "--json prints a record a line.",
    .run = run,
};
