/* What a wte_writer is, for the rooms whose formats are written into one. */
#ifndef WTE_SRC_BASE_WRITER_H
#define WTE_SRC_BASE_WRITER_H
#include "base/replace.h"

struct wte_writer {
    wte__replace replace;
    bool of_transaction; /* which owns it, and installs it */
    bool committed;
};
#endif
