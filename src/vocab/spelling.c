/* The byte alphabet by rule (no table to get wrong), the metaspace, and tokens that name a byte. */
#include "vocab/spelling.h"

#include "base/utf8.h"

uint32_t wte__alphabet_code(uint8_t byte)
{
    if (byte <= 0x20) return 0x100u + byte;
    if (byte < 0x7f) return byte;
    if (byte <= 0xa0) return 0x121u + (byte - 0x7fu);
    return byte == 0xad ? 0x143u : byte;
}

bool wte__alphabet_byte(uint32_t code, uint8_t *byte)
{
    if (code > 0x143) return false;
    if (code == 0x143)
        *byte = 0xad;
    else if (code > 0x120)
        *byte = (uint8_t)(code - 0x121u + 0x7fu);
    else
        *byte = (uint8_t)code; /* itself, or U+0100 to U+0120 for 00 to 20 */
    return code >= 0x100 || wte__alphabet_code((uint8_t)code) == code;
}

static bool is_metaspace(wte__bytes text, uint64_t at)
{
    return text.size - at >= WTE__METASPACE_BYTES &&
           memcmp(text.data + at, WTE__METASPACE, WTE__METASPACE_BYTES) == 0;
}

uint8_t wte__spelling_next(wte_vocab_spelling spelling, wte__bytes text, uint64_t *at)
{
    if (spelling == WTE_SPELLING_METASPACE && is_metaspace(text, *at)) {
        *at += WTE__METASPACE_BYTES;
        return ' ';
    }
    if (spelling == WTE_SPELLING_BYTE_LEVEL) {
        uint32_t code, n = wte__utf8_get(text.data + *at, text.size - *at, &code);
        uint8_t byte;
        if (n && wte__alphabet_byte(code, &byte)) {
            *at += n;
            return byte;
        }
    }
    return text.data[(*at)++];
}

bool wte__spelling_applies(wte_vocab_spelling spelling, wte__bytes text)
{
    bool changes = false;
    uint32_t code, n;
    uint8_t byte;
    if (spelling != WTE_SPELLING_BYTE_LEVEL && spelling != WTE_SPELLING_METASPACE) return false;
    for (uint64_t at = 0; at < text.size; at += n) {
        n = 1;
        if (text.data[at] > 0x20 && text.data[at] < 0x7f) continue; /* most of them: themselves */
        if (spelling == WTE_SPELLING_METASPACE) {
            if (is_metaspace(text, at)) return true;
            continue;
        }
        n = wte__utf8_get(text.data + at, text.size - at, &code);
        if (n == 0 || !wte__alphabet_byte(code, &byte)) return false;
        changes = true;
    }
    return changes;
}

uint64_t wte__spelling_apply(wte_vocab_spelling spelling, wte__bytes text, uint8_t *out)
{
    uint64_t used = 0;
    for (uint64_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (spelling == WTE_SPELLING_METASPACE && c == ' ') {
            memcpy(out + used, WTE__METASPACE, WTE__METASPACE_BYTES);
            used += WTE__METASPACE_BYTES;
        } else if (spelling == WTE_SPELLING_BYTE_LEVEL) {
            used += wte__utf8_put(wte__alphabet_code(c), out + used);
        } else {
            out[used++] = c;
        }
    }
    return used;
}

static int upper_hex(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool wte__byte_token(wte__bytes text, uint8_t *byte)
{
    if (text.size != 6 || memcmp(text.data, "<0x", 3) != 0 || text.data[5] != '>') return false;
    int hi = upper_hex(text.data[3]), lo = upper_hex(text.data[4]);
    if (hi < 0 || lo < 0) return false;
    *byte = (uint8_t)(hi << 4 | lo);
    return true;
}
