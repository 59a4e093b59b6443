/* What is read and written for every method of training: the corpus, the vocabulary. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ids.h"
#include "open.h"
#include "out.h"
#include "outputs.h"
#include "train.h"

static wte_dtype ids_type_of(const char *text)
{
    return text ? wte_dtype_from_name(text) : WTE_DTYPE_NONE;
}

int cli_train_corpus(cli *c, const char *path, const wte_token_list *words, const wte_vocab *vocab,
                     uint64_t rows, wte_corpus **out)
{
    wte_corpus_options opt = WTE_CORPUS_OPTIONS_INIT;
    cli_progress progress;
    wte_error err;
    opt.ids_type = ids_type_of(cli_text(c, "ids-type"));
    opt.no_eos = cli_given(c, "no-eos");
    cli_unsigned(c, "min-count", 5, &opt.min_count);
    cli_unsigned(c, "max-words", 0, &opt.max_words);
    opt.vocab = words;
    opt.model_vocab = vocab;
    if (!words && !vocab) opt.ids_rows = rows;
    cli_reading(path);
    opt.progress = cli_progress_start(&progress, c, "counting words");
    const wte_status status = wte_corpus_open(path, &opt, out, &err);
    cli_progress_stop(&progress);
    return status == WTE_OK ? CLI_DONE : cli_fail(c, status, CLI_SIDE_INPUT, &err);
}

/* Rows are numbered by ids, one each: a table whose ids go through a mapping cannot be gone on
 * with.
 */
static int check_start(cli *c, const char *path, const wte_model_table *input)
{
    if (!input->mapped) return CLI_DONE;
    return cli_say_fail(c, CLI_CANNOT,
                        "%s: its ids share %" PRIu64 " rows by a mapping, but training needs a row "
                        "for each",
                        path, input->source.rows);
}

int cli_train_start(cli *c, const char *corpus, wte_model **out, wte_row_source *rows,
                    const wte_vocab **vocab)
{
    const char *path = cli_text(c, "init-from");
    const wte_model_table *input;
    wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
    wte_file_options file;
    wte_error err;
    *out = NULL;
    *vocab = NULL;
    if (!path) return CLI_DONE;
    cli_unsigned(c, "max-vocab", 0, &opt.max_vocab_bytes);
    cli_file_options(c, &file);
    opt.file = &file;
    cli_reading(path);
    wte_status status = wte_model_open(path, &opt, out, &err);
    if (status == WTE_OK) cli_keep_model(c, *out);
    if (status == WTE_OK) status = wte_model_input(*out, &input, &err);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_INPUT, &err);
    int code = check_start(c, path, input);
    if (!code) code = cli_outputs_check_model(c, *out);
    if (code) return code;
    *rows = input->source;
    *vocab = wte_model_vocab(*out);
    const char *problem = wte_model_vocab_problem(*out);
    if (!*vocab && *problem) return cli_say_fail(c, CLI_INPUT, "%s", problem);
    if (!*vocab && !cli_given(c, "ids-type") && !cli_ids_is_npy(corpus))
        return cli_say_fail(c, CLI_INPUT,
                            "%s: has no vocabulary, so that its rows have no words; a corpus of "
                            "ids needs none",
                            path);
    if (*vocab && wte_vocab_size(*vocab) < rows->rows) rows->rows = wte_vocab_size(*vocab);
    return CLI_DONE;
}

int cli_train_checkpoint(cli *c, const char *path)
{
    if (cli_given(c, "resume") || access(path, F_OK) != 0) return CLI_DONE;
    return cli_say_fail(c, CLI_USAGE,
                        "%s: a run has left it; --resume goes on from it, or remove it", path);
}

/* One word of the list, which is any bytes, as a line of UTF-8. */
static void put_word(FILE *out, const char *word, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes;) {
        bool safe;
        const uint32_t n = wte_utf8_next(word + i, bytes - i, &safe);
        if (n == 0 || word[i] == '\n' || word[i] == '\r')
            fprintf(out, "\\x%02x", (unsigned)(unsigned char)word[i]);
        else
            fwrite(word + i, 1, n, out);
        i += n ? n : 1;
    }
    fputc('\n', out);
}

int cli_train_vocab(const cli *c, const char *folder, const wte_token_list *words, const char *more)
{
    char path[4096];
    cli_sink sink;
    int code = cli_path_in(c, folder, "vocab.txt", path);
    if (!code) code = cli_sink_open(c, path, &sink);
    if (code) return code;
    for (uint64_t i = 0; i < wte_token_list_count(words); i++) {
        uint64_t bytes;
        const char *word = wte_token_list_text(words, i, &bytes);
        put_word(sink.stream, word, bytes);
    }
    if (more) put_word(sink.stream, more, strlen(more));
    return cli_sink_close(c, &sink, CLI_DONE);
}
