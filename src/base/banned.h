/* Included before every file of the project by the build: functions that must not be called.
 * The system headers that declare them come first, since a poisoned name may not even be declared.
 */
#ifndef WTE_SRC_BASE_BANNED_H
#define WTE_SRC_BASE_BANNED_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* glibc makes macros of these for clang when _FORTIFY_SOURCE is set; a macro cannot be poisoned */
#undef sprintf
#undef vsprintf
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok strtok_r atoi atol atof   \
    gets rand srand
#endif
