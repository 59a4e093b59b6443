/* main.c - the table of commands (commands.def), and the way from the command line to one of them.
 */
#include <stdlib.h>
#include <string.h>
#include <wte/all.h>

#include "open.h"
#include "opt.h"
#include "out.h"
#include "outputs.h"

#define COMMAND(name) extern const cli_command cmd_##name;
#include "commands.def"
#undef COMMAND

static const cli_command *const commands[] = {
#define COMMAND(name) &cmd_##name,
#include "commands.def"
#undef COMMAND
};

const cli_command *cli_command_at(size_t i)
{
    return i < sizeof commands / sizeof *commands ? commands[i] : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    const cli_command *command;
    for (size_t i = 0; (command = cli_command_at(i)); i++)
        if (strcmp(command->name, name) == 0) return command;
    return NULL;
}

/* `wte`, `wte --help` and `wte --version` are words of their own; all else is a command. */
static int find_command(cli *c, int argc, char **argv)
{
    if (argc < 2) {
        cli_print_help(c, stderr, NULL);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0) name = "version";
    c->command = cli_command_find(name);
    if (c->command) return CLI_DONE;
    return cli_no_command(c, name);
}

static int run_command(cli *c, int argc, char **argv)
{
    int code = find_command(c, argc, argv);
    if (!code) code = cli_parse(c, argc - 2, argv + 2);
    if (code) return code;
    if (cli_given(c, "help")) {
        cli_print_help(c, stdout, c->command);
        return CLI_DONE;
    }
    wte_error err; /* a wrong WTE_ISA would run, but not as it was asked to */
    wte_status status = wte_isa_check(&err);
    if (status != WTE_OK) return cli_say_fail(c, CLI_USAGE, "%s", err.message);
    code = cli_outputs_open(c);
    return cli_outputs_close(c, code ? code : c->command->run(c));
}

int main(int argc, char **argv)
{
    cli c = { .command = NULL };
    cli_out_start(&c);
    const int code = cli_out_finish(&c, cli_check_models(&c, run_command(&c, argc, argv)));
    cli_free_models(&c);
    wte_pool_free(c.pool);
    cli_parse_clear(&c);
    return code;
}
