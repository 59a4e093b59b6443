/* How token files spell texts, and how people write them: GPT-2's byte alphabet and sentencepiece's
 * mark for a space. All texts here are valid UTF-8 on the spelled side. */
#ifndef WTE_SRC_VOCAB_SPELLING_H
#define WTE_SRC_VOCAB_SPELLING_H
#include <wte/vocab.h>

#include "base/span.h"

#define WTE__METASPACE       "\xe2\x96\x81" /* U+2581, a lower block */
#define WTE__METASPACE_BYTES 3u

/* The alphabet: bytes 21-7E, A1-AC and AE-FF are the code points of the same value, the other 68 in
 * ascending order are U+0100 to U+0143. */
uint32_t wte__alphabet_code(uint8_t byte);
bool wte__alphabet_byte(uint32_t code, uint8_t *byte); /* false: not in the alphabet */

/* The next byte of the text with its spelling undone; advances *at past its spelled form. */
uint8_t wte__spelling_next(wte_vocab_spelling spelling, wte__bytes text, uint64_t *at);
/* Whether undoing the spelling changes this text; byte-level leaves one alone that has a character
 * outside the alphabet. */
bool wte__spelling_applies(wte_vocab_spelling spelling, wte__bytes text);
/* The way back: as the file would spell what people write. Writes at most 3 bytes for each of
 * text; returns how many. */
uint64_t wte__spelling_apply(wte_vocab_spelling spelling, wte__bytes text, uint8_t *out);

/* The byte that <0x0A> names; false when text has another form. */
bool wte__byte_token(wte__bytes text, uint8_t *byte);
#endif
