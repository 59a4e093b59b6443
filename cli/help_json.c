/* wte help --json: the commands, their words and options, for programs. */
#include "help_json.h"

#include "json.h"

static const char *kind_name(cli_kind kind)
{
    switch (kind) {
    case CLI_FLAG: return "flag";
    case CLI_TEXT: return "text";
    case CLI_UNSIGNED: return "unsigned";
    case CLI_SIGNED: return "signed";
    case CLI_SEED: return "seed";
    case CLI_REAL: return "real";
    case CLI_CHOICE: return "choice";
    case CLI_READ_FILE: return "read-file";
    case CLI_READ_MODEL: return "read-model";
    case CLI_WRITE_ANSWER: return "write-answer";
    case CLI_WRITE_TEXT: return "write-text";
    case CLI_WRITE_BINARY: return "write-binary";
    case CLI_WRITE_FOLDER: return "write-folder";
    }
    return "";
}

static void put_option(cli_json *j, const cli_option *o)
{
    const char letter[2] = { o->letter, '\0' };
    cli_json_short(j, NULL);
    cli_json_text(j, "name", o->name);
    cli_json_text(j, "letter", o->letter ? letter : NULL);
    cli_json_text(j, "kind", kind_name(o->kind));
    cli_json_bool(j, "repeats", o->repeats);
    cli_json_text(j, "value", o->metavar);
    cli_json_text(j, "default", o->fallback);
    cli_json_text(j, "help", o->help);
    cli_json_close(j);
}

static void put_command(cli_json *j, const cli_command *command)
{
    const cli_option *o;
    cli_json_object(j, NULL);
    cli_json_text(j, "name", command->name);
    cli_json_text(j, "synopsis", command->synopsis ? command->synopsis : "");
    cli_json_text(j, "summary", command->summary);
    cli_json_signed(j, "min_words", command->min_words);
    cli_json_signed(j, "max_words", command->max_words); /* -1 = any number */
    cli_json_signed(j, "paths", command->paths);         /* words that are; -1 = all */
    cli_json_text(j, "path_kind", command->paths ? kind_name(command->path_kind) : NULL);
    cli_json_line(j, "files");
    for (const char *const *name = command->files; name && *name; name++)
        if (**name) cli_json_text(j, NULL, *name);
    cli_json_close(j);
    cli_json_list(j, "options");
    for (size_t i = 0; (o = cli_option_at(command, i)); i++) put_option(j, o);
    cli_json_close(j);
    cli_json_close(j);
}

void cli_help_json(FILE *out, const cli_command *only)
{
    cli_json j;
    const cli_command *command;
    cli_json_begin(&j, out, "wte.help/1");
    cli_json_list(&j, "commands");
    for (size_t i = 0; (command = cli_command_at(i)); i++)
        if (!only || command == only) put_command(&j, command);
    cli_json_close(&j);
    cli_json_end(&j);
}
