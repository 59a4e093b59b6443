/* Repairs as commands for a shell, with tools that people have: jq for config.json, Python with
 * transformers for tables. Nothing is run here. Words are quoted for any POSIX shell, so that they
 * stand for the very bytes of a name: a repair that took another file for this one would do harm.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "inspect/check.h"

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./+:@%,=";
    return *word && *word != '-' && word[strspn(word, plain)] == '\0';
}

/* Whether a terminal may be given the word within single quotes. */
static bool is_printable(const char *word, size_t n)
{
    for (size_t at = 0; at < n;) {
        const uint32_t step =
            word[at] == '\\' ? 1 : wte__utf8_printable((const uint8_t *)word + at, n - at);
        if (!step) return false;
        at += step;
    }
    return true;
}

#define QUOTED_BYTES 4u /* that one byte takes at most: '\'' or \ooo */

/* 'it'\''s' */
static size_t quote(char *out, const char *word, size_t n)
{
    size_t used = 0;
    out[used++] = '\'';
    for (size_t at = 0; at < n; at++) {
        const bool mark = word[at] == '\'';
        memcpy(out + used, mark ? "'\\''" : word + at, mark ? QUOTED_BYTES : 1);
        used += mark ? QUOTED_BYTES : 1;
    }
    out[used++] = '\'';
    return used;
}

/* "$(printf 'a\011b')": what every shell makes into these bytes, whatever they are. */
static size_t quote_octal(char *out, const char *word, size_t n)
{
    static const char before[] = "\"$(printf '", after[] = "')\"";
    size_t used = sizeof before - 1;
    memcpy(out, before, used);
    for (size_t at = 0; at < n; at++) {
        const unsigned char c = (unsigned char)word[at];
        const bool plain = c > ' ' && c < 0x7f && !strchr("\\'%\"`$-", c);
        if (plain || c == ' ') {
            out[used++] = (char)c;
            continue;
        }
        out[used++] = '\\';
        out[used++] = (char)('0' + (c >> 6));
        out[used++] = (char)('0' + (c >> 3 & 7));
        out[used++] = (char)('0' + (c & 7));
    }
    memcpy(out + used, after, sizeof after - 1);
    return used + sizeof after - 1;
}

/* The bytes as one word. A newline at its end cannot be said in one line of every shell, nor a NUL
 * at all: then the repair that is made of it is none. */
static const char *word_of(wte__checking *k, const char *text, size_t n)
{
    if (memchr(text, '\0', n) || (n && text[n - 1] == '\n')) k->unsayable = true;
    if (is_plain(text) || k->unsayable) return wte__arena_text(&k->report->arena, text, n);
    char *out = wte__arena_take(&k->report->arena, QUOTED_BYTES * n + 32);
    if (!out) return NULL;
    out[is_printable(text, n) ? quote(out, text, n) : quote_octal(out, text, n)] = '\0';
    return out;
}

const char *wte__repair_word(wte__checking *k, const char *path)
{
    char here[WTE_LIMIT_PATH + 16];
    if (*path != '-') return word_of(k, path, strlen(path));
    /* else programs would take it for an option */
    const int n = snprintf(here, sizeof here, "./%s", path);
    if (n < 0 || n >= (int)sizeof here) k->unsayable = true;
    return word_of(k, here, strlen(here));
}

const char *wte__repair_name(wte__checking *k, const wte_tensor *t)
{
    return word_of(k, t->name, (size_t)t->name_bytes);
}

const char *wte__repair_shell(wte__checking *k, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    char *text = n < 0 || k->unsayable ? NULL : wte__arena_take(&k->report->arena, (size_t)n + 1);
    if (text) vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    const bool none = k->unsayable;
    k->unsayable = false;
    return none ? "" : text;
}

bool wte__check_has_json_config(const wte__checking *k)
{
    const char *path;
    for (uint32_t i = 0; k->file && (path = wte_file_shard_path(k->file, i)); i++)
        if (strcmp(k->config->path, path) == 0) return false;
    return k->config->path[0] != '\0';
}

const char *wte__repair_config(wte__checking *k, const char *key, const char *value)
{
    char beside[WTE_LIMIT_PATH + 8];
    if (!wte__check_has_json_config(k)) return "";
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
    const char *path = wte_file_shard_path(k->file, k->input->shard);
    snprintf(made, sizeof made, "%s.fixed", path);
    const char *from = wte__repair_word(k, path), *to = from ? wte__repair_word(k, made) : NULL;
    wte_tensor t;
    if (wte_file_tensor(k->file, k->input->tensor, &t, NULL) != WTE_OK) return NULL;
    const char *name = to ? wte__repair_name(k, &t) : NULL;
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
    bool is_folder = false;
    if (wte__path_folder(folder, &is_folder, NULL) != WTE_OK || !is_folder)
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

/* `change` works on the table alone, so that it can be made in a file that is no model too, or on
 * the whole of a model. */
static const char *repair(wte__checking *k, bool table_alone, const char *change, va_list ap)
{
    char text[2048], made[WTE_LIMIT_PATH + 8], folder[WTE_LIMIT_PATH];
    const int n = vsnprintf(text, sizeof text, change, ap);
    if (n < 0 || n >= (int)sizeof text) k->unsayable = true; /* rather none than half of one */
    /* nor would it load a static model, whose config.json is there */
    const bool no_class = !k->config->path[0] || (k->input && k->input->mapped);
    if (no_class && table_alone) {
        const char *in_file = repair_file(k, text);
        if (in_file) return in_file;
    }
    folder_of(folder, k->file ? wte_file_shard_path(k->file, 0) : wte_model_path(k->m));
    snprintf(made, sizeof made, "%s-fixed", folder);
    const char *from = wte__repair_word(k, folder), *to = from ? wte__repair_word(k, made) : NULL;
    const char *gguf = "";
    const bool is_gguf = k->file && wte_file_format(k->file) == WTE_FORMAT_GGUF;
    if (to && is_gguf) gguf = wte__repair_word(k, wte__path_base(wte_file_shard_path(k->file, 0)));
    if (!to || !gguf) return NULL;
    return wte__repair_shell(
        k,
        "python3 -c 'import sys, transformers as t; m = t.%s.from_pretrained(sys.argv[1]%s); "
        "w = m.get_%sput_embeddings().weight.data; %s; m.save_pretrained(sys.argv[2])' %s %s%s%s",
        auto_class(k), is_gguf ? ", gguf_file=sys.argv[3]" : "", k->of_head ? "out" : "in", text,
        from, to, is_gguf ? " " : "", gguf);
}

const char *wte__repair_table(wte__checking *k, const char *change, ...)
{
    va_list ap;
    va_start(ap, change);
    const char *made = repair(k, true, change, ap);
    va_end(ap);
    return made;
}

const char *wte__repair_model(wte__checking *k, const char *change, ...)
{
    va_list ap;
    va_start(ap, change);
    const char *made = repair(k, false, change, ap);
    va_end(ap);
    return made;
}

const char *wte__repair_fetch_path(wte__checking *k, const char *path)
{
    char folder[WTE_LIMIT_PATH];
    folder_of(folder, path);
    const char *word = wte__repair_word(k, folder);
    if (!word) return NULL;
    return wte__repair_shell(
        k, "huggingface-cli download REPOSITORY --local-dir %s --force-download", word);
}

const char *wte__repair_fetch(wte__checking *k)
{
    return wte__repair_fetch_path(k, wte_model_path(k->m));
}

const char *wte__repair_length(wte__checking *k, const wte_tensor *t, uint64_t length)
{
    char made[WTE_LIMIT_PATH + 8];
    if (wte_file_format(k->file) != WTE_FORMAT_SAFETENSORS) return wte__repair_fetch(k);
    const char *path = wte_file_shard_path(k->file, t->shard);
    snprintf(made, sizeof made, "%s.fixed", path);
    const char *from = wte__repair_word(k, path), *to = from ? wte__repair_word(k, made) : NULL;
    const char *name = to ? wte__repair_name(k, t) : NULL;
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
    folder_of(folder, k->file ? wte_file_shard_path(k->file, 0) : wte_model_path(k->m));
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
