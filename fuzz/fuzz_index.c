/* The index of shards over any text, beside a folder of small shards: two of safetensors, two of
 * PyTorch, one broken.
 *
 * Properties: what an accepted index lists is found, once, in a shard that there is, and its bytes
 * are those that the shard has there; what is left over in the opened shards are strays, and each
 * tensor of a shard is one or the other. */
#include "archive.h"
#include "folder.h"

/* Every tensor is u8 of 2 x 3; the elements of number k of a shard begin at 64 * shard + 6 * k.
 */
typedef struct shard {
    const char *name;
    bool torch;
    uint32_t n;
    const char *tensors[3];
} shard;
static const shard shards[] = {
    { "a.safetensors", false, 2, { "x", "y" } },
    { "b.safetensors", false, 3, { "x", "z", "" } },
    { "p.bin", true, 2, { "x", "w" } },
    { "q.bin", true, 1, { "y" } },
};
#define N_SHARDS (sizeof shards / sizeof shards[0])

static uint8_t element(size_t number, uint32_t tensor, uint32_t at)
{
    return (uint8_t)(64 * number + at + (size_t)6 * tensor);
}

static void write_safetensors(const shard *s, size_t number)
{
    uint8_t file[512] = { 0 };
    char *text = (char *)file + 8;
    size_t n = 0, data;
    for (uint32_t i = 0; i < s->n; i++)
        n +=
            (size_t)snprintf(text + n, sizeof file - 8 - n,
                             "%s\"%s\":{\"dtype\":\"U8\",\"shape\":[2,3],\"data_offsets\":[%u,%u]}",
                             i ? "," : "{", s->tensors[i], 6 * i, 6 * i + 6);
    text[n++] = '}';
    fuzz_put(file, n, 8);
    data = 8 + n;
    for (uint32_t i = 0; i < 6 * s->n; i++) file[data + i] = element(number, i / 6, i % 6);
    fuzz_write(s->name, file, data + (size_t)6 * s->n);
}

static void write_torch(const shard *s, size_t number)
{
    char pickle[1024] = "\x80\x02}";
    uint8_t storage[18];
    size_t n = 3;
    fuzz_zip z;
    for (uint32_t i = 0; i < s->n; i++) {
        /* SHORT_BINSTRING, for names of one letter; the tensor begins at element 6 * i */
        static const char call[] = "ctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\n"
                                   "ByteStorage\nU\1"
                                   "0U\3cpuK\x12tQK";
        static const char rest[] = "K\2K\3\x86K\3K\1\x86\x89}tRs";
        pickle[n++] = 'U';
        pickle[n++] = (char)strlen(s->tensors[i]);
        memcpy(pickle + n, s->tensors[i], strlen(s->tensors[i]));
        n += strlen(s->tensors[i]);
        memcpy(pickle + n, call, sizeof call - 1);
        n += sizeof call - 1;
        pickle[n++] = (char)(6 * i);
        memcpy(pickle + n, rest, sizeof rest - 1);
        n += sizeof rest - 1;
    }
    pickle[n++] = '.';
    for (uint32_t i = 0; i < sizeof storage; i++) storage[i] = element(number, i / 6, i % 6);
    fuzz_zip_begin(&z, 2048);
    fuzz_zip_add(&z, "t/data.pkl", pickle, n);
    fuzz_zip_add(&z, "t/data/0", storage, sizeof storage);
    fuzz_zip_end(&z);
    fuzz_write(s->name, z.data, z.n);
    free(z.data);
}

static const shard *shard_of(const wte_file *f, uint32_t part)
{
    const char *path = wte_file_shard_path(f, part);
    const shard *found = NULL;
    for (size_t i = 0; path && i < N_SHARDS; i++) {
        const size_t n = strlen(path), k = strlen(shards[i].name);
        if (n >= k && strcmp(path + n - k, shards[i].name) == 0) found = &shards[i];
    }
    HOLDS(found != NULL);
    return found;
}

/* The bytes of a tensor are those that its shard has under its name. */
static void check_bytes(const wte_file *f, const wte_tensor *t, const uint8_t got[6])
{
    const shard *s = shard_of(f, t->shard);
    uint32_t k = 0;
    while (k < s->n && strcmp(s->tensors[k], t->name) != 0) k++;
    HOLDS(k < s->n && t->bytes == 6);
    for (uint32_t i = 0; i < 6; i++) HOLDS(got[i] == element((size_t)(s - shards), k, i));
}

static void check_file(const wte_file *f, const uint8_t *data, size_t size)
{
    const uint64_t listed = wte_file_n_tensors(f), strays = wte_file_n_unlisted_tensors(f);
    const bool torch = wte_file_format(f) == WTE_FORMAT_TORCH_INDEX;
    wte_error err = { 0 };
    uint64_t all = 0, found;
    (void)data;
    (void)size;
    /* a line that ends in a number may be a word's vector */
    if (!torch && wte_file_format(f) != WTE_FORMAT_SAFETENSORS_INDEX) return;
    HOLDS(listed > 0 && wte_file_n_shards(f) <= listed);
    for (uint32_t i = 0; i < wte_file_n_shards(f); i++) {
        HOLDS(shard_of(f, i)->torch == torch);
        all += shard_of(f, i)->n;
    }
    HOLDS(listed + strays == all);
    for (uint64_t i = 0; i < listed; i++) {
        wte_tensor t;
        uint8_t got[6];
        HOLDS(wte_file_tensor(f, i, &t, &err) == WTE_OK);
        HOLDS(wte_file_find(f, t.name, t.name_bytes, &found, &err) == WTE_OK && found == i);
        HOLDS(wte_file_read(f, i, 0, got, sizeof got, &err) == WTE_OK);
        check_bytes(f, &t, got);
    }
    for (uint64_t i = 0; i < strays; i++) {
        wte_tensor t, listed_one;
        HOLDS(wte_file_unlisted_tensor(f, i, &t, &err) == WTE_OK);
        if (wte_file_find(f, t.name, t.name_bytes, &found, &err) != WTE_OK) continue;
        HOLDS(wte_file_tensor(f, found, &listed_one, &err) == WTE_OK);
        HOLDS(listed_one.shard != t.shard);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (fuzz_make_folder()) {
        for (size_t i = 0; i < N_SHARDS; i++)
            (shards[i].torch ? write_torch : write_safetensors)(&shards[i], i);
        fuzz_write("broken.safetensors", "\2\0\0\0\0\0\0\0{]", 10);
    }
    /* what is no JSON is another target's */
    size_t at = 0;
    while (at < size && strchr(" \t\r\n\xef\xbb\xbf", data[at]) && data[at]) at++;
    if (at == size || data[at] != '{' || size > 8192) return 0;
    fuzz_write("index.json", data, size);
    fuzz_open_path(fuzz_path("index.json"), data, size > 512 ? size : 512, check_file);
    return 0;
}
