/* The reader of sentencepiece models over any bytes.
 *
 * Properties: of an accepted model every id has a text that lies in the bytes given, there are no
 * holes, exactly one id is found for a text that only one has, and a text found is the text asked
 * for. */
#include "fuzz.h"

#include <string.h>
#include <wte/vocab.h>

static bool inside(const uint8_t *data, size_t size, const char *text, uint64_t bytes)
{
    for (size_t i = 0; bytes <= size && i <= size - bytes; i++)
        if (memcmp(data + i, text, (size_t)bytes) == 0) return true;
    return false;
}

static void check(const wte_vocab *v, const uint8_t *data, size_t size)
{
    wte_error err = { 0 };
    HOLDS(wte_vocab_size(v) > 0 && wte_vocab_n_holes(v) == 0);
    for (uint64_t id = 0; id < wte_vocab_size(v) && id < 64; id++) {
        uint64_t bytes, found, others, same;
        char written[256];
        const char *text = wte_vocab_raw_text(v, id, &bytes);
        HOLDS(text != NULL && bytes > 0 && inside(data, size, text, bytes));
        HOLDS(wte_vocab_kind(v, id) != WTE_TOKEN_NONE);
        HOLDS(wte_vocab_find(v, text, bytes, &found, &others, &err) == WTE_OK);
        const char *again = wte_vocab_raw_text(v, found, &same);
        HOLDS(others > 0 || (found == id && same == bytes && memcmp(again, text, bytes) == 0));
        HOLDS(wte_vocab_text(v, id, written, sizeof written) <= bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_memory memory;
    wte_error err = { 0 };
    wte_vocab *v;
    wte_vocab_options opt = WTE_VOCAB_OPTIONS_INIT;
    fuzz_memory_init(&memory);
    opt.allocator = &memory.allocator;
    const wte_status status =
        wte_vocab_open_memory(data, size, "fuzz", WTE_VOCAB_PIECES, &opt, &v, &err);
    if (status == WTE_OK)
        check(v, data, size);
    else
        fuzz_check_error(&err, status, size);
    wte_vocab_free(v);
    HOLDS(memory.live == 0 && memory.live_bytes == 0);
    return 0;
}
