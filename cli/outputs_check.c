/* What an output must not replace: a file that is read, a file of a model's folder, another output,
 * a model that another program made. */
#include "outputs_check.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wte/corpus.h>

#include "out.h"

/* A model's folder is looked through so far; models have some thirty files, in two levels. */
#define DEEPEST 6
#define ENTRIES 100000u

/* One file that is read, or that is next to what is read. */
static int check_file(const cli *c, const cli_file_id *input, const char *path, const char *what)
{
    const cli_outputs *o = c->outputs;
    for (size_t i = 0; i < o->n; i++)
        if (!o->list[i].id.character && cli_file_id_same(&o->list[i].id, input))
            return cli_usage(c, "--%s '%s' would replace '%s', %s; name another file",
                             o->list[i].option->name, o->list[i].path, path, what);
    return CLI_DONE;
}

static int check_path(const cli *c, const char *path)
{
    const cli_file_id id =
        strcmp(path, "-") == 0 ? cli_file_id_of_descriptor(STDIN_FILENO) : cli_file_id_of(path);
    return id.exists && !id.folder ? check_file(c, &id, path, "which is read") : CLI_DONE;
}

/* Models --------------------------------------------------------------------------------------- */

typedef struct walk {
    const cli *c;
    const char *model;
    bool sides_alone; /* only files that are read next to weights count; no folders below */
    size_t seen;
} walk;

/* A name that is not taken yet, but from which the model would be read the next time. */
static int check_new_names(const walk *w, const cli_file_id *folder, bool has_weights)
{
    const cli *c = w->c;
    const cli_outputs *o = c->outputs;
    for (size_t i = 0; i < o->n; i++) {
        const cli_output *out = &o->list[i];
        const wte_file_use use = wte_model_file_use(out->id.base ? out->id.base : "");
        if (out->id.exists || !cli_file_id_same(&out->parent, folder)) continue;
        if (use == WTE_FILE_USE_SIDE || (use == WTE_FILE_USE_WEIGHTS && !w->sides_alone) ||
            (use == WTE_FILE_USE_ALONE && !w->sides_alone && !has_weights))
            return cli_usage(c,
                             "--%s '%s' would become a part of the model '%s', which is read; "
                             "name another file or folder",
                             out->option->name, out->path, w->model);
    }
    return CLI_DONE;
}

static int visit(walk *w, const char *folder, const char *name, int depth, char ***below,
                 size_t *n_below)
{
    char path[4096];
    const size_t n = strlen(folder);
    const int used =
        snprintf(path, sizeof path, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
    if (used < 0 || used >= (int)sizeof path) return CLI_DONE;
    const cli_file_id id = cli_file_id_of(path);
    if (!id.exists) return CLI_DONE;
    if (!id.folder)
        return w->sides_alone && wte_model_file_use(name) != WTE_FILE_USE_SIDE
                   ? CLI_DONE
                   : check_file(w->c, &id, path, "a file of the model that is read");
    if (w->sides_alone || depth >= DEEPEST) return CLI_DONE;
    char **more = realloc(*below, (*n_below + 1) * sizeof *more);
    if (!more) return cli_say_fail(w->c, CLI_OUTPUT, "out of memory");
    *below = more;
    more[*n_below] = strdup(path);
    if (!more[*n_below]) return cli_say_fail(w->c, CLI_OUTPUT, "out of memory");
    ++*n_below;
    return CLI_DONE;
}

static int walk_folder(walk *w, const char *folder, int depth, char ***below, size_t *n_below)
{
    const cli_file_id id = cli_file_id_of(folder);
    bool has_weights = false;
    int code = CLI_DONE;
    DIR *list = opendir(folder); /* a folder that cannot be read is reported when it is opened */
    if (!list) return CLI_DONE;
    for (const struct dirent *e; !code && w->seen < ENTRIES && (e = readdir(list)); w->seen++) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        has_weights |= wte_model_file_use(e->d_name) == WTE_FILE_USE_WEIGHTS;
        code = visit(w, folder, e->d_name, depth, below, n_below);
    }
    closedir(list);
    return code ? code : check_new_names(w, &id, has_weights);
}

/* All folders below, level by level. */
static int check_folder(const cli *c, const char *model)
{
    walk w = { .c = c, .model = model };
    char **level = NULL, **next = NULL;
    size_t n = 0, n_next = 0;
    int code = walk_folder(&w, model, 0, &level, &n);
    for (int depth = 1; n > 0; depth++) {
        for (size_t i = 0; i < n; i++) {
            if (!code) code = walk_folder(&w, level[i], depth, &next, &n_next);
            free(level[i]);
        }
        free(level);
        level = next;
        n = n_next;
        next = NULL;
        n_next = 0;
    }
    free(level);
    return code;
}

/* A file of weights, and what is read next to it. The other files of a model in several parts are
 * known when it is open: cli_outputs_check_model. */
static int check_weights(const cli *c, const char *path)
{
    walk w = { .c = c, .model = path, .sides_alone = true };
    char folder[4096];
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    const int code = check_path(c, path);
    if (code || n >= sizeof folder) return code;
    memcpy(folder, path, n);
    memcpy(folder + n, n ? "" : ".", n ? 1 : 2);
    return walk_folder(&w, folder, DEEPEST, NULL, NULL);
}

static int check_model(const cli *c, const char *path)
{
    const cli_file_id id = cli_file_id_of(path);
    if (strcmp(path, "demo") == 0 || !id.exists) return CLI_DONE;
    return id.folder ? check_folder(c, path) : check_weights(c, path);
}

int cli_outputs_check_model(const cli *c, const wte_model *m)
{
    const wte_file *file = wte_model_file(m);
    const wte_model_config *config = wte_model_config_of(m);
    const wte_vocab *vocab = wte_model_vocab(m);
    int code = CLI_DONE;
    if (!c->outputs) return CLI_DONE;
    for (uint32_t i = 0; file && i < wte_file_n_shards(file) && !code; i++)
        code = check_path(c, wte_file_shard_path(file, i));
    if (!code && config && *config->path) code = check_path(c, config->path);
    if (!code && vocab) code = check_path(c, wte_vocab_path(vocab));
    return code;
}

/* Outputs -------------------------------------------------------------------------------------- */

static int check_pair(const cli *c, const cli_output *a, const cli_output *b)
{
    if (a->id.character || !cli_file_id_same(&a->id, &b->id)) return CLI_DONE;
    if (a->option == b->option)
        return cli_usage(c, "--%s: '%s' and '%s' are one file", a->option->name, a->path, b->path);
    return cli_usage(c, "--%s and --%s both name '%s'", a->option->name, b->option->name, b->path);
}

/* stdout was redirected to the file that an output is to replace: one of them would be lost. */
static int check_stdout(const cli *c, const cli_output *out)
{
    const cli_file_id id = cli_file_id_of_descriptor(STDOUT_FILENO);
    if (cli_is_stdout(out->path) || !cli_is_file(out->path) || !cli_file_id_same(&out->id, &id))
        return CLI_DONE;
    return cli_usage(c, "--%s and standard output both go to '%s'", out->option->name, out->path);
}

static bool is_own(const cli *c, const char *name)
{
    for (const char *const *own = c->command->files; *own; own++)
        if (strcmp(*own, name) == 0) return true;
    return false;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), k = strlen(end);
    return n > k && strcmp(name + n - k, end) == 0;
}

/* A file that would be read in place of what is written, or together with it. */
static bool is_in_the_way(const cli *c, const char *name)
{
    return !is_own(c, name) && (wte_model_file_use(name) == WTE_FILE_USE_SIDE ||
                                ends_with(name, ".safetensors.index.json"));
}

/* A folder to be written may hold what this command made before, and files that are not a model's.
 * What has begun is found by its checkpoint, which the trainers know themselves. */
static int check_target(const cli *c, const char *folder)
{
    bool ours;
    wte_error err;
    int code = CLI_DONE;
    const struct dirent *e;
    DIR *list = opendir(folder);
    if (!list && errno == ENOENT) return CLI_DONE;
    if (!list) return cli_say_fail(c, CLI_OUTPUT, "%s: %s", folder, strerror(errno));
    const wte_status status = wte_folder_is_trained(folder, &ours, &err);
    if (status != WTE_OK) code = cli_fail(c, status, CLI_OUTPUT, &err);
    while (!code) {
        errno = 0;
        e = readdir(list);
        if (!e) break;
        const char *name = e->d_name;
        const wte_file_use use = wte_model_file_use(name);
        if (ours ? is_in_the_way(c, name)
                 : use == WTE_FILE_USE_SIDE || use == WTE_FILE_USE_WEIGHTS ||
                       (is_own(c, name) && strcmp(name, "checkpoint") != 0))
            code = cli_usage(c,
                             ours ? "--output '%s' holds '%s', which would be read with the new "
                                    "model; remove it, or name another folder"
                                  : "--output '%s' holds '%s', which wte %s did not make; name "
                                    "another folder",
                             folder, name, c->command->name);
    }
    if (!code && errno) code = cli_say_fail(c, CLI_OUTPUT, "%s: %s", folder, strerror(errno));
    closedir(list);
    return code;
}

static int check_own_folder(const cli *c, const cli_output *out)
{
    const char *base = out->id.base ? out->id.base : "";
    for (int i = 0; i < c->n_values; i++) {
        if (c->values[i].option->kind != CLI_WRITE_FOLDER || c->values[i].option == out->option)
            continue;
        const cli_file_id folder = cli_file_id_of(c->values[i].text);
        if (cli_file_id_same(&folder, &out->parent) && is_in_the_way(c, base))
            return cli_usage(c, "--%s '%s' would be read as a part of the new model; name it else",
                             out->option->name, out->path);
    }
    return CLI_DONE;
}

static int check_outputs(const cli *c)
{
    cli_outputs *o = c->outputs;
    int code = CLI_DONE;
    for (int i = 0; i < c->n_values && !code; i++)
        if (c->values[i].option->kind == CLI_WRITE_FOLDER)
            code = check_target(c, c->values[i].text);
    for (size_t i = 0; i < o->n; i++) {
        cli_output *out = &o->list[i];
        out->id = cli_is_stdout(out->path) ? cli_file_id_of_descriptor(STDOUT_FILENO)
                                           : cli_file_id_of(out->path);
        out->parent = cli_file_id_parent(out->path);
    }
    for (size_t i = 0; i < o->n && !code; i++) {
        code = check_stdout(c, &o->list[i]);
        if (!code) code = check_own_folder(c, &o->list[i]);
        for (size_t k = 0; k < i && !code; k++) code = check_pair(c, &o->list[k], &o->list[i]);
    }
    return code;
}

static int check_input(const cli *c, cli_kind kind, const char *path)
{
    if (kind == CLI_READ_MODEL) return check_model(c, path);
    return kind == CLI_READ_FILE ? check_path(c, path) : CLI_DONE;
}

int cli_outputs_check(cli *c)
{
    const cli_command *command = c->command;
    const int paths = command->paths < 0 ? c->n_words : command->paths;
    int code = check_outputs(c);
    for (int i = 0; i < c->n_words && i < paths && !code; i++)
        code = check_input(c, command->path_kind, c->words[i]);
    for (int i = 0; i < c->n_values && !code; i++)
        if (c->values[i].text) code = check_input(c, c->values[i].option->kind, c->values[i].text);
    return code;
}
