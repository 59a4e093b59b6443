/* Models in parts: the input says how many, which tensors each has, where one of them differs, and
 * what params.json says.
 *
 * Properties: what is accepted has the tensors of the first part; each that was joined has the
 * shape that rows or columns give and the width allows, and every element is that of the part that
 * must hold it, by block, by row, by ids and (rows) at the place that is told; lists are the first
 * part's; what was not joined has all pieces, one after the other, and no rows. */
#include "archive.h"
#include "folder.h"

#define MOST_TENSORS 6u
#define MOST_PARTS   4u

typedef struct tensor {
    uint8_t name, rows, cols; /* cols 0: a list */
} tensor;

static struct {
    uint32_t parts, n;
    tensor list[MOST_TENSORS];
    /* of one part, one tensor that is another */
    uint32_t other_part, other;
    tensor differs;
} model;

static const char *const names[] = { "tok_embeddings.weight", "output.weight", "norm.weight", "w",
                                     "v" };

static uint8_t element(uint32_t part, uint32_t number, uint64_t at)
{
    return (uint8_t)(part * 61 + number * 17 + at);
}

static size_t numbers_of(const tensor *t)
{
    return (size_t)t->rows * (t->cols ? t->cols : 1);
}

static void put_text(uint8_t *pickle, size_t *n, const char *text)
{
    pickle[(*n)++] = 'U';
    pickle[(*n)++] = (uint8_t)strlen(text);
    memcpy(pickle + *n, text, strlen(text));
    *n += strlen(text);
}

static void put_code(uint8_t *pickle, size_t *n, const char *code, size_t bytes)
{
    memcpy(pickle + *n, code, bytes);
    *n += bytes;
}
#define CODE(pickle, n, text) put_code(pickle, n, text, sizeof(text) - 1)

/* name: a tensor of u8 over the storage of its number */
static void put_tensor(uint8_t *pickle, size_t *n, const tensor *t, const char *key)
{
    put_text(pickle, n, names[t->name]);
    CODE(pickle, n, "ctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nByteStorage\n");
    put_text(pickle, n, key);
    CODE(pickle, n, "U\3cpuK");
    pickle[(*n)++] = (uint8_t)numbers_of(t);
    CODE(pickle, n, "tQK\0K");
    pickle[(*n)++] = t->rows;
    if (t->cols) {
        CODE(pickle, n, "K");
        pickle[(*n)++] = t->cols;
        CODE(pickle, n, "\x86K");
        pickle[(*n)++] = t->cols;
        CODE(pickle, n, "K\1\x86");
    } else {
        CODE(pickle, n, "\x85K\1\x85");
    }
    CODE(pickle, n, "\x89}tRs");
}

static const tensor *tensor_of(uint32_t part, uint32_t number)
{
    return part == model.other_part && number == model.other ? &model.differs : &model.list[number];
}

static void write_part(uint32_t part)
{
    uint8_t pickle[2048], storage[256];
    char name[32];
    size_t n = 0;
    fuzz_zip z;
    CODE(pickle, &n, "\x80\x02}");
    for (uint32_t i = 0; i < model.n; i++) {
        snprintf(name, sizeof name, "%u", i);
        put_tensor(pickle, &n, tensor_of(part, i), name);
    }
    CODE(pickle, &n, ".");
    fuzz_zip_begin(&z, 8192);
    fuzz_zip_add(&z, "t/data.pkl", pickle, n);
    for (uint32_t i = 0; i < model.n; i++) {
        const size_t numbers = numbers_of(tensor_of(part, i));
        snprintf(name, sizeof name, "t/data/%u", i);
        for (size_t k = 0; k < numbers; k++) storage[k] = element(part, i, k);
        fuzz_zip_add(&z, name, storage, numbers);
    }
    fuzz_zip_end(&z);
    snprintf(name, sizeof name, "consolidated.%02u.pth", part);
    fuzz_write(name, z.data, z.n);
    free(z.data);
}

/* What is at [row, col] of the whole, joined by rows or by columns. */
static uint8_t whole_at(uint32_t number, bool by_rows, uint64_t row, uint64_t col)
{
    const tensor *t = &model.list[number];
    const uint32_t part = (uint32_t)(by_rows ? row / t->rows : col / t->cols);
    if (by_rows) return element(part, number, row % t->rows * t->cols + col);
    return element(part, number, row * t->cols + col % t->cols);
}

static void check_place(const wte_file *f, uint64_t i, const wte_row_source *rows, uint64_t row)
{
    uint64_t offset, bytes;
    wte_error err = { 0 };
    uint8_t want[64], got[64];
    const uint32_t part = wte_file_row_shard(f, i, row);
    HOLDS(wte_file_row_offset(f, i, row, &offset, &bytes, &err) == WTE_OK);
    HOLDS(bytes == rows->cols && part < wte_file_n_shards(f));
    HOLDS(wte_row_source_read(rows, row, want, &err) == WTE_OK);
    HOLDS(wte__file_read_at(&f->parts[part].file, offset, got, bytes, "part", &err) == WTE_OK);
    HOLDS(memcmp(got, want, bytes) == 0);
}

static void check_rows(const wte_file *f, uint64_t i, uint32_t number, const wte_row_source *rows)
{
    const tensor *t = &model.list[number];
    const bool by_rows = rows->cols == t->cols;
    const uint64_t n = rows->rows;
    uint8_t block[1024], mixed[1024];
    uint64_t ids[64];
    wte_error err = { 0 };
    const uint64_t below = by_rows ? model.parts : 1, beside = by_rows ? 1 : model.parts;
    HOLDS(n == below * t->rows && rows->cols == beside * t->cols);
    HOLDS(n <= 64 && n * rows->cols <= sizeof block);
    HOLDS(n == 0 || rows->read_block(rows->ctx, 0, n, block, &err) == WTE_OK);
    for (uint64_t k = 0; k < n; k++) ids[k] = n - 1 - (k * 7 % n);
    HOLDS(n == 0 || rows->read_rows(rows->ctx, ids, n, mixed, &err) == WTE_OK);
    for (uint64_t r = 0; r < n; r++)
        for (uint64_t c = 0; c < rows->cols; c++) {
            HOLDS(block[r * rows->cols + c] == whole_at(number, by_rows, r, c));
            HOLDS(mixed[r * rows->cols + c] == whole_at(number, by_rows, ids[r], c));
        }
    for (uint64_t r = 0; by_rows && r < n; r++) check_place(f, i, rows, r);
    if (n < 3 || rows->cols == 0) return;
    HOLDS(rows->read_block(rows->ctx, n / 3, n - n / 3, mixed, &err) == WTE_OK);
    HOLDS(memcmp(mixed, block + n / 3 * rows->cols, (n - n / 3) * rows->cols) == 0);
}

/* All bytes as stored: those of one part after another. */
static void check_stored(const wte_file *f, uint64_t i, uint32_t number, const wte_tensor *is)
{
    const tensor *t = &model.list[number];
    const size_t each = numbers_of(t);
    wte_error err = { 0 };
    HOLDS(is->bytes == each * (t->cols ? model.parts : 1));
    for (uint64_t k = 0; k < is->bytes; k++) {
        uint8_t byte;
        HOLDS(wte_file_read(f, i, k, &byte, 1, &err) == WTE_OK);
        HOLDS(byte == element((uint32_t)(k / each), number, k % each));
    }
}

static void check_tensor(const wte_file *f, uint32_t number)
{
    const tensor *t = &model.list[number];
    const char *name = names[t->name];
    wte_error err = { 0 };
    wte_tensor is;
    wte_row_source rows;
    uint64_t i;
    HOLDS(wte_file_find(f, name, strlen(name), &i, &err) == WTE_OK);
    HOLDS(wte_file_tensor(f, i, &is, &err) == WTE_OK);
    check_stored(f, i, number, &is);
    if (is.rank == 1) return;
    const wte_status status = wte_file_row_source(f, i, &rows, &err);
    HOLDS(is.derived && (is.rank == 2) == (status == WTE_OK));
    if (status == WTE_OK)
        check_rows(f, i, number, &rows);
    else
        HOLDS(is.shape[0] == model.parts && is.shape[1] == t->rows && is.shape[2] == t->cols);
}

static void check_file(const wte_file *f, const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    HOLDS(wte_file_format(f) == WTE_FORMAT_TORCH_PARALLEL && wte_file_n_tensors(f) == model.n);
    for (uint32_t i = 0; i < model.n; i++) check_tensor(f, i);
}

/* Three bytes each; other names than before. */
static void read_list(const uint8_t *data, size_t size)
{
    uint32_t seen = 0;
    model.n = 0;
    for (size_t at = 0; at + 3 <= size && model.n < MOST_TENSORS; at += 3) {
        const tensor t = { data[at] % 5, data[at + 1] % 13, data[at + 2] % 13 };
        if (seen >> t.name & 1) continue;
        seen |= 1u << t.name;
        model.list[model.n++] = t;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* parts, the one that differs, its tensor and what it is, the length of params.json and its
     * text, then the tensors */
    if (size < 7 || size > 4096) return 0;
    const size_t text = data[6] < size - 7 ? data[6] : size - 7;
    fuzz_make_folder();
    model.parts = 2 + data[0] % (MOST_PARTS - 1);
    model.other_part = data[1]; /* mostly none */
    model.other = data[2] % MOST_TENSORS;
    const tensor differs = { data[3] % 5, data[4] % 13, data[5] % 13 };
    model.differs = differs;
    read_list(data + 7 + text, size - 7 - text);
    if (model.other_part == 0 && model.other < model.n) model.list[model.other] = differs;
    fuzz_write("params.json", data + 7, text);
    for (uint32_t i = 0; i < MOST_PARTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "consolidated.%02u.pth", i);
        if (i < model.parts)
            write_part(i);
        else
            remove(fuzz_path(name));
    }
    fuzz_open_path(fuzz_path("consolidated.00.pth"), data, 65536, check_file);
    return 0;
}
