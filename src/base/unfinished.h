/* The unfinished files of this process, so that a signal handler can remove them. */
#ifndef WTE_SRC_BASE_UNFINISHED_H
#define WTE_SRC_BASE_UNFINISHED_H
#include <signal.h>
#include <stdbool.h>

/* A section that no signal handler interrupts: signals are blocked in this thread, and a handler
 * that runs in another thread waits in wte_writers_abandon. Sections are short and not nested. */
void wte__section_begin(sigset_t *before);
void wte__section_end(const sigset_t *before);

/* Inside a section: record `path` as unfinished until wte__unfinished_forget; the text must stay
 * where it is. False when the table is full: the file is then not removed by a handler. */
bool wte__unfinished_note(const char *path);
void wte__unfinished_forget(const char *path); /* a path that is not recorded is ignored */
#endif
