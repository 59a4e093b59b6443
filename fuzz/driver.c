/* Runs a fuzz target over files, so that every target builds with any compiler and runs in ctest.
 */
#include "fuzz.h"

/* The file in a block of exactly its size, so that ASan sees one byte of over-read. */
static uint8_t *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseeko(f, 0, SEEK_END) != 0) {
        if (f) fclose(f);
        return NULL;
    }
    *size = (size_t)ftello(f);
    rewind(f);
    uint8_t *data = malloc(*size ? *size : 1);
    if (data && fread(data, 1, *size, f) != *size) {
        free(data);
        data = NULL;
    }
    fclose(f);
    return data;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t size = 0;
        uint8_t *data = load(argv[i], &size);
        if (!data) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
        fprintf(stderr, "%s\n", argv[i]); /* before the run: names the input that breaks it */
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    printf("%d inputs\n", argc - 1);
    return 0;
}
