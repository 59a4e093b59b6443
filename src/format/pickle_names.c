/* Functions and classes that a pickle names: which are on the caller's list, and how a message
 * shows one that is refused. */
#include <string.h>

#include "base/error.h"
#include "format/pickle.h"

static bool same(wte__bytes a, const char *b)
{
    const size_t n = strlen(b);
    return a.size == n && memcmp(a.data, b, n) == 0;
}

/* The package itself or a module of it. */
static bool is_of(wte__bytes module, const char *package)
{
    const size_t n = strlen(package);
    return same(module, package) ||
           (module.size > n && memcmp(module.data, package, n) == 0 && module.data[n] == '.');
}

static bool is_class(wte__bytes name)
{
    return name.size > 0 && name.data[0] >= 'A' && name.data[0] <= 'Z';
}

void wte__pickle_look_up(const wte__pickle *p, wte__pickle_global *g)
{
    g->tag = 0;
    g->setting = false;
    for (size_t i = 0; i < p->n_allowed && g->tag == 0; i++) {
        const wte__pickle_allowed *a = &p->allowed[i];
        if (strcmp(a->name, "*") == 0)
            g->setting = g->setting || (is_class(g->name) && is_of(g->module, a->module));
        else if (same(g->name, a->name) && same(g->module, a->module))
            g->tag = a->tag;
    }
}

const char *wte__pickle_show(const wte__pickle_global *g, char *out, size_t cap)
{
    char whole[WTE__NAME_SHOWN], shown[WTE__NAME_SHOWN];
    const int module = (int)(g->module.size < 80 ? g->module.size : 80);
    const int name = (int)(g->name.size < 80 ? g->name.size : 80);
    const int n = snprintf(whole, sizeof whole, "%.*s.%.*s", module, (const char *)g->module.data,
                           name, (const char *)g->name.data);
    const size_t size = n < 0 ? 0 : (size_t)n < sizeof whole ? (size_t)n : sizeof whole - 1;
    snprintf(out, cap, "%s", wte__show(shown, whole, size));
    return out;
}

const char *wte__pickle_say_import(const wte__pickle_global *g, char out[WTE__PICKLE_SAID])
{
    char shown[WTE__NAME_SHOWN];
    snprintf(out, WTE__PICKLE_SAID, "tries to import '%s': refused, nothing was run",
             wte__pickle_show(g, shown, sizeof shown));
    return out;
}

const char *wte__pickle_say_object(const wte__pickle_global *g, bool is_root,
                                   char out[WTE__PICKLE_SAID])
{
    char shown[WTE__NAME_SHOWN];
    wte__pickle_show(g, shown, sizeof shown);
    if (is_root)
        snprintf(out, WTE__PICKLE_SAID,
                 "a pickled module of class '%s', not a state dict (save model.state_dict())",
                 shown);
    else
        snprintf(out, WTE__PICKLE_SAID,
                 "holds an object of class '%s', with tensors in it, which are not read (save its "
                 "state_dict())",
                 shown);
    return out;
}
