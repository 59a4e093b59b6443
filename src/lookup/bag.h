/* Bags: what was asked for, checked; and the work itself. */
#ifndef WTE_SRC_LOOKUP_BAG_H
#define WTE_SRC_LOOKUP_BAG_H
#include <string.h>
#include <wte/bag.h>

#include "lookup/fetch.h"
#include "lookup/ids.h"

typedef struct wte__bag_job {
    const wte_row_source *rows; /* cols > 0 */
    wte_ids ids, offsets;
    wte_bag_options o;
    wte__id_rules rules;
    wte__norm_limit limit;
    bool some_missing; /* some ids are not members */
    uint64_t n_bags;
    uint8_t *out;
    size_t out_stride; /* bytes */
} wte__bag_job;

/* Options, ids and offsets as the caller gave them, checked, and how many bags they make; nothing
 * is said of the ids' range. */
wte_status wte__bag_take(wte_ids ids, wte_ids offsets, const wte_bag_options *given,
                         wte__bag_job *job, wte_error *err);
/* Which ids are members of bags, for a table of `rows` rows. */
void wte__bag_rules(wte__bag_job *job, uint64_t rows);
/* Offset b, of any type; most are i64, and there is one for each bag. */
static inline int64_t wte__offset_at(const wte__bag_job *job, uint64_t b)
{
    int64_t offset;
    if (job->offsets.type != WTE_I64) return wte_ids_at(job->offsets, b);
    memcpy(&offset, (const char *)job->offsets.data + b * sizeof offset, sizeof offset);
    return offset;
}
/* Where the ids of bag b begin; those of bag n_bags would begin at the end. */
static inline uint64_t wte__bag_begin(const wte__bag_job *job, uint64_t b)
{
    if (job->o.ids_per_bag) return b * job->o.ids_per_bag;
    return b < job->offsets.count ? (uint64_t)wte__offset_at(job, b) : job->ids.count;
}
/* Whether all ids are good: the report, some_missing, or E_RANGE. */
wte_status wte__bag_judge(wte__bag_job *job, wte_error *err);
/* Judges ids and reduces rows. E_RANGE, E_MEMORY, or what the row source says. */
wte_status wte__bag_run(wte__bag_job *job, wte_error *err);
#endif
