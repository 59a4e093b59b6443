/* Small sentencepiece models, field by field. */
#ifndef WTE_TESTS_SPM_HELP_H
#define WTE_TESTS_SPM_HELP_H
#include "test.h"

/* A message under construction. */
typedef struct proto {
    uint8_t data[4096];
    size_t n;
} proto;

static inline void p_varint(proto *p, uint64_t v)
{
    for (; v > 127; v >>= 7) p->data[p->n++] = (uint8_t)(v | 128);
    p->data[p->n++] = (uint8_t)v;
}
static inline void p_number(proto *p, unsigned field, uint64_t v)
{
    p_varint(p, field << 3);
    p_varint(p, v);
}
static inline void p_bytes(proto *p, unsigned field, const void *data, size_t n)
{
    p_varint(p, field << 3 | 2);
    p_varint(p, n);
    memcpy(p->data + p->n, data, n);
    p->n += n;
}
static inline void p_piece(proto *p, const char *text, unsigned kind)
{
    proto piece = { .n = 0 };
    static const uint8_t score[] = { 0x15, 0, 0, 0x80, 0xbf };
    p_bytes(&piece, 1, text, strlen(text));
    memcpy(piece.data + piece.n, score, sizeof score);
    piece.n += sizeof score;
    if (kind != 1) p_number(&piece, 3, kind);
    p_bytes(p, 1, piece.data, piece.n);
}
#endif
