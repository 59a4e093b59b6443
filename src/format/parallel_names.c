/* The names that parts of a model have, one line for each program that writes them. */
#include <inttypes.h>

#include "base/file.h"
#include "base/limits.h"
#include "format/parallel.h"

static const wte__parallel_scheme schemes[] = {
    { .pattern = "consolidated.@.pth", .digits = 2, .writer = "Llama" },
    { .pattern = "rank@.safetensors", .digits = 1, .safetensors = true, .writer = "TensorRT-LLM" },
    { .pattern = "model-rank-@-part-#.safetensors",
      .digits = 1,
      .safetensors = true,
      .files = true,
      .by_name = true,
      .writer = "vLLM" },
    { .pattern = "layer_#-model_@-model_states.pt",
      .digits = 2,
      .by_name = true,
      .writer = "GPT-NeoX" },
    { .pattern = "mp_rank_@_model_states.pt", .digits = 2, .by_name = true, .writer = "DeepSpeed" },
    { .pattern = "*-model_part-@.pt", .digits = 1, .by_name = true, .writer = "metaseq" },
    { .pattern = "__@_#.distcp", .digits = 1, .files = true, .refused = true, .writer = "PyTorch" },
    { .pattern = "mp_rank_@",
      .digits = 2,
      .in_folder = true,
      .by_name = true,
      .writer = "Megatron" },
    { .pattern = "mp_rank_@_#",
      .digits = 2,
      .in_folder = true,
      .by_name = true,
      .writer = "Megatron" },
    { .pattern = "mp_rank_@_#_#",
      .digits = 2,
      .in_folder = true,
      .by_name = true,
      .writer = "Megatron" },
    { .pattern = "tp_rank_@_pp_rank_#",
      .digits = 2,
      .in_folder = true,
      .by_name = true,
      .writer = "NeMo" },
};
#define N_SCHEMES (sizeof schemes / sizeof schemes[0])

static size_t count_digits(const char *text, size_t n)
{
    size_t digits = 0;
    while (digits < n && text[digits] >= '0' && text[digits] <= '9') digits++;
    return digits;
}

/* As it is counted, with zeros in front up to s->digits: 00, 01, ... 99, 100. */
static bool read_number(const wte__parallel_scheme *s, const char *text, size_t digits,
                        uint64_t *value)
{
    *value = 0;
    if (digits < s->digits || digits > 9 || (digits > s->digits && text[0] == '0')) return false;
    for (size_t i = 0; i < digits; i++) *value = 10 * *value + (uint64_t)(text[i] - '0');
    return true;
}

/* How much of a name stands for the '*' that a pattern starts with: all before the first place of
 * the literal that follows. */
static size_t skip_any(const char *name, size_t n, const char *pattern)
{
    const size_t literal = strcspn(pattern, "@#");
    for (size_t at = 0; at + literal <= n; at++)
        if (memcmp(name + at, pattern, literal) == 0) return at;
    return n;
}

bool wte__parallel_match(const wte__parallel_scheme *s, const char *name, size_t n,
                         wte__parallel_name *out)
{
    const char *p = s->pattern;
    size_t at = 0;
    memset(out, 0, sizeof *out);
    if (*p == '*') at = skip_any(name, n, ++p);
    for (; *p; p++) {
        const size_t digits = count_digits(name + at, n - at);
        if (*p == '@') {
            if (!read_number(s, name + at, digits, &out->number)) return false;
            out->at = at;
            out->digits = digits;
        } else if (*p == '#') {
            if (digits == 0) return false;
            out->other_at = at;
            out->other_digits = digits;
        } else if (at == n || name[at] != *p) {
            return false;
        }
        at += *p == '@' || *p == '#' ? digits : 1;
    }
    out->scheme = s;
    return at == n;
}

bool wte__parallel_base(const char *name, bool folder, wte__parallel_name *out)
{
    for (size_t i = 0; i < N_SCHEMES; i++)
        if (schemes[i].in_folder == folder &&
            wte__parallel_match(&schemes[i], name, strlen(name), out))
            return true;
    memset(out, 0, sizeof *out);
    return false;
}

/* Where the name of the folder that a path's last name is in begins, and how long it is. */
static size_t folder_name(const char *path, size_t *n)
{
    size_t end = (size_t)(wte__path_base(path) - path);
    while (end > 0 && path[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    *n = end - begin;
    return begin;
}

bool wte__parallel_name_of(const char *path, wte__parallel_name *out)
{
    const char *base = wte__path_base(path);
    size_t n, begin = (size_t)(base - path);
    bool found = wte__parallel_base(base, false, out);
    if (!found) {
        begin = folder_name(path, &n);
        for (size_t i = 0; !found && i < N_SCHEMES; i++)
            found = schemes[i].in_folder && wte__parallel_match(&schemes[i], path + begin, n, out);
    }
    if (!found) {
        memset(out, 0, sizeof *out);
        return false;
    }
    out->base = begin;
    out->at += begin;
    if (out->other_digits) out->other_at += begin;
    return true;
}

bool wte__parallel_path(const char *path, const wte__parallel_name *name, uint64_t number,
                        uint64_t file, char out[WTE_LIMIT_PATH])
{
    const size_t after = name->at + name->digits;
    const int digits = (int)name->scheme->digits;
    int n;
    if (name->scheme->files) /* the other number counts the files of a part */
        n = snprintf(out, WTE_LIMIT_PATH, "%.*s%0*" PRIu64 "%.*s%" PRIu64 "%s", (int)name->at, path,
                     digits, number, (int)(name->other_at - after), path + after, file,
                     path + name->other_at + name->other_digits);
    else
        n = snprintf(out, WTE_LIMIT_PATH, "%.*s%0*" PRIu64 "%s", (int)name->at, path, digits,
                     number, path + after);
    return n > 0 && n < (int)WTE_LIMIT_PATH;
}
