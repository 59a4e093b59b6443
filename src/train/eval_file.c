/* Files of words in memory: loading them, and their lines. */
#include "train/eval_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "format/text_dialect.h"

static const char mark[3] = { '\xef', '\xbb', '\xbf' }; /* of UTF-8, as some editors put it */

static void begin(wte__eval_text *t, const char *name)
{
    wte__show_path(t->name, name ? name : "");
    if (t->bytes >= sizeof mark && memcmp(t->data, mark, sizeof mark) == 0) t->at = sizeof mark;
}

static wte_status settle(wte__eval_text *t, const wte_eval_file_options *options, uint64_t *most,
                         wte_error *err)
{
    wte_eval_file_options opt = WTE_EVAL_FILE_OPTIONS_INIT;
    memset(t, 0, sizeof *t);
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    WTE_TRY(wte__need_functions(opt.allocator, NULL, err));
    t->allocator = opt.allocator;
    *most = opt.max_bytes ? opt.max_bytes : WTE_LIMIT_EVAL_FILE;
    return WTE_OK;
}

wte_status wte__eval_text_load(wte__eval_text *t, const char *path,
                               const wte_eval_file_options *opt, wte_error *err)
{
    uint64_t most;
    WTE_TRY(settle(t, opt, &most, err));
    WTE_TRY(wte__need(path, "the path of a file of words", err));
    WTE_TRY(wte__file_load(path, most, WTE__RAISE_BYTES, t->allocator, &t->data, &t->bytes, err));
    begin(t, path);
    return WTE_OK;
}

wte_status wte__eval_text_copy(wte__eval_text *t, const void *data, uint64_t bytes,
                               const char *name, const wte_eval_file_options *opt, wte_error *err)
{
    uint64_t most;
    WTE_TRY(settle(t, opt, &most, err));
    if (bytes) WTE_TRY(wte__need(data, "the text of a file of words", err));
    if (bytes > most || bytes >= SIZE_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "a text of %" PRIu64 " bytes, but at most %" PRIu64
                         " are read (" WTE__RAISE_BYTES ")",
                         bytes, most);
    t->data = wte__alloc(t->allocator, (size_t)bytes + 1);
    if (!t->data) return wte__no_memory(err, bytes + 1, "a file of words");
    if (bytes) memcpy(t->data, data, (size_t)bytes);
    t->data[bytes] = '\0';
    t->bytes = bytes;
    begin(t, name);
    return WTE_OK;
}

void wte__eval_text_free(wte__eval_text *t)
{
    if (t->data) wte__free(t->allocator, t->data, (size_t)t->bytes + 1);
    t->data = NULL;
}

bool wte__eval_text_line(wte__eval_text *t, wte__bytes *line)
{
    while (t->at < t->bytes) {
        size_t next;
        *line = wte__text_line_at((const uint8_t *)t->data + t->at, (size_t)t->bytes - t->at, '\n',
                                  &next);
        t->line++;
        t->line_at = t->at;
        t->at += next;
        wte__bytes rest = *line;
        if (line->size && line->data[0] != '#' && wte__eval_text_word(&rest).size) return true;
    }
    return false;
}

wte__bytes wte__eval_text_word(wte__bytes *line)
{
    uint64_t from = 0, to;
    while (from < line->size && wte__text_is_blank(line->data[from])) from++;
    for (to = from; to < line->size && !wte__text_is_blank(line->data[to]);) to++;
    const wte__bytes word = { line->data + from, to - from };
    line->data += to;
    line->size -= to;
    return word;
}

wte_status wte__eval_text_check(const wte__eval_text *t, wte__bytes word, wte_error *err)
{
    if (word.size <= WTE_LIMIT_EVAL_WORD) return WTE_OK;
    return wte__fail(err, WTE_E_LIMIT, t->line_at,
                     "%s: line %" PRIu64 ": a word of %" PRIu64 " bytes, but at most %u are taken",
                     t->name, t->line, word.size, WTE_LIMIT_EVAL_WORD);
}
