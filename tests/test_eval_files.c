/* Files of word pairs and of analogies: what is read, and every refusal with its place. */
#include "test.h"

#include <wte/eval.h>

#include "base/limits.h"

static wte_error err;

static wte_status read_pairs(const char *text, wte_pairs **out)
{
    return wte_pairs_open_memory(text, strlen(text), "words.tsv", NULL, out, &err);
}

static wte_status read_analogies(const char *text, wte_analogies **out)
{
    return wte_analogies_open_memory(text, strlen(text), "questions.txt", NULL, out, &err);
}

static void assert_word(wte_word word, const char *text)
{
    assert_int_equal(word.bytes, strlen(text));
    assert_memory_equal(word.text, text, strlen(text));
}

static void assert_pair(const wte_pairs *p, uint64_t i, const char *a, const char *b, double judged)
{
    const wte_pair *pair = wte_pairs_at(p, i);
    assert_non_null(pair);
    assert_word(pair->a, a);
    assert_word(pair->b, b);
    assert_true(pair->judged == judged);
}

static wte_pairs_layout layout_of(const wte_pairs *p)
{
    wte_pairs_layout layout;
    wte_pairs_layout_of(p, &layout);
    return layout;
}

/* Pairs --------------------------------------------------------------------------------------- */

static void wordsim_has_comments_and_tabs(void **state)
{
    (void)state;
    wte_pairs *p;
    assert_ok(read_pairs("# The Test Collection\n# Word 1\tWord 2\tHuman (mean)\nlove\tsex\t6.77\n"
                         "tiger\tcat\t7.35\n\n",
                         &p),
              err);
    assert_int_equal(wte_pairs_count(p), 2);
    assert_pair(p, 0, "love", "sex", 6.77);
    assert_pair(p, 1, "tiger", "cat", 7.35);
    assert_int_equal(wte_pairs_at(p, 1)->line, 4);
    assert_null(wte_pairs_at(p, 2));
    assert_int_equal(layout_of(p).separator, '\t');
    assert_false(layout_of(p).titled);
    assert_int_equal(layout_of(p).column, 2);
    assert_null(layout_of(p).title.text);
    wte_pairs_free(p);
}

static void simlex_is_judged_in_its_fourth_column(void **state)
{
    (void)state;
    wte_pairs *p;
    assert_ok(read_pairs("word1\tword2\tPOS\tSimLex999\tconc(w1)\r\nold\tnew\tA\t1.58\t2.72\r\n"
                         "smart\tintelligent\tA\t9.2\t1.75\r\n",
                         &p),
              err);
    assert_int_equal(wte_pairs_count(p), 2);
    assert_pair(p, 0, "old", "new", 1.58);
    assert_pair(p, 1, "smart", "intelligent", 9.2);
    assert_true(layout_of(p).titled);
    assert_int_equal(layout_of(p).column, 3);
    assert_word(layout_of(p).title, "SimLex999");
    wte_pairs_free(p);
}

static void commas_semicolons_and_blanks_part_columns_too(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Word 1,Word 2,Human (mean)\n\"New York\", city ,9\na,b,1e-1\n",
        "a b;c d;4\n\"New York\";city;9\na;b;0.1\n",
    };
    static const char separators[] = { ',', ';' };
    wte_pairs *p;
    for (size_t i = 0; i < 2; i++) {
        assert_ok(read_pairs(texts[i], &p), err);
        const uint64_t n = wte_pairs_count(p);
        assert_pair(p, n - 2, "New York", "city", 9);
        assert_pair(p, n - 1, "a", "b", 0.1);
        assert_int_equal(layout_of(p).separator, separators[i]);
        wte_pairs_free(p);
    }
    assert_ok(read_pairs("gem  jewel 3.94\n New city   9 more", &p), err);
    assert_pair(p, 0, "gem", "jewel", 3.94);
    assert_pair(p, 1, "New", "city", 9);
    assert_int_equal(layout_of(p).separator, ' ');
    wte_pairs_free(p);
}

static void a_byte_order_mark_is_no_part_of_a_word(void **state)
{
    (void)state;
    wte_pairs *p;
    assert_ok(read_pairs("\xef\xbb\xbf"
                         "caf\xc3\xa9\tbar\t5",
                         &p),
              err);
    assert_pair(p, 0, "caf\xc3\xa9", "bar", 5);
    wte_pairs_free(p);
}

static void pairs_that_are_none_are_refused_with_their_line(void **state)
{
    (void)state;
    wte_pairs *p;
    assert_fails(read_pairs("", &p), err, WTE_E_FORMAT, 0, "words.tsv: no pair of words");
    assert_null(p);
    assert_fails(read_pairs("# a\tb\t1\n \t\n", &p), err, WTE_E_FORMAT, 11, "no pair of words");
    assert_fails(read_pairs("word1\tword2\tscore\n\n# 1\n", &p), err, WTE_E_FORMAT, 0,
                 "line 1: no number after two words, and no line");
    assert_fails(read_pairs("word1\tword2\tscore\na\tb\tc\n", &p), err, WTE_E_FORMAT, 18,
                 "line 2: no column after the first two is a number");
    assert_fails(read_pairs("a\tb\tA\t1\nc\td\tA\n", &p), err, WTE_E_FORMAT, 8,
                 "line 2 has 3 columns, but the judgement stands in column 4");
    assert_fails(read_pairs("a\tb\t1\n\tc\t2\n", &p), err, WTE_E_FORMAT, 6,
                 "line 2: word 1 is empty");
    assert_fails(read_pairs("a\tb\t1\nc\t \t2\n", &p), err, WTE_E_FORMAT, 6,
                 "line 2: word 2 is empty");
    assert_fails(read_pairs("a\tb\t1\nc\td\t2x\n", &p), err, WTE_E_FORMAT, 6,
                 "line 2, column 3: '2x' is no finite number");
    assert_fails(read_pairs("a\tb\t1\nc\td\tinf\n", &p), err, WTE_E_FORMAT, 6,
                 "'inf' is no finite number");
    assert_fails(read_pairs("a,b,1\n\"c,d,1\n", &p), err, WTE_E_FORMAT, 6,
                 "line 2: a quote is not closed");
    assert_fails(read_pairs("\"a\"b,c,1\n", &p), err, WTE_E_FORMAT, 0, "line 1: a quote");
    assert_fails(read_pairs("a,b,c\n\"a,c,1\n", &p), err, WTE_E_FORMAT, 6, "line 2: a quote");
}

static void words_and_files_have_limits(void **state)
{
    (void)state;
    wte_pairs *p;
    wte_analogies *a;
    char text[WTE_LIMIT_EVAL_WORD + 16];
    memset(text, 'x', sizeof text);
    memcpy(text + WTE_LIMIT_EVAL_WORD, "\tb\t1", 5);
    assert_ok(read_pairs(text, &p), err);
    assert_int_equal(wte_pairs_at(p, 0)->a.bytes, WTE_LIMIT_EVAL_WORD);
    wte_pairs_free(p);
    memcpy(text + WTE_LIMIT_EVAL_WORD, "x\tb\t1", 6);
    assert_fails(read_pairs(text, &p), err, WTE_E_LIMIT, 0,
                 "a word of 1025 bytes, but at most 1024");
    memcpy(text + WTE_LIMIT_EVAL_WORD, "x b c d", 8);
    assert_fails(read_analogies(text, &a), err, WTE_E_LIMIT, 0, "a word of 1025 bytes");
    wte_eval_file_options opt = WTE_EVAL_FILE_OPTIONS_INIT;
    opt.max_bytes = 5;
    assert_fails(wte_pairs_open_memory("a\tb\t12", 6, "x", &opt, &p, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX, "a text of 6 bytes, but at most 5");
}

/* Analogies ----------------------------------------------------------------------------------- */

static void questions_stand_in_sections(void **state)
{
    (void)state;
    wte_analogies *a;
    assert_ok(
        read_analogies(": capital-common-countries\nAthens Greece  Oslo\tNorway\n"
                       ":gram8-plural\n\nbird birds cat cats\ncat cats dog dogs\n: empty one\n",
                       &a),
        err);
    assert_int_equal(wte_analogies_count(a), 3);
    assert_int_equal(wte_analogies_n_sections(a), 3);
    const wte_analogy *q = wte_analogies_at(a, 0);
    assert_word(q->word[0], "Athens");
    assert_word(q->word[1], "Greece");
    assert_word(q->word[2], "Oslo");
    assert_word(q->word[3], "Norway");
    assert_int_equal(q->section, 0);
    assert_int_equal(wte_analogies_at(a, 2)->section, 1);
    assert_int_equal(wte_analogies_at(a, 2)->line, 6);
    assert_null(wte_analogies_at(a, 3));
    const wte_analogy_section *s = wte_analogies_section(a, 1);
    assert_word(s->name, "gram8-plural");
    assert_true(s->syntactic);
    assert_int_equal(s->first, 1);
    assert_int_equal(s->count, 2);
    assert_false(wte_analogies_section(a, 0)->syntactic);
    assert_word(wte_analogies_section(a, 2)->name, "empty");
    assert_int_equal(wte_analogies_section(a, 2)->count, 0);
    assert_null(wte_analogies_section(a, 3));
    wte_analogies_free(a);
}

static void questions_before_a_section_have_one_without_a_name(void **state)
{
    (void)state;
    wte_analogies *a;
    assert_ok(read_analogies("a b c d\n", &a), err);
    assert_int_equal(wte_analogies_n_sections(a), 1);
    assert_int_equal(wte_analogies_section(a, 0)->name.bytes, 0);
    wte_analogies_free(a);
}

static void analogies_that_are_none_are_refused_with_their_line(void **state)
{
    (void)state;
    wte_analogies *a;
    assert_fails(read_analogies("", &a), err, WTE_E_FORMAT, 0, "questions.txt: no analogy");
    assert_null(a);
    assert_fails(read_analogies(": one\n", &a), err, WTE_E_FORMAT, 6, "no analogy");
    assert_fails(read_analogies("a b c d\na b c\n", &a), err, WTE_E_FORMAT, 8,
                 "line 2 has 3 words, but an analogy is four");
    assert_fails(read_analogies("a b c d e\n", &a), err, WTE_E_FORMAT, 0, "line 1 has 5 words");
}

/* Both ---------------------------------------------------------------------------------------- */

static void files_are_read_by_their_path(void **state)
{
    (void)state;
    char path[128];
    wte_pairs *p;
    wte_analogies *a;
    const char *folder = test_scratch();
    snprintf(path, sizeof path, "%s/file", folder);
    test_write_file(path, "a b 1\n", 6);
    assert_ok(wte_pairs_open(path, NULL, &p, &err), err);
    assert_pair(p, 0, "a", "b", 1);
    wte_pairs_free(p);
    test_write_file(path, "a b c d\n", 8);
    assert_ok(wte_analogies_open(path, NULL, &a, &err), err);
    assert_int_equal(wte_analogies_count(a), 1);
    wte_analogies_free(a);
    wte_eval_file_options opt = WTE_EVAL_FILE_OPTIONS_INIT;
    opt.max_bytes = 7;
    assert_fails(wte_analogies_open(path, &opt, &a, &err), err, WTE_E_LIMIT, WTE_NO_INDEX, "8");
    snprintf(path, sizeof path, "%s/none", folder);
    assert_fails(wte_pairs_open(path, NULL, &p, &err), err, WTE_E_IO, WTE_NO_INDEX, "none");
    test_scratch_remove(folder);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char pairs[] = "a\tb\t1\nc\td\t2\n", questions[] = ": x\na b c d\n: y\ne f g h\n";
    wte_eval_file_options opt = WTE_EVAL_FILE_OPTIONS_INIT;
    for (int kind = 0; kind < 2; kind++) {
        wte_status status = WTE_E_MEMORY;
        for (size_t fail = 0; status != WTE_OK; fail++) {
            wte_pairs *p = NULL;
            wte_analogies *a = NULL;
            test_memory m;
            test_memory_init(&m, fail);
            opt.allocator = &m.allocator;
            status = kind ? wte_analogies_open_memory(questions, sizeof questions - 1, "q", &opt,
                                                      &a, &err)
                          : wte_pairs_open_memory(pairs, sizeof pairs - 1, "p", &opt, &p, &err);
            if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
            if (status != WTE_OK) assert_true(!p && !a);
            wte_pairs_free(p);
            wte_analogies_free(a);
            assert_int_equal(m.live, 0);
            assert_true(fail < 20);
        }
    }
}

static const struct CMUnitTest tests[] = {
    TEST("wordsim353 has comments, tabs and the judgement behind the words",
         wordsim_has_comments_and_tabs),
    TEST("SimLex-999 names its columns and is judged in the fourth",
         simlex_is_judged_in_its_fourth_column),
    TEST("commas (with quotes), semicolons and blanks part columns too",
         commas_semicolons_and_blanks_part_columns_too),
    TEST("a byte order mark is no part of the first word", a_byte_order_mark_is_no_part_of_a_word),
    TEST("pairs that are none are refused with their line",
         pairs_that_are_none_are_refused_with_their_line),
    TEST("words and files have limits", words_and_files_have_limits),
    TEST("questions stand in sections, of which gram... are syntactic",
         questions_stand_in_sections),
    TEST("questions before the first section have one without a name",
         questions_before_a_section_have_one_without_a_name),
    TEST("analogies that are none are refused with their line",
         analogies_that_are_none_are_refused_with_their_line),
    TEST("files are read by their path", files_are_read_by_their_path),
    TEST("every allocation may fail, and nothing leaks", every_allocation_may_fail),
};
TEST_MAIN(tests)
