/* Options of a language model that is learned in an instant, for tests and fuzz targets. */
#ifndef WTE_TESTS_SMALL_LM_H
#define WTE_TESTS_SMALL_LM_H
#include <wte/lm.h>

/* Tables of 3 numbers, two words before, mini-batches of 8 out of blocks of 32. */
static inline wte_lm_options lm_options(void)
{
    wte_lm_options o = WTE_LM_OPTIONS_INIT;
    o.context = 2;
    o.dim = 3;
    o.batch = 8;
    o.shuffle = 32;
    o.epochs = 2;
    o.seed = 7;
    o.lr = 0.05;
    return o;
}
#endif
