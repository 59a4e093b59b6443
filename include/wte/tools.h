/* wte/tools.h - see a lookup step by step, and find where a wrong one diverges. */
#ifndef WTE_TOOLS_H
#define WTE_TOOLS_H
#include <wte/model.h>
#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
