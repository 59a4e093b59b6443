/* vector.h - one vector on one line, and the bytes it is made of. */
#ifndef WTE_CLI_VECTOR_H
#define WTE_CLI_VECTOR_H
#include <wte/dtype.h>

#include "json.h"

/* "-0.4015 0.9666 -1.1481": four decimals, or an exponent where these say nothing; the middle of a
 * long one left out unless full. `stored` holds the same numbers in their own type, so that 64-bit
 * integers are shown with all their digits; NULL when there are none. */
void cli_put_vector(FILE *out, const double *values, const void *stored, uint64_t n, wte_dtype type,
                    bool full);
/* "a9 1f cd be": in memory order; the middle left out unless full. */
void cli_put_bytes(FILE *out, const void *bytes, uint64_t n, bool full);
/* A list on one line, with the digits that the type needs. */
void cli_json_vector(cli_json *j, const char *key, const double *values, const void *stored,
                     uint64_t n, wte_dtype type);
#endif
