/* wte eval - how good a table is: by word pairs that people have judged, by analogies, by how far
 * it agrees with another table, and by how evenly its vectors fill their space. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <wte/near.h>

#include "eval.h"
#include "open.h"
#include "out.h"

static const cli_option options[] = {
    { "similarity", '\0', true, CLI_READ_FILE, "FILE",
      "correlate cosines with judged word pairs: wordsim353, SimLex-999, and files like them",
      NULL },
    { "analogy", '\0', true, CLI_READ_FILE, "FILE",
      "answer a is to b as c is to d: questions-words.txt, and files like it", NULL },
    { "against", '\0', false, CLI_READ_MODEL, "MODEL2",
      "compare nearest neighbours and cosines with those of this model", NULL },
    { "isotropy", '\0', false, CLI_FLAG, NULL,
      "lengths, cosines, singular values (the default when nothing else is asked)", NULL },
    { "lower", '\0', false, CLI_FLAG, NULL,
      "look for a word in small letters when it is not there as written", NULL },
    { "leading-space", '\0', false, CLI_FLAG, NULL,
      "a word is the token with a space before it first; --against: tokens that begin words",
      NULL },
    { "max-bytes", '\0', false, CLI_UNSIGNED, "BYTES", "read files of words of up to so many bytes",
      "67108864" },
    { "restrict", '\0', false, CLI_UNSIGNED, "N",
      "only the first N rows are asked about and answers; 0 = all", "300000" },
    { "top", 'k', false, CLI_UNSIGNED, "K", "compare so many neighbours of each token", "10" },
    { "sample", '\0', false, CLI_UNSIGNED, "N", "of so many tokens; 0 = all", "1000" },
    { "pairs", '\0', false, CLI_UNSIGNED, "N", "draw so many pairs of rows for cosines", "100000" },
    { "seed", '\0', false, CLI_SEED, "S", "seed of what is drawn", "0" },
    CLI_OPTIONS_END,
};

#define PAIRS_MOST UINT64_C(100000000) /* 3 GB of work; more tell nothing new */

/* Agreement ----------------------------------------------------------------------------------- */

/* Whether a token that begins a word begins with a space. */
static bool marks_words(const wte_vocab *v)
{
    const wte_vocab_spelling spelling = wte_vocab_spelling_of(v);
    return spelling == WTE_SPELLING_BYTE_LEVEL || spelling == WTE_SPELLING_METASPACE;
}

#define WORD_MOST ((size_t)1024) /* of what wte_word_row looks for */

/* The id in B of a token of A that begins a word, whatever marks that in both. */
static uint64_t same_word(const eval_job *j, uint64_t id)
{
    const wte_vocab *b = wte_model_vocab(j->model[1]);
    const size_t marked = marks_words(wte_model_vocab(j->model[0]));
    uint64_t other = WTE_NO_INDEX;
    size_t bytes;
    char form[WORD_MOST + 2];
    const char *text = cli_token_text(j->model[0], (int64_t)id, &bytes);
    if (text && bytes <= WORD_MOST && (text[0] == ' ') == (marked != 0)) {
        const size_t mark = marks_words(b);
        memcpy(form, " ", 1);
        memcpy(form + mark, text + marked, bytes - marked);
        other = wte_word_row(b, (wte_word){ form, bytes - marked + mark }, 0, j->table[1]->rows);
    }
    return other;
}

/* b_of as wte_vocab_align fills it; a token of B that several of A lead to goes to the first. */
static int match_words(const eval_job *j, uint64_t *b_of)
{
    const uint64_t ids = j->table[0]->rows;
    uint8_t *taken = calloc((size_t)j->table[1]->rows + 1, 1);
    if (!taken) return cli_say_fail(j->c, CLI_OUTPUT, "out of memory");
    for (uint64_t id = 0; id < ids; id++) {
        b_of[id] = same_word(j, id);
        if (b_of[id] == WTE_NO_INDEX) continue;
        const bool again = taken[b_of[id]];
        taken[b_of[id]] = 1;
        if (again) b_of[id] = WTE_NO_INDEX;
    }
    free(taken);
    return CLI_DONE;
}

/* Rows of both tables that are the same token. */
static int match_tokens(eval_job *j, uint64_t *rows_a, uint64_t *rows_b, uint64_t *n)
{
    const uint64_t ids = j->table[0]->rows;
    wte_vocab_match match;
    wte_error err;
    int code = CLI_DONE;
    if (cli_given(j->c, "leading-space"))
        code = match_words(j, rows_b);
    else
        wte_vocab_align(wte_model_vocab(j->model[0]), wte_model_vocab(j->model[1]), ids,
                        j->table[1]->rows, rows_b, &match);
    if (code) return code;
    *n = 0;
    for (uint64_t id = 0; id < ids; id++) {
        const uint64_t other = rows_b[id];
        if (other == WTE_NO_INDEX) continue;
        wte_status status = wte_model_row(j->model[0], id, &rows_a[*n], &err);
        if (status == WTE_OK) status = wte_model_row(j->model[1], other, &rows_b[*n], &err);
        if (status != WTE_OK) return cli_fail(j->c, status, CLI_SIDE_INPUT, &err);
        (*n)++;
    }
    j->not_shared = wte_vocab_count(wte_model_vocab(j->model[0])) - *n;
    return CLI_DONE;
}

static int compare_tables(eval_job *j, wte_agreement_options *opt)
{
    cli *c = j->c;
    cli_progress progress;
    wte_error err;
    uint64_t top;
    cli_unsigned(c, "top", 10, &top);
    cli_unsigned(c, "sample", 1000, &opt->sample);
    cli_unsigned(c, "pairs", 0, &opt->pairs);
    cli_unsigned(c, "seed", 0, &opt->seed);
    if (opt->sample == 0) opt->sample = WTE_NO_INDEX;
    opt->top = (uint32_t)(top < UINT32_MAX ? top : UINT32_MAX);
    const int code = cli_pool(c, &opt->pool);
    if (code) return code;
    opt->progress = cli_progress_start(&progress, c, "comparing neighbours");
    const wte_status status =
        wte_eval_agreement(&j->table[0]->source, &j->table[1]->source, opt, &j->agreement, &err);
    cli_progress_stop(&progress);
    return status == WTE_OK ? CLI_DONE : cli_fail(c, status, CLI_SIDE_INPUT, &err);
}

static int run_agreement(eval_job *j)
{
    cli *c = j->c;
    wte_agreement_options opt = WTE_AGREEMENT_OPTIONS_INIT;
    const uint64_t ids = j->table[0]->rows;
    j->by_token = wte_model_vocab(j->model[0]) && wte_model_vocab(j->model[1]);
    if (!j->by_token) return compare_tables(j, &opt);
    uint64_t *rows_a = calloc((size_t)ids + 1, sizeof *rows_a);
    uint64_t *rows_b = calloc((size_t)ids + 1, sizeof *rows_b);
    int code = rows_a && rows_b ? match_tokens(j, rows_a, rows_b, &opt.n)
                                : cli_say_fail(c, CLI_OUTPUT, "out of memory");
    opt.rows_a = rows_a;
    opt.rows_b = rows_b;
    if (!code) code = compare_tables(j, &opt);
    free(rows_a);
    free(rows_b);
    return code;
}

/* Isotropy ------------------------------------------------------------------------------------ */

static int run_isotropy(eval_job *j)
{
    cli *c = j->c;
    wte_isotropy_options opt = WTE_ISOTROPY_OPTIONS_INIT;
    cli_progress progress;
    wte_error err;
    const size_t dim = (size_t)j->table[0]->dim;
    int code = cli_pool(c, &opt.pool);
    if (code) return code;
    j->singular = opt.singular = calloc(dim + 1, sizeof *j->singular);
    j->centred = opt.centred = calloc(dim + 1, sizeof *j->centred);
    if (!opt.singular || !opt.centred) return cli_say_fail(c, CLI_OUTPUT, "out of memory");
    cli_unsigned(c, "pairs", 0, &opt.pairs);
    cli_unsigned(c, "seed", 0, &opt.seed);
    opt.progress = cli_progress_start(&progress, c, "singular values");
    const wte_status status = wte_eval_isotropy(&j->table[0]->source, &opt, &j->isotropy, &err);
    cli_progress_stop(&progress);
    return status == WTE_OK ? CLI_DONE : cli_fail(c, status, CLI_SIDE_INPUT, &err);
}

/* ---------------------------------------------------------------------------------------------- */

/* An option that is given, but of none of these. */
static int check_use(const cli *c, const char *option, const char *first, const char *second)
{
    if (!cli_given(c, option) || cli_given(c, first) || (second && cli_given(c, second)))
        return CLI_DONE;
    return cli_usage(c, "--%s says something only beside --%s%s%s", option, first,
                     second ? " or --" : "", second ? second : "");
}

static int check_usage(const cli *c)
{
    static const char *const uses[][3] = {
        { "lower", "similarity", "analogy" },
        { "restrict", "analogy", NULL },
        { "top", "against", NULL },
        { "sample", "against", NULL },
    };
    uint64_t number;
    const bool words = cli_given(c, "similarity") || cli_given(c, "analogy");
    const bool draws = cli_given(c, "against") || cli_given(c, "isotropy") || !words;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        const int code = check_use(c, uses[i][0], uses[i][1], uses[i][2]);
        if (code) return code;
    }
    if (cli_given(c, "head"))
        return cli_usage(c, "--head says nothing here: judged is one table, which --tensor names");
    if (cli_given(c, "leading-space") && !words && !cli_given(c, "against"))
        return cli_usage(
            c, "--leading-space says something only beside --similarity, --analogy or --against");
    if ((cli_given(c, "pairs") || cli_given(c, "seed")) && !draws)
        return cli_usage(c, "nothing is drawn: --pairs and --seed are for --against or --isotropy");
    cli_unsigned(c, "top", 10, &number);
    if (number == 0) return cli_usage(c, "--top 0 compares nothing");
    cli_unsigned(c, "pairs", 1, &number);
    if (number == 0) return cli_refuse_value(c, "pairs", "wants 1 to %" PRIu64, PAIRS_MOST);
    if (number > PAIRS_MOST) return cli_over_limit(c, "pairs", PAIRS_MOST);
    return CLI_DONE;
}

static int open_one(eval_job *j, int i, const char *path, cli_vocab vocab)
{
    const int code = cli_open_model(j->c, path, vocab, &j->model[i]);
    return code ? code : cli_input_table(j->c, j->model[i], &j->table[i]);
}

static int open_models(eval_job *j)
{
    cli *c = j->c;
    const char *other = cli_text(c, "against");
    const bool words = cli_given(c, "similarity") || cli_given(c, "analogy");
    const cli_vocab vocab = words || other ? CLI_VOCAB_NEEDED : CLI_VOCAB_NONE;
    int code = open_one(j, 0, c->words[0], vocab);
    if (!code && other) code = open_one(j, 1, other, vocab);
    for (int i = 0; !code && i < 2 && j->model[i]; i++) {
        /* by ids or by tokens: the numbers are others */
        const char *problem = wte_model_vocab_problem(j->model[i]);
        if (*problem) code = cli_say_fail(c, CLI_INPUT, "%s", problem);
    }
    if (code) return code;
    snprintf(j->both, sizeof j->both, other ? "%s or %s" : "%s", c->words[0], other);
    cli_reading(j->both);
    if (!words || wte_model_vocab(j->model[0])) return CLI_DONE;
    return cli_say_fail(c, CLI_USAGE, "%s has no vocabulary in which to find words", c->words[0]);
}

/* What was asked about words, but has no answer for want of any. */
static int verdict(const eval_job *j)
{
    int code = CLI_DONE;
    for (int i = 0; i < j->n_similarity; i++)
        if (j->similarity[i].result.covered == 0) {
            cli_note(j->c, "%s: no pair has both of its words in the vocabulary",
                     j->similarity[i].path);
            code = CLI_NO;
        }
    for (int i = 0; i < j->n_analogies; i++)
        if (j->analogies[i].total.asked == 0) {
            cli_note(j->c, "%s: no analogy has all of its words in the vocabulary",
                     j->analogies[i].path);
            code = CLI_NO;
        }
    if (j->table[1] && j->agreement.shared < 2) {
        cli_note(j->c, "fewer than two tokens are in both models");
        code = CLI_NO;
    }
    return code;
}

static int run(cli *c)
{
    eval_job j = { .c = c };
    int code = check_usage(c);
    if (code) return code;
    code = open_models(&j);
    if (!code) code = eval_words_run(&j);
    if (!code && j.table[1]) code = run_agreement(&j);
    j.with_isotropy =
        cli_given(c, "isotropy") || (!j.n_similarity && !j.n_analogies && !j.table[1]);
    if (!code && j.with_isotropy) code = run_isotropy(&j);
    if (!code) {
        (c->json ? eval_json : eval_print)(&j);
        code = verdict(&j);
    }
    eval_words_clear(&j);
    free(j.singular);
    free(j.centred);
    return code;
}

const cli_command cmd_eval = {
    .name = "eval",
    .group = CLI_LEARN,
    .synopsis = "MODEL",
    .summary = "judge a table by word pairs, analogies, another table, and its spectrum",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_MODEL | CLI_WITH_THREADS,
    .min_words = 1,
    .max_words = 1,
    .paths = 1,
    .path_kind = CLI_READ_MODEL,
    .notes = "Words are found as wte near finds them. Similarity: rank correlation\n"
             "(Spearman, ties share their mean rank) of cosines with judgements, over the\n"
             "pairs that are covered. Analogies: of all rows but a, b, c the one with the\n"
             "greatest cosine to b - a + c, each scaled to length 1 before; sections whose\n"
             "name begins with \"gram\" are syntactic. Questions with a missing word are not\n"
             "asked. --against matches tokens by their texts, without vocabularies rows by\n"
             "number. Singular values take time that grows with the cube of the dimension.\n"
             "Exit 1: no pair or no question could be asked.",
    .run = run,
};
