/* bench_loops.h - loops that do nothing but what every implementation must: read, copy, gather,
 * multiply and add. They trust their input. Included once for each instruction set, with
 *     LOOP(name)    name with the set's suffix
 *     TARGET        the attribute that lets the compiler use it
 *     VECTOR        bytes of a register: 16, 32 or 64
 *     PAST(to, v)   a store that goes past the caches
 *     FMA(a, b, c)  a * b + c
 */
typedef uint64_t LOOP(words) __attribute__((vector_size(VECTOR), aligned(1), may_alias));
typedef float LOOP(floats) __attribute__((vector_size(VECTOR)));

TARGET static uint64_t LOOP(read)(const char *from, size_t bytes, uint32_t streams)
{
    const size_t step = (size_t)4 * VECTOR, each = bytes / streams / step * step;
    LOOP(words) a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    for (size_t at = 0; at < each; at += step) {
        for (uint32_t s = 0; s < streams; s++) {
            const LOOP(words) *p = (const LOOP(words) *)(const void *)(from + s * each + at);
            a ^= p[0];
            b ^= p[1];
            c ^= p[2];
            d ^= p[3];
        }
    }
    a ^= b ^ c ^ d;
    return a[0] ^ a[VECTOR / 8 - 1];
}

TARGET static void LOOP(copy)(char *to, const char *from, size_t bytes)
{
    for (size_t at = 0; at + 64 <= bytes; at += 64)
        for (size_t k = 0; k < 64; k += VECTOR)
            *(LOOP(words) *)(void *)(to + at + k) =
                *(const LOOP(words) *)(const void *)(from + at + k);
}

TARGET static void LOOP(copy_nontemporal)(char *to, const char *from, size_t bytes)
{
    for (size_t at = 0; at + 64 <= bytes; at += 64)
        for (size_t k = 0; k < 64; k += VECTOR)
            PAST(to + at + k, *(const LOOP(words) *)(const void *)(from + at + k));
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Each line of a row is read once and stored over its share of the output. */
TARGET static inline __attribute__((always_inline)) void LOOP(gather_with)(const bench_part *p,
                                                                           size_t ahead, bool past)
{
    const size_t row = p->row, lines = (row + 63) / 64, outs = p->width / 64;
    const size_t far = ahead / row, within = ahead % row;
    for (size_t i = 0; i < p->n; i++) {
        const char *from = p->table + (size_t)p->ids[i] * row;
        const char *next = p->table + (size_t)p->ids[i + far < p->n ? i + far : i] * row;
        const char *last = p->table + (size_t)p->ids[i + far + 1 < p->n ? i + far + 1 : i] * row;
        char *to = p->out + i * p->width;
        if (ahead && row % 64) __builtin_prefetch(next + row - 1);
        for (size_t line = 0, o = 0; line < lines; line++) {
            const size_t at = line * 64 + 64 <= row ? line * 64 : row - 64, want = at + within;
            if (ahead) __builtin_prefetch(want < row ? next + want : last + (want - row));
            for (; o < (line + 1) * outs / lines; o++)
                for (size_t k = 0; k < 64; k += VECTOR) {
                    const LOOP(words) v = *(const LOOP(words) *)(const void *)(from + at + k);
                    if (past)
                        PAST(to + o * 64 + k, v);
                    else
                        *(LOOP(words) *)(void *)(to + o * 64 + k) = v;
                }
        }
    }
}

TARGET static void LOOP(gather)(const bench_part *p, size_t ahead)
{
    LOOP(gather_with)(p, ahead, false);
}

TARGET static void LOOP(gather_past)(const bench_part *p, size_t ahead)
{
    LOOP(gather_with)(p, ahead, true);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* `lines` is a constant where this is called: short rows do not pay for a loop within the loop. */
TARGET static inline __attribute__((always_inline)) uint64_t LOOP(sum_with)(const bench_part *p,
                                                                            size_t rows_ahead,
                                                                            size_t lines)
{
    const size_t row = p->row;
    LOOP(words) a = { 0 };
    for (size_t i = 0; i < p->n; i++) {
        const char *from = p->table + (size_t)p->ids[i] * row;
        const char *next =
            p->table + (size_t)p->ids[i + rows_ahead < p->n ? i + rows_ahead : i] * row;
        if (row % 64)
            __builtin_prefetch(next + row - 1); /* rows that begin within a line end in one more */
        UNROLLED
        for (size_t line = 0; line < lines; line++) {
            const size_t at = line + 1 < lines ? line * 64 : row - 64;
            __builtin_prefetch(next + at);
            for (size_t k = 0; k < 64; k += VECTOR)
                a ^= *(const LOOP(words) *)(const void *)(from + at + k);
        }
    }
    return a[0] ^ a[VECTOR / 8 - 1];
}

TARGET static uint64_t LOOP(sum)(const bench_part *p, size_t rows_ahead)
{
    switch ((p->row + 63) / 64) {
    case 2: return LOOP(sum_with)(p, rows_ahead, 2);
    case 3: return LOOP(sum_with)(p, rows_ahead, 3);
    case 4: return LOOP(sum_with)(p, rows_ahead, 4);
    case 8: return LOOP(sum_with)(p, rows_ahead, 8);
    default: return LOOP(sum_with)(p, rows_ahead, (p->row + 63) / 64);
    }
}

/* 12 sums that do not wait for each other: more than any machine has under way. */
TARGET static double LOOP(fma)(size_t steps, float start)
{
    LOOP(floats) s[12], b, c;
    double all = 0;
    for (size_t k = 0; k < VECTOR / 4; k++) {
        b[k] = 0.5f + start;
        c[k] = 1.0f + start;
        for (size_t i = 0; i < 12; i++) s[i][k] = start * (float)i;
    }
    for (size_t step = 0; step < steps; step++) {
        s[0] = FMA(s[0], b, c);
        s[1] = FMA(s[1], b, c);
        s[2] = FMA(s[2], b, c);
        s[3] = FMA(s[3], b, c);
        s[4] = FMA(s[4], b, c);
        s[5] = FMA(s[5], b, c);
        s[6] = FMA(s[6], b, c);
        s[7] = FMA(s[7], b, c);
        s[8] = FMA(s[8], b, c);
        s[9] = FMA(s[9], b, c);
        s[10] = FMA(s[10], b, c);
        s[11] = FMA(s[11], b, c);
    }
    for (size_t i = 0; i < 12; i++) all += (double)s[i][0];
    return all;
}
#undef LOOP
#undef TARGET
#undef VECTOR
#undef PAST
#undef FMA
