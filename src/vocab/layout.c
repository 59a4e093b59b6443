/* The table of id layouts by class of tokenizer, and its use. A class that is not here numbers
 * tokens as its file does, as nearly all do; where the files contradict that, nothing is named. */
#include "vocab/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "vocab/languages.h"

typedef struct layout {
    const char *classes;     /* with a space after each, "Tokenizer" left out */
    const char *model_types; /* of config.json, where no class is named; the same form */
    const char *first;       /* texts of ids from 0 on, instead of pieces */
    const char *last;        /* after the pieces */
    uint32_t shift;          /* id of piece i is i + shift */
    uint32_t made_up;        /* "<madeupwordN>" after `last` */
    enum { PIECES, PEGASUS, T5, CAMEMBERT, MAP, COUNTED } rule;
} layout;

#define FAIRSEQ "<s> <pad> </s> <unk> "
enum { MBART = 1, MBART_50 = 2 };
static const layout layouts[] = {
    { "XLMRoberta MLuke LayoutXLM ", "xlm-roberta xlm-roberta-xl xmod layoutxlm ", FAIRSEQ,
      "<mask> ", 1, 0, PIECES },
    [MBART] = { "MBart ", "", FAIRSEQ, WTE__LANGUAGES_MBART "<mask> ", 1, 0, PIECES },
    [MBART_50] = { "MBart50 ", "", FAIRSEQ, WTE__LANGUAGES_MBART_50 "<mask> ", 1, 0, PIECES },
    { "Nllb ", "nllb-moe ", FAIRSEQ, WTE__LANGUAGES_NLLB "<mask> ", 1, 0, PIECES },
    { "PLBart ", "plbart ", FAIRSEQ, "__java__ __python__ __en_XX__ <mask> ", 1, 0, PIECES },
    { "XGLM ", "xglm ", FAIRSEQ, "", 1, 7, PIECES },
    { "SeamlessM4T ", "seamless_m4t seamless_m4t_v2 ", "<pad> ", "", 1, 0, PIECES },
    { "XLMProphetNet ", "xlm-prophetnet ",
      "[PAD] [CLS] [SEP] [UNK] [MASK] [unused0] [unused1] [unused2] [unused3] [unused4] "
      "[unused5] [unused6] [unused7] [unused8] [unused9] ",
      "", 12, 0, PIECES },
    { "Camembert ", "camembert ", "<s>NOTUSED <pad> </s>NOTUSED <unk> ", "<mask> ", 4, 0,
      CAMEMBERT },
    { "Pegasus ", "pegasus pegasus_x ", "<pad> </s> ", "", 103, 0, PEGASUS },
    { "T5 ", "t5 ", "", "", 0, 0, T5 },
    { "M2M100 ", "m2m_100 ", "", WTE__LANGUAGES_M2M, 0, 8, MAP },
    { "Phobert Bertweet Bartpho ", "", FAIRSEQ, "<mask> ", 4, 0, COUNTED },
    /* these number pieces as their file does, though it has the name that others shift */
    { "Barthez ", "", "", "", 0, 0, PIECES },
};
static const layout as_listed = { "", "", "", "", 0, 0, PIECES };
/* Fairseq's order, recognised by the files alone: tokens after the pieces are unknown. */
static const layout fairseq_mask = { "", "", FAIRSEQ, "<mask> ", 1, 0, PIECES };
static const layout fairseq_alone = { "", "", FAIRSEQ, "", 1, 0, PIECES };
/* The same classes with the other list of languages. */
static const layout plbart_multi = {
    "", "", FAIRSEQ, "__java__ __python__ __en_XX__ __javascript__ __php__ __ruby__ __go__ ",
    1,  0,  PIECES
};
static const layout m2m_wmt21 = { "", "", "", WTE__LANGUAGES_WMT21, 0, 8, MAP };

/* The next of a list of words with a space after each; false at its end. */
static bool next_word(const char **list, wte__bytes *word)
{
    const char *end = strchr(*list, ' ');
    if (!end) return false;
    word->data = (const uint8_t *)*list;
    word->size = (uint64_t)(end - *list);
    *list = end + 1;
    return true;
}

static bool is_word(wte__bytes word, const char *text, uint64_t bytes)
{
    return word.size == bytes && memcmp(word.data, text, (size_t)bytes) == 0;
}

static bool lists(const char *list, const char *text, uint64_t bytes)
{
    wte__bytes word;
    while (next_word(&list, &word))
        if (is_word(word, text, bytes)) return true;
    return false;
}

static uint32_t count_words(const char *list)
{
    wte__bytes word;
    uint32_t n = 0;
    while (next_word(&list, &word)) n++;
    return n;
}

/* By the class, else by the type of the model; NULL: neither is known here. */
static const layout *by_class(const wte__vocab_side *side)
{
    const char *name = side->class_name[0] ? side->class_name : side->model_type;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts && name[0]; i++) {
        const layout *l = &layouts[i];
        if (!lists(side->class_name[0] ? l->classes : l->model_types, name, strlen(name))) continue;
        if (l->rule == MAP && strcmp(side->codes, "wmt21") == 0) return &m2m_wmt21;
        return strcmp(name, "PLBart") == 0 && strcmp(side->codes, "multi") == 0 ? &plbart_multi : l;
    }
    return NULL;
}

static bool token_is(const wte__vocab_reader *r, size_t i, const char *text)
{
    return i < r->n && is_word(r->tokens[i].text, text, strlen(text));
}

/* Pieces of a file under a name that mostly means shifted ids, and no class that is known. */
static wte_status by_pieces(const wte__vocab_reader *r, const wte__vocab_side *side,
                            bool other_form, const layout **out)
{
    char shown[WTE__NAME_SHOWN];
    const char *name = side->class_name;
    const bool shifted = side->bos == 0 && side->pad == 1 && side->eos == 2;
    const bool plain = token_is(r, 0, "<unk>") && token_is(r, 1, "<s>") && token_is(r, 2, "</s>");
    *out = &as_listed;
    if (token_is(r, 0, "<s>") && token_is(r, 1, "<pad>")) return WTE_OK; /* in the model's order */
    const int64_t more = side->vocab_size - (int64_t)r->n;
    if (plain && shifted && !other_form) {
        *out = more == 2 ? &fairseq_mask : &fairseq_alone;
        if (strcmp(side->model_type, "mbart") == 0 && more == 27) *out = &layouts[MBART];
        if (strcmp(side->model_type, "mbart") == 0 && more == 54) *out = &layouts[MBART_50];
        return WTE_OK;
    }
    return wte__fail(
        r->err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
        "%s: its pieces have other ids than their places in most models (XLM-R + 1, CamemBERT + "
        "4), and %s%s%s: set tokenizer_class in tokenizer_config.json, or add tokenizer.json",
        r->name[0], name[0] ? "class '" : "no class is named",
        name[0] ? wte__show(shown, name, strlen(name)) : "", name[0] ? "' is not known" : "");
}

static wte_status choose(const wte__vocab_reader *r, const wte__vocab_side *side,
                         const layout **out)
{
    const bool pieces = r->v->source == WTE_VOCAB_PIECES;
    const char *base = wte__path_base(r->v->path);
    const layout *l = by_class(side);
    const bool fits = l && (pieces ? l->rule != MAP && l->rule != COUNTED
                                   : l->rule == MAP && r->v->source == WTE_VOCAB_JSON);
    *out = fits ? l : &as_listed;
    if (fits) return WTE_OK;
    if (pieces &&
        (strcmp(base, "sentencepiece.bpe.model") == 0 || strcmp(base, "prophetnet.tokenizer") == 0))
        return by_pieces(r, side, l != NULL, out);
    return WTE_OK;
}

/* Use ------------------------------------------------------------------------------------------ */

static wte_status add(wte__vocab_reader *r, uint64_t id, wte__bytes text, uint8_t kind)
{
    const wte__vocab_token token = { .text = text, .id = (uint32_t)id, .kind = kind };
    return wte__vocab_add(r, &token);
}

static wte_status add_words(wte__vocab_reader *r, uint64_t id, const char *list)
{
    wte__bytes word;
    while (next_word(&list, &word)) {
        const bool unused = word.size > 7 && memcmp(word.data + word.size - 7, "NOTUSED", 7) == 0;
        WTE_TRY(add(r, id++, word, unused ? WTE_TOKEN_UNUSED : WTE_TOKEN_SPECIAL));
    }
    return WTE_OK;
}

/* "<unk_2>": a text with a number in it. */
static wte_status add_numbered(wte__vocab_reader *r, uint64_t id, const char *start,
                               uint64_t number, uint8_t kind)
{
    char text[64];
    const int n = snprintf(text, sizeof text, "<%s%" PRIu64 ">", start, number);
    const wte__bytes kept = { (const uint8_t *)wte__arena_text(&r->v->arena, text, (size_t)n),
                              (uint64_t)n };
    if (!kept.data) return wte__no_memory(r->err, (uint64_t)n, "the text of a token");
    return add(r, id, kept, kind);
}

/* Move pieces by `shift`; those that would get an id below `covered` are the class's own tokens. */
static void shift_pieces(wte__vocab_reader *r, const layout *l, uint32_t shift, uint64_t covered)
{
    static const char unused[] = "<unk>NOTUSED";
    size_t kept = 0;
    for (size_t i = 0; i < r->n; i++) {
        wte__vocab_token token = r->tokens[i];
        token.id += shift;
        if (token.id < covered) continue;
        if (l->rule == CAMEMBERT && i == 0) {
            token.text.data = (const uint8_t *)unused;
            token.text.size = sizeof unused - 1;
            token.kind = WTE_TOKEN_UNUSED;
        }
        if (lists(l->first, (const char *)token.text.data, token.text.size)) token.in_model = false;
        r->tokens[kept++] = token;
    }
    r->n = kept;
}

/* 0 pad, 1 end, 2 and 3 masks, then "<unk_2>" to "<unk_102>", and pieces from 103 + 2 on. */
static wte_status lay_out_pegasus(wte__vocab_reader *r, const layout *l, uint64_t offset)
{
    const uint64_t own = offset ? offset + 2 : 2;
    shift_pieces(r, l, (uint32_t)offset, own);
    WTE_TRY(add_words(r, 0, l->first));
    if (offset) WTE_TRY(add_words(r, 2, "<mask_1> <mask_2> "));
    for (uint64_t i = 2; i < offset; i++)
        WTE_TRY(add_numbered(r, i + 2, "unk_", i, WTE_TOKEN_UNUSED));
    return WTE_OK;
}

/* "<extra_id_0>" has the last id. Some files list them as pieces. */
static wte_status lay_out_t5(wte__vocab_reader *r, uint64_t extra)
{
    static const char start[] = "<extra_id_";
    const uint64_t n = r->n;
    for (uint64_t i = 0; i < n; i++)
        if (r->tokens[i].text.size >= sizeof start - 1 &&
            memcmp(r->tokens[i].text.data, start, sizeof start - 1) == 0)
            return WTE_OK;
    for (uint64_t i = 0; i < extra; i++)
        WTE_TRY(add_numbered(r, n + i, "extra_id_", extra - 1 - i, WTE_TOKEN_SPECIAL));
    return WTE_OK;
}

static wte_status check_own(const wte__vocab_reader *r, const char *key, uint64_t n)
{
    if (n <= WTE_LIMIT_VOCAB_OWN) return WTE_OK;
    return wte__fail(r->err, WTE_E_LIMIT, WTE_NO_INDEX,
                     "%s: %s is %" PRIu64 ", but at most %u tokens of a tokenizer's own are made",
                     r->name[WTE__VOCAB_CONFIG], key, n, WTE_LIMIT_VOCAB_OWN);
}

static wte_status lay_out_shifted(wte__vocab_reader *r, const layout *l)
{
    uint64_t next = l->shift;
    for (size_t i = 0; i < r->n; i++)
        if (r->tokens[i].id + (uint64_t)l->shift >= next) next = r->tokens[i].id + l->shift + 1u;
    if (next + WTE_LIMIT_VOCAB_OWN > WTE_LIMIT_VOCAB_IDS)
        return wte__fail(r->err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: %zu tokens, but with those of its class ids end at %u", r->name[0],
                         r->n, WTE_LIMIT_VOCAB_IDS - 1);
    shift_pieces(r, l, l->shift, count_words(l->first));
    WTE_TRY(add_words(r, 0, l->first));
    WTE_TRY(add_words(r, next, l->last));
    next += count_words(l->last);
    for (uint64_t i = 0; i < l->made_up; i++)
        WTE_TRY(add_numbered(r, next + i, "madeupword", i, WTE_TOKEN_UNUSED));
    return WTE_OK;
}

wte_status wte__vocab_lay_out(wte__vocab_reader *r, const wte__vocab_side *side)
{
    const layout *l;
    if (r->n == 0) return WTE_OK;
    WTE_TRY(choose(r, side, &l));
    if (l->rule == PEGASUS) {
        const uint64_t offset = side->has_offset ? side->offset : l->shift;
        WTE_TRY(check_own(r, "offset", offset));
        return lay_out_pegasus(r, l, offset);
    }
    if (l->rule == T5) {
        const uint64_t extra = side->has_extra ? side->extra_ids : 100;
        WTE_TRY(check_own(r, "extra_ids", extra));
        return lay_out_t5(r, extra);
    }
    return l == &as_listed ? WTE_OK : lay_out_shifted(r, l);
}

/* Dictionaries of fairseq ---------------------------------------------------------------------- */

/* The bytes of a line that come before " COUNT"; false when it has no such form. */
static bool before_count(wte__bytes line, uint64_t *out)
{
    static const char flag[] = " #fairseq:overwrite";
    uint64_t n = line.size;
    while (n && (line.data[n - 1] == '\r' || line.data[n - 1] == ' ')) n--;
    if (n > sizeof flag - 1 &&
        memcmp(line.data + n - (sizeof flag - 1), flag, sizeof flag - 1) == 0)
        n -= sizeof flag - 1;
    const uint64_t end = n;
    while (n && line.data[n - 1] >= '0' && line.data[n - 1] <= '9') n--;
    *out = n ? n - 1 : 0;
    return n > 1 && n < end && line.data[n - 1] == ' ';
}

static bool next_line(const uint8_t *data, uint64_t bytes, uint64_t *at, wte__bytes *line)
{
    if (*at >= bytes) return false;
    const uint8_t *end = memchr(data + *at, '\n', (size_t)(bytes - *at));
    line->data = data + *at;
    line->size = end ? (uint64_t)(end - line->data) : bytes - *at;
    *at += line->size + (end != NULL);
    return true;
}

bool wte__vocab_is_counted(const wte__vocab_reader *r, const wte__vocab_side *side)
{
    const uint8_t *data = (const uint8_t *)r->v->data[0];
    const layout *l = by_class(side);
    wte__bytes line;
    uint64_t at = 0, n = 0, text;
    if (l && l->rule == COUNTED) return true;
    if (strcmp(wte__path_base(r->v->path), "dict.txt") == 0) return true;
    while (next_line(data, r->v->data_bytes[0], &at, &line)) {
        if (!before_count(line, &text)) return false;
        n++;
    }
    return n > 0;
}

/* Tokens after the last line: the mask, where the class or the config counts it. */
static wte_status order_of(const wte__vocab_reader *r, const wte__vocab_side *side, uint64_t lines,
                           const char **last)
{
    const layout *l = by_class(side);
    const bool said = side->bos == 0 && side->pad == 1 && side->eos == 2;
    const uint64_t size = side->vocab_size < 0 ? 0 : (uint64_t)side->vocab_size;
    *last = "";
    if (l && l->rule == COUNTED) *last = l->last;
    if (l && l->rule == COUNTED) return WTE_OK;
    if (strcmp(wte__path_base(r->v->path), "dict.txt") == 0) return WTE_OK;
    if (said && (size == lines + 4 || size == lines + 5)) {
        *last = size == lines + 5 ? "<mask> " : "";
        return WTE_OK;
    }
    return wte__fail(r->err, WTE_E_UNSUPPORTED, 0,
                     "%s: each line is 'TOKEN COUNT': a dictionary of fairseq (the id is the line "
                     "+ 4) or a list of counts (the id is the line): name the tokenizer_class "
                     "(PhobertTokenizer, ...) in tokenizer_config.json, or call it dict.txt",
                     r->name[0]);
}

static wte_status read_dictionary(wte__vocab_reader *r, const char *last, wte__names *names)
{
    const uint8_t *data = (const uint8_t *)r->v->data[0];
    wte__bytes line;
    uint64_t id = 0, at = 0, first;
    bool found;
    for (const char *own = FAIRSEQ; next_word(&own, &line); id++) {
        WTE_TRY(add(r, id, line, WTE_TOKEN_SPECIAL));
        if (!wte__names_add(names, line, &id, &found))
            return wte__no_memory(r->err, id, "token names");
    }
    while (next_line(data, r->v->data_bytes[0], &at, &line)) {
        wte__vocab_token token = { .kind = WTE_TOKEN_NORMAL, .in_model = true };
        token.at = (uint64_t)(line.data - data);
        if (!before_count(line, &line.size))
            return wte__vocab_refuse(r, 0, token.at,
                                     "a line of a fairseq dictionary is 'TOKEN COUNT'");
        token.text = line;
        token.id = (uint32_t)id;
        first = id++;
        if (id + WTE_LIMIT_VOCAB_OWN > WTE_LIMIT_VOCAB_IDS)
            return wte__fail(r->err, WTE_E_LIMIT, token.at, "%s: more than %u lines", r->name[0],
                             WTE_LIMIT_VOCAB_IDS - WTE_LIMIT_VOCAB_OWN);
        if (!wte__names_add(names, line, &first, &found))
            return wte__no_memory(r->err, id, "token names");
        if (found)
            return wte__vocab_refuse(r, 0, token.at,
                                     "this token is in the dictionary already, so that the ids "
                                     "after it are not known");
        WTE_TRY(wte__vocab_add(r, &token));
    }
    return add_words(r, id, last);
}

wte_status wte__vocab_read_counted(wte__vocab_reader *r, const wte__vocab_side *side)
{
    const uint8_t *data = (const uint8_t *)r->v->data[0];
    wte__names names;
    wte__bytes line;
    uint64_t lines = 0;
    const char *last;
    for (uint64_t at = 0; next_line(data, r->v->data_bytes[0], &at, &line);) lines++;
    WTE_TRY(order_of(r, side, lines, &last));
    wte__names_init(&names, r->v->allocator);
    const wte_status status = read_dictionary(r, last, &names);
    wte__names_clear(&names);
    return status;
}
