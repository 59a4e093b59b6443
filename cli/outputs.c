/* Outputs: made before the command runs, renamed together when it has succeeded. What they must not
 * replace is in outputs_check.c. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wte/corpus.h>

#include "open.h"
#include "out.h"
#include "outputs_check.h"

bool cli_is_stdout(const char *path)
{
    return !path || cli_file_descriptor(path) == STDOUT_FILENO;
}

bool cli_is_file(const char *path)
{
    struct stat st;
    if (!path || cli_file_descriptor(path) >= 0) return false;
    return stat(path, &st) != 0 || S_ISREG(st.st_mode);
}

bool cli_writes(cli_kind kind)
{
    return kind == CLI_WRITE_ANSWER || kind == CLI_WRITE_TEXT || kind == CLI_WRITE_BINARY ||
           kind == CLI_WRITE_FOLDER;
}

/* The list ------------------------------------------------------------------------------------- */

static int add(cli *c, const cli_option *option, const char *path, bool begun)
{
    cli_outputs *o = c->outputs;
    cli_output *out = &o->list[o->n];
    if (snprintf(out->path, sizeof out->path, "%s", path) >= (int)sizeof out->path)
        return cli_usage(c, "--%s: the name is too long", option->name);
    out->option = option;
    out->begun = begun;
    o->n++;
    return CLI_DONE;
}

/* The folder's files: to begin now, up to the empty name; the rest is written while the command
 * runs. */
static int add_folder(cli *c, const cli_option *option, const char *folder)
{
    char path[4096];
    bool begun = true;
    for (const char *const *name = c->command->files; name && *name; name++) {
        if (!**name) {
            begun = false;
            continue;
        }
        int code = cli_path_in(c, folder, *name, path);
        if (!code) code = add(c, option, path, begun);
        if (code) return code;
    }
    return CLI_DONE;
}

static int make_list(cli *c)
{
    for (int i = 0; i < c->n_values; i++) {
        const cli_value *v = &c->values[i];
        if (!cli_writes(v->option->kind)) continue;
        const int code = v->option->kind == CLI_WRITE_FOLDER ? add_folder(c, v->option, v->text)
                                                             : add(c, v->option, v->text, true);
        if (code) return code;
    }
    return CLI_DONE;
}

int cli_path_in(const cli *c, const char *folder, const char *name, char out[4096])
{
    const size_t n = strlen(folder);
    const char *join = n && folder[n - 1] == '/' ? "" : "/";
    const int used = snprintf(out, 4096, "%s%s%s", folder, join, name);
    if (used >= 0 && used < 4096) return CLI_DONE;
    return cli_usage(c, "-o: the name of the folder is too long");
}

/* The folder ----------------------------------------------------------------------------------- */

/* One run at a time writes to a folder: its lock is held until the end, where the file system has
 * locks. What killed runs have left half written is removed. */
static int take_folder(cli *c, const char *folder)
{
    cli_outputs *o = c->outputs;
    struct stat st;
    if (cli_file_descriptor(folder) >= 0)
        return cli_usage(c, "-o '%s': a folder is written, not a stream", folder);
    if (mkdir(folder, 0777) == 0) {
        o->made = folder;
        cli_out_made(folder);
    } else if (errno != EEXIST) {
        return cli_say_fail(c, CLI_OUTPUT, "%s: %s", folder, strerror(errno));
    }
    if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
        return cli_say_fail(c, CLI_OUTPUT, "%s: is no folder", folder);
    o->lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->lock >= 0 && flock(o->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return cli_say_fail(c, CLI_OUTPUT, "%s: another run is writing to this folder", folder);
    return CLI_DONE;
}

static int sweep_folder(cli *c, const char *folder)
{
    uint64_t removed = 0;
    char path[4096];
    for (const char *const *name = c->command->files; name && *name; name++)
        if (**name && cli_path_in(c, folder, *name, path) == CLI_DONE)
            removed += wte_writer_remove_stale(path);
    if (removed && c->verbose)
        cli_note(c, "%s: %" PRIu64 " file%s removed that a killed run had left half written",
                 folder, removed, removed == 1 ? "" : "s");
    return CLI_DONE;
}

static int open_folder(cli *c)
{
    for (int i = 0; i < c->n_values; i++) {
        const cli_value *v = &c->values[i];
        if (v->option->kind != CLI_WRITE_FOLDER) continue;
        const int code = take_folder(c, v->text);
        return code ? code : sweep_folder(c, v->text);
    }
    return CLI_DONE;
}

/* Streams and writers -------------------------------------------------------------------------- */

/* An output besides the answer has stdout: what the command prints goes to stderr instead. */
static int take_stdout(cli *c, const cli_option *option)
{
    cli_outputs *o = c->outputs;
    if (c->json)
        return cli_usage(c, "--json and --%s cannot both go to standard output", option->name);
    const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    o->stream = fd < 0 ? NULL : fdopen(fd, "wb");
    c->colours = false;
    if (o->stream && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return CLI_DONE;
    const int why = errno;
    if (!o->stream && fd >= 0) close(fd);
    return cli_say_fail(c, CLI_OUTPUT, "cannot write to standard output: %s", strerror(why));
}

static int begin(cli *c, const cli_output *out)
{
    wte_writer *writer;
    const cli_kind kind = out->option->kind;
    if (cli_is_stdout(out->path)) {
        const int code = kind == CLI_WRITE_BINARY ? cli_binary_ok(c, out->path) : CLI_DONE;
        return code || kind == CLI_WRITE_ANSWER ? code : take_stdout(c, out->option);
    }
    const int code = cli_outputs_writer(c, out->path, &writer);
    return code || kind != CLI_WRITE_BINARY ? code : cli_binary_ok(c, out->path);
}

wte_transaction *cli_outputs_transaction(const cli *c)
{
    return c->outputs->transaction;
}

FILE *cli_outputs_stdout(const cli *c)
{
    return c->outputs && c->outputs->stream ? c->outputs->stream : stdout;
}

int cli_outputs_writer(const cli *c, const char *path, wte_writer **out)
{
    wte_error err;
    char descriptor[32];
    if (cli_is_stdout(path)) {
        FILE *stream = cli_outputs_stdout(c);
        (void)fflush(stream); /* an error stays with the stream */
        snprintf(descriptor, sizeof descriptor, "/dev/fd/%d", fileno(stream));
        path = descriptor;
    }
    const wte_status status = wte_transaction_writer(c->outputs->transaction, path, out, &err);
    return status == WTE_OK ? CLI_DONE : cli_fail(c, status, CLI_SIDE_OUTPUT, &err);
}

/* ---------------------------------------------------------------------------------------------- */

int cli_outputs_open(cli *c)
{
    size_t n = 0;
    wte_error err;
    for (int i = 0; i < c->n_values; i++) n += cli_writes(c->values[i].option->kind);
    if (n == 0) return CLI_DONE;
    for (const char *const *name = c->command->files; name && *name; name++) n++;
    cli_outputs *o = calloc(1, sizeof *o);
    cli_output *list = calloc(n, sizeof *list);
    if (!o || !list) {
        free(o);
        free(list);
        return cli_say_fail(c, CLI_OUTPUT, "out of memory");
    }
    c->outputs = o;
    o->list = list;
    o->lock = -1;
    const wte_status status = wte_transaction_create(&o->transaction, &err);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_OUTPUT, &err);
    int code = open_folder(c);
    if (!code) code = make_list(c);
    if (!code) code = cli_outputs_check(c);
    for (size_t i = 0; i < o->n && !code; i++)
        if (o->list[i].begun) code = begin(c, &o->list[i]);
    return code;
}

int cli_outputs_commit(cli *c)
{
    cli_outputs *o = c->outputs;
    wte_error err;
    if (!o || !o->transaction) return CLI_DONE;
    const int changed = cli_check_models(c, CLI_DONE); /* what was read may be of two versions */
    if (changed) return changed;
    const wte_status status = wte_transaction_commit(o->transaction, &err);
    return status == WTE_OK ? CLI_DONE : cli_fail(c, status, CLI_SIDE_OUTPUT, &err);
}

static int close_stdout(const cli *c, cli_outputs *o, int code)
{
    if (!o->stream) return code;
    errno = 0;
    const bool failed = ferror(o->stream) != 0;
    if ((fclose(o->stream) == 0 && !failed) || code == CLI_OUTPUT) return code;
    return cli_say_fail(c, CLI_OUTPUT, "cannot write to standard output%s%s", errno ? ": " : "",
                        errno ? strerror(errno) : "");
}

int cli_outputs_close(cli *c, int code)
{
    cli_outputs *o = c->outputs;
    if (!o) return code;
    if (code == CLI_DONE || code == CLI_NO) {
        const int failed = cli_outputs_commit(c);
        if (failed) code = failed;
    }
    code = close_stdout(c, o, code);
    wte_transaction_free(o->transaction);
    if (o->lock >= 0) close(o->lock);
    cli_out_made(NULL);
    if (code != CLI_DONE && code != CLI_NO && o->made) (void)rmdir(o->made); /* unless in use */
    free(o->list);
    free(o);
    c->outputs = NULL;
    return code;
}
