/* Streams, signals and progress. Messages are in say.c, the texts and numbers themselves in text.c.
 */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "open.h"
#include "outputs.h"

/* The handler may use nothing but this and write(). */
static char bus_message[4 * 4096 + 128] = "wte: a mapped file became shorter while it was read\n";

/* The folder that was made for this run, and is removed with its unfinished files. */
static const char *volatile made_folder;

void cli_out_made(const char *path)
{
    made_folder = path;
}

static void abandon_outputs(void)
{
    const char *folder = made_folder;
    wte_writers_abandon();
    if (folder) (void)rmdir(folder); /* unless something is in it: a checkpoint stays */
}

static void on_bus_error(int signal_number)
{
    (void)signal_number;
    abandon_outputs();
    ssize_t ignored = write(STDERR_FILENO, bus_message, strlen(bus_message));
    (void)ignored;
    _exit(CLI_INPUT);
}

void cli_reading(const char *path)
{
    char shown[sizeof bus_message - 80];
    cli_escape(shown, sizeof shown, path, strlen(path));
    snprintf(bus_message, sizeof bus_message,
             "wte: %s: a mapped file became shorter while it was read\n", shown);
}

static void on_end(int signal_number)
{
    abandon_outputs();
    _exit(128 + signal_number);
}

/* The next program in the pipe has enough: this one ends by the signal, as others do. */
static void on_pipe(int signal_number)
{
    abandon_outputs();
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* when this handler returns */
}

/* A write beyond the limit on the size of files: the call fails too, and is told where it is made.
 * Sent by another process, it ends the command. */
static void on_file_size(int signal_number, siginfo_t *info, void *context)
{
    static const char text[] = "wte: SIGXFSZ: ended, nothing was written\n";
    (void)signal_number;
    (void)context;
    if (info->si_code == SI_USER && info->si_pid == getpid()) return;
    abandon_outputs();
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(CLI_OUTPUT);
}

/* What ends a program by default: unfinished files are removed first. What the parent ignores
 * (nohup) stays ignored. */
static void set_signals(void)
{
    static const int ends[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGXCPU,
                                SIGALRM, SIGUSR1, SIGUSR2, SIGXFSZ };
    struct sigaction on_bus = { .sa_handler = on_bus_error }, before;
    sigaction(SIGBUS, &on_bus, NULL);
    /* `| head` ends us quietly, also below a parent that ignores the signal */
    struct sigaction pipe = { .sa_handler = on_pipe };
    sigaction(SIGPIPE, &pipe, NULL);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct sigaction end = { .sa_handler = on_end };
        if (ends[i] == SIGXFSZ) {
            end.sa_flags = SA_SIGINFO;
            end.sa_sigaction = on_file_size;
        }
        sigfillset(&end.sa_mask);
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ends[i], &end, NULL);
    }
}

static bool stdout_takes_colours(void)
{
    const char *off = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(off && *off) && term && strcmp(term, "dumb") != 0;
}

void cli_out_start(cli *c)
{
    /* A closed 0, 1 or 2 would be given to the next file that is opened, and our text would go into
     * it. /dev/null opened the wrong way round keeps the number and still fails as a closed one. */
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    set_signals();
    cli_say_start();
    c->colours = stdout_takes_colours();
}

int cli_out_finish(const cli *c, int code)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) != 0) failed = true;
    int why = errno;
    if (close(STDOUT_FILENO) != 0 && !failed) {
        failed = true;
        why = errno;
    }
    if (!failed || code == CLI_OUTPUT) return code; /* else it has been said */
    return cli_say_fail(c, CLI_OUTPUT, "cannot write to standard output%s%s", why ? ": " : "",
                        why ? strerror(why) : "");
}

const char *cli_plain(const cli *c)
{
    return c->colours ? "\033[0m" : "";
}

const char *cli_bold(const cli *c)
{
    return c->colours ? "\033[1m" : "";
}

const char *cli_dim(const cli *c)
{
    return c->colours ? "\033[2m" : "";
}

const char *cli_red(const cli *c)
{
    return c->colours ? "\033[31m" : "";
}

const char *cli_green(const cli *c)
{
    return c->colours ? "\033[32m" : "";
}

int cli_binary_ok(const cli *c, const char *path)
{
    int fd = fileno(cli_outputs_stdout(c));
    if (!cli_is_stdout(path)) {
        wte_writer *writer;
        const int code = cli_outputs_writer(c, path, &writer);
        if (code) return code;
        fd = wte_writer_fd(writer);
    }
    if (!isatty(fd)) return CLI_DONE;
    return cli_usage(c, "binary is not written to a terminal; give -o FILE, or redirect");
}

int cli_sink_open(const cli *c, const char *path, cli_sink *out)
{
    *out = (cli_sink){ .stream = cli_outputs_stdout(c), .path = path };
    if (cli_is_stdout(path)) return CLI_DONE;
    const int code = cli_outputs_writer(c, path, &out->writer);
    if (code) return code;
    int fd = dup(wte_writer_fd(out->writer)); /* the writer keeps its own, to sync */
    out->stream = fd < 0 ? NULL : fdopen(fd, "wb");
    if (out->stream) return CLI_DONE;
    int why = errno;
    if (fd >= 0) close(fd);
    out->writer = NULL;
    return cli_say_fail(c, CLI_OUTPUT, "%s: %s", path, strerror(why));
}

int cli_sink_put(const cli *c, const cli_sink *sink, const void *data, size_t bytes)
{
    if (!bytes || fwrite(data, 1, bytes, sink->stream) == bytes) return CLI_DONE;
    return cli_say_fail(c, CLI_OUTPUT, "%s: cannot write: %s",
                        sink->writer ? sink->path : "standard output", strerror(errno));
}

int cli_sink_close(const cli *c, cli_sink *sink, int code)
{
    if (!sink->writer) return code;
    errno = 0;
    bool failed = ferror(sink->stream) != 0;
    if (fclose(sink->stream) != 0) failed = true;
    if (failed && !code)
        code = cli_say_fail(c, CLI_OUTPUT, "%s: cannot write%s%s", sink->path, errno ? ": " : "",
                            errno ? strerror(errno) : "");
    code = cli_check_models(c, code);
    if (!code) {
        wte_error err;
        wte_status status = wte_writer_commit(sink->writer, &err);
        if (status != WTE_OK) code = cli_fail(c, status, CLI_SIDE_OUTPUT, &err);
    }
    sink->writer = NULL; /* c->outputs owns it */
    return code;
}

int cli_pool(cli *c, wte_pool **out)
{
    *out = c->pool;
    if (c->pool) return CLI_DONE;
    uint64_t threads; /* checked by cli_parse; 0 = one per core */
    cli_unsigned(c, "threads", 0, &threads);
    wte_error err;
    wte_status status = wte_pool_create((uint32_t)threads, &c->pool, &err);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_TYPED, &err);
    *out = c->pool;
    const uint32_t made = wte_pool_n_threads(c->pool);
    if (made < threads)
        cli_note(c,
                 "%" PRIu64 " threads wanted, but the system starts only %" PRIu32 "; using those",
                 threads, made);
    return CLI_DONE;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#define BAR_AFTER_MS 2000
#define BAR_EVERY_MS 100
#define BAR_COLUMNS  40

static bool show_progress(void *ctx, uint64_t done, uint64_t total)
{
    cli_progress *p = ctx;
    if (!p->wanted) return true;
    int64_t now = now_ms();
    if (now - p->started_ms < BAR_AFTER_MS || now - p->last_ms < BAR_EVERY_MS) return true;
    p->last_ms = now;
    p->shown = true;
    double part = total ? (double)done / (double)total : 0;
    int filled = (int)(part * BAR_COLUMNS);
    fprintf(stderr, "\r%s [%.*s%*s] %3d%%", p->label, filled,
            "########################################", BAR_COLUMNS - filled, "",
            (int)(part * 100));
    fflush(stderr);
    return true;
}

const wte_progress *cli_progress_start(cli_progress *p, const cli *c, const char *label)
{
    p->callback.report = show_progress;
    p->callback.ctx = p;
    p->label = label;
    p->wanted = !c->quiet && isatty(STDERR_FILENO);
    p->shown = false;
    p->started_ms = now_ms();
    p->last_ms = 0;
    return &p->callback;
}

void cli_progress_stop(cli_progress *p)
{
    if (p->shown) fputs("\r\033[K", stderr);
    p->shown = false;
}
