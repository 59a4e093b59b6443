/* Reading and writing baselines of wte check. */
#include "baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "open.h"
#include "out.h"

#define BASELINE_BYTES (1u << 20) /* some ten thousand findings; a model has under fifty */

int cli_read_text(const cli *c, const char *path, uint64_t most, char **out, uint64_t *bytes)
{
    const bool from_stdin = strcmp(path, "-") == 0;
    FILE *f;
    const int code = cli_open_stream(c, path, &f);
    if (code) return code;
    size_t used = 0, cap = 4096;
    char *text = malloc(cap + 1);
    if (from_stdin) path = "standard input";
    errno = 0;
    while (text && used <= most) {
        const size_t n = fread(text + used, 1, cap - used, f);
        used += n;
        if (n == 0) break;
        if (used < cap) continue;
        char *more = realloc(text, 2 * cap + 1);
        if (!more) free(text);
        text = more;
        cap *= 2;
    }
    const int why = ferror(f) ? errno : 0;
    if (!from_stdin) fclose(f);
    if (!text) return cli_say_fail(c, CLI_OUTPUT, "out of memory for %s", path);
    text[used] = '\0';
    *out = text;
    *bytes = used;
    if (why) return cli_read_fail(c, path, why);
    if (used > most)
        return cli_say_fail(c, CLI_CANNOT, "%s: more than %" PRIu64 " bytes", path, most);
    return CLI_DONE;
}

static bool is_code(const char *line, size_t n)
{
    const char *code;
    for (size_t i = 0; (code = wte_check_code(i, NULL, NULL)); i++)
        if (strlen(code) == n && memcmp(code, line, n) == 0) return true;
    return false;
}

int cli_baseline_read(const cli *c, const char *path, cli_baseline *out)
{
    uint64_t bytes = 0;
    size_t lines = 1, number = 0;
    *out = (cli_baseline){ NULL, NULL, 0 };
    if (!path) return CLI_DONE;
    const int code = cli_read_text(c, path, BASELINE_BYTES, &out->text, &bytes);
    if (code) return code;
    const char *nul = memchr(out->text, '\0', (size_t)bytes);
    if (nul)
        return cli_say_fail(c, CLI_IS_CUT_FILE,
                            "%s: byte %zu is NUL, so this is no text of accepted findings", path,
                            (size_t)(nul - out->text));
    for (uint64_t i = 0; i < bytes; i++) lines += out->text[i] == '\n';
    out->lines = calloc(lines, sizeof *out->lines);
    if (!out->lines) return cli_say_fail(c, CLI_OUTPUT, "out of memory for %s", path);
    char *at = out->text;
    if (strncmp(at, "\xef\xbb\xbf", 3) == 0) at += 3; /* the mark of UTF-8, as editors put it */
    while (*at) {
        char *line = at, *end = strchr(at, '\n');
        number++;
        at = end ? end + 1 : at + strlen(at);
        if (end) *end = '\0';
        const size_t n = strlen(line);
        if (n && line[n - 1] == '\r') line[n - 1] = '\0';
        if (!*line || *line == '#') continue;
        if (!strchr(line, '\t') || !is_code(line, strcspn(line, "\t")))
            return cli_say_fail(c, CLI_INPUT, "%s: line %zu is no code, a tab, and a subject: %s",
                                path, number, line);
        out->lines[out->n++] = line;
    }
    return CLI_DONE;
}

void cli_baseline_clear(cli_baseline *a)
{
    free(a->text);
    free(a->lines);
}

bool cli_baseline_has(const cli_baseline *a, const wte_finding *f)
{
    const size_t n = strlen(f->code);
    for (size_t i = 0; i < a->n; i++)
        if (strncmp(a->lines[i], f->code, n) == 0 && a->lines[i][n] == '\t' &&
            strcmp(a->lines[i] + n + 1, f->subject) == 0)
            return true;
    return false;
}

int cli_baseline_write(const cli *c, const char *path, const wte_check *report)
{
    cli_sink sink;
    const wte_finding *f;
    const int code = cli_sink_open(c, path, &sink);
    if (code) return code;
    for (uint64_t i = 0; (f = wte_check_finding(report, i)); i++)
        if (f->level > WTE_CHECK_INFO) fprintf(sink.stream, "%s\t%s\n", f->code, f->subject);
    return cli_sink_close(c, &sink, CLI_DONE);
}
