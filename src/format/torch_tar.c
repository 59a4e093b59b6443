/* PyTorch's oldest container: a tar archive of three members. `storages` holds the bytes of each
 * storage behind a small pickle, `tensors` the shape of each tensor, `pickle` their names. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "format/torch.h"

#define BLOCK 512u

enum { STORAGES, TENSORS, PICKLE, N_MEMBERS };
static const char *const member_names[N_MEMBERS] = { "storages", "tensors", "pickle" };

typedef struct member {
    uint64_t at, end; /* in the file; end 0 = not found */
} member;

typedef struct reader {
    wte__torch *t;
    member members[N_MEMBERS];
    wte__torch_tensor *tensors;
    size_t n, cap;
    uint64_t at, end; /* of the member at hand */
} reader;

static bool is_name(const uint8_t *block, const char *name)
{
    const uint8_t *p = block[0] == '.' && block[1] == '/' ? block + 2 : block;
    return memcmp(p, name, strlen(name) + 1) == 0;
}

bool wte__torch_tar_match(const wte__head *head)
{
    if (head->n < BLOCK || memcmp(head->bytes + 257, "ustar", 5) != 0) return false;
    bool ours = is_name(head->bytes, "sys_info");
    for (int i = 0; i < N_MEMBERS; i++) ours = ours || is_name(head->bytes, member_names[i]);
    return ours;
}

static wte_status bad(const reader *r, const char *what)
{
    return wte__fail(r->t->err, WTE_E_FORMAT, r->at, "%s: tar, byte %" PRIu64 ": %s", r->t->path,
                     r->at, what);
}

/* Octal digits up to a space or NUL; false when there is anything else. */
static bool octal(const uint8_t *p, size_t n, uint64_t *out)
{
    size_t i = 0;
    *out = 0;
    while (i < n && p[i] == ' ') i++;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++) *out = *out << 3 | (uint64_t)(p[i] - '0');
    return i == n || p[i] == ' ' || p[i] == '\0';
}

static bool checksum_fits(const uint8_t block[BLOCK])
{
    uint64_t said, sum = 0;
    for (size_t i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? ' ' : block[i];
    return octal(block + 148, 8, &said) && said == sum;
}

/* Where the members begin and end; the archive ends with a block of zeros, or with the file. */
static wte_status read_members(reader *r)
{
    const wte__file *file = &r->t->f->parts[r->t->part].file;
    uint8_t block[BLOCK];
    uint64_t size, end;
    for (r->at = 0; file->size - r->at >= BLOCK; r->at = end) {
        WTE_TRY(wte__file_read_at(file, r->at, block, BLOCK, r->t->path, r->t->err));
        if (block[0] == '\0') break;
        if (!checksum_fits(block)) return bad(r, "a header's checksum does not fit");
        if (!octal(block + 124, 12, &size)) return bad(r, "a size is no octal number");
        const uint64_t data = r->at + BLOCK;
        if (size > file->size - data)
            return wte__fail(r->t->err, WTE_E_FORMAT, file->size,
                             "%s: truncated: a member of the tar archive ends at byte %" PRIu64
                             ", but the file has %" PRIu64,
                             r->t->path, data + size, file->size);
        for (int i = 0; i < N_MEMBERS; i++) {
            if (!is_name(block, member_names[i]) || (block[156] != '0' && block[156] != '\0'))
                continue;
            if (r->members[i].end) return bad(r, "a member comes twice");
            r->members[i].at = data;
            r->members[i].end = data + size;
        }
        end = data + (size + BLOCK - 1) / BLOCK * BLOCK;
        if (end > file->size) break;
    }
    for (int i = 0; i < N_MEMBERS; i++)
        if (!r->members[i].end)
            return wte__fail(r->t->err, WTE_E_FORMAT, r->at,
                             "%s: an old PyTorch file, but its member '%s' is missing", r->t->path,
                             member_names[i]);
    return WTE_OK;
}

static void enter(reader *r, int i)
{
    r->at = r->members[i].at;
    r->end = r->members[i].end;
}

static wte_status next(reader *r, wte__pickle *p)
{
    return wte__torch_pickle_at(r->t, r->at, r->end, p);
}

static wte_status take(reader *r, uint8_t *out, uint64_t n)
{
    const wte__torch *t = r->t;
    if (n > r->end - r->at)
        return wte__fail(t->err, WTE_E_FORMAT, r->at,
                         "%s: tar, byte %" PRIu64 ": %" PRIu64
                         " bytes are needed, but its member has %" PRIu64 " left",
                         t->path, r->at, n, r->end - r->at);
    if (out) WTE_TRY(wte__file_read_at(&t->f->parts[t->part].file, r->at, out, n, t->path, t->err));
    r->at += n;
    return WTE_OK;
}

static wte_status take_u64(reader *r, uint64_t *out)
{
    uint8_t raw[8];
    WTE_TRY(take(r, raw, sizeof raw));
    wte__span s = wte__span_make(raw, sizeof raw);
    *out = wte__span_u64le(&s);
    return WTE_OK;
}

static wte_status take_count(reader *r, uint64_t *n)
{
    wte__pickle p;
    WTE_TRY(next(r, &p));
    if (p.root.kind != WTE__PICKLE_INT || p.root.as.integer < 0)
        return bad(r, "how many there are is no number");
    *n = (uint64_t)p.root.as.integer;
    r->at += p.used;
    return WTE_OK;
}

/* A pickled tuple of three whose parts `a` and, if not NULL, `b` are keys. */
static wte_status take_three(reader *r, wte__pickle *p, wte__bytes *a, wte__bytes *b)
{
    WTE_TRY(next(r, p));
    const wte__pickle_value *of = p->root.as.items;
    if (p->root.kind != WTE__PICKLE_TUPLE || p->root.n != 3 || !wte__torch_key(r->t, &of[0], a) ||
        (b && !wte__torch_key(r->t, &of[1], b)))
        return bad(r, "what describes a storage or tensor is no tuple of three");
    r->at += p->used;
    return WTE_OK;
}

/* (key, place, class), a count, the bytes. */
static wte_status read_storage(reader *r)
{
    wte__torch *t = r->t;
    wte__pickle p;
    wte__bytes key;
    uint64_t count;
    uint32_t number;
    const uint64_t where = r->at;
    const size_t before = t->n_storages;
    WTE_TRY(take_three(r, &p, &key, NULL));
    WTE_TRY(take_u64(r, &count));
    WTE_TRY(wte__torch_storage_add(t, key, &p.root.as.items[2], count, where, &number));
    if (t->n_storages == before) return bad(r, "a storage comes twice");
    wte__torch_storage *s = &t->storages[number];
    s->offset = r->at;
    s->part = t->part;
    return take(r, NULL, s->bytes);
}

/* Windows into other storages, by keys of their own: (key, key of the storage, offset, count). */
static wte_status read_views(reader *r)
{
    wte__torch *t = r->t;
    wte__pickle p;
    WTE_TRY(next(r, &p));
    if (p.root.kind != WTE__PICKLE_LIST) return bad(r, "the views of storages are no list");
    for (uint32_t i = 0; i < p.root.as.list->n; i++) {
        const wte__pickle_value *v = &p.root.as.list->items[i], *of = v->as.items;
        wte__bytes key, root;
        uint64_t number, end;
        if (v->kind != WTE__PICKLE_TUPLE || v->n != 4 || !wte__torch_key(t, &of[0], &key) ||
            !wte__torch_key(t, &of[1], &root) || of[2].kind != WTE__PICKLE_INT ||
            of[3].kind != WTE__PICKLE_INT || of[2].as.integer < 0 || of[3].as.integer < 0)
            return bad(r, "a view of a storage is no (key, key, offset, count)");
        if (wte__names_find(&t->view_keys, key, &number) || wte__names_find(&t->keys, key, &number))
            return bad(r, "a key stands for two storages");
        if (!wte__names_find(&t->keys, root, &number)) return bad(r, "a view is of no storage");
        const uint64_t offset = (uint64_t)of[2].as.integer, count = (uint64_t)of[3].as.integer;
        if (!wte__add_u64(offset, count, &end) || end > t->storages[number].count)
            return bad(r, "a view ends behind its storage");
        WTE_TRY(wte__torch_view_add(t, key, (uint32_t)number, offset, count));
    }
    return WTE_OK;
}

/* (key, key of the storage, class), rank, sizes, strides, offset. */
static wte_status read_tensor(reader *r)
{
    wte__torch *t = r->t;
    wte__pickle p;
    wte__bytes key, of;
    wte__torch_tensor a;
    uint8_t rank[8];
    uint64_t number = r->n;
    bool found;
    memset(&a, 0, sizeof a);
    WTE_TRY(take_three(r, &p, &key, &of));
    a.dtype = wte__torch_class(&p.root.as.items[2]);
    if (a.dtype == WTE_DTYPE_NONE) return bad(r, "a tensor is of no class of tensors");
    if (!wte__torch_view_find(t, of, &a.storage, &a.offset))
        return bad(r, "a tensor is of no storage");
    WTE_TRY(take(r, rank, sizeof rank));
    wte__span s = wte__span_make(rank, sizeof rank);
    a.rank = wte__span_u32le(&s);
    if (a.rank > WTE_MAX_RANK)
        return wte__fail(t->err, WTE_E_LIMIT, r->at - 8,
                         "%s: tar, byte %" PRIu64 ": a tensor of %u dimensions, but at most %d are "
                         "read",
                         t->path, r->at - 8, a.rank, WTE_MAX_RANK);
    for (uint32_t i = 0; i < a.rank; i++) WTE_TRY(take_u64(r, &a.shape[i]));
    for (uint32_t i = 0; i < a.rank; i++) WTE_TRY(take_u64(r, &a.stride[i]));
    uint64_t offset;
    WTE_TRY(take_u64(r, &offset));
    if (!wte__add_u64(a.offset, offset, &a.offset)) return bad(r, "an offset overflows 64 bits");
    if (!wte__names_add(&t->tensor_keys, key, &number, &found))
        return wte__no_memory(t->err, key.size, t->path);
    if (found) return bad(r, "a tensor comes twice");
    void *tensors = r->tensors;
    const bool ok = wte__grow(t->f->allocator, &tensors, &r->cap, r->n + 1, sizeof a);
    r->tensors = tensors;
    if (!ok) return wte__no_memory(t->err, r->n * sizeof a, t->path);
    r->tensors[r->n++] = a;
    return WTE_OK;
}

static wte_status read_all(reader *r, wte__torch_list *list, wte__names *names)
{
    uint64_t n = 0;
    wte__pickle p;
    WTE_TRY(read_members(r));
    enter(r, STORAGES);
    WTE_TRY(take_count(r, &n));
    for (uint64_t i = 0; i < n; i++) WTE_TRY(read_storage(r));
    WTE_TRY(read_views(r));
    enter(r, TENSORS);
    WTE_TRY(take_count(r, &n));
    for (uint64_t i = 0; i < n; i++) WTE_TRY(read_tensor(r));
    enter(r, PICKLE);
    r->t->tensors = r->tensors;
    r->t->by_key = true;
    WTE_TRY(next(r, &p));
    WTE_TRY(wte__torch_walk(r->t, &p.root, p.used, list));
    return wte__torch_list_entries(r->t, list, names);
}

wte_status wte__torch_tar_read(wte_file *f, uint32_t part, wte__names *names, wte_error *err)
{
    wte__torch t;
    wte__torch_list list = { 0 };
    reader r;
    memset(&r, 0, sizeof r);
    r.t = &t;
    wte__torch_begin(&t, f, part, err);
    const wte_status status = read_all(&r, &list, names);
    wte__free(f->allocator, list.items, list.cap * sizeof *list.items);
    wte__free(f->allocator, r.tensors, r.cap * sizeof *r.tensors);
    wte__torch_end(&t);
    return status;
}
