/* How the files of instruction sets keep values in registers: functions are inlined, and loops over
 * arrays of vectors unrolled. Everything is static besides, so that no code of one instruction set
 * can be linked into another's. */
#ifndef WTE_SRC_NUM_INLINED_H
#define WTE_SRC_NUM_INLINED_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif
#endif
