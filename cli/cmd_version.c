/* wte version - what this build is, and which instruction set serves each kernel on this machine.
 */
#include <string.h>
#include <wte/base.h>
#include <wte/dtype.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

#include "json.h"
#include "opt.h"
#include "out.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

#if defined(__OPTIMIZE__)
#define OPTIMISED true
#else
#define OPTIMISED false
#endif

#if defined(NDEBUG)
#define ASSERTIONS false
#else
#define ASSERTIONS true
#endif

#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SANITIZER "address"
#elif defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define SANITIZER "thread"
#else
#define SANITIZER NULL
#endif

static const char *libc_name(char buf[64])
{
#if defined(__GLIBC__)
    snprintf(buf, 64, "glibc %s", gnu_get_libc_version());
#else
    snprintf(buf, 64, "the system's");
#endif
    return buf;
}

static void print_json(const char *libc)
{
    cli_json j;
    const char *kernel, *isa;
    cli_json_begin(&j, stdout, "wte.version/1");
    cli_json_text(&j, "version", wte_version());
    cli_json_text(&j, "compiler", COMPILER);
    cli_json_bool(&j, "optimised", OPTIMISED);
    cli_json_bool(&j, "assertions", ASSERTIONS);
    cli_json_text(&j, "sanitizer", SANITIZER);
    cli_json_object(&j, "libraries");
    cli_json_text(&j, "libc", libc);
    cli_json_close(&j);
    cli_json_object(&j, "kernels");
    for (size_t i = 0; (isa = wte_kernel_isa(i, &kernel)); i++) cli_json_text(&j, kernel, isa);
    cli_json_close(&j);
    cli_json_end(&j);
}

static void print_text(const char *libc)
{
    const char *kernel, *isa, *sanitizer = SANITIZER;
    printf("wte %s\n", wte_version());
    printf("compiler   %s\n", COMPILER);
    printf("build      %s, assertions %s%s%s%s\n", OPTIMISED ? "optimised" : "not optimised",
           ASSERTIONS ? "on" : "off", sanitizer ? ", " : "", sanitizer ? sanitizer : "",
           sanitizer ? " sanitizer" : "");
    printf("libraries  %s\n", libc);
    puts("kernels");
    for (size_t i = 0; (isa = wte_kernel_isa(i, &kernel)); i++) printf("  %-22s %s\n", kernel, isa);
}

static int run(cli *c)
{
    char libc[64];
    if (c->json)
        print_json(libc_name(libc));
    else
        print_text(libc_name(libc));
    return CLI_DONE;
}

const cli_command cmd_version = {
    .name = "version",
    .group = CLI_ABOUT,
    .synopsis = "",
    .summary = "print the version, and which instruction set serves each kernel",
    .common = CLI_WITH_JSON,
    .notes =
        "The environment's WTE_ISA caps the instruction sets: scalar, avx2, avx512, avx512_bf16_vnni or neon.",
    .run = run,
};
