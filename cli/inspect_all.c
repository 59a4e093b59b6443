/* wte inspect --all: every tensor and storage, where the bytes go, what the tables take. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

#define NAMES_SHOWN 3

static bool tensor_at(const inspect_all *a, uint64_t i, wte_tensor *t)
{
    return wte_file_tensor(a->file, i, t, NULL) == WTE_OK;
}

static bool is_view(const wte_tensor *t)
{
    return t->storage != WTE_NO_INDEX;
}

/* Bytes of the elements, without the gaps between them; those repeated by a stride of 0 once. */
static uint64_t used_bytes(const wte_tensor *t)
{
    uint64_t n = wte_dtype_bytes(t->dtype);
    for (uint32_t i = 0; i < t->rank; i++) n *= t->shape[i];
    return t->strided && n < t->bytes ? n : t->bytes;
}

/* Numbers that a tensor holds. */
static uint64_t elements(const wte_tensor *t)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < t->rank; i++) n *= t->shape[i];
    return n;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_name(const wte_tensor *t)
{
    cli_put_safe(stdout, t->name, (size_t)t->name_bytes);
}

static const char *type_of(const wte_tensor *t, char buf[24])
{
    if (t->foreign_name) return t->foreign_name;
    if (!t->foreign_type) return wte_type_name(t->dtype, t->block);
    snprintf(buf, 24, "type %" PRIu32, t->foreign_type);
    return buf;
}

void inspect_put_type(const wte_tensor *t)
{
    char buf[24];
    fputs(type_of(t, buf), stdout);
}

void inspect_json_type(cli_json *j, const wte_tensor *t)
{
    char buf[24];
    cli_json_text(j, "dtype", type_of(t, buf));
}

void inspect_put_shape(const wte_tensor *t)
{
    for (uint32_t i = 0; i < t->rank; i++) printf("%s%" PRIu64, i ? " x " : "", t->shape[i]);
    if (t->rank == 0) fputs("scalar", stdout);
}

void inspect_put_axes(const wte_file *f, const wte_tensor *t)
{
    if (wte_file_format(f) != WTE_FORMAT_GGUF) return;
    fputs(" ne=[", stdout);
    for (uint32_t i = t->rank; i-- > 0;) printf("%" PRIu64 "%s", t->shape[i], i ? ", " : "");
    putchar(']');
}

/* Opening ------------------------------------------------------------------------------------- */

static void link_views(inspect_all *a, uint64_t n, uint64_t storages)
{
    for (uint64_t s = 0; s < storages; s++) a->first_view[s] = WTE_NO_INDEX;
    for (uint64_t i = n; i-- > 0;) {
        wte_tensor t;
        a->next_view[i] = WTE_NO_INDEX;
        if (!tensor_at(a, i, &t) || !is_view(&t)) continue;
        a->next_view[i] = a->first_view[t.storage];
        a->first_view[t.storage] = i;
    }
}

int inspect_all_open(const cli *c, const wte_model *m, inspect_all *out)
{
    *out = (inspect_all){ .c = c, .model = m, .file = wte_model_file(m) };
    if (!out->file) return CLI_DONE;
    const uint64_t n = wte_file_n_tensors(out->file), storages = wte_file_n_storages(out->file);
    out->same_as = calloc((size_t)n + 1, sizeof *out->same_as);
    out->next_view = calloc((size_t)n + 1, sizeof *out->next_view);
    out->storage_used = calloc((size_t)storages + 1, sizeof *out->storage_used);
    out->first_view = calloc((size_t)storages + 1, sizeof *out->first_view);
    if (!out->same_as || !out->next_view || !out->storage_used || !out->first_view)
        return cli_say_fail(c, CLI_OUTPUT, "out of memory for %" PRIu64 " tensors", n);
    link_views(out, n, storages);
    cli_progress bar;
    wte_error err;
    const wte_progress *progress = cli_progress_start(&bar, c, "comparing tensors");
    const wte_status status = wte_file_disk_usage(out->file, out->storage_used, out->same_as,
                                                  progress, &out->account, &err);
    cli_progress_stop(&bar);
    return status == WTE_OK ? CLI_DONE : cli_fail(c, status, CLI_SIDE_INPUT, &err);
}

void inspect_all_close(inspect_all *a)
{
    free(a->same_as);
    free(a->next_view);
    free(a->storage_used);
    free(a->first_view);
}

/* Text ---------------------------------------------------------------------------------------- */

static void put_strides(const wte_tensor *t)
{
    printf("%s strides [", t->strided ? "," : ", by column,");
    for (uint32_t i = 0; i < t->rank; i++) printf("%s%" PRIu64, i ? ", " : "", t->stride[i]);
    putchar(']');
}

static void put_flags(const wte_tensor *t)
{
    if (t->strided || t->column_major) put_strides(t);
    if (t->big_endian) fputs(", big-endian", stdout);
    if (t->derived) fputs(", rows are made of what is stored", stdout);
    if (t->decompressed) fputs(", packed in the file", stdout);
}

/* How much of its storage a view uses, and who else does. */
static void put_storage(const inspect_all *a, uint64_t i, const wte_tensor *t)
{
    wte_storage s;
    uint64_t shown = 0;
    if (!is_view(t) || wte_file_storage(a->file, t->storage, &s, NULL) != WTE_OK) return;
    const bool alone = a->first_view[t->storage] == i && a->next_view[i] == WTE_NO_INDEX;
    if (alone && used_bytes(t) == s.bytes) return;
    printf("; uses %" PRIu64 " of %" PRIu64 " bytes of storage ", used_bytes(t), s.bytes);
    cli_put_safe(stdout, s.name, (size_t)s.name_bytes);
    for (uint64_t k = a->first_view[t->storage]; k != WTE_NO_INDEX; k = a->next_view[k]) {
        wte_tensor other;
        if (k == i || !tensor_at(a, k, &other)) continue;
        if (shown == NAMES_SHOWN) {
            fputs(", ...", stdout);
            break;
        }
        fputs(shown++ ? ", " : ", shared with ", stdout);
        put_name(&other);
    }
}

static void put_tensor(const inspect_all *a, uint64_t i, const wte_tensor *t)
{
    wte_tensor other;
    fputs("  ", stdout);
    put_name(t);
    fputs("  ", stdout);
    inspect_put_shape(t);
    fputc(' ', stdout);
    inspect_put_type(t);
    inspect_put_axes(a->file, t);
    put_flags(t);
    printf("  %" PRIu64 " at %" PRIu64 "  ", t->bytes, t->offset);
    const char *name = base_name(wte_file_shard_path(a->file, t->shard));
    cli_put_safe(stdout, name, strlen(name));
    put_storage(a, i, t);
    if (a->same_as[i] != WTE_NO_INDEX && tensor_at(a, a->same_as[i], &other)) {
        fputs("; the same bytes as ", stdout);
        put_name(&other);
    }
    putchar('\n');
}

static void put_total(const inspect_all *a, const char *name, uint64_t bytes, const char *what)
{
    char size[32];
    printf("  %s%-11s%s %" PRIu64 " bytes", cli_dim(a->c), name, cli_plain(a->c), bytes);
    if (bytes >= 1024) printf(" (%s)", cli_size(size, bytes));
    printf("%s%s\n", *what ? ": " : "", what);
}

static void put_totals(const inspect_all *a)
{
    const wte_disk_usage *k = &a->account;
    char what[96];
    printf("\n%sbytes%s\n", cli_bold(a->c), cli_plain(a->c));
    put_total(a, "stored", k->stored, "");
    put_total(a, "used", k->used, "by elements of tensors, every byte counted once");
    if (k->strays) put_total(a, "strays", k->strays, "of these, by tensors that no index lists");
    if (wte_file_n_storages(a->file))
        put_total(a, "slices", k->sliced, "of storages, which no tensor reaches");
    snprintf(what, sizeof what, "%" PRIu64 " tensor%s stored again under another name",
             k->duplicates, k->duplicates == 1 ? " is" : "s are");
    put_total(a, "duplicates", k->duplicate, k->duplicates ? what : "no tensor is stored twice");
}

/* Memory of the tables ------------------------------------------------------------------------ */

typedef struct memory {
    bool known, made;     /* made: stored and bits say nothing */
    uint64_t stored, f32; /* bytes */
    double real;          /* bits a weight */
    uint32_t nominal;     /* what the type's name says */
} memory;

/* Of blocks the first number in the type's name is what its makers call its bits: 4 of "q4_k" and
 * "iq4_xs". */
static uint32_t nominal_bits(const wte_tensor *t, const wte_model_table *table)
{
    const char *name = wte_block_name(t->block);
    if (table->scheme) return table->scheme_bits;
    if (!t->block) return wte_dtype_bits(t->dtype);
    name += strcspn(name, "0123456789");
    return (uint32_t)strtoul(name, NULL, 10);
}

static memory memory_of(const inspect_all *a, const wte_model_table *table)
{
    memory m = { .known = false };
    wte_tensor t;
    if (!table || !a->file || !tensor_at(a, table->tensor, &t)) return m;
    /* rows that the table answers, unless ids lead to fewer rows; rank, places of 1 and order aside
     */
    const uint64_t n = table->mapped ? elements(&t) : table->rows * table->dim;
    m.known = true;
    m.made = !table->scheme && (t.derived || n != elements(&t));
    m.stored = table->scheme ? table->scheme_bytes : used_bytes(&t);
    m.f32 = n > UINT64_MAX / sizeof(float) ? UINT64_MAX : n * sizeof(float);
    m.real = n ? (double)m.stored * 8 / (double)n : 0;
    m.nominal = nominal_bits(&t, table);
    return m;
}

/* Whether two tables are the same bytes of the file, or copies of each other. */
static bool one_place(const inspect_all *a, const wte_model_table *x, const wte_model_table *y)
{
    wte_tensor t, u;
    if (x->tensor == y->tensor) return true;
    return tensor_at(a, x->tensor, &t) && tensor_at(a, y->tensor, &u) && t.shard == u.shard &&
           t.offset == u.offset && t.bytes == u.bytes && t.bytes > 0;
}

static bool copies(const inspect_all *a, const wte_model_table *x, const wte_model_table *y)
{
    const uint64_t p = x->tensor, q = y->tensor;
    const uint64_t p0 = a->same_as[p] == WTE_NO_INDEX ? p : a->same_as[p];
    const uint64_t q0 = a->same_as[q] == WTE_NO_INDEX ? q : a->same_as[q];
    return p0 == q0;
}

static void put_memory(const inspect_all *a, const char *role, const memory *m)
{
    char stored[32], f32[32];
    if (m->made) {
        printf("  %s%-11s%s %s as f32; rows are made of what is stored\n", cli_dim(a->c), role,
               cli_plain(a->c), cli_size(f32, m->f32));
        return;
    }
    printf("  %s%-11s%s %s as stored, %s as f32; %.4g bits a weight", cli_dim(a->c), role,
           cli_plain(a->c), cli_size(stored, m->stored), cli_size(f32, m->f32), m->real);
    if (m->real != m->nominal) printf(" (nominal %" PRIu32 ")", m->nominal);
    putchar('\n');
}

/* What one matrix for both roles saves, or would. */
static void put_saving(const inspect_all *a, const wte_model_table *input,
                       const wte_model_table *head, const memory *m)
{
    const wte_model_config *k = wte_model_config_of(a->model);
    char stored[32], f32[32];
    printf("  %s%-11s%s ", cli_dim(a->c), "tied head", cli_plain(a->c));
    cli_size(stored, m->stored);
    cli_size(f32, m->f32);
    if (head && one_place(a, input, head))
        printf("saves %s as stored, %s as f32: both roles are one matrix\n", stored, f32);
    else if (head && copies(a, input, head))
        printf("would save %s as stored, %s as f32: the head is a copy\n", stored, f32);
    else if (head)
        puts("none: the head is another matrix");
    else if (k->tied)
        printf("saves %s as stored, %s as f32: no second matrix is stored\n", stored, f32);
    else
        puts("no head is stored, and the model does not call it tied");
}

static void put_tables(const inspect_all *a)
{
    const wte_model_table *input = NULL, *head = wte_model_head(a->model);
    if (wte_model_input(a->model, &input, NULL) != WTE_OK) input = NULL;
    const memory in = memory_of(a, input), out = memory_of(a, head);
    if (!in.known && !out.known) return;
    printf("\n%smemory of the tables%s\n", cli_bold(a->c), cli_plain(a->c));
    if (in.known) put_memory(a, "input", &in);
    if (head && out.known && (!input || head->tensor != input->tensor)) put_memory(a, "head", &out);
    if (input && in.known) put_saving(a, input, head, out.known ? &out : &in);
}

void inspect_all_print(const inspect_all *a)
{
    if (!a->file) return;
    printf("\n%stensors%s (name, shape, type, bytes, first byte, file)\n", cli_bold(a->c),
           cli_plain(a->c));
    for (uint64_t i = 0; i < wte_file_n_tensors(a->file); i++) {
        wte_tensor t;
        if (tensor_at(a, i, &t)) put_tensor(a, i, &t);
    }
    put_totals(a);
    put_tables(a);
}

/* JSON ---------------------------------------------------------------------------------------- */

static void json_numbers(cli_json *j, const char *key, const uint64_t *values, uint32_t n,
                         bool backwards)
{
    cli_json_line(j, key);
    for (uint32_t i = 0; i < n; i++) cli_json_unsigned(j, NULL, values[backwards ? n - 1 - i : i]);
    cli_json_close(j);
}

static void json_number_or_null(cli_json *j, const char *key, uint64_t value)
{
    if (value == WTE_NO_INDEX)
        cli_json_null(j, key);
    else
        cli_json_unsigned(j, key, value);
}

static void json_path(const inspect_all *a, cli_json *j, uint32_t part)
{
    const char *path = wte_file_shard_path(a->file, part);
    cli_json_bytes(j, "file", path, strlen(path));
}

static void json_tensor(const inspect_all *a, cli_json *j, uint64_t i, const wte_tensor *t)
{
    cli_json_object(j, NULL);
    cli_json_bytes(j, "name", t->name, (size_t)t->name_bytes);
    inspect_json_type(j, t);
    json_numbers(j, "shape", t->shape, t->rank, false);
    if (wte_file_format(a->file) == WTE_FORMAT_GGUF) json_numbers(j, "ne", t->shape, t->rank, true);
    if (t->strided || t->column_major) json_numbers(j, "strides", t->stride, t->rank, false);
    cli_json_unsigned(j, "bytes", t->bytes);
    cli_json_unsigned(j, "used_bytes", used_bytes(t));
    cli_json_unsigned(j, "offset", t->offset);
    json_path(a, j, t->shard);
    cli_json_bool(j, "column_major", t->column_major);
    cli_json_bool(j, "big_endian", t->big_endian);
    cli_json_bool(j, "strided", t->strided);
    cli_json_bool(j, "made", t->derived);
    cli_json_bool(j, "unpacked", t->decompressed);
    if (t->block) {
        cli_json_unsigned(j, "block_elements", wte_block_elements(t->block));
        cli_json_unsigned(j, "block_bytes", wte_block_bytes(t->block));
    }
    json_number_or_null(j, "storage", t->storage);
    json_number_or_null(j, "same_as", a->same_as[i]);
    cli_json_close(j);
}

static void json_storage(const inspect_all *a, cli_json *j, uint64_t i, const wte_storage *s)
{
    cli_json_object(j, NULL);
    cli_json_bytes(j, "name", s->name, (size_t)s->name_bytes);
    cli_json_unsigned(j, "bytes", s->bytes);
    cli_json_unsigned(j, "used_bytes", a->storage_used[i]);
    cli_json_unsigned(j, "offset", s->offset);
    json_path(a, j, s->shard);
    cli_json_line(j, "tensors");
    for (uint64_t k = a->first_view[i]; k != WTE_NO_INDEX; k = a->next_view[k])
        cli_json_unsigned(j, NULL, k);
    cli_json_close(j);
    cli_json_close(j);
}

static void json_memory(cli_json *j, const char *role, const memory *m)
{
    if (!m->known) {
        cli_json_null(j, role);
        return;
    }
    cli_json_object(j, role);
    cli_json_bool(j, "made", m->made);
    cli_json_unsigned(j, "f32_bytes", m->f32);
    if (!m->made) {
        cli_json_unsigned(j, "stored_bytes", m->stored);
        cli_json_unsigned(j, "nominal_bits", m->nominal);
        cli_json_f64(j, "real_bits", m->real);
    }
    cli_json_close(j);
}

static void json_tables(const inspect_all *a, cli_json *j)
{
    const wte_model_table *input = NULL, *head = wte_model_head(a->model);
    if (wte_model_input(a->model, &input, NULL) != WTE_OK) input = NULL;
    const memory in = memory_of(a, input), out = memory_of(a, head);
    const memory *m = out.known ? &out : &in;
    const bool both = input && head && in.known && out.known;
    const bool saves =
        both ? one_place(a, input, head) : in.known && !head && wte_model_config_of(a->model)->tied;
    const bool would = both && !saves && copies(a, input, head);
    cli_json_object(j, "memory");
    json_memory(j, "input", &in);
    json_memory(j, "head", &out);
    cli_json_unsigned(j, "tied_head_saves_bytes", saves ? m->stored : 0);
    cli_json_unsigned(j, "tied_head_would_save_bytes", would ? m->stored : 0);
    cli_json_close(j);
}

void inspect_all_json(const inspect_all *a, cli_json *j)
{
    cli_json_list(j, "tensors");
    for (uint64_t i = 0; a->file && i < wte_file_n_tensors(a->file); i++) {
        wte_tensor t;
        if (tensor_at(a, i, &t)) json_tensor(a, j, i, &t);
    }
    cli_json_close(j);
    cli_json_list(j, "storages");
    for (uint64_t i = 0; a->file && i < wte_file_n_storages(a->file); i++) {
        wte_storage s;
        if (wte_file_storage(a->file, i, &s, NULL) == WTE_OK) json_storage(a, j, i, &s);
    }
    cli_json_close(j);
    if (!a->file) return;
    const wte_disk_usage *k = &a->account;
    cli_json_object(j, "bytes");
    cli_json_unsigned(j, "stored", k->stored);
    cli_json_unsigned(j, "used", k->used);
    cli_json_unsigned(j, "strays", k->strays);
    cli_json_unsigned(j, "slices", k->sliced);
    cli_json_unsigned(j, "duplicates", k->duplicate);
    cli_json_unsigned(j, "duplicate_tensors", k->duplicates);
    cli_json_close(j);
    json_tables(a, j);
}
