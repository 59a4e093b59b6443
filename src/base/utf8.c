/* The one function on UTF-8 that programs outside the library need as well. */
#include "base/utf8.h"

#include <wte/base.h>

uint32_t wte_utf8_next(const void *text, uint64_t bytes, bool *safe)
{
    uint32_t code;
    *safe = wte__utf8_printable(text, bytes) != 0;
    return wte__utf8_get(text, bytes, &code);
}
