/* What a command says on stderr, and the exit code that goes with it. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

#define LINE_BYTES 65536 /* a longer line is written in pieces */
#define TEXT_BYTES 8192  /* a longer message takes memory */

void cli_say_start(void)
{
    static char line[LINE_BYTES];
    setvbuf(stderr, line, _IOLBF, sizeof line);
}

int cli_exit_code(wte_status status, cli_side side)
{
    static const struct {
        wte_status status;
        int typed, input, output;
    } codes[] = {
#define STATUS(status, typed, input, output)                                                       \
    { WTE_##status, CLI_##typed, CLI_##input, CLI_##output },
#define SITUATION(name, code, text)
#include "situations.def"
#undef SITUATION
#undef STATUS
    };
    if (status == WTE_OK) return CLI_DONE;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].status == status)
            return side == CLI_SIDE_TYPED   ? codes[i].typed
                   : side == CLI_SIDE_INPUT ? codes[i].input
                                            : codes[i].output;
    return CLI_OUTPUT;
}

/* A message as it is made by the library or here: names in it are escaped already, so a backslash
 * stays; what else a terminal should not see is escaped now (paths are taken as typed). */
static void put_message(const cli *c, const char *kind, const char *text)
{
    fprintf(stderr, "wte%s%s: %s", c->command ? " " : "", c->command ? c->command->name : "", kind);
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\\");
        cli_put_safe(stderr, at, n);
        at += n;
        if (*at == '\\') fputc(*at++, stderr);
    }
    fputc('\n', stderr);
}

/* Without memory a message of more than TEXT_BYTES is cut, and says so. */
__attribute__((format(printf, 3, 0))) static void put_formatted(const cli *c, const char *kind,
                                                                const char *fmt, va_list ap)
{
    char fixed[TEXT_BYTES], *more = NULL;
    va_list again;
    va_copy(again, ap);
    const int n = vsnprintf(fixed, sizeof fixed, fmt, ap);
    const bool cut = n >= (int)sizeof fixed;
    if (cut) more = malloc((size_t)n + 1);
    if (more) vsnprintf(more, (size_t)n + 1, fmt, again);
    if (cut) memcpy(fixed + sizeof fixed - sizeof "...", "...", sizeof "...");
    put_message(c, kind, more ? more : n < 0 ? "a message that cannot be formatted" : fixed);
    free(more);
    va_end(again);
}

int cli_fail(const cli *c, wte_status status, cli_side side, const wte_error *err)
{
    put_message(c, "", err->message);
    return cli_exit_code(status, side);
}

int cli_say_fail(const cli *c, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_formatted(c, "", fmt, ap);
    va_end(ap);
    return code;
}

int cli_read_fail(const cli *c, const char *path, int why)
{
    return cli_say_fail(c, why == ENOMEM ? CLI_OUTPUT : CLI_INPUT, "%s: %s", path, strerror(why));
}

int cli_usage(const cli *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_formatted(c, "", fmt, ap);
    va_end(ap);
    const char *name = c->command ? c->command->name : "";
    fprintf(stderr, "'wte %s%s--help' lists what it takes\n", name, c->command ? " " : "");
    return CLI_USAGE;
}

int cli_refuse_value(const cli *c, const char *option, const char *fmt, ...)
{
    char wants[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(wants, sizeof wants, fmt, ap);
    va_end(ap);
    return cli_usage(c, "--%s '%s': %s", option, cli_text(c, option), wants);
}

int cli_over_limit(const cli *c, const char *option, uint64_t most)
{
    return cli_say_fail(c, CLI_IS_LIMIT, "--%s '%s': at most %" PRIu64 ", a fixed limit", option,
                        cli_text(c, option), most);
}

void cli_note(const cli *c, const char *fmt, ...)
{
    if (c->quiet) return;
    va_list ap;
    va_start(ap, fmt);
    put_formatted(c, "note: ", fmt, ap);
    va_end(ap);
}
