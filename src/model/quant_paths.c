/* Which of a config's entries is about a module. Tools name modules by their path, with or without
 * the wrappers that the file has before it, by patterns and by classes; the surest way wins. */
#include <string.h>

#include "base/error.h"
#include "model/name_rules.h"
#include "model/pattern.h"
#include "model/quant.h"

/* How surely an entry means a module. */
enum way { NOT = 0, BY_CLASS, BY_PATTERN, BY_MODULE, BY_PATH };

/* Objects in which tools put what they say of single modules: GPTQModel, AutoRound, others. */
static const char *const objects[] = { "dynamic.",   "extra_config.", "overrides.",
                                       "per_layer.", "layer_config.", "module_config." };

/* The name of an entry less ".weight", and less the object that it stood in. */
static size_t name_of(const wte__quant_path *p, const char **name)
{
    *name = p->name;
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        const size_t n = strlen(objects[i]);
        if (strncmp(p->name, objects[i], n) == 0) *name = p->name + n;
    }
    const size_t n = strlen(*name);
    const char *suffix = wte__code_suffix(*name, n);
    return suffix ? n - strlen(suffix) : n;
}

static enum way way_of(const wte__quant_find *f, const wte__quant_path *p)
{
    const char *name;
    const size_t n = name_of(p, &name);
    if (n > 2 && memcmp(name, "-:", 2) == 0) return NOT; /* not quantised: it has no codes */
    const size_t skip = n > 3 && memcmp(name, "re:", 3) == 0  ? 3
                        : n > 2 && memcmp(name, "+:", 2) == 0 ? 2
                                                              : 0;
    if (skip)
        return wte__pattern_match(name + skip, f->stem, f->stem_bytes) == WTE__PATTERN_YES
                   ? BY_PATTERN
                   : NOT;
    if (n == f->stem_bytes && memcmp(name, f->stem, n) == 0) return BY_PATH;
    if (wte__name_same_module(name, n, f->stem, f->stem_bytes)) return BY_MODULE;
    const wte__name judged = wte__name_judge(f->t->name, f->t->name_bytes);
    const bool input = judged.rule && judged.rule->kind == WTE_KIND_INPUT;
    const char *class = input ? "Embedding" : "Linear";
    return n == strlen(class) && memcmp(name, class, n) == 0 ? BY_CLASS : NOT;
}

static bool same_settings(const wte__quant_path *a, const wte__quant_path *b)
{
    return a->bits == b->bits && a->group == b->group && strcmp(a->mode, b->mode) == 0;
}

wte_status wte__quant_own(wte__quant_find *f)
{
    enum way best = NOT;
    const wte__quant_path *doubt = NULL;
    char one[WTE__NAME_SHOWN], other[WTE__NAME_SHOWN];
    for (const wte__quant_path *p = f->said->paths; p; p = p->next) {
        const enum way way = way_of(f, p);
        if (way == NOT || way < best) continue;
        /* the list begins with the last entry: of several patterns the first counts */
        const bool differs = way == best && !same_settings(p, f->own);
        if (way > best) doubt = NULL;
        if (differs && way == BY_MODULE) doubt = f->own;
        best = way;
        f->own = p;
    }
    if (!doubt) return WTE_OK;
    return wte__quant_refuse(f, "the config's entries '%.40s' and '%.40s' can both be its own",
                             wte__show(one, f->own->name, strlen(f->own->name)),
                             wte__show(other, doubt->name, strlen(doubt->name)));
}

/* Whether the file has codes under this name. */
static bool is_used(const wte__quant_find *f, const wte__quant_path *p)
{
    const char *name;
    const size_t n = name_of(p, &name);
    const wte_file *file = f->q->file;
    wte_tensor t;
    for (uint64_t i = 0; i < wte_file_n_tensors(file); i++) {
        if (wte_file_tensor(file, i, &t, NULL) != WTE_OK) continue;
        const char *suffix = wte__code_suffix(t.name, t.name_bytes);
        if (suffix && wte__name_same_module(name, n, t.name, (size_t)t.name_bytes - strlen(suffix)))
            return true;
    }
    return false;
}

static bool ends_alike(const wte__quant_find *f, const wte__quant_path *p)
{
    const char *name;
    size_t n = name_of(p, &name), k = f->stem_bytes;
    for (; n && k && name[n - 1] == f->stem[k - 1] && name[n - 1] != '.'; n--) k--;
    return (!n || name[n - 1] == '.') && (!k || f->stem[k - 1] == '.');
}

/* Entries that are looked for among the tensors, at the most: each is compared with all names. */
#define LOOKED_FOR 16u

const wte__quant_path *wte__quant_unused(const wte__quant_find *f)
{
    const wte__quant_path *found = NULL;
    unsigned looked = 0;
    for (const wte__quant_path *p = f->said->paths; p && looked < LOOKED_FOR; p = p->next) {
        const bool class = strcmp(p->name, "Linear") == 0 || strcmp(p->name, "Embedding") == 0;
        if (class || strpbrk(p->name, ":*")) continue;
        if (found && !ends_alike(f, p)) continue;
        looked++;
        if (is_used(f, p)) continue;
        if (ends_alike(f, p)) return p;
        if (!found) found = p;
    }
    return found;
}

bool wte__quant_fits_config(const wte__quant_find *f, uint64_t dim)
{
    const wte__quant_said *s = f->said;
    if (!f->table || (!s->hidden && !s->embedding)) return true;
    return dim == s->hidden || dim == s->embedding;
}
