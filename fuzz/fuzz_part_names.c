/* Names of parts of a model: the input is a path, up to its first NUL byte.
 *
 * Properties: a name that is a part's has its number in digits where it says, and all places are
 * inside the path; the path of part 0, made from it, is a part's of the same scheme, and the path
 * of the part's own number is the name again. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "format/parallel.h"

static void check_digits(const char *path, size_t at, size_t digits, uint64_t number)
{
    uint64_t value = 0;
    HOLDS(digits > 0 && digits <= 20);
    for (size_t i = 0; i < digits; i++) {
        HOLDS(path[at + i] >= '0' && path[at + i] <= '9');
        value = value * 10 + (uint64_t)(path[at + i] - '0');
    }
    HOLDS(value == number);
}

static uint64_t other_of(const char *path, const wte__parallel_name *name)
{
    char digits[32] = "";
    if (!name->other_digits || name->other_digits >= sizeof digits) return 0;
    memcpy(digits, path + name->other_at, name->other_digits);
    return strtoull(digits, NULL, 10);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[512], made[WTE_LIMIT_PATH];
    wte__parallel_name name, again;
    if (size >= sizeof path) return 0;
    memcpy(path, data, size);
    path[size] = '\0';
    if (!wte__parallel_name_of(path, &name)) return 0;
    const size_t n = strlen(path);
    HOLDS(name.scheme && name.base < n && name.at >= name.base && name.at + name.digits <= n);
    HOLDS(name.other_at + name.other_digits <= n);
    HOLDS(name.digits >= name.scheme->digits);
    check_digits(path, name.at, name.digits, name.number);
    const uint64_t other = other_of(path, &name);
    if (wte__parallel_path(path, &name, name.number, other, made) && !name.scheme->in_folder)
        HOLDS(wte__parallel_name_of(made, &again) && again.number == name.number);
    if (wte__parallel_path(path, &name, 0, other, made)) {
        HOLDS(wte__parallel_name_of(made, &again));
        HOLDS(again.number == 0 && again.scheme == name.scheme);
    }
    return 0;
}
