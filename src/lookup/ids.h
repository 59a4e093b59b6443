/* Token ids read in blocks: to row numbers, and against the valid range. */
#ifndef WTE_SRC_LOOKUP_IDS_H
#define WTE_SRC_LOOKUP_IDS_H
#include <wte/lookup.h>

/* Ids converted at a time: their row numbers, 4 KiB, stay in the first-level cache. */
#define WTE__IDS_BLOCK 512u
/* Row number of an id that yields a zero vector. */
#define WTE__ZERO_ROW UINT64_MAX

/* Row indices after a block that are passed to kernels, for prefetching. */
#define WTE__IDS_AHEAD 96u

/* What makes an id good, bad or ignored. */
typedef struct wte__id_rules {
    uint64_t rows;         /* ids 0 .. rows - 1 are good */
    const int64_t *ignore; /* covered before the range is looked at */
    size_t n_ignore;
    bool ascending; /* the list of them: it is searched, else gone through */
    int64_t least_ignore, most_ignore;
    const void *mask; /* or NULL: of each id, 0 = it is not looked at */
    wte_dtype mask_type;
} wte__id_rules;
/* Type and address; `what` begins the messages. */
wte_status wte__ids_check(wte_ids ids, const char *what, wte_error *err);
void wte__id_rules_init(wte__id_rules *rules, uint64_t rows, const int64_t *ignore,
                        size_t n_ignore);

/* Count invalid and ignored ids and record the first invalid ones. One pass over the ids, cheap
 * relative to reading rows. */
void wte__ids_judge(wte_ids ids, const wte__id_rules *rules, wte_bad_ids *report);
/* E_RANGE at the first of the bad ids. */
wte_status wte__bad_ids_error(const wte_bad_ids *bad, uint64_t n_ids, uint64_t rows,
                              wte_error *err);
/* Row numbers of ids first .. first + n - 1; WTE__ZERO_ROW for each that is
 * bad, ignored or masked when `zeros` says that there are such ids at all. */
void wte__ids_rows(wte_ids ids, uint64_t first, uint32_t n, const wte__id_rules *rules, bool zeros,
                   uint64_t *row);
#endif
