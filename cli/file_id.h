/* file_id.h - whether two paths name one file, also through links, hard links, descriptors, and
 * before the file exists. */
#ifndef WTE_CLI_FILE_ID_H
#define WTE_CLI_FILE_ID_H
#include <stdbool.h>
#include <stdint.h>

typedef struct cli_file_id {
    bool known;             /* there is a file, or a folder in which it would be made */
    bool exists;            /* else device and inode are the folder's, and `base` counts */
    bool folder, character; /* what it is; a character device may be used twice */
    uint64_t device, inode;
    const char *base; /* the name without its folder; points into the path */
} cli_file_id;

/* "-" is not a path here. */
cli_file_id cli_file_id_of(const char *path);
cli_file_id cli_file_id_of_descriptor(int fd);
bool cli_file_id_same(const cli_file_id *a, const cli_file_id *b);
/* The folder in which the file is or would be. */
cli_file_id cli_file_id_parent(const char *path);
/* The descriptor that "/dev/stdout", "/dev/fd/N" or "/proc/self/fd/N" names; "-": 1; else -1. */
int cli_file_descriptor(const char *path);
#endif
