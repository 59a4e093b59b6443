/* Runs a fuzz target over files, so that every target builds with any compiler and runs in ctest.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            perror(argv[i]);
            return 1;
        }
        uint8_t *buf = NULL;
        size_t n = 0, cap = 0, got;
        do {
            if (n == cap) {
                cap = cap ? cap * 2 : 4096;
                uint8_t *p = realloc(buf, cap);
                if (!p) return 1;
                buf = p;
            }
            got = fread(buf + n, 1, cap - n, f);
            n += got;
        } while (got);
        fclose(f);
        uint8_t *exact = malloc(n ? n : 1); /* exact size: ASan then sees one byte of over-read */
        if (!exact) return 1;
        for (size_t k = 0; k < n; k++) exact[k] = buf[k];
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
        free(buf);
    }
    printf("%d inputs\n", argc - 1);
    return 0;
}
