/* Repairs as commands for a shell, with tools that people have: jq for config.json, Python with
 * transformers for tables. Paths are quoted; nothing is run here. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "tools/check.h"

#define COMMAND_BYTES (4 * WTE_LIMIT_PATH)

static bool is_plain(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./+:@%,=";
    return *path && *path != '-' && path[strspn(path, plain)] == '\0';
}

/* What a terminal should not see becomes '?': the command then fails, and does no harm. */
static void quote(char *out, size_t cap, const char *path)
{
    const size_t n = strlen(path);
    size_t used = 0;
    out[used++] = '\'';
    for (size_t at = 0; at < n && used + 8 < cap;) {
        const uint32_t step = wte__utf8_printable((const uint8_t *)path + at, n - at);
        if (path[at] == '\'') {
            memcpy(out + used, "'\\''", 4);
            used += 4;
            at++;
        } else if (path[at] == '\\' || step) {
            const size_t take = step ? step : 1;
            memcpy(out + used, path + at, take);
            used += take;
            at += take;
        } else {
            out[used++] = '?';
            at++;
        }
    }
    out[used++] = '\'';
    out[used] = '\0';
}

const char *wte__repair_word(wte__checking *k, const char *path)
{
    char quoted[COMMAND_BYTES];
    if (is_plain(path)) return wte__arena_text(&k->report->arena, path, strlen(path));
    quote(quoted, sizeof quoted, path);
    return wte__arena_text(&k->report->arena, quoted, strlen(quoted));
}

const char *wte__repair_shell(wte__checking *k, const char *fmt, ...)
{
    char text[COMMAND_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return wte__arena_text(&k->report->arena, text, strlen(text));
}

const char *wte__repair_config(wte__checking *k, const char *key, const char *value)
{
    char beside[WTE_LIMIT_PATH + 8];
    if (!k->config->path[0]) return "";
    const char *path = wte__repair_word(k, k->config->path);
    snprintf(beside, sizeof beside, "%s.new", k->config->path);
    const char *made = path ? wte__repair_word(k, beside) : NULL;
    if (!made) return NULL;
    return wte__repair_shell(k, "jq '.%s = %s' %s > %s && mv %s %s", key, value, path, made, made,
                             path);
}

/* A file without a config is no model that transformers could load: the change of w, its table, is
 * made in the file's own terms. NULL when that cannot be said, or memory is out. */
static const char *repair_file(wte__checking *k, const char *change)
{
    char made[WTE_LIMIT_PATH + 8];
    const wte_format format = k->file ? wte_file_format(k->file) : WTE_FORMAT_UNKNOWN;
    if (format != WTE_FORMAT_NPY && format != WTE_FORMAT_SAFETENSORS) return NULL;
    const char *path = wte_file_part_path(k->file, k->input->part);
    snprintf(made, sizeof made, "%s.fixed", path);
    const char *from = wte__repair_word(k, path), *to = from ? wte__repair_word(k, made) : NULL;
    const char *name = to ? wte__repair_word(k, k->input->name) : NULL;
    if (!name) return NULL;
    if (format == WTE_FORMAT_NPY)
        return wte__repair_shell(
            k,
            "python3 -c 'import sys, numpy, torch; w = torch.from_numpy(numpy.load(sys.argv[1])); "
            "%s; numpy.save(open(sys.argv[2], \"wb\"), w.numpy())' %s %s",
            change, from, to);
    return wte__repair_shell(
        k,
        "python3 -c 'import sys, safetensors.torch as s; d = s.load_file(sys.argv[1]); "
        "w = d[sys.argv[3]]; %s; s.save_file(d, sys.argv[2])' %s %s %s",
        change, from, to, name);
}

/* transformers takes the folder; of a file that is the one it lies in. No slash at the end. */
static void folder_of(char folder[WTE_LIMIT_PATH], const char *path)
{
    snprintf(folder, WTE_LIMIT_PATH, "%s", path);
    size_t n = strlen(folder);
    wte__path_kind kind; /* it was opened, so it is there */
    if (wte__path_look(folder, &kind, NULL, NULL) == WTE_OK && kind == WTE__PATH_FILE)
        n = (size_t)(wte__path_base(folder) - folder);
    while (n > 1 && folder[n - 1] == '/') n--;
    folder[n] = '\0';
    if (n == 0) snprintf(folder, WTE_LIMIT_PATH, ".");
}

/* The class that loads all of the model: what another one leaves out would not be saved again. */
static const char *auto_class(const wte__checking *k)
{
    static const struct {
        const char *end, *loads;
    } classes[] = { { "ForCausalLM", "AutoModelForCausalLM" },
                    { "LMHeadModel", "AutoModelForCausalLM" },
                    { "ForMaskedLM", "AutoModelForMaskedLM" } };
    const size_t n = strlen(k->config->architecture);
    if (k->coder) return "AutoModelForSeq2SeqLM";
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const size_t end = strlen(classes[i].end);
        if (n > end && strcmp(k->config->architecture + n - end, classes[i].end) == 0)
            return classes[i].loads;
    }
    return wte_model_head(k->m) || k->tie.verdict == WTE_TIE_SAME_STORAGE ? "AutoModelForCausalLM"
                                                                          : "AutoModel";
}

const char *wte__repair_model(wte__checking *k, const char *change, ...)
{
    char text[2048], made[WTE_LIMIT_PATH + 8], folder[WTE_LIMIT_PATH];
    va_list ap;
    va_start(ap, change);
    vsnprintf(text, sizeof text, change, ap);
    va_end(ap);
    if (!k->config->path[0] && strncmp(text, "m.", 2) != 0) {
        const char *repair = repair_file(k, text);
        if (repair) return repair;
    }
    folder_of(folder, k->file ? wte_file_part_path(k->file, 0) : wte_model_path(k->m));
    snprintf(made, sizeof made, "%s-fixed", folder);
    const char *from = wte__repair_word(k, folder), *to = from ? wte__repair_word(k, made) : NULL;
    const char *gguf = "";
    const bool is_gguf = k->file && wte_file_format(k->file) == WTE_FORMAT_GGUF;
    if (to && is_gguf) gguf = wte__repair_word(k, wte__path_base(wte_file_part_path(k->file, 0)));
    if (!to || !gguf) return NULL;
    return wte__repair_shell(
        k,
        "python3 -c 'import sys, transformers as t; m = t.%s.from_pretrained(sys.argv[1]%s); "
        "w = m.get_input_embeddings().weight.data; %s; m.save_pretrained(sys.argv[2])' %s %s%s%s",
        auto_class(k), is_gguf ? ", gguf_file=sys.argv[3]" : "", text, from, to, is_gguf ? " " : "",
        gguf);
}

const char *wte__repair_fetch(wte__checking *k)
{
    char folder[WTE_LIMIT_PATH];
    folder_of(folder, wte_model_path(k->m));
    const char *word = wte__repair_word(k, folder);
    if (!word) return NULL;
    return wte__repair_shell(
        k, "huggingface-cli download REPOSITORY --local-dir %s --force-download", word);
}

const char *wte__repair_length(wte__checking *k, const wte_tensor *t, uint64_t length)
{
    char made[WTE_LIMIT_PATH + 8];
    if (wte_file_format(k->file) != WTE_FORMAT_SAFETENSORS) return wte__repair_fetch(k);
    const char *path = wte_file_part_path(k->file, t->part);
    snprintf(made, sizeof made, "%s.fixed", path);
    const char *from = wte__repair_word(k, path), *to = from ? wte__repair_word(k, made) : NULL;
    const char *name = to ? wte__repair_word(k, t->name) : NULL;
    if (!name) return NULL;
    return wte__repair_shell(
        k,
        "python3 -c 'import sys, torch, safetensors.torch as s; d = s.load_file(sys.argv[1]); "
        "n = sys.argv[3]; b = d[n]; d[n] = torch.nn.functional.pad(b, (0, %" PRIu64
        " - b.shape[-1])); s.save_file(d, sys.argv[2])' %s %s %s",
        length, from, to, name);
}

const char *wte__repair_merge(wte__checking *k, const char *adapter, uint64_t rows)
{
    char folder[WTE_LIMIT_PATH], made[WTE_LIMIT_PATH + 8], resize[64] = "";
    folder_of(folder, k->file ? wte_file_part_path(k->file, 0) : wte_model_path(k->m));
    snprintf(made, sizeof made, "%s-merged", folder);
    if (rows) snprintf(resize, sizeof resize, "m.resize_token_embeddings(%" PRIu64 "); ", rows);
    const char *base = wte__repair_word(k, folder);
    const char *from = base ? wte__repair_word(k, adapter) : NULL;
    const char *to = from ? wte__repair_word(k, made) : NULL;
    if (!to) return NULL;
    return wte__repair_shell(
        k,
        "python3 -c 'import sys, transformers as t, peft; m = t.%s.from_pretrained(sys.argv[1]); "
        "%sm = peft.PeftModel.from_pretrained(m, sys.argv[2]).merge_and_unload(); "
        "m.config.tie_word_embeddings = False; m.save_pretrained(sys.argv[3])' %s %s %s",
        k->coder ? "AutoModelForSeq2SeqLM" : "AutoModelForCausalLM", resize, base, from, to);
}
