/* The functions of wte/wte.h report failures through one error of each thread. */
#ifndef WTE_SRC_CORE_CORE_H
#define WTE_SRC_CORE_CORE_H
#include <wte/wte.h>

#include "base/error.h"

/* The error of the calling thread, which wte_last_error shows. */
wte_error *wte__core_error(void);
#endif
