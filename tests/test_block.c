/* Block types: names and sizes, decoding of every type by every instruction set of this machine,
 * q8_0's encoding, and rows of blocks. Expected values are ggml's own (golden_block_ggml.txt: its
 * dequantize_row functions at commit d99724f2b141, blocks and f32 results as hexadecimal bits),
 * those of the Python package gguf (golden_block.txt, see make_golden_block.py), or worked out by
 * hand. Any NaN stands for every NaN: which one comes out is not specified. */
#include "test.h"

#include <inttypes.h>
#include <math.h>
#include <wte/block.h>
#include <wte/lookup.h>

#include "num/kernels.h"

#define MOST_BYTES ((size_t)8 * WTE_BLOCK_MAX_BYTES) /* of the blocks in one test */
#define MOST_OUT   ((size_t)8 * WTE_BLOCK_MAX_ELEMENTS)

typedef void (*block_kernel)(const void *src, void *dst, size_t n);

typedef struct type_row {
    wte_block_type type;
    const char *name;
    uint32_t elements, bytes;
    size_t slot; /* of its decoder in wte__kernels */
} type_row;

static const type_row types[] = {
#define X(NAME, name, value, elements, bytes)                                                      \
    { WTE_BLOCK_##NAME, #name, elements, bytes, offsetof(wte__kernels, name##_to_f32) },
    WTE_BLOCK_LIST(X)
#undef X
};
#define N_TYPES (sizeof types / sizeof types[0])

static block_kernel kernel_at(const wte__kernels *set, size_t slot)
{
    block_kernel kernel;
    memcpy(&kernel, (const char *)set + slot, sizeof kernel);
    return kernel;
}

static const type_row *type_named(const char *name)
{
    for (size_t i = 0; i < N_TYPES; i++)
        if (strcmp(types[i].name, name) == 0) return &types[i];
    fail_msg("no type %s", name);
    return NULL;
}

/* The bits of a float, all NaNs made one. */
static uint32_t bits_of(const void *value)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits;
}

static uint64_t hash_step(uint64_t hash, uint32_t word)
{
    return (hash ^ word) * UINT64_C(0x100000001b3);
}
#define HASH_START UINT64_C(0xcbf29ce484222325)

/* The noise of make_golden_block.py. */
static void fill_noise(uint64_t seed, uint8_t *out, size_t bytes)
{
    uint64_t draw = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (i % 8 == 0) draw = test_noise(&seed);
        out[i] = (uint8_t)(draw >> i % 8 * 8);
    }
}

static unsigned from_hex(const char *text)
{
    unsigned value;
    assert_int_equal(sscanf(text, "%2x", &value), 1);
    return value;
}

/* Names and sizes --------------------------------------------------------------------------- */

static void types_have_ggmls_numbers_and_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t number, elements, bytes;
    } some[] = { { "q4_0", 2, 32, 18 },     { "q8_0", 8, 32, 34 },     { "q4_k", 12, 256, 144 },
                 { "q6_k", 14, 256, 210 },  { "iq1_m", 29, 256, 56 },  { "iq4_nl", 20, 32, 18 },
                 { "mxfp4", 39, 32, 17 },   { "nvfp4", 40, 64, 36 },   { "q1_0", 41, 128, 18 },
                 { "q2_0", 42, 64, 18 },    { "tq1_0", 34, 256, 54 },  { "iq2_s", 22, 256, 82 },
                 { "iq3_s", 21, 256, 110 }, { "iq1_s", 19, 256, 50 },  { "iq2_xs", 17, 256, 74 },
                 { "q3_k", 11, 256, 110 },  { "iq4_xs", 23, 256, 136 } };
    assert_int_equal(N_TYPES, 25);
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        const wte_block_type type = wte_block_from_name(some[i].name);
        assert_int_equal(type, some[i].number);
        assert_int_equal(wte_block_elements(type), some[i].elements);
        assert_int_equal(wte_block_bytes(type), some[i].bytes);
    }
    uint32_t most_elements = 0, most_bytes = 0;
    for (size_t i = 0; i < N_TYPES; i++) {
        if (types[i].elements > most_elements) most_elements = types[i].elements;
        if (types[i].bytes > most_bytes) most_bytes = types[i].bytes;
    }
    assert_int_equal(most_elements, WTE_BLOCK_MAX_ELEMENTS);
    assert_int_equal(most_bytes, WTE_BLOCK_MAX_BYTES);
}

static void names_are_found_in_any_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_TYPES; i++) {
        assert_string_equal(wte_block_name(types[i].type), types[i].name);
        assert_int_equal(wte_block_from_name(types[i].name), types[i].type);
    }
    assert_int_equal(wte_block_from_name("Q4_K"), WTE_BLOCK_Q4_K);
    assert_int_equal(wte_block_from_name("IQ2_xxs"), WTE_BLOCK_IQ2_XXS);
    static const char *const wrong[] = { "", "q4", "q4_0 ", "q4_00", "f32", "none", "q8_1" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(wte_block_from_name(wrong[i]), WTE_BLOCK_NONE);
    assert_int_equal(wte_block_from_name(NULL), WTE_BLOCK_NONE);
}

static void what_is_no_type_has_no_size(void **state)
{
    (void)state;
    static const int numbers[] = { 0, 1, 4, 9, 15, 30, 31, 43, -1 };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const wte_block_type type = (wte_block_type)numbers[i];
        assert_string_equal(wte_block_name(type), numbers[i] ? "unknown" : "none");
        assert_int_equal(wte_block_elements(type), 0);
        assert_int_equal(wte_block_bytes(type), 0);
    }
}

/* Decoding ---------------------------------------------------------------------------------- */

/* A line "TYPE BLOCK VALUES", decoded by every set. */
static void check_ggml_line(const char *line)
{
    char name[16];
    int at = 0;
    uint8_t block[WTE_BLOCK_MAX_BYTES];
    float out[WTE_BLOCK_MAX_ELEMENTS];
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    assert_int_equal(sscanf(line, "%15s %n", name, &at), 1);
    const type_row *type = type_named(name);
    const char *hex = line + at, *values = hex + (size_t)2 * type->bytes + 1;
    assert_int_equal(strlen(values), 8 * type->elements + 1); /* and the end of the line */
    for (size_t i = 0; i < type->bytes; i++) block[i] = (uint8_t)from_hex(hex + 2 * i);
    for (size_t s = 0; s < n_sets; s++) {
        kernel_at(sets[s], type->slot)(block, out, 1);
        for (size_t i = 0; i < type->elements; i++) {
            uint32_t expected;
            assert_int_equal(sscanf(values + 8 * i, "%8" SCNx32, &expected), 1);
            if (bits_of(&out[i]) != expected)
                fail_msg("%s %s: element %zu is %08" PRIx32 ", ggml has %08" PRIx32, sets[s]->isa,
                         name, i, bits_of(&out[i]), expected);
        }
    }
}

static void blocks_decode_to_ggmls_bits(void **state)
{
    (void)state;
    static char line[4096];
    bool seen[N_TYPES] = { false };
    FILE *f = fopen(test_data("golden_block_ggml.txt"), "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        check_ggml_line(line);
        char name[16];
        assert_int_equal(sscanf(line, "%15s", name), 1);
        seen[type_named(name) - types] = true;
    }
    fclose(f);
    for (size_t i = 0; i < N_TYPES; i++) assert_true(seen[i]);
}

/* "OFFSET=HEX,OFFSET=HEX", written into each of n blocks. */
static void apply_patch(const char *patch, uint8_t *blocks, size_t n, size_t bytes)
{
    while (*patch != '\0' && *patch != '-') {
        char *end;
        const size_t offset = strtoull(patch, &end, 10);
        assert_int_equal(*end, '=');
        size_t digits = strspn(++end, "0123456789abcdef");
        assert_true(offset + digits / 2 <= bytes);
        for (size_t i = 0; i < n * digits / 2; i++)
            blocks[i / (digits / 2) * bytes + offset + i % (digits / 2)] =
                (uint8_t)from_hex(end + i % (digits / 2) * 2);
        patch = end + digits + (end[digits] == ',');
    }
}

static void check_decoded_line(const char *name, uint64_t seed, size_t n, const char *patch,
                               uint64_t expected)
{
    static uint8_t blocks[MOST_BYTES];
    static float out[MOST_OUT];
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const type_row *type = type_named(name);
    assert_true(n <= 8);
    fill_noise(seed, blocks, n * type->bytes);
    apply_patch(patch, blocks, n, type->bytes);
    for (size_t s = 0; s < n_sets; s++) {
        uint64_t hash = HASH_START;
        kernel_at(sets[s], type->slot)(blocks, out, n);
        for (size_t i = 0; i < n * type->elements; i++) hash = hash_step(hash, bits_of(&out[i]));
        if (hash != expected)
            fail_msg("%s: %zu blocks of %s from seed %" PRIu64 " (%s) differ", sets[s]->isa, n,
                     name, seed, patch);
    }
}

static void check_encoded_line(uint64_t seed, size_t n, uint64_t expected)
{
    static float values[256 * 32];
    static uint8_t blocks[256 * 34];
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    assert_true(n <= 256);
    for (size_t i = 0; i < n * 32; i++) {
        const int exponent = (int)(i / 32 * 7 % 83) - 60 - 23;
        values[i] = ldexpf((float)((int)(test_noise(&seed) >> 40) - (1 << 23)), exponent);
    }
    for (size_t s = 0; s < n_sets; s++) {
        uint64_t hash = HASH_START;
        sets[s]->f32_to_q8_0(values, blocks, n);
        for (size_t i = 0; i < n * 34; i++) hash = hash_step(hash, blocks[i]);
        if (hash != expected) fail_msg("%s: %zu encoded blocks of q8_0 differ", sets[s]->isa, n);
    }
}

static void noise_and_corners_are_as_the_gguf_package_has_them(void **state)
{
    (void)state;
    static char line[1024], patch[700];
    char name[16];
    uint64_t seed, hash;
    size_t n, decoded = 0, encoded = 0;
    FILE *f = fopen(test_data("golden_block.txt"), "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        assert_int_equal(
            sscanf(line, "%15s %" SCNu64 " %zu %699s %" SCNx64, name, &seed, &n, patch, &hash), 5);
        if (strcmp(name, "encode") == 0) {
            check_encoded_line(seed, n, hash);
            encoded++;
        } else {
            check_decoded_line(name, seed, n, patch, hash);
            decoded++;
        }
    }
    fclose(f);
    assert_int_equal(encoded, 4);
    assert_true(decoded > 16 * N_TYPES);
}

/* n blocks that end at an unreadable page, decoded to where another one begins. */
static void check_bounds(const wte__kernels *set, const type_row *type, size_t n)
{
    const size_t bytes = n * type->bytes, out_bytes = n * type->elements * sizeof(float);
    static char expected[MOST_OUT * sizeof(float)];
    uint8_t *blocks = test_guarded(bytes);
    char *out = test_guarded(out_bytes + 1);
    fill_noise(n, blocks, bytes);
    kernel_at(set, type->slot)(blocks, expected, n);
    for (int shift = 1; shift >= 0; shift--) { /* ends at the page, then one byte before it */
        memset(out, 0x5a, out_bytes + 1);
        kernel_at(set, type->slot)(blocks, out + shift, n);
        if (memcmp(out + shift, expected, out_bytes) != 0)
            fail_msg("%s %s: %zu blocks differ", set->isa, type->name, n);
        assert_int_equal(out[shift ? 0 : out_bytes], 0x5a);
    }
    test_guarded_free(blocks, bytes);
    test_guarded_free(out, out_bytes + 1);
}

static void every_count_of_blocks_stays_within_its_arrays(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    for (size_t s = 0; s < n_sets; s++)
        for (size_t i = 0; i < N_TYPES; i++) {
            for (size_t n = 1; n <= 5; n++) check_bounds(sets[s], &types[i], n);
            kernel_at(sets[s], types[i].slot)(NULL, NULL, 0);
        }
}

/* One block through the public call. */
static void decode_one(wte_block_type type, const uint8_t *block, float *out)
{
    wte_error err;
    assert_ok(wte_block_decode(type, block, out, 1, &err), err);
}

static void scales_that_are_no_numbers_and_tiny_ones_give_what_arithmetic_gives(void **state)
{
    (void)state;
    float out[256];
    uint8_t q8[34] = { 0x00, 0x7c, 1, 0xff, 0 }; /* d infinite; 1, -1, 0 */
    decode_one(WTE_BLOCK_Q8_0, q8, out);
    assert_true(isinf(out[0]) && out[0] > 0 && isinf(out[1]) && out[1] < 0 && isnan(out[2]));
    q8[1] = 0x7e; /* NaN */
    decode_one(WTE_BLOCK_Q8_0, q8, out);
    for (int i = 0; i < 32; i++) assert_true(isnan(out[i]));
    q8[0] = 1; /* the smallest subnormal */
    q8[1] = 0;
    decode_one(WTE_BLOCK_Q8_0, q8, out);
    assert_true(out[0] == 0x1p-24f && out[1] == -0x1p-24f && out[2] == 0);
    /* codes 1, 7, 9: half, six, minus half; the exponent of 0 to 255 is 127 too large */
    uint8_t mx[17] = { 0, 0x71, 0x09 };
    static const uint8_t exponents[] = { 0, 1, 2, 127, 254, 255 };
    for (size_t i = 0; i < sizeof exponents; i++) {
        mx[0] = exponents[i];
        decode_one(WTE_BLOCK_MXFP4, mx, out);
        assert_true(out[0] == ldexpf(0.5f, exponents[i] - 127));
        assert_true(out[16] == ldexpf(6.0f, exponents[i] - 127)); /* infinite from 253 on */
        assert_true(out[1] == ldexpf(-0.5f, exponents[i] - 127));
    }
    assert_true(isinf(out[16]));
}

static void decoding_says_what_it_cannot_do(void **state)
{
    (void)state;
    wte_error err;
    float out[32] = { 0 };
    uint8_t block[34] = { 0 };
    assert_fails(wte_block_decode((wte_block_type)9, block, out, 1, &err), err, WTE_E_UNSUPPORTED,
                 9, "no block type has the number 9");
    assert_fails(wte_block_decode(WTE_BLOCK_NONE, block, out, 1, &err), err, WTE_E_UNSUPPORTED, 0,
                 "number 0");
    assert_fails(wte_block_decode(WTE_BLOCK_Q8_0, NULL, out, 3, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "3 blocks of q8_0, but the source is NULL");
    assert_fails(wte_block_decode(WTE_BLOCK_Q8_0, block, NULL, 3, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "the target is NULL");
    assert_ok(wte_block_decode(WTE_BLOCK_Q8_0, NULL, NULL, 0, &err), err);
    assert_int_equal(wte_block_decode(WTE_BLOCK_Q8_0, NULL, out, 3, NULL), WTE_E_ARGUMENT);
}

/* Encoding ---------------------------------------------------------------------------------- */

static void halves_are_rounded_away_from_zero(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    /* The largest magnitude is 127, so that d is 1. */
    const float x[32] = { -127, 0.5f, -0.5f, 1.5f, -2.5f, 0.49999997f, -0.49999997f, 126.5f };
    static const int8_t q[8] = { -127, 1, -1, 2, -3, 0, 0, 127 };
    for (size_t s = 0; s < n_sets; s++) {
        uint8_t block[34];
        memset(block, 0x5a, sizeof block);
        sets[s]->f32_to_q8_0(x, block, 1);
        assert_int_equal(block[0], 0x00);
        assert_int_equal(block[1], 0x3c); /* 1.0 */
        assert_memory_equal(block + 2, q, sizeof q);
        for (size_t i = 10; i < 34; i++) assert_int_equal(block[i], 0);
    }
}

static void zeros_and_the_tiniest_numbers_encode_to_zero(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    static const float magnitudes[] = { 0, 0x1p-149f, 0x1p-126f, 0x1p-122f };
    for (size_t s = 0; s < n_sets; s++)
        for (size_t m = 0; m < 4; m++) {
            float x[32] = { 0 };
            uint8_t block[34], zero[34] = { 0 };
            x[3] = magnitudes[m];
            x[5] = -magnitudes[m];
            sets[s]->f32_to_q8_0(x, block, 1);
            assert_memory_equal(block, zero, 34);
        }
}

static void encoding_stays_within_its_arrays(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    for (size_t n = 1; n <= 3; n++) {
        const size_t bytes = n * 32 * sizeof(float);
        uint8_t expected[3 * 34], *out = test_guarded(n * 34);
        char *x = test_guarded(bytes + 1);
        for (int shift = 1; shift >= 0; shift--) { /* ends at the page, then one byte before it */
            for (size_t i = 0; i < n * 32; i++)
                memcpy(x + shift + i * sizeof(float), &(float){ (float)i - 40.3f }, sizeof(float));
            sets[0]->f32_to_q8_0(x + shift, expected, n);
            for (size_t s = 0; s < n_sets; s++) {
                memset(out, 0x5a, n * 34);
                sets[s]->f32_to_q8_0(x + shift, out, n);
                assert_memory_equal(out, expected, n * 34);
            }
        }
        test_guarded_free(x, bytes + 1);
        test_guarded_free(out, n * 34);
    }
}

static void blocks_decoded_and_encoded_again_are_the_same(void **state)
{
    (void)state;
    enum { N = 200 }; /* three times what is encoded at once, and a bit */
    static float x[N * 32];
    static uint8_t blocks[N * 34], back[N * 34 + 1];
    wte_error err;
    fill_noise(77, blocks, sizeof blocks);
    for (size_t i = 0; i < N; i++) { /* scales with few digits, that a division gives back */
        blocks[34 * i] = 0;
        blocks[34 * i + 1] = (uint8_t)(0x10 + i % 0x60);
        for (size_t k = 0; k < 32; k++) blocks[34 * i + 2 + k] |= blocks[34 * i + 2 + k] == 0x80;
        blocks[34 * i + 2 + i % 32] = 127;
    }
    back[sizeof back - 1] = 0x5a;
    assert_ok(wte_block_decode(WTE_BLOCK_Q8_0, blocks, x, N, &err), err);
    assert_ok(wte_block_encode(WTE_BLOCK_Q8_0, x, back, N, &err), err);
    assert_memory_equal(back, blocks, sizeof blocks);
    assert_int_equal(back[sizeof back - 1], 0x5a);
}

static void numbers_that_do_not_fit_are_refused_where_they_stand(void **state)
{
    (void)state;
    static float x[100 * 32];
    static uint8_t blocks[100 * 34];
    wte_error err;
    static const float bad[] = { NAN, -INFINITY, 8321040.0f, -8321040.0f };
    for (size_t i = 0; i < 4; i++) {
        const size_t at = 31 + 1000 * i;
        memset(x, 0, sizeof x);
        x[at] = bad[i];
        assert_fails(wte_block_encode(WTE_BLOCK_Q8_0, x, blocks, 100, &err), err, WTE_E_UNSUPPORTED,
                     at, "q8_0 holds magnitudes below 8.32104e+06 only");
    }
    memset(x, 0, sizeof x);
    x[0] = nextafterf(8321040.0f, 0);
    assert_ok(wte_block_encode(WTE_BLOCK_Q8_0, x, blocks, 1, &err), err);
    assert_int_equal(blocks[0] | blocks[1] << 8, 0x7bff); /* 65504 */
    assert_int_equal(blocks[2], 127);
}

static void only_q8_0_is_encoded(void **state)
{
    (void)state;
    const float x[256] = { 0 };
    uint8_t block[WTE_BLOCK_MAX_BYTES];
    wte_error err;
    for (size_t i = 0; i < N_TYPES; i++)
        if (types[i].type != WTE_BLOCK_Q8_0)
            assert_fails(wte_block_encode(types[i].type, x, block, 1, &err), err, WTE_E_UNSUPPORTED,
                         (uint64_t)types[i].type, types[i].name);
    assert_fails(wte_block_encode((wte_block_type)99, x, block, 1, &err), err, WTE_E_UNSUPPORTED,
                 99, "no block type has the number 99");
    assert_fails(wte_block_encode(WTE_BLOCK_Q8_0, x, NULL, 1, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "the target is NULL");
    assert_ok(wte_block_encode(WTE_BLOCK_Q8_0, NULL, NULL, 0, &err), err);
}

/* Rows -------------------------------------------------------------------------------------- */

#define ROWS       ((size_t)5)
#define ROW_BLOCKS ((size_t)3)

/* A table of noise whose last row ends at an unreadable page; read by row, by block and whole. */
static void check_rows(const type_row *type, size_t pad)
{
    const size_t tight = ROW_BLOCKS * type->bytes, stride = tight + pad;
    const size_t bytes = (ROWS - 1) * stride + tight, cols = ROW_BLOCKS * type->elements;
    static float all[ROWS * ROW_BLOCKS * WTE_BLOCK_MAX_ELEMENTS];
    static float some[ROWS * ROW_BLOCKS * WTE_BLOCK_MAX_ELEMENTS];
    static const int32_t ids[] = { 4, 0, 4, 3, 0, 1, 2, 4 };
    const size_t row_bytes = cols * sizeof(float);
    uint8_t *data = test_guarded(bytes);
    wte_block_source source;
    wte_row_source rows;
    wte_error err;
    fill_noise(stride, data, bytes);
    assert_ok(wte_row_source_from_blocks(type->type, ROWS, cols, data, pad ? stride : 0, &source,
                                         &rows, &err),
              err);
    assert_int_equal(rows.rows, ROWS);
    assert_int_equal(rows.cols, cols);
    assert_int_equal(rows.dtype, WTE_F32);
    assert_null(rows.data);
    for (size_t r = 0; r < ROWS; r++)
        assert_ok(wte_block_decode(type->type, data + r * stride, all + r * cols, ROW_BLOCKS, &err),
                  err);
    for (size_t r = 0; r < ROWS; r++) {
        assert_ok(wte_row_source_read(&rows, r, some, &err), err);
        assert_memory_equal(some, all + r * cols, row_bytes);
    }
    assert_ok(wte_row_source_read_block(&rows, 1, ROWS - 1, some, &err), err);
    assert_memory_equal(some, all + cols, (ROWS - 1) * row_bytes);
    static float looked_up[8 * ROW_BLOCKS * WTE_BLOCK_MAX_ELEMENTS];
    const wte_ids wanted = { ids, WTE_I32, 0, 8 };
    assert_ok(wte_lookup(&rows, wanted, NULL, looked_up, 0, &err), err);
    for (size_t i = 0; i < 8; i++)
        assert_memory_equal(looked_up + i * cols, all + (size_t)ids[i] * cols, row_bytes);
    test_guarded_free(data, bytes);
}

static void a_row_read_is_the_row_of_the_whole_table_decoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_TYPES; i++) {
        check_rows(&types[i], 0);
        check_rows(&types[i], 7);
    }
}

static void rows_that_cannot_be_are_refused(void **state)
{
    (void)state;
    uint8_t data[340] = { 0 };
    wte_block_source source;
    wte_row_source rows;
    wte_error err;
#define ROWS_OF(type, n, cols, stride)                                                             \
    wte_row_source_from_blocks(type, n, cols, data, stride, &source, &rows, &err)
    assert_fails(ROWS_OF(WTE_BLOCK_Q4_K, 2, 300, 0), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "rows of 300 numbers are not made of q4_k blocks of 256");
    assert_fails(ROWS_OF(WTE_BLOCK_Q8_0, 2, 64, 67), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "rows are 67 bytes apart, but the blocks of one take 68");
    assert_fails(ROWS_OF(WTE_BLOCK_Q8_0, UINT64_MAX / 64, 64, 0), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "more than memory can hold");
    assert_fails(ROWS_OF(WTE_BLOCK_Q8_0, 3, 64, UINT64_MAX / 2), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "3 rows, 9223372036854775807 bytes apart, are more than memory can hold");
    assert_fails(ROWS_OF(WTE_BLOCK_Q8_0, 1, UINT64_MAX - 31, 0), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "more than memory can hold");
    assert_fails(ROWS_OF((wte_block_type)43, 1, 64, 0), err, WTE_E_UNSUPPORTED, 43, "number 43");
#undef ROWS_OF
    assert_fails(wte_row_source_from_blocks(WTE_BLOCK_Q8_0, 1, 64, NULL, 0, &source, &rows, &err),
                 err, WTE_E_ARGUMENT, WTE_NO_INDEX, "1 rows of q8_0: data or storage");
    assert_fails(wte_row_source_from_blocks(WTE_BLOCK_Q8_0, 1, 64, data, 0, NULL, &rows, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "is NULL");
    assert_fails(wte_row_source_from_blocks(WTE_BLOCK_Q8_0, 1, 64, data, 0, &source, NULL, &err),
                 err, WTE_E_ARGUMENT, WTE_NO_INDEX, "is NULL");
}

static void empty_tables_have_no_rows_or_empty_ones(void **state)
{
    (void)state;
    uint8_t byte = 0;
    float out = 1;
    wte_block_source source;
    wte_row_source rows;
    wte_error err;
    assert_ok(wte_row_source_from_blocks(WTE_BLOCK_Q4_0, 0, 64, NULL, 0, &source, &rows, &err),
              err);
    assert_ok(wte_row_source_read_block(&rows, 0, 0, NULL, &err), err);
    assert_fails(wte_row_source_read(&rows, 0, &out, &err), err, WTE_E_RANGE, 0, "only 0");
    assert_ok(wte_row_source_from_blocks(WTE_BLOCK_Q4_0, 3, 0, &byte, 0, &source, &rows, &err),
              err);
    assert_ok(wte_row_source_read_block(&rows, 0, 3, &out, &err), err);
    const uint64_t ids[] = { 2, 0 };
    assert_ok(rows.read_rows(rows.ctx, ids, 2, &out, &err), err);
    assert_ok(rows.read_rows(rows.ctx, ids, 0, &out, &err), err);
    assert_true(out == 1.0f);
}

static const struct CMUnitTest tests[] = {
    TEST("types have ggml's numbers and sizes", types_have_ggmls_numbers_and_sizes),
    TEST("names are found in any case", names_are_found_in_any_case),
    TEST("what is no type has no size", what_is_no_type_has_no_size),
    TEST("blocks of every type decode to ggml's bits", blocks_decode_to_ggmls_bits),
    TEST("noise and corners are as the gguf package has them",
         noise_and_corners_are_as_the_gguf_package_has_them),
    TEST("every count of blocks stays within its arrays",
         every_count_of_blocks_stays_within_its_arrays),
    TEST("scales that are no numbers, and tiny ones, give what arithmetic gives",
         scales_that_are_no_numbers_and_tiny_ones_give_what_arithmetic_gives),
    TEST("decoding says what it cannot do", decoding_says_what_it_cannot_do),
    TEST("halves are rounded away from zero", halves_are_rounded_away_from_zero),
    TEST("zeros and the tiniest numbers encode to zero",
         zeros_and_the_tiniest_numbers_encode_to_zero),
    TEST("encoding stays within its arrays", encoding_stays_within_its_arrays),
    TEST("blocks decoded and encoded again are the same",
         blocks_decoded_and_encoded_again_are_the_same),
    TEST("numbers that do not fit are refused where they stand",
         numbers_that_do_not_fit_are_refused_where_they_stand),
    TEST("only q8_0 is encoded", only_q8_0_is_encoded),
    TEST("a row read is the row of the whole table decoded",
         a_row_read_is_the_row_of_the_whole_table_decoded),
    TEST("rows that cannot be are refused", rows_that_cannot_be_are_refused),
    TEST("empty tables have no rows, or empty ones", empty_tables_have_no_rows_or_empty_ones),
};
TEST_MAIN(tests)
