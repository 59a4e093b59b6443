/* wte help - the overview, the help of one command and the manual page, all made from the table of
 * commands and their options. */
#include <string.h>
#include <wte/base.h>

#include "opt.h"
#include "out.h"

static const char *group_name(cli_group group)
{
    switch (group) {
    case CLI_LOOK: return "Look";
    case CLI_USE: return "Use";
    case CLI_LEARN: return "Learn";
    case CLI_CHANGE: return "Change";
    case CLI_SERVE: return "Serve";
    case CLI_ABOUT: return "About";
    case CLI_GROUPS: break;
    }
    return "";
}

static void print_overview(const cli *c, FILE *out)
{
    fputs("usage: wte <command> [options] ...\n\n"
          "Token embeddings: from an id to its row, from the row to its vector.\n",
          out);
    for (int g = 0; g < CLI_GROUPS; g++) {
        const cli_command *command;
        bool titled = false;
        for (size_t i = 0; (command = cli_command_at(i)); i++) {
            if (command->group != (cli_group)g) continue;
            if (!titled)
                fprintf(out, "\n%s%s%s\n", out == stdout ? cli_bold(c) : "",
                        group_name((cli_group)g), out == stdout ? cli_plain(c) : "");
            titled = true;
            fprintf(out, "  %-10s %s\n", command->name, command->summary);
        }
    }
    fputs("\nMODEL is a file (safetensors, GGUF, PyTorch, .npy, .npz, llm.c, word vectors), a\n"
          "model directory (config.json, tensors, tokenizer), or 'demo': a built-in table\n"
          "of 6 rows and 3 columns.\n"
          "'wte help <command>' tells more.\n\n"
          "Exit codes: 0 done; 1 the answer is no; 2 usage; 3 bad input;\n"
          "4 unsupported or over a limit; 5 output or system failed.\n",
          out);
}

/* "-o, --output FILE" */
static int option_text(char *buf, size_t cap, const cli_option *o)
{
    char letter[8] = "    ";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    return snprintf(buf, cap, "%s--%s%s%s", letter, o->name, o->metavar ? " " : "",
                    o->metavar ? o->metavar : "");
}

void cli_print_help(const cli *c, FILE *out, const cli_command *command)
{
    if (!command) {
        print_overview(c, out);
        return;
    }
    fprintf(out, "usage: wte %s [options]%s%s\n\n%s\n\noptions:\n", command->name,
            command->synopsis[0] ? " " : "", command->synopsis, command->summary);
    const cli_option *o;
    for (size_t i = 0; (o = cli_option_at(command, i)); i++) {
        char left[80];
        int used = option_text(left, sizeof left, o);
        if (used > 26)
            fprintf(out, "  %s\n  %-26s", left, "");
        else
            fprintf(out, "  %-26s", left);
        fprintf(out, "  %s%s", o->help, o->repeats ? " (may be repeated)" : "");
        if (o->fallback) fprintf(out, " (default: %s)", o->fallback);
        fputc('\n', out);
    }
    if (command->notes) fprintf(out, "\n%s\n", command->notes);
}

/* Text for roff: a backslash, a leading dot or quote, and a dash as a minus. */
static void put_roff(FILE *out, const char *text)
{
    bool first = true;
    for (; *text; text++) {
        if (first && (*text == '.' || *text == '\'')) fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
        first = *text == '\n';
    }
}

static void print_man_command(FILE *out, const cli_command *command)
{
    fprintf(out, ".SS wte %s\n", command->name);
    fprintf(out, ".B wte %s\n[options] ", command->name);
    put_roff(out, command->synopsis);
    fputs("\n.PP\n", out);
    put_roff(out, command->summary);
    fputs(".\n", out);
    const cli_option *o;
    for (size_t i = 0; (o = cli_option_at(command, i)); i++) {
        char left[80];
        option_text(left, sizeof left, o);
        fputs(".TP\n.B ", out);
        put_roff(out, left + strspn(left, " "));
        fputc('\n', out);
        put_roff(out, o->help);
        if (o->repeats) fputs(" (may be repeated)", out);
        if (o->fallback) {
            fputs(" (default: ", out);
            put_roff(out, o->fallback);
            fputc(')', out);
        }
        fputc('\n', out);
    }
    if (!command->notes) return;
    fputs(".PP\n.nf\n", out);
    put_roff(out, command->notes);
    fputs("\n.fi\n", out);
}

static void print_man(FILE *out)
{
    fprintf(
        out,
        ".TH WTE 1 \"\" \"wte %s\" \"User Commands\"\n"
        ".SH NAME\nwte \\- token embeddings: from an id to its row, from the row to its vector\n"
        ".SH SYNOPSIS\n.B wte\ncommand [options] ...\n"
        ".SH DESCRIPTION\n"
        "MODEL is a file (safetensors, GGUF, PyTorch, .npy, .npz, llm.c, word vectors), a model "
        "directory, or \"demo\", a built\\-in "
        "table of 6 rows and 3 columns. An id is a number; anything else is the text of a "
        "token. Facts go to standard output, everything else to standard error.\n"
        ".SH COMMANDS\n",
        wte_version());
    const cli_command *command;
    for (size_t i = 0; (command = cli_command_at(i)); i++) print_man_command(out, command);
    fputs(
        ".SH EXIT STATUS\n"
        ".TP\n.B 0\ndone\n"
        ".TP\n.B 1\nran well, the answer is no\n"
        ".TP\n.B 2\nusage: unknown option, an id or a name typed that does not exist\n"
        ".TP\n.B 3\ninput missing, unreadable or malformed\n"
        ".TP\n.B 4\ninput fine, but unsupported or over a limit\n"
        ".TP\n.B 5\noutput or system failed\n"
        ".SH ENVIRONMENT\n"
        ".TP\n.B WTE_ISA\nthe best instruction set that may be used: scalar, avx2, avx512, avx512_bf16_vnni, neon\n"
        ".TP\n.B NO_COLOR\nwhen set and not empty, no colours\n",
        out);
}

static const cli_option options[] = {
    { "list", '\0', false, CLI_FLAG, NULL, "print the names of the commands, one a line", NULL },
    { "man", '\0', false, CLI_FLAG, NULL, "print the manual page, in roff", NULL },
    CLI_OPTIONS_END,
};

static int run(cli *c)
{
    const cli_command *command = NULL;
    const bool man = cli_given(c, "man"), list = cli_given(c, "list");
    if (man && list) return cli_usage(c, "--man and --list exclude each other");
    if ((man || list) && c->n_words)
        return cli_usage(c, "--%s is about all commands: '%s' says nothing", man ? "man" : "list",
                         c->words[0]);
    if (man) {
        print_man(stdout);
        return CLI_DONE;
    }
    if (list) {
        for (size_t i = 0; (command = cli_command_at(i)); i++) puts(command->name);
        return CLI_DONE;
    }
    if (c->n_words) {
        const char *name = c->words[0];
        command = cli_command_find(name);
        if (!command) return cli_no_command(c, name);
    }
    cli_print_help(c, stdout, command);
    return CLI_DONE;
}

const cli_command cmd_help = {
    .name = "help",
    .group = CLI_ABOUT,
    .synopsis = "[COMMAND]",
    .summary = "tell what the commands and their options are",
    .options = options,
    .max_words = 1,
    .run = run,
};
