/* Parsing of the command line after the command's name, from the command's array of options. */
#include "opt.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "out.h"

/* Options that every command takes, and those that CLI_WITH_... adds. */
static const cli_option with_json[] = {
    { "json", '\0', false, CLI_FLAG, NULL, "print facts as JSON", NULL },
};
static const cli_option with_model[] = {
    { "tensor", '\0', false, CLI_TEXT, "NAME", "take this tensor as the input table", NULL },
    { "head", '\0', false, CLI_TEXT, "NAME", "take this tensor as the output head", NULL },
    { "columns", '\0', false, CLI_TEXT, "A-B", "of a text table: columns A to B are the numbers",
      NULL },
    { "keys", '\0', false, CLI_CHOICE, "none|first",
      "of a text table: rows have no keys, or the first column is the key", NULL },
    { "skip", '\0', false, CLI_UNSIGNED, "N", "of a text table: N lines come before the first row",
      NULL },
};
static const cli_option with_limits[] = {
    { "max-expansion", '\0', false, CLI_UNSIGNED, "N",
      "let a packed file take N times its size in memory", "64, or 32 MiB where that is more" },
    { "max-header", '\0', false, CLI_UNSIGNED, "BYTES",
      "read headers of files of tensors, and indexes, up to so many bytes", "of each format" },
    { "max-vocab", '\0', false, CLI_UNSIGNED, "BYTES", "read tokenizer files up to so many bytes",
      "268435456" },
};
static const cli_option with_threads[] = {
    { "threads", '\0', false, CLI_UNSIGNED, "N", "use N threads; results never depend on it",
      "one per core" },
};
static const cli_option with_all[] = {
    { "quiet", 'q', false, CLI_FLAG, NULL, "no remarks and no progress on stderr", NULL },
    { "verbose", 'v', false, CLI_FLAG, NULL, "say more", NULL },
    { "help", 'h', false, CLI_FLAG, NULL, "print this help", NULL },
};

static const struct {
    unsigned flag;
    const cli_option *options;
    size_t n;
} common[] = {
    { CLI_WITH_MODEL, with_model, sizeof with_model / sizeof *with_model },
    { CLI_WITH_MODEL | CLI_WITH_LIMITS, with_limits, sizeof with_limits / sizeof *with_limits },
    { CLI_WITH_JSON, with_json, sizeof with_json / sizeof *with_json },
    { CLI_WITH_THREADS, with_threads, sizeof with_threads / sizeof *with_threads },
    { 0, with_all, sizeof with_all / sizeof *with_all },
};

const cli_option *cli_option_at(const cli_command *command, size_t i)
{
    const cli_option *own = command->options;
    for (; own && own->name; own++)
        if (i-- == 0) return own;
    for (size_t k = 0; k < sizeof common / sizeof *common; k++) {
        if (common[k].flag && !(command->common & common[k].flag)) continue;
        if (i < common[k].n) return &common[k].options[i];
        i -= common[k].n;
    }
    return NULL;
}

/* Former names of options, still accepted and not shown. */
static const struct {
    const char *command, *former, *name;
} former_names[] = {
    { "diagnose", "got", "observed" }, { "eval", "spaced", "leading-space" },
    { "lookup", "unknown", "oov" },    { "train", "head", "output-layer" },
    { "train", "no-lines", "no-eos" }, { "train", "report-every", "log-every" },
    { "train", "start", "init-from" }, { "train", "valid-share", "valid-fraction" },
    { "train", "warm-up", "warmup" },
};

static bool is_name(const char *name, const char *text, size_t n)
{
    return strlen(name) == n && memcmp(name, text, n) == 0;
}

static const cli_option *find_option(const cli_command *command, const char *name, size_t n)
{
    const cli_option *o;
    for (size_t i = 0; (o = cli_option_at(command, i)); i++)
        if (is_name(o->name, name, n)) return o;
    for (size_t i = 0; i < sizeof former_names / sizeof *former_names; i++)
        if (strcmp(former_names[i].command, command->name) == 0 &&
            is_name(former_names[i].former, name, n))
            return find_option(command, former_names[i].name, strlen(former_names[i].name));
    return NULL;
}

static const cli_option *find_letter(const cli_command *command, char letter)
{
    const cli_option *o;
    for (size_t i = 0; (o = cli_option_at(command, i)); i++)
        if (o->letter == letter) return o;
    return NULL;
}

/* Edits (insert, remove, change, swap of neighbours) that turn a into b, whatever their case; names
 * of options and commands are short, so longer texts are simply far. */
#define NEAR_CAP 32
static int lower(char c)
{
    return tolower((unsigned char)c);
}

static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), d[NEAR_CAP + 1][NEAR_CAP + 1];
    if (n > NEAR_CAP || m > NEAR_CAP) return SIZE_MAX;
    for (size_t i = 0; i <= n; i++) {
        for (size_t k = 0; k <= m; k++) {
            if (i == 0 || k == 0) {
                d[i][k] = i + k;
                continue;
            }
            size_t best = d[i - 1][k - 1] + (lower(a[i - 1]) != lower(b[k - 1]));
            if (d[i - 1][k] + 1 < best) best = d[i - 1][k] + 1;
            if (d[i][k - 1] + 1 < best) best = d[i][k - 1] + 1;
            bool swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
            if (swapped && d[i - 2][k - 2] + 1 < best) best = d[i - 2][k - 2] + 1;
            d[i][k] = best;
        }
    }
    return d[n][m];
}

/* Keeps in *best the candidate nearest to name; one that starts with name is near too. */
static void consider(const char *name, const char *candidate, const char **best, size_t *least)
{
    size_t n = strlen(name), far = distance(name, candidate);
    if (n >= 2 && far && strncmp(name, candidate, n) == 0) far = 1;
    if (far <= 1 + n / 4 && far < *least) {
        *best = candidate;
        *least = far;
    }
}

/* Past all dashes at the start, also those that only look like one. */
static const char *behind_dashes(const char *word, bool *any_false)
{
    *any_false = false;
    for (size_t n = 1; n; word += n) {
        n = cli_false_dash(word);
        *any_false |= n > 0;
        if (!n) n = *word == '-';
    }
    return word;
}

int cli_no_command(const cli *c, const char *name)
{
    static const char *const alone[] = { "help", "version" };
    const char *best = NULL;
    size_t least = SIZE_MAX;
    bool false_dash;
    const char *bare = behind_dashes(name, &false_dash);
    const cli_command *command;
    for (size_t i = 0; bare > name && i < sizeof alone / sizeof *alone; i++)
        consider(bare, alone[i], &best, &least);
    if (best) return cli_usage(c, "no command '%s'; did you mean '--%s'?", name, best);
    if (bare > name && *bare)
        return cli_usage(c, "no command '%s': options stand behind the command", name);
    for (size_t i = 0; (command = cli_command_at(i)); i++)
        consider(name, command->name, &best, &least);
    if (best) return cli_usage(c, "no command '%s'; did you mean '%s'?", name, best);
    return cli_usage(c, "no command '%s'", name);
}

static const char *nearest_option(const cli_command *command, const char *name)
{
    const char *best = NULL;
    size_t least = SIZE_MAX;
    const cli_option *o;
    for (size_t i = 0; (o = cli_option_at(command, i)); i++) consider(name, o->name, &best, &least);
    return best;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t n = strlen(text);
    for (const char *at = choices; at && *at;) {
        size_t len = strcspn(at, "|");
        if (len == n && memcmp(at, text, n) == 0) return true;
        at += len + (at[len] == '|');
    }
    return false;
}

/* Read the value as the option's kind says. NULL when it is well, else what was wanted. */
static const char *read_value(cli_value *v)
{
    int64_t signed_value = 0;
    switch (v->option->kind) {
    case CLI_FLAG:
    case CLI_TEXT:
    case CLI_READ_FILE:
    case CLI_READ_MODEL:
    case CLI_WRITE_ANSWER:
    case CLI_WRITE_TEXT:
    case CLI_WRITE_BINARY:
    case CLI_WRITE_FOLDER: return NULL;
    case CLI_UNSIGNED:
        return cli_read_unsigned(v->text, &v->bits) ? NULL : "a number from 0 to 2^64 - 1";
    case CLI_SIGNED:
        if (!cli_read_signed(v->text, &signed_value)) return "a number from -2^63 to 2^63 - 1";
        v->bits = (uint64_t)signed_value;
        return NULL;
    case CLI_SEED:
        if (cli_read_unsigned(v->text, &v->bits)) return NULL;
        if (!cli_read_signed(v->text, &signed_value)) return "a number from -2^63 to 2^64 - 1";
        v->bits = (uint64_t)signed_value;
        return NULL;
    case CLI_REAL:
        if (cli_read_real(v->text, &v->real)) return NULL;
        return isinf(v->real) ? "a number that f64 holds, below 1.8e308" : "a decimal number";
    case CLI_CHOICE: return is_choice(v->option->metavar, v->text) ? NULL : v->option->metavar;
    }
    return "another kind of value";
}

static cli_given_option *given_option(cli *c, const cli_option *o)
{
    for (int i = 0; i < c->n_given; i++)
        if (c->given[i].option == o) return &c->given[i];
    return NULL;
}

static int add_value(cli *c, const cli_option *o, const char *text)
{
    cli_given_option *given = given_option(c, o);
    cli_hint hint;
    if (given && !o->repeats && o->kind != CLI_FLAG)
        return cli_usage(c, "--%s is given twice: '%s' and '%s'", o->name,
                         c->values[given->first].text, text);
    if (text && !*text)
        return cli_usage(c, "--%s is given an empty word; it takes %s", o->name, o->metavar);
    const int number = c->n_values++;
    cli_value *v = &c->values[number];
    v->option = o;
    v->text = text;
    if (given) {
        c->values[given->last].next = number;
        given->last = number;
        given->times++;
    } else {
        assert(c->n_given < CLI_OPTIONS_MOST);
        c->given[c->n_given++] = (cli_given_option){ o, number, number, 1 };
    }
    const char *wanted = read_value(v);
    if (wanted && text)
        return cli_usage(c, "--%s '%s': wants %s%s", o->name, text, wanted,
                         cli_dash_hint(&hint, text, strlen(text)));
    return CLI_DONE;
}

/* One "--name", "--name=value" or "--name value". *used gets the words taken. */
static int parse_long(cli *c, int left, char **argv, int *used)
{
    const char *name = argv[0] + 2, *value = strchr(name, '=');
    size_t n = value ? (size_t)(value - name) : strlen(name);
    *used = 1;
    const cli_option *o = find_option(c->command, name, n);
    if (!o) {
        char *bare = strndup(name, n);
        const char *near = bare ? nearest_option(c->command, bare) : NULL;
        free(bare);
        if (near) return cli_usage(c, "no option '--%.*s'; did you mean --%s?", (int)n, name, near);
        return cli_usage(c, "no option '--%.*s'", (int)n, name);
    }
    if (o->kind == CLI_FLAG) {
        if (value)
            return cli_usage(c, "--%s takes no value, but is given '%s'", o->name, value + 1);
        return add_value(c, o, NULL);
    }
    if (value) return add_value(c, o, value + 1);
    if (left < 2) return cli_usage(c, "--%s wants %s after it", o->name, o->metavar);
    *used = 2;
    return add_value(c, o, argv[1]);
}

/* At a character that is no letter of an option; it may take several bytes. */
static int refuse_letter(const cli *c, const char *at, const char *word)
{
    bool safe;
    const int n = (int)wte_utf8_next(at, strlen(at), &safe);
    const char other = isupper((unsigned char)*at) ? (char)tolower((unsigned char)*at)
                                                   : (char)toupper((unsigned char)*at);
    const char *near = nearest_option(c->command, word + 1);
    if (near && word[2])
        return cli_usage(c, "no option '-%.*s' in '%s'; did you mean --%s?", n ? n : 1, at, word,
                         near);
    if (other != *at && find_letter(c->command, other))
        return cli_usage(c, "no option '-%.*s' in '%s'; did you mean -%c?", n ? n : 1, at, word,
                         other);
    return cli_usage(c, "no option '-%.*s' in '%s'", n ? n : 1, at, word);
}

/* One "-v", "-qv", "-oFILE" or "-o FILE". */
static int parse_letters(cli *c, int left, char **argv, int *used)
{
    *used = 1;
    for (const char *at = argv[0] + 1; *at; at++) {
        const cli_option *o = find_letter(c->command, *at);
        if (!o) return refuse_letter(c, at, argv[0]);
        if (o->kind == CLI_FLAG) {
            int code = add_value(c, o, NULL);
            if (code) return code;
            continue;
        }
        if (at[1]) return add_value(c, o, at + 1);
        if (left < 2) return cli_usage(c, "-%c wants %s after it", *at, o->metavar);
        *used = 2;
        return add_value(c, o, argv[1]);
    }
    return CLI_DONE;
}

/* "-" is a file, "-1" an id, "-.5" a number: none of them an option. */
static bool is_word(const char *arg)
{
    if (arg[0] != '-' || arg[1] == '\0') return true;
    return isdigit((unsigned char)arg[1]) || (arg[1] == '.' && isdigit((unsigned char)arg[2]));
}

/* A word that begins with a dash that is none, and goes on as an option does: editors and chat
 * programs make it of "--". What else begins so is a word. */
static int refuse_dash(const cli *c, const char *word)
{
    bool found;
    const char *name = behind_dashes(word, &found);
    if (!found) return CLI_DONE;
    const size_t n = strcspn(name, "=");
    const cli_option *o = find_option(c->command, name, n);
    const bool letter = !o && n == 1 && find_letter(c->command, *name);
    if (!o && !letter) return CLI_DONE;
    return cli_usage(c,
                     "'%s' begins with a dash that is not '-'; did you mean '%s%s'? (behind -- "
                     "it is a word)",
                     word, letter ? "-" : "--", name);
}

static int take_word(cli *c, char *word)
{
    if (!*word)
        return cli_usage(c, "argument %d is an empty word; it takes %s", c->n_words + 1,
                         *c->command->synopsis ? c->command->synopsis : "none");
    c->words[c->n_words++] = word;
    return CLI_DONE;
}

static int check_words(const cli *c)
{
    const cli_command *command = c->command;
    if (c->n_words < command->min_words)
        return cli_usage(c, "too few arguments; it takes %s", command->synopsis);
    if (command->max_words >= 0 && c->n_words > command->max_words) {
        const char *extra = c->words[command->max_words];
        if (command->max_words == 0) return cli_usage(c, "takes no argument, but got '%s'", extra);
        return cli_usage(c, "unexpected argument '%s'; it takes %s", extra, command->synopsis);
    }
    return CLI_DONE;
}

#define THREADS_MOST 256 /* as wte_pool_create says */
/* Said here, since a command may find that it needs no threads at all. */
static int check_threads(const cli *c)
{
    uint64_t threads;
    if (!find_option(c->command, "threads", strlen("threads"))) return CLI_DONE;
    if (!cli_unsigned(c, "threads", 1, &threads) || (threads >= 1 && threads <= THREADS_MOST))
        return CLI_DONE;
    if (threads == 0) return cli_refuse_value(c, "threads", "wants 1 to %d", THREADS_MOST);
    return cli_over_limit(c, "threads", THREADS_MOST);
}

/* What is read at all is at least a byte; 0 would mean the default. */
static int check_limits(const cli *c)
{
    static const char *const names[] = { "max-header", "max-vocab", "max-bytes" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = names[i];
        uint64_t bytes;
        if (find_option(c->command, name, strlen(name)) && cli_unsigned(c, name, 1, &bytes) &&
            bytes == 0)
            return cli_refuse_value(c, name, "wants 1 or more");
    }
    return CLI_DONE;
}

int cli_parse(cli *c, int argc, char **argv)
{
    size_t cap = (size_t)(argc > 0 ? argc : 0) + 1;
    for (int i = 0; i < argc; i++) cap += strlen(argv[i]); /* letters in a row: one value each */
    c->words = calloc((size_t)argc + 1, sizeof *c->words);
    c->values = calloc(cap, sizeof *c->values);
    if (!c->words || !c->values) return cli_say_fail(c, CLI_OUTPUT, "out of memory");
    bool ended = false;
    for (int i = 0, used; i < argc; i += used) {
        int code = CLI_DONE;
        used = 1;
        if (ended)
            code = take_word(c, argv[i]);
        else if (is_word(argv[i])) {
            code = refuse_dash(c, argv[i]);
            if (!code) code = take_word(c, argv[i]);
        } else if (strcmp(argv[i], "--") == 0)
            ended = true;
        else if (argv[i][1] == '-')
            code = parse_long(c, argc - i, argv + i, &used);
        else
            code = parse_letters(c, argc - i, argv + i, &used);
        if (code) return code;
    }
    c->quiet = cli_given(c, "quiet");
    c->verbose = cli_given(c, "verbose");
    c->json = (c->command->common & CLI_WITH_JSON) && cli_given(c, "json");
    if (cli_given(c, "help")) return CLI_DONE;
    int code = check_threads(c);
    if (!code) code = check_limits(c);
    return code ? code : check_words(c);
}

void cli_parse_clear(cli *c)
{
    free(c->words);
    free(c->values);
    c->words = NULL;
    c->values = NULL;
    c->n_words = c->n_values = 0;
}

static const cli_given_option *find_given(const cli *c, const char *name, const cli_option **option)
{
    *option = find_option(c->command, name, strlen(name));
    assert(*option);
    for (int i = 0; i < c->n_given; i++)
        if (c->given[i].option == *option) return &c->given[i];
    return NULL;
}

/* The last one wins; it can only differ from the first for options that repeat, and flags. */
static const cli_value *last_value(const cli *c, const char *name, const cli_option **option)
{
    const cli_given_option *given = find_given(c, name, option);
    return given ? &c->values[given->last] : NULL;
}

bool cli_given(const cli *c, const char *name)
{
    const cli_option *o;
    return last_value(c, name, &o) != NULL;
}

const char *cli_text(const cli *c, const char *name)
{
    const cli_option *o;
    const cli_value *v = last_value(c, name, &o);
    return v ? v->text : o->fallback;
}

bool cli_unsigned(const cli *c, const char *name, uint64_t other, uint64_t *out)
{
    const cli_option *o;
    const cli_value *v = last_value(c, name, &o);
    assert(o->kind == CLI_UNSIGNED || o->kind == CLI_SEED);
    *out = v ? v->bits : other;
    return v != NULL;
}

bool cli_real(const cli *c, const char *name, double other, double *out)
{
    const cli_option *o;
    const cli_value *v = last_value(c, name, &o);
    assert(o->kind == CLI_REAL);
    *out = v ? v->real : other;
    return v != NULL;
}

const cli_value *cli_first(const cli *c, const char *name)
{
    const cli_option *o;
    const cli_given_option *given = find_given(c, name, &o);
    return given ? &c->values[given->first] : NULL;
}

const cli_value *cli_next(const cli *c, const cli_value *v)
{
    return v->next ? &c->values[v->next] : NULL;
}

size_t cli_times(const cli *c, const char *name)
{
    const cli_option *o;
    const cli_given_option *given = find_given(c, name, &o);
    return given ? (size_t)given->times : 0;
}
