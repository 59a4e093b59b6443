/* Identity of files by device and inode. */
#include "file_id.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static cli_file_id of_stat(const struct stat *st, const char *base)
{
    return (cli_file_id){ .known = true,
                          .exists = true,
                          .folder = S_ISDIR(st->st_mode),
                          .character = S_ISCHR(st->st_mode),
                          .device = (uint64_t)st->st_dev,
                          .inode = (uint64_t)st->st_ino,
                          .base = base };
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int cli_file_descriptor(const char *path)
{
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) return 1;
    if (strcmp(path, "/dev/stderr") == 0) return 2;
    if (strcmp(path, "/dev/stdin") == 0) return 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t n = strlen(folders[i]);
        if (strncmp(path, folders[i], n) != 0) continue;
        const char *number = path + n;
        const size_t digits = strspn(number, "0123456789");
        int fd = 0;
        if (digits == 0 || digits > 8 || number[digits]) continue;
        for (size_t d = 0; d < digits; d++) fd = fd * 10 + (number[d] - '0');
        return fd;
    }
    return -1;
}

cli_file_id cli_file_id_of_descriptor(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? of_stat(&st, "") : (cli_file_id){ .known = false };
}

cli_file_id cli_file_id_parent(const char *path)
{
    struct stat st;
    char folder[4096];
    const char *base = base_of(path);
    const size_t n = (size_t)(base - path);
    if (n >= sizeof folder) return (cli_file_id){ .known = false };
    memcpy(folder, path, n);
    folder[n] = '\0';
    return stat(n ? folder : ".", &st) == 0 ? of_stat(&st, base) : (cli_file_id){ .known = false };
}

cli_file_id cli_file_id_of(const char *path)
{
    struct stat st;
    const int fd = cli_file_descriptor(path);
    if (fd >= 0 && path[0] != '-') return cli_file_id_of_descriptor(fd);
    if (stat(path, &st) == 0) return of_stat(&st, base_of(path));
    cli_file_id id = cli_file_id_parent(path);
    id.exists = id.folder = false;
    if (!*base_of(path)) id.known = false;
    return id;
}

bool cli_file_id_same(const cli_file_id *a, const cli_file_id *b)
{
    return a->known && b->known && a->exists == b->exists && a->device == b->device &&
           a->inode == b->inode && (a->exists || strcmp(a->base, b->base) == 0);
}
