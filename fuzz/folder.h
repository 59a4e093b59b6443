/* A folder for targets whose input names other files, or is several files: made once, below TMPDIR,
 * and removed at the end with what was written into it. */
#ifndef WTE_FUZZ_FOLDER_H
#define WTE_FUZZ_FOLDER_H
#include "fuzz.h"

#include <string.h>
#include <unistd.h>

#define FUZZ_FILES 16u

static char fuzz_folder[512];
static char fuzz_names[FUZZ_FILES][64];

/* "folder/name" in a static buffer. */
static inline const char *fuzz_path(const char *name)
{
    static char path[sizeof fuzz_folder + 64];
    HOLDS((size_t)snprintf(path, sizeof path, "%s/%s", fuzz_folder, name) < sizeof path);
    return path;
}

static inline void fuzz_remove_folder(void)
{
    for (size_t i = 0; i < FUZZ_FILES; i++)
        if (fuzz_names[i][0]) remove(fuzz_path(fuzz_names[i]));
    rmdir(fuzz_folder);
}

/* True when it was made just now. */
static inline bool fuzz_make_folder(void)
{
    if (fuzz_folder[0]) return false;
    const char *above = getenv("TMPDIR");
    snprintf(fuzz_folder, sizeof fuzz_folder, "%s/wte-fuzz-XXXXXX", above ? above : "/tmp");
    HOLDS(mkdtemp(fuzz_folder) != NULL);
    HOLDS(atexit(fuzz_remove_folder) == 0);
    return true;
}

static inline void fuzz_write(const char *name, const void *data, size_t n)
{
    size_t i = 0;
    while (i < FUZZ_FILES && fuzz_names[i][0] && strcmp(fuzz_names[i], name) != 0) i++;
    HOLDS(i < FUZZ_FILES);
    snprintf(fuzz_names[i], sizeof fuzz_names[i], "%s", name);
    FILE *f = fopen(fuzz_path(name), "wb");
    HOLDS(f && (n == 0 || fwrite(data, 1, n, f) == n));
    HOLDS(fclose(f) == 0);
}
#endif
