/* The tokens that a file lists in order (id = place): how formats that carry their own vocabulary
 * hand it to the room that answers for texts and ids, without either knowing the other. */
#ifndef WTE_SRC_BASE_TOKENS_H
#define WTE_SRC_BASE_TOKENS_H
#include <wte/base.h>

#include "base/span.h"

/* What a token is for; sentencepiece's numbers, which GGUF uses too. */
typedef enum wte__token_tag {
    WTE_TAG_NORMAL = 1,
    WTE_TAG_UNKNOWN = 2, /* for text that no other token spells */
    WTE_TAG_CONTROL = 3, /* never made from text: <s>, </s> */
    WTE_TAG_USER = 4,    /* added by people, matched whole */
    WTE_TAG_UNUSED = 5,  /* a row without a meaning, kept for later */
    WTE_TAG_BYTE = 6     /* one byte, as <0x0A> */
} wte__token_tag;

/* How the texts are spelled, as far as the file itself says it. */
typedef enum wte__token_form {
    WTE_FORM_GUESS = 0, /* it does not say */
    WTE_FORM_PLAIN,
    WTE_FORM_BYTE_LEVEL, /* GPT-2's byte alphabet */
    WTE_FORM_METASPACE,  /* U+2581 for a space */
    WTE_FORM_WORDPIECE   /* "##" before what continues a word */
} wte__token_form;

/* Owned by its holder; texts are stored one after another and may hold any byte. */
struct wte_token_list {
    const wte_allocator *allocator;
    uint64_t n;
    wte__token_form form;
    uint8_t *text;
    uint64_t *end;   /* of each text, in `text` */
    uint8_t *tag;    /* wte__token_tag of each */
    float *score;    /* of each; all 0 unless scored */
    bool scored;     /* the file gives scores */
    bool first_wins; /* a text that comes twice means the first one, as with word vectors */
    size_t text_cap; /* bytes that `text` can hold */
    size_t cap;      /* tokens that the other arrays can hold */
};

void wte__token_list_init(wte_token_list *list, const wte_allocator *a);
/* Room for tokens and bytes of text beyond those there are; an add within it cannot fail. */
wte_status wte__token_list_reserve(wte_token_list *list, uint64_t tokens, uint64_t text_bytes,
                                   wte_error *err);
/* A copy of the text, with a tag and score 0; list->n is its number plus one afterwards. */
wte_status wte__token_list_add(wte_token_list *list, wte__bytes text, wte__token_tag tag,
                               wte_error *err);
/* More text at the end of the last token. */
wte_status wte__token_list_extend(wte_token_list *list, wte__bytes text, wte_error *err);
wte__bytes wte__token_list_text(const wte_token_list *list,
                                uint64_t i); /* i < n; data never NULL */
void wte__token_list_clear(wte_token_list *list);
#endif
