/* Every kernel of every instruction set of this machine against the plain statement of what it must
 * do (number.c, memcpy): same bits, nothing read or written outside, any length, any alignment. */
#include "test.h"

#include <inttypes.h>
#include <math.h>

#include "num/kernels.h"
#include "num/number.h"

/* The longest vector has 16 lanes: two of them and a bit. */
#define LONGEST 40u

typedef struct conversion {
    const char *name;
    size_t slot; /* offset in wte__kernels */
    wte_dtype from, to;
} conversion;

#define CONVERSION(kernel, from, to)                                                               \
    {                                                                                              \
#kernel, offsetof(wte__kernels, kernel), from, to                                          \
    }
static const conversion conversions[] = {
    CONVERSION(f64_to_f32, WTE_F64, WTE_F32),
    CONVERSION(f16_to_f32, WTE_F16, WTE_F32),
    CONVERSION(bf16_to_f32, WTE_BF16, WTE_F32),
    CONVERSION(f8_e4m3_to_f32, WTE_F8_E4M3, WTE_F32),
    CONVERSION(f8_e5m2_to_f32, WTE_F8_E5M2, WTE_F32),
    CONVERSION(i8_to_f32, WTE_I8, WTE_F32),
    CONVERSION(u8_to_f32, WTE_U8, WTE_F32),
    CONVERSION(i16_to_f32, WTE_I16, WTE_F32),
    CONVERSION(u16_to_f32, WTE_U16, WTE_F32),
    CONVERSION(i32_to_f32, WTE_I32, WTE_F32),
    CONVERSION(u32_to_f32, WTE_U32, WTE_F32),
    CONVERSION(i64_to_f32, WTE_I64, WTE_F32),
    CONVERSION(u64_to_f32, WTE_U64, WTE_F32),
    CONVERSION(bool_to_f32, WTE_BOOL, WTE_F32),
    CONVERSION(f32_to_f16, WTE_F32, WTE_F16),
    CONVERSION(f32_to_bf16, WTE_F32, WTE_BF16),
    CONVERSION(f32_to_f64, WTE_F32, WTE_F64),
};
#define N_CONVERSIONS (sizeof conversions / sizeof conversions[0])

typedef void (*convert_kernel)(const void *src, void *dst, size_t n);
static convert_kernel kernel_of(const wte__kernels *set, const conversion *c)
{
    convert_kernel kernel;
    memcpy(&kernel, (const char *)set + c->slot, sizeof kernel);
    return kernel;
}

static void convert_plainly(const conversion *c, const char *src, char *dst, size_t n)
{
    const size_t from_bytes = wte_dtype_bytes(c->from), to_bytes = wte_dtype_bytes(c->to);
    for (size_t i = 0; i < n; i++)
        wte__number_store(wte__number_load(c->from, src + i * from_bytes), c->to,
                          dst + i * to_bytes);
}

/* Elements as integers, for messages. */
static uint64_t element(const char *array, wte_dtype type, size_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, array + i * wte_dtype_bytes(type), wte_dtype_bytes(type));
    return bits;
}

static void check_sets(const conversion *c, const char *src, size_t n)
{
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const size_t bytes = n * wte_dtype_bytes(c->to);
    char *expected = malloc(bytes), *got = malloc(bytes);
    assert_non_null(expected);
    assert_non_null(got);
    convert_plainly(c, src, expected, n);
    for (size_t s = 0; s < n_sets; s++) {
        memset(got, 0xa5, bytes);
        kernel_of(sets[s], c)(src, got, n);
        for (size_t i = 0; memcmp(got, expected, bytes) != 0 && i < n; i++)
            if (element(got, c->to, i) != element(expected, c->to, i))
                fail_msg("%s %s: %" PRIx64 " became %" PRIx64 ", not %" PRIx64, sets[s]->isa,
                         c->name, element(src, c->from, i), element(got, c->to, i),
                         element(expected, c->to, i));
    }
    free(expected);
    free(got);
}

static void every_code_of_narrow_types_is_widened_alike(void **state)
{
    (void)state;
    static uint16_t codes16[65536];
    static uint8_t codes8[256];
    for (size_t i = 0; i < 65536; i++) codes16[i] = (uint16_t)i;
    for (size_t i = 0; i < 256; i++) codes8[i] = (uint8_t)i;
    size_t checked = 0;
    for (size_t i = 0; i < N_CONVERSIONS; i++) {
        const uint32_t bits = wte_dtype_bits(conversions[i].from);
        if (bits == 16) check_sets(&conversions[i], (const char *)codes16, 65536);
        if (bits == 8) check_sets(&conversions[i], (const char *)codes8, 256);
        checked += bits <= 16;
    }
    assert_int_equal(checked, 9);
}

/* Bits around every power of two and in every field: sparse, full, and one off both. */
static uint64_t interesting(uint64_t *seed)
{
    const uint64_t noise = test_noise(seed);
    const uint64_t one = UINT64_C(1) << (noise & 63), other = UINT64_C(1) << (noise >> 6 & 63);
    const uint64_t forms[] = { noise, one, one - 1, one + 1, one | other, ~one, one - other, 0 };
    return forms[noise >> 12 & 7];
}

static void wide_types_are_widened_alike(void **state)
{
    (void)state;
    enum { N = 100000 };
    static uint64_t wide[N];
    static uint32_t half[N];
    uint64_t seed = 1;
    for (size_t i = 0; i < N; i++) {
        wide[i] = interesting(&seed);
        half[i] = (uint32_t)(wide[i] ^ wide[i] >> 32);
    }
    for (size_t i = 0; i < N_CONVERSIONS; i++) {
        const uint32_t bits = wte_dtype_bits(conversions[i].from);
        if (bits == 64) check_sets(&conversions[i], (const char *)wide, N);
        if (bits == 32) check_sets(&conversions[i], (const char *)half, N);
    }
    /* Doubles over f32's range and just outside: random bits hit it once in eight times. */
    for (size_t i = 0; i < N; i++) {
        const uint64_t exponent = 1023 - 160 + test_noise(&seed) % 300;
        wide[i] = (interesting(&seed) & ~(UINT64_C(0x7ff) << 52)) | exponent << 52;
    }
    check_sets(&conversions[0], (const char *)wide, N);
}

static void edges_of_every_exponent_are_narrowed_alike(void **state)
{
    (void)state;
    enum { EDGES = 23 * 4 + 6 };
    static uint32_t bits[512 * EDGES];
    size_t n = 0;
    for (uint32_t sign_exponent = 0; sign_exponent < 512; sign_exponent++) {
        uint32_t fraction[EDGES] = { 0, 0x7fffff, 0x7fe000, 0x7fdfff, 0x7f8000, 0x555555 };
        size_t edges = 6;
        for (uint32_t at = 0; at < 23; at++) { /* ties at every width, and both sides of them */
            fraction[edges++] = 1u << at;
            fraction[edges++] = (1u << at) - 1;
            fraction[edges++] = 1u << at | 1u;
            fraction[edges++] = 0x7fffffu & (3u << at);
        }
        assert_int_equal(edges, EDGES);
        for (size_t i = 0; i < EDGES; i++) bits[n++] = sign_exponent << 23 | fraction[i];
    }
    check_sets(&conversions[N_CONVERSIONS - 2], (const char *)bits, n);
    check_sets(&conversions[N_CONVERSIONS - 1], (const char *)bits, n);
}

static void random_bits_are_narrowed_alike(void **state)
{
    (void)state;
    enum { N = 1 << 18, ROUNDS = 8 };
    const conversion *narrowing[] = { &conversions[N_CONVERSIONS - 2],
                                      &conversions[N_CONVERSIONS - 1] };
    uint32_t *bits = malloc(N * sizeof *bits);
    uint64_t seed = 3;
    assert_non_null(bits);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < N; i++) bits[i] = (uint32_t)(test_noise(&seed) >> 32);
        check_sets(narrowing[round & 1], (const char *)bits, N);
    }
    free(bits);
}

static void a_half_is_its_own_narrowed_widening(void **state)
{
    (void)state;
    static uint16_t codes[65536], back[65536];
    static float between[65536];
    const wte__kernels *k = wte__kernels_get();
    for (size_t i = 0; i < 65536; i++) codes[i] = (uint16_t)i;
    k->f16_to_f32(codes, between, 65536);
    k->f32_to_f16(between, back, 65536);
    for (uint32_t i = 0; i < 65536; i++) /* a signalling NaN comes back as a quiet one */
        assert_int_equal(back[i], (i & 0x7fff) > 0x7c00 ? i | 0x200 : i);
    k->bf16_to_f32(codes, between, 65536);
    k->f32_to_bf16(between, back, 65536);
    for (uint32_t i = 0; i < 65536; i++)
        assert_int_equal(back[i], (i & 0x7fff) > 0x7f80 ? i | 0x40 : i);
}

/* n elements at the end of a page, read and written in place: a byte too far crashes. */
static void check_length(const wte__kernels *set, const conversion *c, size_t n)
{
    const size_t from_bytes = n * wte_dtype_bytes(c->from), to_bytes = n * wte_dtype_bytes(c->to);
    char expected[LONGEST * 8];
    char *src = test_guarded(from_bytes), *dst = test_guarded(to_bytes + 1);
    uint64_t seed = n + 1;
    for (size_t i = 0; i < from_bytes; i++) src[i] = (char)test_noise(&seed);
    convert_plainly(c, src, expected, n);
    for (int shift = 1; shift >= 0; shift--) { /* ends at the page, then one byte before it */
        memset(dst, 0x5a, to_bytes + 1);
        kernel_of(set, c)(src, dst + shift, n);
        if (memcmp(dst + shift, expected, to_bytes) != 0)
            fail_msg("%s %s of %zu elements differs", set->isa, c->name, n);
        assert_int_equal(dst[shift ? 0 : to_bytes], 0x5a);
    }
    test_guarded_free(src, from_bytes);
    test_guarded_free(dst, to_bytes + 1);
}

static void every_length_stays_within_its_arrays(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    for (size_t s = 0; s < n_sets; s++)
        for (size_t i = 0; i < N_CONVERSIONS; i++)
            for (size_t n = 1; n <= LONGEST; n++) check_length(sets[s], &conversions[i], n);
}

static void nothing_to_do_touches_nothing(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const uint64_t row = 0;
    char byte = 7;
    for (size_t s = 0; s < n_sets; s++) {
        for (size_t i = 0; i < N_CONVERSIONS; i++)
            kernel_of(sets[s], &conversions[i])(NULL, NULL, 0);
        for (int stream = 0; stream < 2; stream++) {
            sets[s]->gather_rows(NULL, 0, NULL, 0, NULL, 0, 64, stream);
            sets[s]->gather_rows(&byte, 1, &byte, 1, &row, 1, 0, stream);
        }
        wte__row_stats r = { 1, 1, 1, 1 };
        sets[s]->bf16_row_stats(NULL, 0, &r);
        assert_true(r.squares == 0 && r.min == 0 && r.max == 0 && r.mark == 0);
    }
    assert_int_equal(byte, 7);
}

/* Gathering --------------------------------------------------------------------------------- */

#define TABLE_ROWS 19u
#define MOST_OUT   120u

typedef struct gather_case {
    size_t row_bytes, table_pad, out_pad, out_shift, n;
    bool stream;
} gather_case;

/* Table and output end at unreadable pages; between the rows of the output nothing may change. */
static void check_gather(const wte__kernels *set, const gather_case *c)
{
    const size_t table_stride = c->row_bytes + c->table_pad, out_stride = c->row_bytes + c->out_pad;
    const size_t table_bytes = (TABLE_ROWS - 1) * table_stride + c->row_bytes;
    const size_t out_bytes = (c->n - 1) * out_stride + c->row_bytes + c->out_shift;
    char *table = test_guarded(table_bytes), *out = test_guarded(out_bytes);
    char *expected = malloc(out_bytes);
    uint64_t rows[MOST_OUT], seed = c->row_bytes;
    assert_non_null(expected);
    for (size_t i = 0; i < table_bytes; i++) table[i] = (char)test_noise(&seed);
    memset(out, 0x5a, out_bytes);
    memset(expected, 0x5a, out_bytes);
    for (size_t i = 0; i < c->n; i++) {
        rows[i] = i ? test_noise(&seed) % TABLE_ROWS : TABLE_ROWS - 1;
        memcpy(expected + i * out_stride, table + rows[i] * table_stride, c->row_bytes);
    }
    /* The last row of the output ends out_shift bytes before the page, the first lies anywhere. */
    set->gather_rows(out, out_stride, table, table_stride, rows, c->n, c->row_bytes, c->stream);
    if (memcmp(out, expected, out_bytes) != 0)
        fail_msg("%s gather differs: %zu rows of %zu bytes, pads %zu and %zu, shift %zu, stream %d",
                 set->isa, c->n, c->row_bytes, c->table_pad, c->out_pad, c->out_shift, c->stream);
    free(expected);
    test_guarded_free(table, table_bytes);
    test_guarded_free(out, out_bytes);
}

static void check_gathers_of(const wte__kernels *set, size_t row_bytes)
{
    static const size_t pads[] = { 0, 1, 40, 64 }, counts[] = { 1, 2, 7, MOST_OUT };
    uint64_t seed = row_bytes + 1;
    for (int i = 0; i < 24; i++) {
        const uint64_t noise = test_noise(&seed);
        const gather_case c = {
            row_bytes,       pads[noise & 3],         pads[noise >> 2 & 3],
            noise >> 4 & 63, counts[noise >> 10 & 3], noise >> 12 & 1,
        };
        check_gather(set, &c);
    }
}

static void gathered_rows_are_the_tables_rows(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1,    2,    3,    31,   32,   33,   63,   64,
                                    65,   100,  127,  128,  200,  255,  256,  257,
                                    300,  511,  512,  513,  1000, 1023, 1024, 1025,
                                    1087, 1200, 1279, 1280, 1281, 3072, 3100, 16384 };
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    for (size_t s = 0; s < n_sets; s++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            check_gathers_of(sets[s], sizes[i]);
}

/* Statistics of rows ------------------------------------------------------------------------ */

typedef void (*row_stats)(const void *row, size_t n, wte__row_stats *out);

static row_stats stats_of(const wte__kernels *set, wte_dtype type)
{
    if (type == WTE_F32) return set->f32_row_stats;
    return type == WTE_F16 ? set->f16_row_stats : set->bf16_row_stats;
}

/* Numbers that squares can be taken of, random bits (NaN and infinities among them), or tiny ones.
 */
static void fill_row(char *row, wte_dtype type, size_t n, int kind, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t noise = test_noise(seed);
        const float x = (float)(int32_t)(uint32_t)noise * (kind == 2 ? 0x1p-100f : 0x1p-31f);
        uint32_t bits = (uint32_t)(noise >> 32);
        if (kind != 1) memcpy(&bits, &x, sizeof bits);
        if (type == WTE_BF16) bits >>= 16;
        if (type == WTE_F16 && kind != 1) wte__kernels_get()->f32_to_f16(&x, &bits, 1);
        memcpy(row + i * wte_dtype_bytes(type), &bits, wte_dtype_bytes(type));
    }
}

static void check_stats(const wte__kernels *set, wte_dtype type, size_t n, int kind)
{
    const wte__kernels *plain[1];
    const size_t bytes = n * wte_dtype_bytes(type);
    char *row = test_guarded(bytes);
    wte__row_stats got, want;
    double squares = 0;
    uint64_t seed = n + 7 * (uint64_t)kind + 1;
    wte__kernels_all(plain, 1);
    fill_row(row, type, n, kind, &seed);
    stats_of(plain[0], type)(row, n, &want);
    stats_of(set, type)(row, n, &got);
    for (size_t i = 0; i < n; i++) {
        double x;
        wte_error err;
        const char *at = row + i * wte_dtype_bytes(type);
        assert_ok(wte_convert(type, at, WTE_F64, &x, 1, NULL, &err), err);
        squares += x * x;
    }
    if (kind == 0) assert_true(fabs((double)got.squares - squares) <= 1e-6 * squares);
    if (kind == 0 && n % 64 == 0)
        assert_true((double)got.min * 64 <= squares && (double)got.max * 64 >= squares);
    assert_true(!isfinite(got.squares) == !isfinite(want.squares));
    if (!isfinite(squares)) assert_true(!isfinite(got.squares));
    if (isfinite(want.squares)) { /* NaN has no bits of its own */
        assert_memory_equal(&got.squares, &want.squares, sizeof got.squares);
        assert_memory_equal(&got.min, &want.min, sizeof got.min);
        assert_memory_equal(&got.max, &want.max, sizeof got.max);
        assert_true(got.mark == want.mark);
    }
    test_guarded_free(row, bytes);
}

static void row_stats_are_those_of_plain_c(void **state)
{
    (void)state;
    static const wte_dtype types[] = { WTE_F32, WTE_F16, WTE_BF16 };
    static const size_t more[] = { 256, 300, 768, 1000, 4096 };
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    for (size_t s = 0; s < n_sets; s++)
        for (size_t t = 0; t < 3; t++)
            for (int kind = 0; kind < 3; kind++) {
                for (size_t n = 1; n < 200; n++) check_stats(sets[s], types[t], n, kind);
                for (size_t i = 0; i < 5; i++) check_stats(sets[s], types[t], more[i], kind);
            }
}

/* Any change that the sums of squares can see: the sign bits are not among these. */
static void a_changed_row_changes_its_mark(void **state)
{
    (void)state;
    static const wte_dtype types[] = { WTE_F32, WTE_F16, WTE_BF16 };
    const wte__kernels *k = wte__kernels_get();
    wte__row_stats before, after;
    uint64_t seed = 5;
    for (size_t t = 0; t < 3; t++) {
        char row[400] = { 0 };
        const size_t bytes = wte_dtype_bytes(types[t]), n = sizeof row / bytes;
        fill_row(row, types[t], n, 0, &seed);
        stats_of(k, types[t])(row, n, &before);
        for (size_t i = 0; i < n; i++) { /* a high bit of each number's fraction */
            char *at = row + i * bytes + bytes - (types[t] == WTE_F16 ? 1 : 2);
            const int bit = types[t] == WTE_F16 ? 1 : 64;
            *at = (char)(*at ^ bit);
            stats_of(k, types[t])(row, n, &after);
            assert_true(after.mark != before.mark);
            *at = (char)(*at ^ bit);
        }
        stats_of(k, types[t])(row, n, &after);
        assert_true(after.mark == before.mark);
    }
}

static void equal_numbers_give_equal_lanes(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    float row[192];
    wte__row_stats r;
    for (size_t i = 0; i < 192; i++) row[i] = i % 3 ? 0.3f : -0.3f;
    for (size_t s = 0; s < n_sets; s++) {
        sets[s]->f32_row_stats(row, 192, &r);
        assert_true(r.min == r.max && fabs((double)r.min - 3 * 0.09) < 1e-6);
        sets[s]->f32_row_stats(row, 130, &r); /* two lanes have a third number */
        assert_true(fabs((double)r.min - 2 * 0.09) < 1e-6);
        assert_true(fabs((double)r.max - 3 * 0.09) < 1e-6);
    }
}

static void what_is_not_finite_is_told_by_the_squares(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const float f32[] = { 1, -INFINITY, 2 }, nan[] = { 1, 2, NAN }, large[] = { 1e30f };
    const uint16_t f16[] = { 0x3c00, 0xfc00 }, bf16[] = { 0x3f80, 0xff81 }; /* -inf; a NaN */
    wte__row_stats r;
    for (size_t s = 0; s < n_sets; s++) {
        sets[s]->f32_row_stats(f32, 3, &r);
        assert_true(!isfinite(r.squares));
        sets[s]->f32_row_stats(nan, 3, &r);
        assert_true(!isfinite(r.squares));
        sets[s]->f32_row_stats(large, 1, &r);
        assert_true(!isfinite(r.squares));
        sets[s]->f16_row_stats(f16, 2, &r);
        assert_true(!isfinite(r.squares));
        sets[s]->bf16_row_stats(bf16, 2, &r);
        assert_true(!isfinite(r.squares));
    }
}

/* Dispatch ---------------------------------------------------------------------------------- */

static void the_set_in_use_is_the_one_asked_for(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const char *asked = getenv("WTE_ISA");
    if (!asked || !*asked) asked = sets[n_sets - 1]->isa; /* the best */
    assert_string_equal(wte__kernels_get()->isa, asked);
}

static void every_set_has_every_kernel(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    assert_int_equal(wte__kernels_all(sets, 1), 1);
    assert_string_equal(sets[0]->isa, "scalar");
    for (size_t s = 0; s < n_sets; s++) {
#define KERNEL(name, ret, args) assert_non_null(sets[s]->name);
#include "num/kernels.def"
#undef KERNEL
    }
}

/* Kernel number i, `place` bytes into the table of its set: the one in use is that set's own. */
static void check_listed(size_t i, const char *kernel, size_t place)
{
    const wte__kernels *sets[WTE__MAX_ISAS], *used = wte__kernels_get();
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const char *name, *isa = wte_kernel_isa(i, &name);
    const char *gathers = strcmp(used->isa, "avx512_bf16_vnni") == 0 ? "avx512" : used->isa;
    assert_string_equal(name, kernel);
    if (strcmp(name, "gather_rows") == 0) assert_string_equal(isa, gathers); /* all but one */
    for (size_t s = 0; s < n_sets; s++)
        if (strcmp(sets[s]->isa, isa) == 0)
            assert_memory_equal((const char *)sets[s] + place, (const char *)used + place,
                                sizeof used->gather_rows);
}

static void kernels_are_listed_with_the_set_that_serves_them(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t place;
    } all[] = {
#define KERNEL(kernel, ret, args) { #kernel, offsetof(wte__kernels, kernel) },
#include "num/kernels.def"
#undef KERNEL
    };
    const size_t n = sizeof all / sizeof *all;
    const char *name;
    for (size_t i = 0; i < n; i++) check_listed(i, all[i].name, all[i].place);
    assert_null(wte_kernel_isa(n, &name));
    assert_null(wte_kernel_isa(SIZE_MAX, NULL));
}

/* What wte_isa_check says in a process with that WTE_ISA: its message on a pipe. A program of
 * another processor is run by what WTE_EMULATOR names, as words for the shell. */
static void isa_check_in_child(const char *value, char *said, int said_bytes)
{
    char self[4096], command[6000];
    const char *emulator = getenv("WTE_EMULATOR");
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    const int length = snprintf(command, sizeof command, "WTE_ISA='%s' %s '%s' isa-check", value,
                                emulator ? emulator : "", self);
    assert_in_range(length, 0, sizeof command - 1);
    FILE *child = popen(command, "r");
    assert_non_null(child);
    assert_non_null(fgets(said, said_bytes, child));
    assert_int_equal(pclose(child), 0);
}

static int say_isa_check(void)
{
    wte_error err;
    const wte_status status = wte_isa_check(&err);
    printf("%s: %s", wte_status_text(status), status == WTE_OK ? "" : err.message);
    printf("; %s\n", wte__kernels_get()->isa);
    return 0;
}

static void an_isa_that_is_not_here_is_reported_and_the_best_is_used(void **state)
{
    (void)state;
    char said[512], unset[512];
    isa_check_in_child("", unset, sizeof unset);
    assert_non_null(strstr(unset, "success: ; "));
    const char *end = strchr(unset, ';'); /* the best set of this machine */
    isa_check_in_child("sse9", said, sizeof said);
    assert_non_null(strstr(said, wte_status_text(WTE_E_UNSUPPORTED)));
    assert_non_null(strstr(said, "WTE_ISA=sse9: no such instruction set"));
    assert_string_equal(said + strlen(said) - strlen(end), end);
    isa_check_in_child("AVX2", said, sizeof said); /* names are exact */
    assert_non_null(strstr(said, "WTE_ISA=AVX2: no such instruction set"));
    isa_check_in_child("scalar", said, sizeof said);
    assert_string_equal(said, "success: ; scalar\n");
}

static const struct CMUnitTest tests[] = {
    TEST("every code of 8 and 16 bits is widened alike",
         every_code_of_narrow_types_is_widened_alike),
    TEST("wide types are widened alike", wide_types_are_widened_alike),
    TEST("the edges of every exponent are narrowed alike",
         edges_of_every_exponent_are_narrowed_alike),
    TEST("two million random bit patterns are narrowed alike", random_bits_are_narrowed_alike),
    TEST("f16 and bf16 come back from f32 as they were", a_half_is_its_own_narrowed_widening),
    TEST("every length stays within its arrays", every_length_stays_within_its_arrays),
    TEST("nothing to do touches nothing", nothing_to_do_touches_nothing),
    TEST("gathered rows are the table's rows, whatever size, stride and alignment",
         gathered_rows_are_the_tables_rows),
    TEST("statistics of rows are those of plain C, whatever length and bits",
         row_stats_are_those_of_plain_c),
    TEST("a row with one number changed has another mark", a_changed_row_changes_its_mark),
    TEST("equal numbers give equal lanes", equal_numbers_give_equal_lanes),
    TEST("what is not finite is told by the sum of squares",
         what_is_not_finite_is_told_by_the_squares),
    TEST("the set in use is the one that WTE_ISA asks for", the_set_in_use_is_the_one_asked_for),
    TEST("every set has every kernel", every_set_has_every_kernel),
    TEST("kernels are listed with the set that serves them",
         kernels_are_listed_with_the_set_that_serves_them),
    TEST("a WTE_ISA that is not here is reported, and the best is used",
         an_isa_that_is_not_here_is_reported_and_the_best_is_used),
};

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "isa-check") == 0) return say_isa_check();
    if (test_isa_missing()) return TEST_SKIPPED;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
