/* Opening a vocabulary: its file and kind; simple accessors of ids. */
#include "vocab/vocab.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/sniff.h"
#include "vocab/layout.h"

/* In the order of preference. */
static const char *const file_names[] = { "tokenizer.json",
                                          "tekken.json",
                                          "vocab.json",
                                          "vocab.txt",
                                          "tokenizer.model",
                                          "spiece.model",
                                          "dict.txt",
                                          "spm.model",
                                          "sentencepiece.model",
                                          "spm_char.model",
                                          "sentencepiece.bpe.model",
                                          "prophetnet.tokenizer",
                                          "whitespacetokenizer_config.json",
                                          "key2row",
                                          "metadata.tsv" };
#define N_FILE_NAMES (sizeof file_names / sizeof file_names[0])

const char *wte__vocab_file_name(size_t i)
{
    return i < N_FILE_NAMES ? file_names[i] : NULL;
}

wte_status wte__vocab_create(const wte_vocab_options *o, const char *path, wte_vocab_source source,
                             wte_vocab **out, wte_error *err)
{
    wte_vocab *v = wte__alloc_zeroed(o->allocator, sizeof *v);
    if (!v) return wte__no_memory(err, sizeof *v, "a vocabulary");
    v->allocator = o->allocator;
    v->source = source;
    wte__arena_init(&v->arena, o->allocator);
    wte__names_init(&v->names, o->allocator);
    wte__names_init(&v->again_names, o->allocator);
    wte__names_init(&v->odd_names, o->allocator);
    v->path = wte__strdup(o->allocator, path);
    *out = v;
    return v->path ? WTE_OK : wte__no_memory(err, strlen(path) + 1, "a path");
}

void wte_vocab_free(wte_vocab *v)
{
    if (!v) return;
    for (uint32_t i = 0; i < WTE__VOCAB_FILES; i++)
        wte__free(v->allocator, v->data[i], (size_t)v->data_bytes[i] + 1);
    wte__arena_clear(&v->arena);
    wte__names_clear(&v->names);
    wte__free(v->allocator, v->entries, (size_t)v->size * sizeof *v->entries);
    wte__free(v->allocator, v->odd, v->odd_cap * sizeof *v->odd);
    wte__names_clear(&v->odd_names);
    wte__free(v->allocator, v->again, v->again_cap * sizeof *v->again);
    wte__names_clear(&v->again_names);
    wte__strfree(v->allocator, v->path);
    wte__free(v->allocator, v, sizeof *v);
}

/* Paths of the files next to a vocabulary; "" = absent. */
typedef struct side_paths {
    char path[WTE__VOCAB_FILES][WTE_LIMIT_PATH];
} side_paths;

static wte_status read_main(wte__vocab_reader *r, const wte__vocab_side *side)
{
    switch (r->v->source) {
    case WTE_VOCAB_TXT:
        return wte__vocab_is_counted(r, side) ? wte__vocab_read_counted(r, side)
                                              : wte__vocab_read_lines(r);
    case WTE_VOCAB_PIECES: return wte__vocab_read_pieces(r);
    case WTE_VOCAB_TEKKEN: return wte__vocab_read_tekken(r);
    case WTE_VOCAB_WORDS: return wte__vocab_read_words(r);
    case WTE_VOCAB_SPACY: return wte__vocab_read_spacy(r);
    case WTE_VOCAB_METADATA: return wte__vocab_read_metadata(r);
    case WTE_VOCAB_JSON: return wte__vocab_read_map(r, WTE__VOCAB_MAIN, false);
    default: return wte__vocab_read_tokenizer(r);
    }
}

static wte_status read_tokens(wte__vocab_reader *r)
{
    wte__vocab_side side;
    WTE_TRY(wte__vocab_side_read(r, &side));
    WTE_TRY(read_main(r, &side));
    WTE_TRY(wte__vocab_lay_out(r, &side));
    if (r->v->data[WTE__VOCAB_ADDED]) WTE_TRY(wte__vocab_read_map(r, WTE__VOCAB_ADDED, true));
    WTE_TRY(wte__vocab_read_decoder(r));
    return wte__vocab_build(r);
}

/* The tokens of the files loaded into v->data, and all that follows from them. */
static wte_status read_loaded(wte_vocab *v, const side_paths *sides, wte_error *err)
{
    char shown[WTE__VOCAB_FILES][WTE__NAME_SHOWN];
    wte__vocab_reader r = { .v = v,
                            .err = err,
                            .told = v->source == WTE_VOCAB_TOKENIZER_JSON ||
                                    v->source == WTE_VOCAB_PIECES ||
                                    v->source == WTE_VOCAB_TEKKEN };
    r.name[0] = wte__show_path(shown[0], v->path);
    for (size_t i = 1; i < WTE__VOCAB_FILES; i++)
        r.name[i] = wte__show_path(shown[i], sides ? sides->path[i] : "");
    if (v->data_bytes[0] == 0)
        return wte__fail(err, WTE_E_FORMAT, 0, "%s: the file is empty", r.name[0]);
    const wte__bytes start = { (const uint8_t *)v->data[0], v->data_bytes[0] };
    wte_status status = wte__stand_in(start, start.size, r.name[0], "tokens", err);
    if (status != WTE_OK) return status;
    status = read_tokens(&r);
    wte__free(v->allocator, r.tokens, r.cap * sizeof *r.tokens);
    return status;
}

/* By content, except that a name in .json or .model is never taken for lines. In a map from text to
 * id the first value is a number; in tokenizer.json it is not. */
static wte_vocab_source source_by_content(const wte_vocab *v)
{
    wte__json j;
    size_t n = strlen(v->path);
    if (strcmp(wte__path_base(v->path), "key2row") == 0) return WTE_VOCAB_SPACY;
    if (strcmp(wte__path_base(v->path), "whitespacetokenizer_config.json") == 0)
        return WTE_VOCAB_WORDS;
    if (strcmp(wte__path_base(v->path), "metadata.tsv") == 0) return WTE_VOCAB_METADATA;
    bool named_json = n >= 5 && strcmp(v->path + n - 5, ".json") == 0;
    bool named_model = (n >= 6 && strcmp(v->path + n - 6, ".model") == 0) ||
                       strcmp(wte__path_base(v->path), "prophetnet.tokenizer") == 0;
    if (named_model || wte__vocab_is_pieces(v->data[0], v->data_bytes[0])) return WTE_VOCAB_PIECES;
    wte__json_init(&j, v->data[0], v->data_bytes[0], v->path, 0);
    bool object = wte__json_next(&j) == WTE__JSON_OBJECT;
    bool key = object && wte__json_next(&j) == WTE__JSON_KEY;
    if (object && strcmp(wte__path_base(v->path), "tekken.json") == 0) return WTE_VOCAB_TEKKEN;
    const bool config = key && wte__json_is(&j, "config");
    if (config) return wte__json_next(&j) == WTE__JSON_NUMBER ? WTE_VOCAB_JSON : WTE_VOCAB_TEKKEN;
    if (key)
        return wte__json_next(&j) == WTE__JSON_NUMBER ? WTE_VOCAB_JSON : WTE_VOCAB_TOKENIZER_JSON;
    bool empty = object && j.kind == WTE__JSON_OBJECT_END && wte__json_next(&j) == WTE__JSON_END;
    if (empty) return WTE_VOCAB_JSON;
    return named_json ? WTE_VOCAB_TOKENIZER_JSON : WTE_VOCAB_TXT;
}

/* The first vocabulary file in a directory that is there and not empty. */
static wte_status find_in_directory(const char *dir, char path[WTE_LIMIT_PATH], wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    const char *empty = NULL;
    for (size_t i = 0; i < N_FILE_NAMES; i++) {
        wte__path_kind kind;
        bool there;
        if (!wte__path_join(path, dir, file_names[i]))
            return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX, "%s: path longer than %u bytes",
                             wte__show_path(shown, dir), WTE_LIMIT_PATH - 1);
        WTE_TRY(wte__path_optional(path, &there, NULL, err));
        if (there) return WTE_OK;
        WTE_TRY(wte__path_look(path, &kind, NULL, err));
        if (kind == WTE__PATH_FILE && !empty) empty = file_names[i];
    }
    return wte__fail(
        err, empty ? WTE_E_FORMAT : WTE_E_NOT_FOUND, WTE_NO_INDEX,
        "%s: no tokenizer.json, vocab.json, vocab.txt, dict.txt or sentencepiece model "
        "(tokenizer.model, spiece.model, ...) here%s%s%s",
        wte__show_path(shown, dir), empty ? " (" : "", empty ? empty : "",
        empty ? " is empty)" : "");
}

/* An optional file next to the vocabulary. */
static wte_status load_side(wte_vocab *v, const wte_vocab_options *o, const char *dir, size_t file,
                            side_paths *sides, wte_error *err)
{
    static const char *const names[WTE__VOCAB_FILES] = {
        [WTE__VOCAB_ADDED] = "added_tokens.json",
        [WTE__VOCAB_CONFIG] = "tokenizer_config.json",
        [WTE__VOCAB_MODEL_CONFIG] = "config.json",
        [WTE__VOCAB_STRINGS] = "strings.json",
    };
    bool there;
    if (!wte__path_join(sides->path[file], dir, names[file])) return WTE_OK;
    WTE_TRY(wte__path_optional(sides->path[file], &there, NULL, err));
    if (!there) return WTE_OK;
    return wte__file_load(sides->path[file], o->max_bytes, WTE__RAISE_VOCAB, o->allocator,
                          &v->data[file], &v->data_bytes[file], err);
}

/* The optional files, unless the vocabulary itself has what they say: tokenizer.json has ids and
 * added tokens. A vocabulary that is named as a file is read alone. */
static wte_status load_sides(wte_vocab *v, const wte_vocab_options *o, const char *dir,
                             side_paths *sides, wte_error *err)
{
    if (v->source == WTE_VOCAB_SPACY) return load_side(v, o, dir, WTE__VOCAB_STRINGS, sides, err);
    if (v->source == WTE_VOCAB_TOKENIZER_JSON || v->source == WTE_VOCAB_TEKKEN ||
        v->source == WTE_VOCAB_WORDS || v->source == WTE_VOCAB_METADATA)
        return WTE_OK;
    WTE_TRY(load_side(v, o, dir, WTE__VOCAB_ADDED, sides, err));
    WTE_TRY(load_side(v, o, dir, WTE__VOCAB_CONFIG, sides, err));
    return load_side(v, o, dir, WTE__VOCAB_MODEL_CONFIG, sides, err);
}

wte_status wte__vocab_options_take(wte_vocab_options *o, const wte_vocab_options *given,
                                   wte_error *err)
{
    wte_vocab_options defaults = WTE_VOCAB_OPTIONS_INIT;
    *o = defaults;
    WTE_TRY(wte__options(o, sizeof *o, given, err));
    WTE_TRY(wte__need_functions(o->allocator, NULL, err));
    if (o->max_bytes == 0) o->max_bytes = WTE_LIMIT_VOCAB;
    return WTE_OK;
}

wte_status wte_vocab_open(const char *path, const wte_vocab_options *opt, wte_vocab **out,
                          wte_error *err)
{
    wte_vocab_options o;
    char found[WTE_LIMIT_PATH];
    side_paths sides;
    wte_vocab *v = NULL;
    WTE_TRY(wte__need(out, "wte_vocab_open: out", err));
    *out = NULL;
    WTE_TRY(wte__need(path, "wte_vocab_open: path", err));
    WTE_TRY(wte__vocab_options_take(&o, opt, err));
    bool directory;
    WTE_TRY(wte__path_folder(path, &directory, err));
    if (directory) WTE_TRY(find_in_directory(path, found, err));

    wte_status status = wte__vocab_create(&o, directory ? found : path, WTE_VOCAB_TXT, &v, err);
    if (status == WTE_OK)
        status = wte__file_load(v->path, o.max_bytes, WTE__RAISE_VOCAB, o.allocator, &v->data[0],
                                &v->data_bytes[0], err);
    if (status == WTE_OK) v->source = source_by_content(v);
    for (size_t i = 0; i < WTE__VOCAB_FILES; i++) sides.path[i][0] = '\0';
    if (status == WTE_OK && directory) status = load_sides(v, &o, path, &sides, err);
    if (status == WTE_OK) status = read_loaded(v, &sides, err);
    if (status != WTE_OK) {
        wte_vocab_free(v);
        return status;
    }
    *out = v;
    return WTE_OK;
}

wte_status wte_vocab_open_memory(const void *data, uint64_t bytes, const char *name,
                                 wte_vocab_source source, const wte_vocab_options *opt,
                                 wte_vocab **out, wte_error *err)
{
    wte_vocab_options o;
    wte_vocab *v = NULL;
    WTE_TRY(wte__need(out, "wte_vocab_open_memory: out", err));
    *out = NULL;
    WTE_TRY(wte__need(name, "wte_vocab_open_memory: name", err));
    if (bytes) WTE_TRY(wte__need(data, "wte_vocab_open_memory: data", err));
    WTE_TRY(wte__vocab_options_take(&o, opt, err));
    if (source < WTE_VOCAB_TOKENIZER_JSON || source > WTE_VOCAB_METADATA ||
        source == WTE_VOCAB_TOKENS)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "no vocabulary source is numbered %d",
                         (int)source);
    if (bytes > o.max_bytes)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: %" PRIu64 " bytes, but at most %" PRIu64 " are read (%s)", name,
                         bytes, o.max_bytes, WTE__RAISE_VOCAB);
    wte_status status = wte__vocab_create(&o, name, source, &v, err);
    if (status == WTE_OK) {
        v->data[0] = wte__alloc(o.allocator, (size_t)bytes + 1);
        if (!v->data[0]) status = wte__no_memory(err, bytes + 1, "a copy of the vocabulary");
    }
    if (status == WTE_OK) {
        v->data_bytes[0] = bytes;
        if (bytes) memcpy(v->data[0], data, (size_t)bytes);
        v->data[0][bytes] = '\0';
        status = read_loaded(v, NULL, err);
    }
    if (status != WTE_OK) {
        wte_vocab_free(v);
        return status;
    }
    *out = v;
    return WTE_OK;
}

const char *wte_vocab_path(const wte_vocab *v)
{
    return v ? v->path : NULL;
}

wte_vocab_source wte_vocab_source_of(const wte_vocab *v)
{
    return v ? v->source : (wte_vocab_source)0;
}

wte_vocab_spelling wte_vocab_spelling_of(const wte_vocab *v)
{
    return v ? v->spelling : WTE_SPELLING_PLAIN;
}

uint64_t wte_vocab_count(const wte_vocab *v)
{
    return v ? v->count : 0;
}

uint64_t wte_vocab_size(const wte_vocab *v)
{
    return v ? v->size : 0;
}

uint64_t wte_vocab_n_holes(const wte_vocab *v)
{
    return v ? v->size - v->count : 0;
}

uint64_t wte_vocab_n_invalid_utf8(const wte_vocab *v)
{
    return v ? v->not_utf8 : 0;
}

uint64_t wte_vocab_n_duplicates(const wte_vocab *v)
{
    return v ? v->duplicates : 0;
}

bool wte_vocab_is_duplicate(const wte_vocab *v, uint64_t id)
{
    return v && id < v->size && v->entries[id].repeated;
}

wte_token_kind wte_vocab_kind(const wte_vocab *v, uint64_t id)
{
    return v && id < v->size ? (wte_token_kind)v->entries[id].kind : WTE_TOKEN_NONE;
}

const char *wte_vocab_raw_text(const wte_vocab *v, uint64_t id, uint64_t *bytes)
{
    const bool there = v && id < v->size;
    if (bytes) *bytes = there ? v->entries[id].bytes : 0;
    return there ? (const char *)v->entries[id].text : NULL;
}

uint64_t wte_vocab_text(const wte_vocab *v, uint64_t id, char *buf, uint64_t cap)
{
    if (!v || id >= v->size || !v->entries[id].text) return 0;
    return wte__vocab_written(v, &v->entries[id], (uint8_t *)buf, buf ? cap : 0);
}
