/* The table of kinds over any bytes.
 *
 * Properties: no probe reads outside of what was given; the same bytes are the same kind again; the
 * refusal names the kind and is not cut where a path of ordinary length stands before it. */
#include "fuzz.h"

#include <string.h>

#include "format/kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wte__file file;
    wte__head head;
    wte_error err = { 0 };
    wte__file_over(&file, data, size);
    HOLDS(wte__head_read(&file, "t", &head, &err) == WTE_OK);
    HOLDS(head.n <= size && head.n_tail <= size);
    (void)wte__head_is_text(&head);
    const wte__kind *kind = wte__kind_of(&head);
    HOLDS(kind == wte__kind_of(&head));
    if (kind) {
        const wte_status status = wte__kind_refuse(kind, &head, "t", &err);
        HOLDS(status == WTE_E_FORMAT || status == WTE_E_UNSUPPORTED);
        HOLDS(strstr(err.message, kind->name) != NULL);
    } else {
        HOLDS(size == 0 || wte__unknown(&head, "t", &err) != WTE_OK);
    }
    const wte__kind *member = wte__kind_of_member((const char *)data, size);
    HOLDS(!member || member->form == WTE__KIND_MEMBER);
    return 0;
}
