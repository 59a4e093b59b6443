/* Which files a path stands for: a file as it is, or a directory laid out as one of the known kinds
 * of model. A directory may only lead to the one that holds the model: the cache of a hub to a
 * snapshot, a diffusion pipeline to its text encoder. */
#include "model/resolve_path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "format/parallel.h"

#define STATIC_FOLDER "0_StaticEmbedding"

/* Files that are a model's weights by their names, or that say what the folder is. */
enum {
    INDEX,
    SINGLE,
    ADAPTER,
    MISTRAL_INDEX,
    TORCH_INDEX,
    TORCH_SINGLE,
    TORCH_ADAPTER,
    ADAPTER_CONFIG,
    PIPELINE,
    SPACY_VECTORS,
    SPACY_KEYS,
    TENSORS_TSV,
    VECTORS_TSV,
    N_KNOWN
};
static const char *const known_names[N_KNOWN] = {
    [INDEX] = "model.safetensors.index.json",
    [SINGLE] = "model.safetensors",
    [TORCH_INDEX] = "pytorch_model.bin.index.json",
    [TORCH_SINGLE] = "pytorch_model.bin",
    [ADAPTER] = "adapter_model.safetensors",
    [TORCH_ADAPTER] = "adapter_model.bin",
    [ADAPTER_CONFIG] = "adapter_config.json",
    [PIPELINE] = "model_index.json",
    [MISTRAL_INDEX] = "consolidated.safetensors.index.json",
    [SPACY_VECTORS] = "vectors",
    [SPACY_KEYS] = "key2row",
    [TENSORS_TSV] = "tensors.tsv",
    [VECTORS_TSV] = "vectors.tsv",
};
/* Endings of files that are taken when there is one of them alone. */
static const char *const alone_endings[] = { ".npy",  ".npz", ".pt",     ".pth",
                                             ".ckpt", ".vec", ".vec.gz", ".ftz" };

/* Kinds that are not read. Where there is nothing else such a file is opened all the same: from its
 * content it is told what it is. */
static const char *const foreign_endings[] = { ".onnx",   ".h5", ".keras", ".msgpack",
                                               ".tflite", ".pb", ".index" };

/* What a directory holds, as far as it matters here. */
struct listing {
    /* files of that kind; alone: of any kind that stands for a model only when there is no other */
    uint64_t safetensors, gguf, alone; /* GGUF: models, each in one file or several */
    char first_safetensors[256], second_safetensors[256], first_gguf[256], second_gguf[256];
    char first_alone[256],
        first_foreign[256]; /* the latter by name, whatever the order of listing */
    uint64_t parts;         /* files that are parts of a model, and the first of them by name */
    char first_part[256];
    char first_rank[256]; /* the first folder of such a part, mp_rank_00 */
    uint64_t layers;      /* parts of other layers or stages than the first one's are */
    bool known[N_KNOWN];
    uint64_t files;
    char names[160]; /* the first few, for a message */
    size_t used;
};

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n > k && strcmp(name + n - k, end) == 0;
}

static void keep_name(char *to, size_t cap, const char *name)
{
    snprintf(to, cap, "%.*s", (int)cap - 1, name);
}

/* "x-00002-of-00003.gguf": found through the first part, which sorts before it. */
static bool is_later_part(const char *name)
{
    static const char shape[] = "-00000-of-00000.gguf";
    size_t n = strlen(name), k = sizeof shape - 1;
    if (n <= k) return false;
    const char *tail = name + n - k;
    for (size_t i = 0; i < k; i++) {
        const bool digit = tail[i] >= '0' && tail[i] <= '9';
        if (shape[i] == '0' ? !digit : tail[i] != shape[i]) return false;
    }
    return memcmp(tail, "-00001", 6) != 0;
}

/* Of parts the first by name is kept, whatever the order of listing. Those that differ in more than
 * their number are of another layer, or of another stage. */
static void visit_part(struct listing *l, const char *name)
{
    wte__parallel_name part;
    const bool file = wte__parallel_base(name, false, &part);
    if (!file && !wte__parallel_base(name, true, &part)) return;
    char *first = file ? l->first_part : l->first_rank;
    l->parts += file;
    if (part.other_digits && !part.scheme->files &&
        strspn(name + part.other_at, "0") < part.other_digits)
        l->layers++;
    if (!first[0] || strcmp(name, first) < 0) keep_name(first, 256, name);
}

static bool visit(void *ctx, const char *name)
{
    struct listing *l = ctx;
    char shown[WTE__NAME_SHOWN];
    if (l->used < sizeof l->names) {
        int n = snprintf(l->names + l->used, sizeof l->names - l->used, "%s%.40s",
                         l->files ? ", " : "", wte__show(shown, name, strlen(name)));
        l->used += n > 0 ? (size_t)n : 0;
    }
    l->files++;
    for (size_t i = 0; i < N_KNOWN; i++)
        if (strcmp(name, known_names[i]) == 0) l->known[i] = true;
    if (ends_with(name, ".safetensors")) {
        if (l->safetensors == 0) keep_name(l->first_safetensors, 256, name);
        if (l->safetensors == 1) keep_name(l->second_safetensors, 256, name);
        l->safetensors++;
    }
    if (ends_with(name, ".gguf") && !is_later_part(name)) {
        if (l->gguf == 0) keep_name(l->first_gguf, 256, name);
        if (l->gguf == 1) keep_name(l->second_gguf, 256, name);
        l->gguf++;
    }
    visit_part(l, name);
    for (size_t i = 0; i < sizeof alone_endings / sizeof alone_endings[0]; i++)
        if (ends_with(name, alone_endings[i]) && l->alone++ == 0)
            keep_name(l->first_alone, 256, name);
    for (size_t i = 0; i < sizeof foreign_endings / sizeof foreign_endings[0]; i++)
        if (ends_with(name, foreign_endings[i]) &&
            (!l->first_foreign[0] || strcmp(name, l->first_foreign) < 0))
            keep_name(l->first_foreign, 256, name);
    return true;
}

wte_file_use wte__resolve_use(const char *name)
{
    struct listing l;
    memset(&l, 0, sizeof l);
    (void)visit(&l, name);
    bool weights = l.safetensors || ends_with(name, ".gguf") || l.first_part[0];
    for (size_t i = 0; i < N_KNOWN; i++) weights |= l.known[i];
    if (weights) return WTE_FILE_USE_WEIGHTS;
    return l.alone || l.first_foreign[0] ? WTE_FILE_USE_ALONE : WTE_FILE_USE_NONE;
}

static wte_status too_long(const char *path, wte_error *err)
{
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "%.100s: path is longer than %u bytes",
                     path, WTE_LIMIT_PATH - 1);
}

/* A static model of sentence-transformers keeps its table one folder below, as spaCy does. */
static wte_status find_static_folder(const char *dir, char *out, const char **name, wte_error *err)
{
    static const char *const places[][2] = {
        { STATIC_FOLDER, "model.safetensors" },
        { "0_WordEmbeddings", "model.safetensors" },
        { "0_WordEmbeddings", "pytorch_model.bin" },
        { "vocab", "vectors" },
    };
    char folder[WTE_LIMIT_PATH], file[WTE_LIMIT_PATH];
    *name = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bool there;
        if (!wte__path_join(folder, dir, places[i][0]) ||
            !wte__path_join(file, folder, places[i][1]))
            return WTE_OK;
        WTE_TRY(wte__path_optional(file, &there, NULL, err));
        if (!there) continue;
        memcpy(out, folder, strlen(folder) + 1);
        *name = places[i][1];
        return WTE_OK;
    }
    return WTE_OK;
}

static wte_status several(const char *dir, uint64_t n, const char *what, const char *first,
                          const char *second, wte_error *err)
{
    char one[WTE__NAME_SHOWN], two[WTE__NAME_SHOWN];
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: %" PRIu64 " %s: name one of '%.60s', '%.60s'%s", dir, n, what,
                     wte__show(one, first, strlen(first)), wte__show(two, second, strlen(second)),
                     n > 2 ? ", ..." : "");
}

/* Layers or stages in files of their own: the token table is in the first, the head in the last. */
static wte_status several_layers(const char *dir, const char *first, const char *what,
                                 wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                     "%s: its %s are in parts of their own, which are not joined: name '%.80s' for "
                     "the token table (its parts are), the last one for the head",
                     dir, what, wte__show(shown, first, strlen(first)));
}

/* The first weights in a folder, by the order of docs/roles.md; NULL: none, *status says if that is
 * an error of its own. */
static const char *weights_in(const struct listing *l, const char *dir, wte_status *status,
                              wte_error *err)
{
    if (l->known[INDEX] || l->known[SINGLE]) return known_names[l->known[INDEX] ? INDEX : SINGLE];
    if (l->known[ADAPTER] && l->known[ADAPTER_CONFIG]) return known_names[ADAPTER];
    if (l->known[MISTRAL_INDEX]) return known_names[MISTRAL_INDEX];
    if (l->safetensors == 1) return l->first_safetensors;
    if (l->safetensors > 1 && l->safetensors == l->parts) return l->first_part;
    if (l->safetensors > 1) {
        *status = several(dir, l->safetensors, "safetensors files and no index",
                          l->first_safetensors, l->second_safetensors, err);
        return NULL;
    }
    for (size_t i = TORCH_INDEX; i <= TORCH_ADAPTER; i++)
        if (l->known[i]) return known_names[i];
    if (l->first_part[0] && l->layers) {
        *status = several_layers(dir, l->first_part, "layers", err);
        return NULL;
    }
    if (l->first_part[0]) return l->first_part;
    if (l->known[SPACY_VECTORS] && l->known[SPACY_KEYS]) return known_names[SPACY_VECTORS];
    if (l->gguf == 1) return l->first_gguf;
    if (l->gguf > 1)
        *status = several(dir, l->gguf, "GGUF models", l->first_gguf, l->second_gguf, err);
    if (l->gguf || l->alone > 1) return NULL;
    if (l->alone) return l->first_alone;
    for (size_t i = TENSORS_TSV; i <= VECTORS_TSV; i++)
        if (l->known[i]) return known_names[i];
    return l->first_foreign[0] ? l->first_foreign : NULL;
}

static wte_status place_in_folder(wte__resolved_path *p, const char *dir, const struct listing *l,
                                  wte_error *err)
{
    wte_status status = WTE_OK;
    if (!wte__path_join(p->side, dir, "")) return too_long(dir, err);
    const bool direct = l->known[INDEX] || l->known[SINGLE] || l->safetensors;
    const char *below = NULL;
    if (!direct) WTE_TRY(find_static_folder(dir, p->side, &below, err));
    if (below) return wte__path_join(p->weights, p->side, below) ? WTE_OK : too_long(dir, err);
    const char *weights = weights_in(l, dir, &status, err);
    if (weights) return wte__path_join(p->weights, dir, weights) ? WTE_OK : too_long(dir, err);
    if (status != WTE_OK) return status;
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: no weights that can be read here (safetensors, PyTorch, GGUF, one .npy, "
                     ".npz, .vec or .ftz); it holds %s%s",
                     dir, l->files ? l->names : "nothing", l->used >= sizeof l->names ? "..." : "");
}

/* Folders that lead on ------------------------------------------------------------------------- */

/* Names of the folders in one, of a kind. */
struct choice {
    const char *parent, *start; /* names that begin so */
    uint64_t n;
    char first[256];
    char names[200]; /* the first few */
    size_t used;
    wte_status status; /* of looking at them */
    wte_error *err;
};

static bool visit_choice(void *ctx, const char *name)
{
    struct choice *c = ctx;
    char path[WTE_LIMIT_PATH], shown[WTE__NAME_SHOWN];
    bool folder;
    if (strncmp(name, c->start, strlen(c->start)) != 0 || !wte__path_join(path, c->parent, name))
        return true;
    c->status = wte__path_folder(path, &folder, c->err);
    if (c->status != WTE_OK || !folder) return c->status == WTE_OK;
    if (c->n++ == 0) keep_name(c->first, sizeof c->first, name);
    if (c->used < sizeof c->names) {
        const int n = snprintf(c->names + c->used, sizeof c->names - c->used, "%s%.60s",
                               c->used ? ", " : "", wte__show(shown, name, strlen(name)));
        c->used += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static wte_status list_choice(struct choice *c, const char *parent, const char *start,
                              wte_error *err)
{
    memset(c, 0, sizeof *c);
    c->parent = parent;
    c->start = start;
    c->err = err;
    WTE_TRY(wte__path_list(parent, visit_choice, c, err));
    return c->status;
}

/* The revision that refs/main names, when its snapshot is there; else "". */
static wte_status read_ref(const char *dir, const char *snapshots, const wte_allocator *allocator,
                           char revision[256], wte_error *err)
{
    char path[WTE_LIMIT_PATH], *text = NULL;
    uint64_t bytes = 0;
    revision[0] = '\0';
    if (!wte__path_join(path, dir, "refs/main")) return too_long(dir, err);
    bool there;
    WTE_TRY(wte__path_optional(path, &there, &bytes, err));
    if (!there || bytes >= 256) return WTE_OK;
    WTE_TRY(wte__file_load(path, 256, WTE__FIXED_LIMIT, allocator, &text, &bytes, err));
    const size_t n = strcspn(text, " \t\r\n/"); /* a slash would lead elsewhere */
    const bool name = n > 0 && text[0] != '.' && text[n] != '/';
    if (name) snprintf(revision, 256, "%.*s", (int)n, text);
    wte__free(allocator, text, (size_t)bytes + 1);
    if (!wte__path_join(path, snapshots, revision)) return too_long(dir, err);
    WTE_TRY(wte__path_folder(path, &there, err));
    if (!there) revision[0] = '\0';
    return WTE_OK;
}

/* A hub's cache: models--org--name/snapshots/<revision>, full of links to blobs. */
static wte_status enter_cache(wte__resolved_path *p, char dir[WTE_LIMIT_PATH],
                              const wte_allocator *allocator, wte_error *err)
{
    char snapshots[WTE_LIMIT_PATH], next[WTE_LIMIT_PATH], revision[256];
    struct choice c;
    if (!wte__path_join(snapshots, dir, "snapshots")) return too_long(dir, err);
    bool there;
    WTE_TRY(wte__path_folder(snapshots, &there, err));
    if (!there) return WTE_OK;
    WTE_TRY(list_choice(&c, snapshots, "", err));
    if (c.n == 0) return WTE_OK;
    WTE_TRY(read_ref(dir, snapshots, allocator, revision, err));
    const bool named = revision[0] != '\0';
    if (!named && c.n > 1)
        return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: %" PRIu64 " snapshots, and refs/main names none of them: name one of "
                         "snapshots/ %s%s",
                         dir, c.n, c.names, c.used >= sizeof c.names ? "..." : "");
    if (!named) memcpy(revision, c.first, sizeof revision);
    if (!wte__path_join(next, snapshots, revision)) return too_long(dir, err);
    memcpy(dir, next, sizeof next);
    char shown[WTE__NAME_SHOWN];
    snprintf(p->note, sizeof p->note, "snapshot %.64s of a hub's cache, %s",
             wte__show(shown, revision, strlen(revision)),
             named ? "which refs/main names" : "the only one");
    return WTE_OK;
}

#define ENCODER   "text_encoder"
#define TOKENIZER "tokenizer"

/* A diffusion pipeline: one folder for each part, and the text encoders are those with a table. */
static wte_status enter_pipeline(wte__resolved_path *p, char dir[WTE_LIMIT_PATH], wte_error *err)
{
    char next[WTE_LIMIT_PATH];
    struct choice c;
    WTE_TRY(list_choice(&c, dir, ENCODER, err));
    if (c.n == 0) return WTE_OK;
    if (!wte__path_join(next, dir, c.first)) return too_long(dir, err);
    char shown[WTE__NAME_SHOWN];
    const size_t used = strlen(p->note);
    snprintf(p->note + used, sizeof p->note - used, "%s%.60s of a diffusion pipeline%s%s%s",
             used ? "; " : "", wte__show(shown, c.first, strlen(c.first)),
             c.n > 1 ? "; it has " : "", c.n > 1 ? c.names : "",
             c.n > 1 ? ": name such a folder to open it" : "");
    memcpy(dir, next, sizeof next);
    return WTE_OK;
}

/* text_encoder_2 has its tokenizer in ../tokenizer_2. */
static wte_status find_tokenizer(wte__resolved_path *p, wte_error *err)
{
    char parent[WTE_LIMIT_PATH], name[WTE_LIMIT_PATH];
    size_t n = strlen(p->side);
    while (n > 1 && p->side[n - 1] == '/') n--;
    memcpy(parent, p->side, n);
    parent[n] = '\0';
    const char *base = wte__path_base(parent), *number = base + sizeof ENCODER - 1;
    if (strncmp(base, ENCODER, sizeof ENCODER - 1) != 0) return WTE_OK;
    const int used = snprintf(name, sizeof name, TOKENIZER "%s", number);
    parent[base - parent] = '\0';
    bool there = false;
    if (used > 0 && used < (int)sizeof name && wte__path_join(p->vocab, parent, name))
        WTE_TRY(wte__path_folder(p->vocab, &there, err));
    if (!there) p->vocab[0] = '\0';
    return WTE_OK;
}

/* Megatron's folder: one folder for each part, of which the first stands for all. */
static wte_status enter_rank(char dir[WTE_LIMIT_PATH], struct listing *l, wte_error *err)
{
    char next[WTE_LIMIT_PATH];
    bool folder;
    const bool other = l->safetensors || l->gguf || l->alone || l->first_part[0];
    if (!l->first_rank[0] || other) return WTE_OK;
    if (!wte__path_join(next, dir, l->first_rank)) return too_long(dir, err);
    WTE_TRY(wte__path_folder(next, &folder, err));
    if (!folder) return WTE_OK;
    if (l->layers) return several_layers(dir, l->first_rank, "stages", err);
    memcpy(dir, next, sizeof next);
    memset(l, 0, sizeof *l);
    return wte__path_list(dir, visit, l, err);
}

static wte_status place_in_directory(wte__resolved_path *p, const char *path,
                                     const wte_allocator *allocator, wte_error *err)
{
    char dir[WTE_LIMIT_PATH];
    struct listing l;
    if (snprintf(dir, sizeof dir, "%s", path) >= (int)sizeof dir) return too_long(path, err);
    WTE_TRY(enter_cache(p, dir, allocator, err));
    memset(&l, 0, sizeof l);
    WTE_TRY(wte__path_list(dir, visit, &l, err));
    if (l.known[PIPELINE]) {
        WTE_TRY(enter_pipeline(p, dir, err));
        memset(&l, 0, sizeof l);
        WTE_TRY(wte__path_list(dir, visit, &l, err));
    }
    WTE_TRY(enter_rank(dir, &l, err));
    return place_in_folder(p, dir, &l, err);
}

wte_status wte__resolve_path(wte__resolved_path *p, const char *path,
                             const wte_allocator *allocator, wte_error *err)
{
    bool is_folder;
    p->vocab[0] = p->note[0] = '\0';
    if (strlen(path) >= WTE_LIMIT_PATH) return too_long(path, err);
    WTE_TRY(wte__path_folder(path, &is_folder, err));
    if (is_folder) {
        WTE_TRY(place_in_directory(p, path, allocator, err));
    } else {
        const size_t folder = (size_t)(wte__path_base(path) - path);
        memcpy(p->weights, path, strlen(path) + 1);
        memcpy(p->side, path, folder);
        memcpy(p->side + folder, folder ? "" : ".", folder ? 1 : 2);
    }
    return find_tokenizer(p, err);
}
