/* Models in parts, consolidated.00.pth and so on, built by hand: what each part holds is told by a
 * list, and all elements are numbers that are told by their place. */
#ifndef WTE_TESTS_PARTS_FILES_H
#define WTE_TESTS_PARTS_FILES_H
#include "torch_files.h"

/* A tensor of one part. Its elements are f32 in the file, or i32 of the same bits. */
typedef struct piece {
    const char *name;
    uint64_t rows, cols; /* cols 0: a list of `rows` */
    const float *data;
    bool integers;
    unsigned rank; /* more than 2: ones stand before the rows */
} piece;

/* Adds the numbers of a shape, or of its tight strides. */
static inline void put_dims(bytes *b, const piece *p, bool strides)
{
    const uint64_t cols = p->cols ? p->cols : 1;
    if (p->cols == 0) {
        put_pickle(b, "%q\x85", strides ? UINT64_C(1) : p->rows);
        return;
    }
    put_pickle(b, "(");
    for (unsigned i = 2; i < p->rank; i++)
        put_pickle(b, "%q", strides ? p->rows * cols : UINT64_C(1));
    put_pickle(b, "%q%qt", strides ? cols : p->rows, strides ? UINT64_C(1) : cols);
}

/* A checkpoint of n tensors, each with a storage of its own; `flags` as for zip_add. */
static inline void write_pieces(const char *path, const piece *p, size_t n, unsigned flags)
{
    bytes b = { { 0 }, 0 };
    made_zip z;
    char name[32];
    put_pickle(&b, "\x80\x02}");
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%zu", i);
        put_pickle(&b, "%sctorch._utils\n_rebuild_tensor_v2\n((%sctorch\n", p[i].name, "storage");
        put_pickle(&b, p[i].integers ? "IntStorage\n" : "FloatStorage\n");
        put_pickle(&b, "%s%s%qtQ%q", name, "cpu", p[i].rows * (p[i].cols ? p[i].cols : 1),
                   UINT64_C(0));
        put_dims(&b, &p[i], false);
        put_dims(&b, &p[i], true);
        put_pickle(&b, "\x89"
                       "ccollections\nOrderedDict\n)RtRs");
    }
    put_pickle(&b, ".");
    zip_begin(&z);
    zip_add(&z, "top/data.pkl", b.data, b.n, 0);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "top/data/%zu", i);
        zip_add(&z, name, p[i].data, (size_t)(p[i].rows * (p[i].cols ? p[i].cols : 1)) * 4, flags);
    }
    zip_end(&z, 0, "");
    test_write_file(path, z.data, z.n);
    zip_free(&z);
}

/* "dir/consolidated.NN.pth" in a static buffer. */
static inline const char *part_path(const char *dir, unsigned number)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/consolidated.%02u.pth", dir, number);
    return path;
}

/* The table of the tests: 16 x 8, element [r, c] is 10 r + c. */
#define WHOLE_ROWS 16u
#define WHOLE_COLS 8u
static inline float whole_at(uint64_t row, uint64_t col)
{
    return (float)(10 * row + col);
}

/* What one of four parts has of it: four rows, or two columns. */
static inline void cut_rows(float to[32], unsigned part)
{
    for (unsigned i = 0; i < 32; i++) to[i] = whole_at(4 * part + i / 8, i % 8);
}
static inline void cut_columns(float to[32], unsigned part)
{
    for (unsigned i = 0; i < 32; i++) to[i] = whole_at(i / 2, 2 * part + i % 2);
}

static const float ones[32] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

/* Four parts of that table by rows or columns, and of others that all parts have alike: of each
 * more[i] the same in all. */
static inline void write_parts(const char *dir, bool columns, const piece *more, size_t n_more,
                               unsigned flags)
{
    for (unsigned i = 0; i < 4; i++) {
        float data[32];
        piece list[8] = { { "tok_embeddings.weight", 4, 8, data, false, 2 } };
        if (columns) list[0].rows = 16;
        if (columns) list[0].cols = 2;
        (columns ? cut_columns : cut_rows)(data, i);
        assert_true(n_more < 8);
        for (size_t k = 0; k < n_more; k++) list[1 + k] = more[k];
        write_pieces(part_path(dir, i), list, 1 + n_more, flags);
    }
}
#endif
