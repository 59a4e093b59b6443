/* Random tables printed as twelve programs print them: each is read back exactly, or refused; never
 * a wrong row, a row too many or one too few. */
#include "words_help.h"

#include <math.h>
#include <stdarg.h>

#define ROWS_MAX    40
#define DIM_MAX     12
#define TEXT_MAX    (1 << 17)
#define WORD_MAX    24
#define PER_DIALECT 400

typedef struct rng {
    uint64_t state;
} rng;

static uint32_t draw(rng *r, uint32_t n)
{
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((r->state >> 33) % n);
}

/* A table as its owner has it. */
enum { NO_KEYS, WORDS, COUNTING, IDS, KEY_KINDS };
enum { SIXTEENTHS, SMALL, INTEGERS, SPARSE, WIDE, VALUE_KINDS };
typedef struct table {
    int rows, dim, keys;
    char key[ROWS_MAX][WORD_MAX];
    double value[ROWS_MAX][DIM_MAX];
} table;

/* What was printed. */
typedef struct printed {
    char text[TEXT_MAX];
    size_t n;
    float value[ROWS_MAX * DIM_MAX];
    size_t values;
} printed;

__attribute__((format(printf, 2, 3))) static void put(printed *p, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(p->text + p->n, TEXT_MAX - p->n, fmt, args);
    va_end(args);
    assert_true(n >= 0 && p->n + (size_t)n < TEXT_MAX);
    p->n += (size_t)n;
}

/* A number; what it is worth is what its text says. */
static void put_number(printed *p, const char *fmt, double value, char point)
{
    char text[64];
    /* the formats are all of one double */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, fmt, value);
#pragma GCC diagnostic pop
    p->value[p->values++] = strtof(text, NULL);
    char *at = strchr(text, '.');
    if (at) *at = point;
    put(p, "%s", text);
}

static void make_word(rng *r, char *word, int row, bool wild)
{
    static const char *const some[] = { "the",         ",",  "don't", "#", "\"", "a\"b",
                                        "Gru\xc3\x9f", "%",  "[UNK]", "-", ".",  "\xe2\x80\xa8",
                                        "C++",         "x;y" };
    const uint32_t n = sizeof some / sizeof *some;
    if (wild && draw(r, 5) == 0)
        snprintf(word, WORD_MAX, "%s", some[draw(r, n)]);
    else
        snprintf(word, WORD_MAX, "w%c%d", (char)('a' + draw(r, 26)), row);
}

static void make_table(rng *r, table *t, bool wild)
{
    const uint32_t kind = draw(r, VALUE_KINDS);
    t->rows = 1 + (int)draw(r, ROWS_MAX - 1);
    t->dim = 1 + (int)draw(r, DIM_MAX - 1);
    const int start = (int)draw(r, 2), step = 1 + (int)draw(r, 9);
    for (int i = 0; i < t->rows; i++) {
        if (t->keys == WORDS) make_word(r, t->key[i], i, wild);
        if (t->keys == COUNTING) snprintf(t->key[i], WORD_MAX, "%d", start + i);
        if (t->keys == IDS) snprintf(t->key[i], WORD_MAX, "%d", 100 + step * ((i + 3) % t->rows));
        for (int k = 0; k < t->dim; k++) {
            double v = (double)draw(r, 1 << 20) / (1 << 19) - 1;
            if (kind == SIXTEENTHS) v = (double)draw(r, 257) / 16 - 8;
            if (kind == INTEGERS) v = (double)draw(r, 255) - 127;
            if (kind == SPARSE && draw(r, 3)) v = 0;
            if (kind == WIDE) v *= pow(10, (double)draw(r, 9) - 4);
            t->value[i][k] = v;
        }
    }
}

static bool flip(rng *r)
{
    return draw(r, 2) == 0;
}

/* The key as a field: in quotes where that is needed, or always. */
static void put_key(printed *p, const char *key, char separator, bool always, bool backslash)
{
    const bool quote = always || strchr(key, separator) || strchr(key, '"');
    if (!quote) {
        put(p, "%s", key);
        return;
    }
    put(p, "\"");
    for (; *key; key++) put(p, *key == '"' ? (backslash ? "\\\"" : "\"\"") : "%c", *key);
    put(p, "\"");
}

typedef struct style {
    const char *number;
    const char *end; /* of a line */
    char separator, point;
    bool keys, quote, backslash, trailing;
} style;

#define STYLE(number_, end_, separator_, ...)                                                      \
    {                                                                                              \
        .number = (number_), .end = (end_), .separator = (separator_), .point = '.',               \
        .keys = __VA_ARGS__                                                                        \
    }

static void put_rows(printed *p, const table *t, const style *s)
{
    for (int i = 0; i < t->rows; i++) {
        if (s->keys && (s->quote || s->separator != ' '))
            put_key(p, t->key[i], s->separator, s->quote, s->backslash);
        else if (s->keys)
            put(p, "%s", t->key[i]);
        for (int k = 0; k < t->dim; k++) {
            if (k || s->keys) put(p, "%c", s->separator);
            put_number(p, s->number, t->value[i][k], s->point);
        }
        put(p, "%s%s", s->trailing ? " " : "", s->end);
    }
}

static void put_titles(printed *p, const table *t, const style *s, const char *first,
                       const char *name, int from, bool quote)
{
    const char *q = quote ? "\"" : "";
    if (first) put(p, "%s%s%s", *first || quote ? q : "", first, *first || quote ? q : "");
    for (int k = 0; k < t->dim; k++) {
        if (k || first) put(p, "%c", s->separator);
        put(p, "%s%s%d%s", q, name, from + k, q);
    }
    put(p, "%s", s->end);
}

static void random_keys(rng *r, table *t)
{
    t->keys = (int)draw(r, KEY_KINDS);
}

static void print_c(rng *r, table *t, printed *p)
{
    static const char *const formats[] = { "%f", "%g", "%.8g", "%e", "%.9g" };
    random_keys(r, t);
    make_table(r, t, true);
    const style s = STYLE(formats[draw(r, 5)], "\n", ' ', t->keys != NO_KEYS, .trailing = flip(r));
    if (draw(r, 4) == 0) put(p, "%d %d\n", t->rows, t->dim);
    put_rows(p, t, &s);
}

static void print_r(rng *r, table *t, printed *p)
{
    random_keys(r, t);
    make_table(r, t, false);
    const bool csv = flip(r);
    style s = STYLE("%.15g", "\n",
                    csv       ? ','
                    : flip(r) ? ' '
                              : '\t',
                    t->keys != NO_KEYS, .quote = true, .backslash = !csv);
    if (s.separator != ',' && draw(r, 4) == 0) s.point = ',';
    if (csv && draw(r, 4) == 0) { /* write.csv2 */
        s.separator = ';';
        s.point = ',';
    }
    if (!csv && t->keys != WORDS) s.quote = flip(r);
    if (draw(r, 4)) put_titles(p, t, &s, csv && s.keys ? "" : NULL, "V", 1, csv || s.quote);
    put_rows(p, t, &s);
}

static void print_numpy(rng *r, table *t, printed *p)
{
    static const char *const formats[] = { "%.18e", "%g", "%.6f", "%.0f" };
    t->keys = NO_KEYS;
    make_table(r, t, false);
    const style s = STYLE(formats[draw(r, 4)], "\n", flip(r) ? ' ' : ',', false);
    const uint32_t header = draw(r, 4);
    if (header == 1) put(p, "# %d %d\n", t->rows, t->dim);
    if (header == 2) {
        put(p, "# ");
        put_titles(p, t, &s, NULL, "x", 0, false);
    }
    put_rows(p, t, &s);
    if (draw(r, 6) == 0 && header) put(p, "# the end\n");
}

static void print_pandas(rng *r, table *t, printed *p)
{
    static const char separators[] = { ',', '\t', ';', '|' };
    static const char *const labels[] = { "", "word", "id", "token_id" };
    static const char *const names[] = { "", "d", "dim_", "x" };
    random_keys(r, t);
    make_table(r, t, true);
    const style s =
        STYLE("%.17g", flip(r) ? "\n" : "\r\n", separators[draw(r, 4)], t->keys != NO_KEYS);
    if (draw(r, 3))
        put_titles(p, t, &s, s.keys ? labels[draw(r, 4)] : NULL, names[draw(r, 4)], 0, false);
    put_rows(p, t, &s);
}

static void print_julia(rng *r, table *t, printed *p)
{
    t->keys = flip(r) ? NO_KEYS : WORDS;
    make_table(r, t, false);
    const bool csv = flip(r);
    const style s = STYLE("%.17g", "\n", csv ? ',' : '\t', t->keys != NO_KEYS);
    if (csv) put_titles(p, t, &s, s.keys ? "word" : NULL, "x", 1, false);
    put_rows(p, t, &s);
}

static void print_counted(rng *r, table *t, printed *p, const style *s)
{
    make_table(r, t, true);
    put(p, "%d %d\n", t->rows, t->dim);
    put_rows(p, t, s);
}

static void print_gensim(rng *r, table *t, printed *p)
{
    const style s = STYLE(flip(r) ? "%.8g" : "%.9g", "\n", ' ', true);
    t->keys = WORDS;
    print_counted(r, t, p, &s);
}

static void print_glove(rng *r, table *t, printed *p)
{
    const style s = STYLE("%.6f", "\n", ' ', true);
    t->keys = WORDS;
    make_table(r, t, true);
    put_rows(p, t, &s);
}

static void print_fasttext(rng *r, table *t, printed *p)
{
    const style s = STYLE("%.5g", "\n", ' ', true, .trailing = true);
    t->keys = WORDS;
    print_counted(r, t, p, &s);
}

static void print_floret(rng *r, table *t, printed *p)
{
    const style s = STYLE("%.5g", "\n", ' ', true, .trailing = true);
    t->keys = COUNTING;
    make_table(r, t, false);
    put(p, "%d %d 4 5 2 2166136261 < >\n", t->rows, t->dim);
    put_rows(p, t, &s);
}

static void print_spacy(rng *r, table *t, printed *p)
{
    const style s = STYLE("%.9g", "\n", ' ', true);
    t->keys = WORDS;
    print_counted(r, t, p, &s);
}

static void print_node2vec(rng *r, table *t, printed *p)
{
    const style s = STYLE("%.8g", "\n", ' ', true);
    t->keys = flip(r) ? IDS : COUNTING;
    print_counted(r, t, p, &s);
}

static void print_libreoffice(rng *r, table *t, printed *p)
{
    static const char separators[] = { ',', '\t', ';' };
    random_keys(r, t);
    make_table(r, t, true);
    style s = STYLE("%.15g", "\r\n", separators[draw(r, 3)], t->keys != NO_KEYS);
    if (s.separator != ',' && flip(r)) s.point = ',';
    s.quote = t->keys == WORDS && flip(r);
    if (flip(r)) put(p, "\xef\xbb\xbf");
    if (flip(r)) put_titles(p, t, &s, s.keys ? "Wort" : NULL, "Spalte ", 1, flip(r));
    put_rows(p, t, &s);
}

static const struct dialect {
    const char *name;
    void (*print)(rng *r, table *t, printed *p);
    int least; /* of 100 tables that are read, not refused */
} dialects[] = {
    { "C", print_c, 60 },
    { "R", print_r, 60 },
    { "NumPy", print_numpy, 60 },
    { "pandas", print_pandas, 60 },
    { "Julia", print_julia, 60 },
    { "gensim", print_gensim, 95 },
    { "GloVe", print_glove, 80 },
    { "fastText", print_fasttext, 95 },
    { "floret", print_floret, 0 },
    { "spaCy", print_spacy, 95 },
    { "node2vec", print_node2vec, 90 },
    { "LibreOffice", print_libreoffice, 60 },
};

/* What was read is the table, whatever it took. NULL: it is. */
static const char *compare(const wte_file *f, const table *t, const printed *p)
{
    static float got[ROWS_MAX * DIM_MAX];
    wte_row_source rows;
    const wte_token_list *tokens;
    if (wte_file_row_source(f, 0, &rows, NULL) != WTE_OK) return "no rows";
    if (rows.rows != (uint64_t)t->rows || rows.cols != (uint64_t)t->dim) return "another shape";
    if (wte_row_source_read_block(&rows, 0, (size_t)t->rows, got, NULL) != WTE_OK) return NULL;
    if (memcmp(got, p->value, p->values * sizeof *got) != 0) return "other numbers";
    const bool keys = wte_file_tokens(f, &tokens, NULL) == WTE_OK;
    if (keys != (t->keys != NO_KEYS)) return keys ? "keys that are none" : "no keys";
    for (int i = 0; i < t->rows && keys; i++) {
        uint64_t n;
        const char *text = wte_token_list_text(tokens, (uint64_t)i, &n);
        if (n != strlen(t->key[i]) || memcmp(text, t->key[i], n) != 0) return "another key";
    }
    return NULL;
}

/* Other tables, by hand: more of them, another seed. */
static uint64_t setting(const char *name, uint64_t other)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : other;
}

static void check_dialect(const struct dialect *d, uint64_t seed)
{
    static table t;
    static printed p;
    rng r = { seed };
    int taken = 0, judged = 0;
    const uint64_t n = setting("WTE_DIALECT_TABLES", PER_DIALECT);
    for (uint64_t i = 0; i < n; i++) {
        wte_file *f;
        wte_error err = { 0 };
        p.n = p.values = 0;
        d->print(&r, &t, &p);
        const wte_status status = wte_file_open_memory(p.text, p.n, "t.vec", NULL, &f, &err);
        const char *wrong = status == WTE_OK ? compare(f, &t, &p) : NULL;
        const char *keep = wrong ? getenv("WTE_DIALECT_KEEP") : NULL;
        if (keep) test_write_file(keep, p.text, p.n);
        if (wrong)
            fail_msg("%s, table %u (%d x %d, keys %d): %s\n%.*s", d->name, (unsigned)i, t.rows,
                     t.dim, t.keys, wrong, p.n < 1500 ? (int)p.n : 1500, p.text);
        if (getenv("WTE_DIALECT_SHOW") && status != WTE_OK && t.rows > 4 && t.dim > 1)
            print_message("%s: %s\n%.*s\n", d->name, err.message, 120, p.text);
        judged += t.rows > 4 && t.dim > 1;
        taken += t.rows > 4 && t.dim > 1 && status == WTE_OK;
        wte_file_free(f);
    }
    print_message("%s: %d of %d\n", d->name, taken, judged);
    assert_true(taken * 100 >= d->least * judged);
}

static void what_programs_print_is_read_or_refused(void **state)
{
    (void)state;
    const uint64_t seed = setting("WTE_DIALECT_SEED", 14);
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        check_dialect(&dialects[i], seed * 1000 + i);
}

static const struct CMUnitTest tests[] = {
    TEST("what programs print is read as it is, or refused",
         what_programs_print_is_read_or_refused),
};
TEST_MAIN(tests)
