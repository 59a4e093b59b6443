/* Random numbers from a counter: Philox 4x32 with 10 rounds, of Salmon, Moraes, Dror and Shaw,
 * "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). Any number of any stream is had at once,
 * so that what is drawn does not depend on what was drawn before. Private to this room. */
#ifndef WTE_SRC_HEAD_PHILOX_H
#define WTE_SRC_HEAD_PHILOX_H
#include <stdint.h>

static inline void wte__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c[4] = { counter[0], counter[1], counter[2], counter[3] }, k[2] = { key[0], key[1] };
    for (int round = 0; round < 10; round++) {
        const uint64_t a = UINT64_C(0xd2511f53) * c[0], b = UINT64_C(0xcd9e8d57) * c[2];
        const uint32_t first = (uint32_t)(b >> 32) ^ c[1] ^ k[0];
        const uint32_t third = (uint32_t)(a >> 32) ^ c[3] ^ k[1];
        c[0] = first;
        c[1] = (uint32_t)b;
        c[2] = third;
        c[3] = (uint32_t)a;
        k[0] += 0x9e3779b9u;
        k[1] += 0xbb67ae85u;
    }
    for (int i = 0; i < 4; i++) out[i] = c[i];
}

/* The first number of stream `stream` of `seed`: uniform in [0, 1), 53 bits. */
static inline double wte__uniform(uint64_t seed, uint64_t stream)
{
    const uint32_t counter[4] = { (uint32_t)stream, (uint32_t)(stream >> 32), 0, 0 };
    const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    uint32_t word[4];
    wte__philox(counter, key, word);
    return ((double)(word[0] >> 5) * 0x1p26 + (double)(word[1] >> 6)) * 0x1p-53;
}
#endif
