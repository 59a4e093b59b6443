/* Which ids a model gives to what its vocabulary file lists. Several classes of tokenizers put
 * tokens of their own before, between and after the pieces of the file, so that a token's id is not
 * its place there. Private to this room. */
#ifndef WTE_SRC_VOCAB_LAYOUT_H
#define WTE_SRC_VOCAB_LAYOUT_H
#include "vocab/vocab.h"

/* Facts about the ids of a vocabulary in tokenizer_config.json and config.json. */
typedef struct wte__vocab_side {
    char class_name[64]; /* without "Tokenizer", "TokenizerFast"; "" = not said */
    char model_type[64];
    char codes[16]; /* language_codes: which list of languages */
    bool has_offset, has_extra;
    uint64_t offset, extra_ids;
    /* ids of config.json; -1 = not said */
    int64_t pad, bos, eos, vocab_size;
} wte__vocab_side;

/* side.c: from v->data[WTE__VOCAB_CONFIG] and v->data[WTE__VOCAB_MODEL_CONFIG]; either may be
 * absent. */
wte_status wte__vocab_side_read(const wte__vocab_reader *r, wte__vocab_side *side);
/* added_tokens_decoder of tokenizer_config.json: tokens that replace what the vocabulary lists. */
wte_status wte__vocab_read_decoder(wte__vocab_reader *r);

/* layout.c: give the tokens read so far (id = place in the file) their ids, and add the class's own
 * tokens. E_UNSUPPORTED when neither class nor files decide. */
wte_status wte__vocab_lay_out(wte__vocab_reader *r, const wte__vocab_side *side);
/* Whether a file of one token a line is a dictionary of fairseq: by its class or name, or because
 * each line is "TOKEN COUNT". */
bool wte__vocab_is_counted(const wte__vocab_reader *r, const wte__vocab_side *side);
/* The tokens of such a file, without their counts; their ids are the model's. */
wte_status wte__vocab_read_counted(wte__vocab_reader *r, const wte__vocab_side *side);
#endif
