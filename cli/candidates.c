/* The tensors that were considered for a role: score, shape, a hash of their bytes, and which of
 * them are equal. */
#include "candidates.h"

#include <inttypes.h>
#include <string.h>

#include "inspect.h"

static const char *const role_names[] = { "none", "input", "head", "other" };

/* Which earlier candidate has the same bytes, in words; its name follows. */
static const char *relation(const wte_candidate_facts *facts, uint64_t i)
{
    if (facts->duplicate_of == i) return i ? ", differs from those above" : "";
    return facts->same_storage ? ", same storage as " : ", equal bytes with ";
}

static void put_name(const wte_model *m, uint64_t candidate)
{
    wte_tensor t;
    const wte_candidate *k = wte_model_candidate(m, candidate);
    if (k && wte_file_tensor(wte_model_file(m), k->tensor, &t, NULL) == WTE_OK)
        cli_put_safe(stdout, t.name, (size_t)t.name_bytes);
}

/* The facts of a candidate; some tensors have none, and *known is false. The exit code. */
static int read_facts(const cli *c, const wte_model *m, uint64_t i, wte_candidate_facts *facts,
                      bool *known)
{
    wte_error err;
    const wte_status status = wte_model_candidate_facts(m, i, NULL, facts, &err);
    *known = status == WTE_OK;
    if (status == WTE_OK || status == WTE_E_UNSUPPORTED) return CLI_DONE;
    return cli_fail(c, status, CLI_SIDE_INPUT, &err);
}

static int put_candidate(const cli *c, const wte_model *m, uint64_t i, const wte_candidate *k)
{
    wte_tensor t;
    wte_candidate_facts facts;
    bool known;
    if (wte_file_tensor(wte_model_file(m), k->tensor, &t, NULL) != WTE_OK) return CLI_DONE;
    printf("  %-5s %4d  ", role_names[k->role], (int)k->score);
    cli_put_safe(stdout, t.name, (size_t)t.name_bytes);
    fputs(", ", stdout);
    inspect_put_shape(&t);
    fputc(' ', stdout);
    inspect_put_type(&t);
    const int code = read_facts(c, m, i, &facts, &known);
    if (code) fputs(", its bytes cannot be read", stdout);
    if (known) {
        printf(", %016" PRIx64 "%s", facts.hash, relation(&facts, i));
        if (facts.duplicate_of != i) put_name(m, facts.duplicate_of);
    }
    fputs(": ", stdout);
    cli_put_safe(stdout, k->why, strlen(k->why));
    putchar('\n');
    return code;
}

int cli_print_candidates(const cli *c, const wte_model *m)
{
    int code = CLI_DONE;
    const wte_candidate *k = wte_model_candidate(m, 0);
    if (!k || k->role == WTE_ROLE_OTHER) return CLI_DONE;
    printf("\n%scandidates%s (role, score, tensor, shape, hash of its bytes, reason)\n",
           cli_bold(c), cli_plain(c));
    for (uint64_t i = 0; (k = wte_model_candidate(m, i)); i++) {
        const int own = k->role != WTE_ROLE_OTHER ? put_candidate(c, m, i, k) : CLI_DONE;
        if (!code) code = own;
    }
    return code;
}

static int json_bytes_of(const cli *c, cli_json *j, const wte_model *m, uint64_t i)
{
    bool known;
    wte_candidate_facts facts;
    wte_tensor t;
    char hash[17];
    const int code = read_facts(c, m, i, &facts, &known);
    if (!known) return code;
    snprintf(hash, sizeof hash, "%016" PRIx64, facts.hash);
    cli_json_text(j, "hash", hash);
    if (facts.duplicate_of == i) return CLI_DONE;
    const wte_candidate *like = wte_model_candidate(m, facts.duplicate_of);
    if (wte_file_tensor(wte_model_file(m), like->tensor, &t, NULL) == WTE_OK)
        cli_json_bytes(j, facts.same_storage ? "same_storage_as" : "equal_bytes_with", t.name,
                       (size_t)t.name_bytes);
    return CLI_DONE;
}

int cli_json_candidates(const cli *c, cli_json *j, const wte_model *m, bool with_bytes)
{
    int code = CLI_DONE;
    const wte_candidate *k;
    cli_json_list(j, "candidates");
    for (uint64_t i = 0; (k = wte_model_candidate(m, i)); i++) {
        wte_tensor t;
        if (wte_file_tensor(wte_model_file(m), k->tensor, &t, NULL) != WTE_OK) continue;
        cli_json_object(j, NULL);
        cli_json_bytes(j, "tensor", t.name, (size_t)t.name_bytes);
        inspect_json_type(j, &t);
        cli_json_line(j, "shape");
        for (uint32_t d = 0; d < t.rank; d++) cli_json_unsigned(j, NULL, t.shape[d]);
        cli_json_close(j);
        cli_json_text(j, "role", role_names[k->role]);
        cli_json_signed(j, "score", k->score);
        const bool read = with_bytes && k->role != WTE_ROLE_OTHER;
        const int own = read ? json_bytes_of(c, j, m, i) : CLI_DONE;
        if (!code) code = own;
        cli_json_bytes(j, "why", k->why, strlen(k->why));
        cli_json_close(j);
    }
    cli_json_close(j);
    return code;
}
