/* What text tables are read as: titles, keys, comments, separators, and what is refused by name. */
#include "words_help.h"

/* Rows of the table T[i][j] = i + (j + 1) / 16, after what each begins with. */
static char *rows_text(char *to, const char *const *first, const char *separator, char point,
                       const char *end)
{
    for (int i = 0; i < 7; i++) {
        if (first) to += snprintf(to, 256, "%s%s", first[i], separator);
        for (int k = 0; k < 5; k++) {
            char number[24];
            snprintf(number, sizeof number, "%g", i + (k + 1) / 16.0);
            if (strchr(number, '.')) *strchr(number, '.') = point;
            to += snprintf(to, 256, "%s%s", k ? separator : "", number);
        }
        to += snprintf(to, 256, "%s", end);
    }
    return to;
}
static void check_table(const char *text, size_t n, const char *const *keys, uint64_t key_column)
{
    float want[35];
    wte_error err = { 0 };
    wte_text_reading r;
    for (int i = 0; i < 35; i++) want[i] = (float)(i / 5) + (float)(i % 5 + 1) / 16;
    words w = open_words(text, n);
    check_values(&w, 7, 5, want);
    check_tokens(&w, keys, 7);
    assert_ok(wte_file_text_reading(w.f, &r, &err), err);
    assert_int_equal(r.key_column, key_column);
    assert_int_equal(r.dim, 5);
    free_words(&w);
}

static const char *const names[] = { "the", "of", "and", "cat", "dog", "sat", "mat" };
static const char *const quoted[] = { "\"the\"", "\"of\"",  "\"and\"", "\"cat\"",
                                      "\"dog\"", "\"sat\"", "\"mat\"" };
static const char *const ids[] = { "100", "101", "102", "103", "104", "105", "106" };
static const char *const counts[] = { "0", "1", "2", "3", "4", "5", "6" };

typedef struct form {
    const char *head; /* before the rows */
    const char *const *first, *separator;
    char point;
    const char *end; /* of each row */
    const char *const *keys;
    uint64_t key_column;
} form;

static const form forms[] = {
    { "", NULL, " ", '.', "\n", NULL, 0 },
    { "", NULL, ",", '.', "\r\n", NULL, 0 },
    { "", NULL, "\t", '.', "\r", NULL, 0 }, /* line ends of old Macs */
    { "", NULL, ";", ',', "\n", NULL, 0 },
    { "", NULL, " ", ',', "\n", NULL, 0 },
    { "", names, "|", '.', "\n", names, 1 },
    { "", names, ";", ',', "\n", names, 1 },
    { "", names, "\t", ',', "\n", names, 1 },
    { "", names, ",", '.', ",\n", names, 1 }, /* a separator at the end of each line */
    { "", NULL, ",", '.', ",\n", NULL, 0 },
    { "", names, "\t", '.', "\t\n", names, 1 },
    /* a first line that counts the columns is a title, in every form */
    { "0,1,2,3,4\n", NULL, ",", '.', "\n", NULL, 0 },
    { "1,2,3,4,5\n", NULL, ",", '.', "\n", NULL, 0 },
    { "0.0,1.0,2.0,3.0,4.0\n", NULL, ",", '.', "\n", NULL, 0 },
    { "0\t1\t2\t3\t4\n", NULL, "\t", '.', "\n", NULL, 0 },
    { "0 1 2 3 4\n", NULL, " ", '.', "\n", NULL, 0 },
    { "1 2 3 4 5\n", NULL, " ", '.', "\n", NULL, 0 },
    { "0;1;2;3;4\n", NULL, ";", ',', "\n", NULL, 0 },
    { "word 0 1 2 3 4\n", names, " ", '.', "\n", names, 1 },
    { "word,0,1,2,3,4\n", names, ",", '.', "\n", names, 1 },
    { ",0,1,2,3,4\n", names, ",", '.', "\n", names, 1 },
    { "\t0\t1\t2\t3\t4\n", ids, "\t", '.', "\n", ids, 1 },
    /* names of columns */
    { "index,dim_0,dim_1,dim_2,dim_3,dim_4\n", counts, ",", '.', "\n", counts, 1 },
    { "token_id,dim_0,dim_1,dim_2,dim_3,dim_4\n", ids, ",", '.', "\n", ids, 1 },
    { "item_id\td0\td1\td2\td3\td4\n", ids, "\t", '.', "\n", ids, 1 },
    { "user_id a b c d e\n", ids, " ", '.', "\n", ids, 1 },
    { "d0,d1,d2,d3,d4\n", NULL, ",", '.', "\n", NULL, 0 },
    { "x y z u v\n", NULL, " ", '.', "\n", NULL, 0 },
    { "word d0 d1 d2 d3 d4\n", names, " ", '.', "\n", names, 1 },
    /* R: one title fewer than columns */
    { "\"V1\" \"V2\" \"V3\" \"V4\" \"V5\"\n", quoted, " ", '.', "\n", names, 1 },
    { "V1 V2 V3 V4 V5\n", names, " ", '.', "\n", names, 1 },
    { "V1\tV2\tV3\tV4\tV5\n", ids, "\t", '.', "\n", ids, 1 },
    { "\"\",\"V1\",\"V2\",\"V3\",\"V4\",\"V5\"\n", quoted, ",", '.', "\n", names, 1 },
    { "\"1\" \"2\" \"3\" \"4\" \"5\"\n", quoted, " ", '.', "\n", names, 1 },
    /* whole numbers beside fractions are keys */
    { "", ids, ",", '.', "\n", ids, 1 },
    { "", ids, " ", '.', "\n", ids, 1 },
    { "", ids, "\t", '.', "\n", ids, 1 },
    { "", counts, " ", '.', "\n", counts, 1 },
    /* comments */
    { "# 7 5\n", NULL, " ", '.', "\n", NULL, 0 },
    { "# a b c d e\n", NULL, " ", '.', "\n", NULL, 0 },
    { "# x y z\n#\n", NULL, " ", '.', "\n", NULL, 0 },
    { "# vectors\n", NULL, ",", '.', "\n", NULL, 0 },
    { "# made by a tool\n", names, " ", '.', "\n", names, 1 },
    { "% a comment\n", NULL, " ", '.', "\n", NULL, 0 },
    { "# Created by Octave 6.4\n# columns: 5\n", NULL, " ", '.', "\n", NULL, 0 },
    { "# word vectors of four texts\n", NULL, " ", '.', "\n", NULL, 0 },
    { "# id d0 d1 d2 d3 d4\n", ids, " ", '.', "\n", ids, 1 },
    /* counts */
    { "7 5\n", names, " ", '.', "\n", names, 1 },
    { "7 5\n", NULL, " ", '.', "\n", NULL, 0 },
    { "7 5\n", counts, " ", '.', " \n", counts, 1 },
};

static void forms_of_one_table_are_read(void **state)
{
    (void)state;
    char text[2048];
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const form *f = &forms[i];
        char *end = text + snprintf(text, 256, "%s", f->head);
        end = rows_text(end, f->first, f->separator, f->point, f->end);
        check_table(text, (size_t)(end - text), f->keys, f->key_column);
    }
}

static void cells_with_lists_are_read(void **state)
{
    (void)state;
    static const char *const opens[] = { "the [",  "the, [",    "the,\"[", "the\t[",
                                         "the\t(", "0,the,\"[", "the;[" };
    static const char *const closes[] = { "]", "]", "]\"", "]", ")", "]\"", "]" };
    char text[2048];
    for (size_t i = 0; i < sizeof opens / sizeof opens[0]; i++) {
        for (int blanks = 0; blanks < 2; blanks++) {
            char *to = text;
            for (int r = 0; r < 7; r++) {
                char open[32];
                snprintf(open, sizeof open, "%s", opens[i]);
                char *word = strstr(open, "the");
                if (open[0] == '0') open[0] = (char)('0' + r);
                to += snprintf(to, 256, "%.*s%s%s", (int)(word - open), open, names[r], word + 3);
                for (int k = 0; k < 5; k++)
                    to += snprintf(to, 256, "%s%g",
                                   k == 0   ? ""
                                   : blanks ? " "
                                            : ", ",
                                   r + (k + 1) / 16.0);
                to += snprintf(to, 256, "%s\n", closes[i]);
            }
            check_table(text, (size_t)(to - text), names, opens[i][0] == '0' ? 2 : 1);
        }
    }
}

static void numbers_in_quotes_are_read(void **state)
{
    (void)state;
    static const float want[] = { 0.5f, 0.25f, 1.5f, 2 };
    static const char *const keys[] = { "a", "b" };
    words w = open_text("\"a\",\"0.5\",\"0.25\"\n\"b\",\"1.5\",\"2\"\n");
    check_values(&w, 2, 2, want);
    check_tokens(&w, keys, 2);
    free_words(&w);
    w = open_text("a;\"0,5\";\"0,25\"\nb;\"1,5\";\"2\"\n");
    check_values(&w, 2, 2, want);
    free_words(&w);
}

static void columns_beside_the_numbers_are_left_out(void **state)
{
    (void)state;
    static const float want[] = { 0.5f, 0.25f, 1.5f, 2.5f, 3.5f, 4.5f };
    static const char *const keys[] = { "a", "b", "c" };
    static const char *const texts[] = {
        "word,count,d0,d1\na,10,0.5,0.25\nb,20,1.5,2.5\nc,5,3.5,4.5\n",
        "word,d0,d1,note\na,0.5,0.25,1\nb,1.5,2.5,2\nc,3.5,4.5,3\n",
        "0,a,0.5,0.25\n1,b,1.5,2.5\n2,c,3.5,4.5\n",
        ",word,0,1\n0,a,0.5,0.25\n1,b,1.5,2.5\n2,c,3.5,4.5\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        words w = open_text(texts[i]);
        check_values(&w, 3, 2, want);
        check_tokens(&w, keys, 3);
        free_words(&w);
    }
}

static void a_matrix_of_numbers_is_read_whole(void **state)
{
    (void)state;
    static const float want[] = { 0, 0, 0, 0.25f, -1.5f, 2.125f, 3, 1, 0.5f };
    words w = open_text("0 0 0\n0.25 -1.5 2.125\n3 1 0.5\n");
    check_values(&w, 3, 3, want);
    check_tokens(&w, NULL, 0);
    free_words(&w);
    w = open_text("0,0,0\n0.25,-1.5,2.125\n3,1,0.5\n# end\n");
    check_values(&w, 3, 3, want);
    free_words(&w);
}

typedef struct refusal {
    const char *text;
    wte_status status;
    const char *message;
} refusal;

static const refusal refusals[] = {
    { "the 1061396\nof 593677\nand 416629\n", WTE_E_UNSUPPORTED, "words with a count each" },
    { "the,12\nof,7\n", WTE_E_UNSUPPORTED, "words with a count each" },
    { "<unk>\t0\n<s>\t0\nthe\t-3.2\nof\t-3.4\n", WTE_E_UNSUPPORTED, "SentencePiece" },
    { "good 0.5\nbad 0.25\nfine 0.75\n", WTE_E_UNSUPPORTED, "words with one number each" },
    { "0 1:0.5 2:0.25\n1 1:1.5 2:2\n", WTE_E_UNSUPPORTED, "LIBSVM" },
    { "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", WTE_E_UNSUPPORTED,
      "Matrix Market" },
    { "9 2 4 5 2 2166136261 < >\n0 0.5 0.25\n1 1.5 2\n", WTE_E_UNSUPPORTED, "floret" },
    { "1.5 0.25 0.125\n20.5 0.5 0.75\n30.5 0.25 0.5\n", WTE_E_UNSUPPORTED, "--keys first" },
    { "0 1 2\n3 4 5\n6 7 8\n", WTE_E_UNSUPPORTED, "line 1 counts" },
    { "2 2\n3 4\n5 6\n", WTE_E_UNSUPPORTED, "--skip 0 keeps it" },
    { "1 0.5 3\n4 5 0.5\n", WTE_E_UNSUPPORTED, "--keys first or --keys none" },
    { "0,5\n1,25\n2,75\n", WTE_E_UNSUPPORTED, "decimal comma" },
    { "the 0.5,0.25,1\nof 1.5,2,3\nand 0.25,1,2\n", WTE_E_UNSUPPORTED, "--keys first takes it" },
    { "a title of some words\nthe 0.5 0.25\nof 1.5 2\nand 2 3.5\n", WTE_E_FORMAT,
      "--skip 1 drops it" },
    { "a,b,0.5,0.25\nc,d,1.5,2\ne,f,1,0.5\n", WTE_E_UNSUPPORTED, "columns of words" },
    { "0 a 0.5 0.25\n1 b 1.5 2\n2 c 1 0.5\n", WTE_E_UNSUPPORTED, "column 1 counts the rows" },
};

static void what_is_no_table_or_two_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        words w;
        wte_error err = { 0 };
        const wte_status status =
            try_words(&w, refusals[i].text, strlen(refusals[i].text), NULL, &err);
        if (status != refusals[i].status || !strstr(err.message, refusals[i].message))
            fail_msg("refusal %zu: status %d, '%s'", i, (int)status, err.message);
        free_words(&w);
    }
}

static void options_decide_before_evidence(void **state)
{
    (void)state;
    static const char text[] = "1 0.5 3\n4 5 0.5\n";
    static const float all[] = { 1, 0.5f, 3, 4, 5, 0.5f }, keyed[] = { 0.5f, 3, 5, 0.5f },
                       last[] = { 3, 0.5f };
    static const char *const keys[] = { "1", "4" };
    wte_text_options how = WTE_TEXT_OPTIONS_INIT;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    wte_error err = { 0 };
    words w;
    opt.text = &how;
    how.keys = WTE_TEXT_KEYS_NONE;
    assert_ok(try_words(&w, text, sizeof text - 1, &opt, &err), err);
    check_values(&w, 2, 3, all);
    check_tokens(&w, NULL, 0);
    free_words(&w);
    how.keys = WTE_TEXT_KEYS_FIRST;
    assert_ok(try_words(&w, text, sizeof text - 1, &opt, &err), err);
    check_values(&w, 2, 2, keyed);
    check_tokens(&w, keys, 2);
    free_words(&w);
    how.first_column = how.last_column = 3;
    assert_ok(try_words(&w, text, sizeof text - 1, &opt, &err), err);
    check_values(&w, 2, 1, last);
    check_tokens(&w, keys, 2);
    free_words(&w);
    how.last_column = 4;
    assert_fails(try_words(&w, text, sizeof text - 1, &opt, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "columns 3-4 are asked for, but its lines have 3");
    free_words(&w);
    how = (wte_text_options)WTE_TEXT_OPTIONS_INIT;
    how.has_skip = 1;
    how.skip = 1;
    assert_ok(try_words(&w, "0 1 2\n3 4 5\n8 6 9\n", 18, &opt, &err), err);
    check_values(&w, 2, 3, (const float[]){ 3, 4, 5, 8, 6, 9 });
    free_words(&w);
    how.skip = 0;
    assert_ok(try_words(&w, "0 1 2\n3 4 5\n3 7 9\n", 18, &opt, &err), err);
    check_values(&w, 3, 3, (const float[]){ 0, 1, 2, 3, 4, 5, 3, 7, 9 });
    free_words(&w);
}

/* The first lines look like numbers; words come after more than a survey sees. */
static void words_far_down_make_keys(void **state)
{
    (void)state;
    enum { LINES = 200 };
    static char text[LINES * 24];
    char *to = text;
    for (int i = 0; i < LINES; i++)
        to += i == 150 ? snprintf(to, 256, "word 0.5 0.25\n")
                       : snprintf(to, 256, "%d.5 0.5 0.25\n", i % 90);
    words w = open_words(text, (size_t)(to - text));
    assert_int_equal(words_rows(&w).cols, 2);
    check_token(&w, 150, "word", 4);
    check_token(&w, 3, "3.5", 3);
    free_words(&w);
}

static const struct CMUnitTest tests[] = {
    TEST("forms of one table are read as that table", forms_of_one_table_are_read),
    TEST("cells with lists are read", cells_with_lists_are_read),
    TEST("numbers in quotes are read", numbers_in_quotes_are_read),
    TEST("columns beside the numbers are left out", columns_beside_the_numbers_are_left_out),
    TEST("a matrix of numbers is read whole", a_matrix_of_numbers_is_read_whole),
    TEST("what is no table, or two, is refused by name", what_is_no_table_or_two_is_refused),
    TEST("options decide before evidence", options_decide_before_evidence),
    TEST("words far down make keys", words_far_down_make_keys),
};
TEST_MAIN(tests)
