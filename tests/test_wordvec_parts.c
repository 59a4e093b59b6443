/* The parts of word vectors, each against its definition: who stays, who is drawn, the tree, rows
 * of n-grams, and the learning of a line against plain sums in f64. */
#include "wordvec_help.h"

static char folder[64], path[80];

static wte_corpus *open_text(const char *text)
{
    wte_corpus *c;
    wte_error err;
    test_write_file(path, text, strlen(text));
    assert_ok(wte_corpus_open(path, NULL, &c, &err), err);
    return c;
}

/* A word w<i> counts[i] times. */
static wte_corpus *open_counts(const uint32_t *counts, size_t n)
{
    wte_corpus *c;
    wte_error err;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < counts[i]; k++) fprintf(f, "w%zu ", i);
    assert_int_equal(fclose(f), 0);
    assert_ok(wte_corpus_open(path, NULL, &c, &err), err);
    return c;
}

static wte_wordvec *make_words(const wte_corpus *c, const wte_wordvec_options *opt)
{
    wte_wordvec *w;
    wte_error err;
    assert_ok(wte_wordvec_create(c, opt, &w, &err), err);
    return w;
}

static void samples_are_drawn_by_the_power_of_counts(void **state)
{
    static const uint32_t counts[] = { 500, 100, 100, 37, 9, 8, 3, 1, 1, 1 };
    static const double powers[] = { 0.75, 0.5, 1 };
    (void)state;
    wte_corpus *c = open_counts(counts, 10);
    for (size_t p = 0; p < 3; p++) {
        wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
        double sum = 0, got[10] = { 0 };
        opt.power = powers[p];
        wte_wordvec *w = make_words(c, &opt);
        for (size_t i = 0; i < 10; i++) {
            const wte__wordvec_alias slot = w->tables.alias[i];
            const double keep = slot.keep == UINT32_MAX ? 1 : slot.keep * 0x1p-32;
            got[i] += keep / 10;
            got[slot.other] += (1 - keep) / 10;
            sum += pow(counts[i], powers[p]);
        }
        for (size_t i = 0; i < 10; i++)
            assert_true(fabs(got[i] - pow(counts[i], powers[p]) / sum) < 1e-8);
        wte_wordvec_free(w);
    }
    wte_corpus_free(c);
}

static void words_that_the_text_lacks_are_not_drawn(void **state)
{
    const uint16_t ids[] = { 7, 2, 7, 2, 2, 9 };
    wte_corpus_options how = WTE_CORPUS_OPTIONS_INIT;
    wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
    wte_corpus *c;
    wte_error err;
    (void)state;
    test_write_file(path, ids, sizeof ids);
    how.ids_type = WTE_U16;
    how.ids_rows = 12;
    assert_ok(wte_corpus_open(path, &how, &c, &err), err);
    wte_wordvec *w = make_words(c, &opt);
    for (size_t i = 0; i < 12; i++) {
        const wte__wordvec_alias slot = w->tables.alias[i];
        const bool there = i == 2 || i == 7 || i == 9;
        assert_true(there || slot.keep == 0);
        assert_true(slot.other == 2 || slot.other == 7 || slot.other == 9);
    }
    wte_wordvec_free(w);
    opt.hierarchical = 1; /* they are in the tree all the same */
    w = make_words(c, &opt);
    assert_int_equal(w->plan.out_rows, 11);
    wte_wordvec_free(w);
    wte_corpus_free(c);
}

static void frequent_words_stay_by_their_share(void **state)
{
    static const uint32_t counts[] = { 700, 200, 90, 10 };
    wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
    (void)state;
    wte_corpus *c = open_counts(counts, 4);
    opt.sample = 0.05;
    wte_wordvec *w = make_words(c, &opt);
    for (size_t i = 0; i < 4; i++) {
        const double ratio = 0.05 / (counts[i] / 1000.0), stays = sqrt(ratio) + ratio;
        const double got = w->tables.keep[i] == UINT32_MAX ? 1 : w->tables.keep[i] * 0x1p-32;
        assert_true(fabs(got - (stays < 1 ? stays : 1)) < 1e-9);
    }
    wte_wordvec_free(w);
    opt.sample = -1;
    w = make_words(c, &opt);
    for (size_t i = 0; i < 4; i++) assert_int_equal(w->tables.keep[i], UINT32_MAX);
    wte_wordvec_free(w);
    wte_corpus_free(c);
}

/* Of the textbooks: these counts take 224 steps in all. */
static void ways_through_the_tree_are_shortest(void **state)
{
    static const uint32_t counts[] = { 45, 16, 13, 12, 9, 5 };
    static const uint64_t lengths[] = { 1, 3, 3, 3, 4, 4 };
    wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
    (void)state;
    wte_corpus *c = open_counts(counts, 6);
    opt.hierarchical = 1;
    wte_wordvec *w = make_words(c, &opt);
    uint64_t steps = 0, seen[6][2] = { { 0 } };
    double kraft = 0;
    for (size_t i = 0; i < 6; i++) {
        const uint64_t begin = i ? w->tables.way_end[i - 1] : 0, n = w->tables.way_end[i] - begin;
        assert_int_equal(n, lengths[i]);
        assert_int_equal(w->tables.way[begin] / 2, 4); /* the root is made last */
        for (uint64_t k = 0; k < n; k++)
            seen[w->tables.way[begin + k] / 2][w->tables.way[begin + k] % 2] += counts[i];
        steps += n * counts[i];
        kraft += pow(2, -(double)n);
    }
    assert_int_equal(steps, 224);
    assert_true(kraft == 1);
    assert_true(seen[4][0] + seen[4][1] == 100);
    for (size_t node = 0; node < 5; node++) assert_true(seen[node][0] && seen[node][1]);
    assert_true(fabs(w->nothing - 2.24 * log(2)) < 1e-12);
    wte_wordvec_free(w);
    wte_corpus_free(c);
}

/* "<ab>" has the 2-grams <a ab b> and the 3-grams <ab ab>; a line end has none. */
static void a_word_has_its_own_row_and_those_of_its_ngrams(void **state)
{
    static const char *const grams[] = { "<a", "<ab", "ab", "ab>", "b>" };
    wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
    (void)state;
    wte_corpus *c = open_text("ab ab x\n\n\n");
    opt.dim = 16;
    opt.min_n = 2;
    opt.max_n = 3;
    opt.buckets = 1000;
    wte_wordvec *w = make_words(c, &opt);
    const uint32_t end = 0, ab = 1, *rows;
    assert_int_equal(wte__wordvec_rows_of(w, &end, &rows), 1);
    assert_int_equal(rows[0], 0);
    assert_int_equal(wte__wordvec_rows_of(w, &ab, &rows), 6);
    assert_int_equal(rows[0], 1);
    double sum = 0;
    for (size_t i = 0; i < 6; i++) {
        uint32_t hash = 2166136261u;
        for (size_t k = 0; i && grams[i - 1][k]; k++)
            hash = (hash ^ (uint8_t)grams[i - 1][k]) * 16777619u;
        if (i) assert_int_equal(rows[i], 3 + hash % 1000);
        sum += (double)w->in[rows[i] * w->plan.stride + 3];
    }
    float *all = vectors_of(w);
    assert_true(fabs(sum / 6 - (double)all[16 + 3]) < 1e-7);
    free(all);
    wte_wordvec_free(w);
    wte_corpus_free(c);
}

/* Learning of one line with window 1 and a tree, where nothing but the first values is drawn. */
#define DIM   16u
#define WORDS 6u
typedef struct plain {
    double in[WORDS][DIM], out[WORDS][DIM], live[8][DIM], before[8][DIM];
} plain;

static void plain_step(plain *p, const wte_wordvec *w, uint32_t word, double *const *in,
                       size_t n_in, double lr)
{
    const uint64_t begin = word ? w->tables.way_end[word - 1] : 0;
    const uint64_t n = w->tables.way_end[word] - begin;
    double d_in[2][DIM] = { { 0 } }, d_out[WORDS][DIM] = { { 0 } };
    for (size_t i = 0; i < n_in; i++) {
        for (uint64_t k = 0; k < n; k++) {
            const uint32_t step = w->tables.way[begin + k];
            double x = 0;
            for (size_t c = 0; c < DIM; c++) x += in[i][c] * p->out[step / 2][c];
            const double slope = lr * ((step % 2 ? 1 : 0) - 1 / (1 + exp(-x)));
            for (size_t c = 0; c < DIM; c++) {
                d_in[i][c] += slope * p->out[step / 2][c];
                d_out[step / 2][c] += slope * in[i][c];
            }
        }
    }
    for (size_t c = 0; c < DIM; c++) {
        for (size_t i = 0; i < n_in; i++) in[i][c] += d_in[i][c];
        for (size_t k = 0; k < WORDS; k++) p->out[k][c] += d_out[k][c];
    }
}

static void plain_enter(plain *p, const uint32_t *line, size_t n, size_t at)
{
    if (at >= n) return;
    memcpy(p->live[at], p->in[line[at]], sizeof p->live[at]);
    memcpy(p->before[at], p->live[at], sizeof p->live[at]);
}

static void plain_line(plain *p, const wte_wordvec *w, const uint32_t *line, size_t n, double lr)
{
    plain_enter(p, line, n, 0);
    for (size_t at = 0; at <= n; at++) {
        double *in[2] = { NULL, NULL }, mean[DIM], old[DIM];
        size_t n_in = 0;
        plain_enter(p, line, n, at + 1);
        if (at > 0 && at < n + 1) in[n_in++] = p->live[at - 1];
        if (at + 1 < n) in[n_in++] = p->live[at + 1];
        if (at < n && w->plan.o.method == WTE_WORDVEC_SKIP_GRAM)
            plain_step(p, w, line[at], in, n_in, lr);
        if (at < n && n_in > 0 && w->plan.o.method == WTE_WORDVEC_CBOW) {
            double *only = mean;
            for (size_t c = 0; c < DIM; c++)
                mean[c] = old[c] = n_in == 2 ? (in[0][c] + in[1][c]) / 2 : in[0][c];
            plain_step(p, w, line[at], &only, 1, lr);
            for (size_t i = 0; i < n_in; i++)
                for (size_t c = 0; c < DIM; c++) in[i][c] += mean[c] - old[c];
        }
        for (size_t c = 0; at > 0 && c < DIM; c++)
            p->in[line[at - 1]][c] += p->live[at - 1][c] - p->before[at - 1][c];
    }
}

static void a_line_is_learned_as_defined(void **state)
{
    static const wte_wordvec_method methods[] = { WTE_WORDVEC_SKIP_GRAM, WTE_WORDVEC_CBOW };
    (void)state;
    wte_corpus *c = open_text("a b c a d b e a\n\n");
    for (size_t m = 0; m < 2; m++) {
        wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
        uint32_t line[] = { 0, 2, 4, 0, 5, 2, 3, 0 };
        plain p = { .in = { { 0 } } };
        opt.method = methods[m];
        opt.hierarchical = 1;
        opt.dim = DIM;
        opt.window = 1;
        opt.sample = -1;
        wte_wordvec *w = make_words(c, &opt);
        assert_int_equal(w->plan.rows, WORDS);
        for (uint64_t r = 0; r < WORDS; r++)
            for (uint64_t k = 0; k < DIM; k++) p.in[r][k] = (double)w->in[r * DIM + k];
        for (int i = 0; i < 20; i++) {
            plain_line(&p, w, line, 8, 0.2);
            memcpy(w->worker[0].sentence, line, sizeof line);
            wte__wordvec_learn(w, &w->worker[0], 8, 0.2f);
        }
        double moved = 0;
        for (uint64_t r = 0; r < WORDS; r++) {
            for (uint64_t k = 0; k < DIM; k++) {
                assert_true(fabs(p.in[r][k] - (double)w->in[r * DIM + k]) < 1e-5);
                moved = fmax(moved, fabs(p.in[r][k]));
                if (r + 1 == WORDS) continue;
                assert_true(fabs(p.out[r][k] - (double)w->out[r * DIM + k]) < 1e-5);
            }
        }
        assert_true(moved > 0.13); /* from 1/8 at most */
        wte_wordvec_free(w);
    }
    wte_corpus_free(c);
}

/* A window that is wider than the line, lines of one word, of two. */
static void lines_of_any_length_are_learned(void **state)
{
    wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
    (void)state;
    wte_corpus *c = open_text("a b c a d b e a\n\n");
    opt.dim = DIM;
    for (uint64_t window = 1; window <= WTE_LIMIT_WORDS_WINDOW; window += 7) {
        opt.window = window;
        wte_wordvec *w = make_words(c, &opt);
        for (size_t n = 0; n <= 8; n++) {
            memset(w->worker[0].sentence, 0, 8 * sizeof(uint32_t));
            for (uint32_t i = 0; i < n; i++) w->worker[0].sentence[i] = i % WORDS;
            const float before = w->out[0];
            wte__wordvec_learn(w, &w->worker[0], n, 0.1f);
            assert_true(n < 2 ? w->out[0] == before : w->out[0] != before);
        }
        wte_wordvec_free(w);
    }
    wte_corpus_free(c);
}

/* A line "way 4r 3l": the steps of the next word, as tests/make_golden_tree.py has them. */
static void check_way(const wte_wordvec *w, uint64_t word, const char *line)
{
    const uint64_t begin = word ? w->tables.way_end[word - 1] : 0;
    uint64_t n = begin;
    for (const char *at = line + 3; *at == ' '; n++) {
        char *end;
        const uint64_t node = strtoull(at, &end, 10);
        assert_true(n < w->tables.way_end[word] && (*end == 'l' || *end == 'r'));
        assert_int_equal(w->tables.way[n], 2 * node + (*end == 'r'));
        at = end + 1;
    }
    assert_int_equal(n, w->tables.way_end[word]);
}

static void trees_are_those_of_fasttext(void **state)
{
    wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
    char line[512];
    size_t trees = 0;
    wte_corpus *c = NULL;
    wte_wordvec *w = NULL;
    (void)state;
    FILE *f = fopen(test_data("train/fasttext_tree.txt"), "rb");
    assert_non_null(f);
    opt.hierarchical = 1;
    opt.dim = 1;
    for (uint64_t word = 0; fgets(line, sizeof line, f); word++) {
        if (memcmp(line, "counts", 6) != 0) {
            check_way(w, word, line);
            continue;
        }
        uint32_t counts[64];
        size_t n = 0;
        for (char *at = line + 6; *at == ' ';) counts[n++] = (uint32_t)strtoul(at, &at, 10);
        wte_wordvec_free(w);
        wte_corpus_free(c);
        c = open_counts(counts, n);
        w = make_words(c, &opt);
        word = UINT64_MAX;
        trees++;
    }
    assert_int_equal(fclose(f), 0);
    assert_int_equal(trees, 5);
    wte_wordvec_free(w);
    wte_corpus_free(c);
}

/* Words that the text lacks count 0: these alone would make a chain. */
static void a_tree_of_words_that_are_not_there_is_flat(void **state)
{
    wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
    wte_corpus_options how = WTE_CORPUS_OPTIONS_INIT;
    const uint16_t ids[] = { 1, 2, 1 };
    wte_corpus *c;
    wte_error err;
    (void)state;
    test_write_file(path, ids, sizeof ids);
    how.ids_type = WTE_U16;
    how.ids_rows = 5000;
    assert_ok(wte_corpus_open(path, &how, &c, &err), err);
    opt.hierarchical = 1;
    opt.dim = 1;
    wte_wordvec *w = make_words(c, &opt);
    for (uint64_t i = 0; i < 5000; i++)
        assert_true(w->tables.way_end[i] - (i ? w->tables.way_end[i - 1] : 0) <= 16);
    wte_wordvec_free(w);
    wte_corpus_free(c);
}

static void first_values_are_those_of_the_seed(void **state)
{
    wte_wordvec_options opt = WTE_WORDVEC_OPTIONS_INIT;
    (void)state;
    wte_corpus *c = open_text("a b c a d b e a\n\n");
    opt.dim = 20;
    opt.max_n = 3;
    opt.buckets = 9000; /* of more than one piece */
    wte_wordvec *w = make_words(c, &opt), *again = make_words(c, &opt);
    double sum = 0, squares = 0;
    for (uint64_t r = 0; r < w->plan.in_rows; r++) {
        for (uint64_t k = 0; k < 32; k++) {
            const double x = (double)w->in[r * 32 + k] * sqrt(20);
            assert_true(w->in[r * 32 + k] == again->in[r * 32 + k]);
            assert_true(k < 20 ? x > -0.5000001 && x < 0.5 : x == 0);
            sum += x;
            squares += x * x;
        }
    }
    const double n = 20.0 * (double)w->plan.in_rows;
    assert_true(fabs(sum / n) < 0.005 && fabs(squares / n - 1.0 / 12) < 0.001);
    wte_wordvec_free(again);
    opt.seed = 2;
    again = make_words(c, &opt);
    assert_true(w->in[0] != again->in[0]);
    wte_wordvec_free(again);
    wte_wordvec_free(w);
    wte_corpus_free(c);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_scratch());
    snprintf(path, sizeof path, "%s/text", folder);
    return 0;
}
static int remove_folder(void **state)
{
    (void)state;
    test_scratch_remove(folder);
    return 0;
}

static const struct CMUnitTest tests[] = {
    TEST("samples are drawn by the power of counts", samples_are_drawn_by_the_power_of_counts),
    TEST("words that the text lacks are not drawn", words_that_the_text_lacks_are_not_drawn),
    TEST("frequent words stay by their share", frequent_words_stay_by_their_share),
    TEST("ways through the tree are shortest", ways_through_the_tree_are_shortest),
    TEST("trees are those of fastText", trees_are_those_of_fasttext),
    TEST("a tree of words that are not there is flat", a_tree_of_words_that_are_not_there_is_flat),
    TEST("a word has its own row and those of its n-grams",
         a_word_has_its_own_row_and_those_of_its_ngrams),
    TEST("a line is learned as defined", a_line_is_learned_as_defined),
    TEST("lines of any length are learned", lines_of_any_length_are_learned),
    TEST("first values are those of the seed", first_values_are_those_of_the_seed),
};

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
