/* PyTorch checkpoints, whichever of their three containers holds them: from the values of a pickle
 * to storages and tensors, and from these to a catalogue. */
#ifndef WTE_SRC_FORMAT_TORCH_H
#define WTE_SRC_FORMAT_TORCH_H
#include "format/format.h"
#include "format/pickle.h"

/* What tensors are views of. */
typedef struct wte__torch_storage {
    wte__bytes key;
    uint64_t count, bytes; /* elements; what they take */
    uint64_t offset;       /* where they lie, once that is known */
    uint32_t part;
    wte_dtype dtype; /* U8 where the bytes have no type of their own */
    uint64_t listed; /* its number among the file's, when used */
    bool used;       /* by a tensor of the catalogue */
    bool placed;     /* its bytes have been met */
} wte__torch_storage;

/* A window into a storage: all of it, but that old checkpoints know some by keys of their own. */
typedef struct wte__torch_view {
    uint32_t storage;
    uint64_t offset, count; /* elements */
} wte__torch_view;

typedef struct wte__torch_tensor {
    wte_dtype dtype;
    uint32_t storage, rank;
    uint64_t offset; /* elements */
    uint64_t shape[WTE_MAX_RANK], stride[WTE_MAX_RANK];
} wte__torch_tensor;

typedef struct wte__torch {
    wte_file *f;
    uint32_t part;    /* of the container */
    const char *path; /* what messages begin with */
    wte__arena arena; /* values, names, keys */
    wte__torch_storage *storages;
    size_t n_storages, storages_cap;
    wte__torch_view *views; /* by the number that a value has */
    size_t n_views, views_cap;
    wte__names keys; /* of storages */
    bool big;        /* elements are stored most significant byte first */
    /* The old form in tar: what values stand for is found by key, storages (as views of others) and
     * tensors. */
    bool by_key;
    const wte__torch_tensor *tensors;
    wte__names tensor_keys, view_keys;
    wte_error *err;
} wte__torch;

void wte__torch_begin(wte__torch *t, wte_file *f, uint32_t part, wte_error *err);
void wte__torch_end(wte__torch *t);
/* Runs the pickle in data; what it keeps outside becomes storages. p gets the values. */
wte_status wte__torch_pickle(wte__torch *t, wte__pickle *p);
/* The same for one that begins at byte `at` of the container's file and ends somewhere before
 * `end`. */
wte_status wte__torch_pickle_at(wte__torch *t, uint64_t at, uint64_t end, wte__pickle *p);
/* Adds a storage of a class, or finds the one of that key and checks that they agree. */
wte_status wte__torch_storage_add(wte__torch *t, wte__bytes key, const wte__pickle_value *class_,
                                  uint64_t count, uint64_t where, uint32_t *number);
/* A view under a key of its own, and what such a key, or that of a storage, stands for. */
wte_status wte__torch_view_add(wte__torch *t, wte__bytes key, uint32_t storage, uint64_t offset,
                               uint64_t count);
bool wte__torch_view_find(const wte__torch *t, wte__bytes key, uint32_t *storage, uint64_t *offset);
/* A key as text: a text itself, or an integer in digits. False when it is neither. */
bool wte__torch_key(wte__torch *t, const wte__pickle_value *v, wte__bytes *key);
/* The type of a storage class or tensor class; WTE_DTYPE_NONE when it is none. */
wte_dtype wte__torch_class(const wte__pickle_value *v);
/* What a value is that is neither a tensor nor holds any and so is passed over; false when it is a
 * tensor, a container or a plain value. */
#define WTE__TORCH_PASSED 512u
bool wte__torch_passed(const wte__pickle_value *v, char out[WTE__TORCH_PASSED]);
bool wte__torch_is_tensor(const wte__torch *t, const wte__pickle_value *v);
/* What a value that stands for a tensor says, checked against its storage; name is for messages. */
wte_status wte__torch_tensor_of(wte__torch *t, const wte__pickle_value *v, const char *name,
                                wte__torch_tensor *out);
/* Shape, strides and offset against the storage, whose furthest element must be there. */
wte_status wte__torch_check(wte__torch *t, const wte__torch_tensor *tensor, const char *name);

/* A tensor with its name, before its storage has a place. */
typedef struct wte__torch_named {
    const char *name;
    uint32_t name_bytes;
    wte__torch_tensor *tensor;
} wte__torch_named;
typedef struct wte__torch_list {
    wte__torch_named *items;
    size_t n, cap;
    const char *passed, *is; /* the first that was passed over: its name, and what it is */
    uint64_t n_passed;
} wte__torch_list;
/* All tensors below a value, the root of a pickle of so many bytes, by name. */
wte_status wte__torch_walk(wte__torch *t, const wte__pickle_value *root, uint64_t pickle_bytes,
                           wte__torch_list *list);
/* Notes in the file what the value at the root says of the model's parts. */
void wte__torch_said(wte_file *f, const wte__pickle_value *root);
/* Adds them to the file; every storage has its place. Names become the part's. */
wte_status wte__torch_list_entries(wte__torch *t, const wte__torch_list *list, wte__names *names);

/* The containers. Each reads a part of f; names gets the tensors' names. */
struct wte__zip;
bool wte__torch_zip_is(const struct wte__zip *z, size_t *i);
wte_status wte__torch_zip_read(wte_file *f, uint32_t part, const struct wte__zip *z,
                               wte__names *names, wte_error *err);
bool wte__torch_legacy_match(const wte__head *head);
bool wte__torch_tar_match(const wte__head *head);
wte_status wte__torch_legacy_read(wte_file *f, uint32_t part, wte__names *names, wte_error *err);
wte_status wte__torch_tar_read(wte_file *f, uint32_t part, wte__names *names, wte_error *err);
#endif
