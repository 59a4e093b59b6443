/* Tables of numbers as CSV and TSV; and what is refused in any text of vectors: status, place,
 * message. */
#include "words_help.h"

#include "base/limits.h"

typedef struct table {
    const char *text;
    uint64_t rows, dim;
    const char *tokens[3];
    float values[6];
} table;

static const table tables[] = {
    { "-1,-2\n3,4\n", 2, 2, { NULL }, { -1, -2, 3, 4 } },
    { "1.5,2.5\n3e1,nan", 2, 2, { NULL }, { 1.5f, 2.5f, 30, 0 } },
    { "a,1,2\nb,3,4\n", 2, 2, { "a", "b" }, { 1, 2, 3, 4 } },
    { "a, 1 , 2\r\nb,3,4\r\n", 2, 2, { "a", "b" }, { 1, 2, 3, 4 } },
    { "x,y\n1,2\n3,4\n", 2, 2, { NULL }, { 1, 2, 3, 4 } },
    { "word,x,y\na,1,2\nb,3,4\n", 2, 2, { "a", "b" }, { 1, 2, 3, 4 } },
    { ",0,1\na,1,2\nb,3,4\n", 2, 2, { "a", "b" }, { 1, 2, 3, 4 } }, /* pandas */
    { ",0,1\n0,1,2\n1,3,4\n", 2, 2, { "0", "1" }, { 1, 2, 3, 4 } },
    { ",x,y\n7,1,2\n8,3,4\n", 2, 2, { "7", "8" }, { 1, 2, 3, 4 } },
    { "\"a,b\",1,2\n\"c\"\"d\",3,4\ne,5,6\n", 3, 2, { "a,b", "c\"d", "e" }, { 1, 2, 3, 4, 5, 6 } },
    { "\"\",4,7\n\"\"\"\",2,6\n\"x,3,1\n", 3, 2, { "", "\"", "\"x" }, { 4, 7, 2, 6, 3, 1 } },
    { "-5\t2\n3\t4\n", 2, 2, { NULL }, { -5, 2, 3, 4 } },
    { "a b\t1\t2\nc\t3\t4\n", 2, 2, { "a b", "c" }, { 1, 2, 3, 4 } },
    { "a,b\t1\t2\n,\t3\t4\n", 2, 2, { "a,b", "," }, { 1, 2, 3, 4 } },
    { "0.5 1.5\n2.5 3\n", 2, 2, { NULL }, { 0.5f, 1.5f, 2.5f, 3 } },
    { "w\t1 2 \nv\t3 4 \n", 2, 2, { "w", "v" }, { 1, 2, 3, 4 } }, /* blanks of both kinds */
};

static void tables_of_numbers_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const table *t = &tables[i];
        words w = open_text(t->text);
        float values[6];
        memcpy(values, t->values, sizeof values);
        if (i == 1) assert_true(wte_file_format(w.f) == WTE_FORMAT_CSV);
        if (i == 1) { /* the NaN of the C library's reader */
            const float nan = strtof("nan", NULL);
            memcpy(&values[3], &nan, sizeof nan);
        }
        check_values(&w, t->rows, t->dim, values);
        check_tokens(&w, t->tokens[0] ? t->tokens : NULL, (size_t)t->rows);
        free_words(&w);
    }
}

typedef struct bad_text {
    const char *text;
    wte_status status;
    uint64_t where;
    const char *message;
} bad_text;

static const bad_text refused[] = {
    /* PAINS J6: header says 3 words, file holds 2 */
    { "3 2\na 1 2\nb 1 2\n", WTE_E_FORMAT, 16, "line 1 says 3 words, but the file holds 2" },
    { "1 2\na 1 2\nb 1 2\n", WTE_E_FORMAT, 10,
      "line 3 (byte 10): a word more than the 1 that line 1 says" },
    { "3 2\na 1 2\nb 1\nc 1 2\n", WTE_E_FORMAT, 10,
      "line 3 (byte 10) has 1 number, but 2 expected" },
    { "2 2\na 1 2\nb 0.5 1 2\n", WTE_E_FORMAT, 10,
      "line 3 (byte 10) has 3 numbers, but 2 expected" },
    { "2 3\na 1 2\nb 1 2\n", WTE_E_FORMAT, 4, "line 2 (byte 4) has 2 numbers, but 3 expected" },
    { "2 2\na 1 2\nb\n", WTE_E_FORMAT, 10, "line 3 (byte 10) has 0 numbers, but 2 expected" },
    { "a 1 2\nb 1 2\nc 1\n", WTE_E_FORMAT, 12, "line 3 (byte 12) has 1 number, but 2 expected" },
    { "a 1 2\n\nc 1 2\n", WTE_E_FORMAT, 7, "line 2 is empty, but rows follow at byte 7" },
    { "a 1 2\nb 1 2\n \n\t\nc 1 2\n", WTE_E_FORMAT, 16,
      "line 3 is empty, but rows follow at byte 16" },
    { "-1,2\n3,-4\n5\n", WTE_E_FORMAT, 10, "line 3 (byte 10) has 1 number, but 2 expected" },
    { "-1,2\n3,-4\n5,6,7\n", WTE_E_FORMAT, 10, "line 3 (byte 10) has 3 numbers, but 2 expected" },
    { "a 1.5 2\nb 1 2\nc 1 2,5\n", WTE_E_FORMAT, 0,
      "some numbers have a decimal comma, others a point" },
    { "w,x,y\na,1,2\nb,3,4\nc\n", WTE_E_FORMAT, 18,
      "line 4 (byte 18) has 0 numbers, but 2 expected" },
    { "a,1,2\nb,3,4\nc,d,5,6\n", WTE_E_FORMAT, 12,
      "line 3 (byte 12) has 3 numbers, but 2 expected" },
    { "-1\t2\n3\t4\n5\t6\t7\n", WTE_E_FORMAT, 9, "line 3 (byte 9) has 3 numbers" },
    { "", WTE_E_FORMAT, 0, "is empty" },
    { "\na 1 2\nb 1 2\n", WTE_E_FORMAT, 0, "is text, not tensors" },
    { "\nw,x,y\na,1,2\nb,3,4\n", WTE_E_FORMAT, 0, "is text, not tensors" },
    { "just some words\nand others\n", WTE_E_FORMAT, 0, "is text, not tensors" },
    { "one\ntwo\nthree 3\n", WTE_E_FORMAT, 0, "is text, not tensors" },
};

static void faults_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        check_refused(refused[i].text, strlen(refused[i].text), refused[i].status, refused[i].where,
                      refused[i].message);
}

/* What is no number is found when its row is read, not before. */
static void a_row_that_holds_no_numbers_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t row, where;
        const char *message;
    } rules[] = {
        { "2 2\na 1 x\nb 1 2\n", 0, 7, "t.vec: line 2 (byte 7): 'x' stands where number 2 of 2" },
        { "2 2\na 1 2\nb q 1\n", 1, 12, "t.vec: line 3 (byte 12): 'q' stands where number 1 of 2" },
        { "a 1 2\nb 1 2\nc 1 2;5\n", 2, 15, "line 3 (byte 15): '2;5' stands where number 2 of 2" },
        { "a,1,2\nb,3,4\nc,,4\n", 2, 14, "line 3 (byte 14): '' stands where number 1 of 2" },
        { "a,1,2\nb,3,4\nc,4,", 2, 16, "line 3 (byte 16): '' stands where number 2 of 2" },
        { "w,x,y\na,1,2\nb,0x1,2\nc,1,2\n", 1, 14,
          "line 3 (byte 14): '0x1' stands where number 1 of 2" },
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        wte_error err = { 0 };
        float row[3 * 2]; /* the whole table at most */
        words w = open_text(rules[i].text);
        const wte_row_source rows = words_rows(&w);
        assert_fails(wte_row_source_read(&rows, rules[i].row, row, &err), err, WTE_E_FORMAT,
                     rules[i].where, rules[i].message);
        assert_fails(wte_row_source_read_block(&rows, 0, (size_t)rows.rows, row, &err), err,
                     WTE_E_FORMAT, rules[i].where, rules[i].message);
        free_words(&w);
    }
}

static void lines_and_words_have_limits(void **state)
{
    (void)state;
    const size_t n = WTE_LIMIT_TEXT_LINE + 64;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'w', n);
    memcpy(text, "2 1\na 1\n", 8);
    check_refused(text, n, WTE_E_LIMIT, 8,
                  "line 3 (byte 8) has more than 16777216 bytes, the most of a line of vectors");
    memcpy(text + 8 + WTE_LIMIT_TOKEN_TEXT + 1, " 1\n", 3);
    check_refused(text, 8 + WTE_LIMIT_TOKEN_TEXT + 4, WTE_E_LIMIT, 8,
                  "line 3 (byte 8): a word of 1048577 bytes, but at most 1048576 are taken");
    memcpy(text + 8 + WTE_LIMIT_TOKEN_TEXT, " 1\n", 3);
    words w = open_words(text, 8 + WTE_LIMIT_TOKEN_TEXT + 3);
    check_token(&w, 0, "a", 1);
    free_words(&w);
    free(text);
}

static void a_number_longer_than_any_is_refused(void **state)
{
    (void)state;
    char text[2048];
    float row;
    wte_error err = { 0 };
    memset(text, '1', sizeof text);
    memcpy(text, "1 1\na ", 6);
    words w = open_words(text, sizeof text);
    const wte_row_source rows = words_rows(&w);
    assert_fails(wte_row_source_read(&rows, 0, &row, &err), err, WTE_E_FORMAT, 6,
                 "stands where number 1 of 1 is expected");
    free_words(&w);
}

static void a_hostile_count_costs_nothing(void **state)
{
    (void)state;
    static const char rows[] = "99999999999999 2\na 1 2\n", dim[] = "1 18446744073709551615\na 1\n",
                      both[] = "99999999999999999999999 2\na 1 2\n";
    check_refused(rows, sizeof rows - 1, WTE_E_FORMAT, 23,
                  "line 1 says 99999999999999 words, but the file holds 1");
    check_refused(dim, sizeof dim - 1, WTE_E_LIMIT, 0,
                  "line 1 says 18446744073709551615 numbers a row, but no line has room for more "
                  "than 8388608");
    check_refused(both, sizeof both - 1, WTE_E_FORMAT, 32,
                  "line 1 says 18446744073709551615 words, but the file holds 1");
}

static const struct CMUnitTest tests[] = {
    TEST("tables of numbers are read", tables_of_numbers_are_read),
    TEST("faults are named with line, place and numbers", faults_are_named),
    TEST("a row that holds no numbers is named", a_row_that_holds_no_numbers_is_named),
    TEST("lines and words have limits", lines_and_words_have_limits),
    TEST("a number longer than any is refused", a_number_longer_than_any_is_refused),
    TEST("a hostile count costs nothing", a_hostile_count_costs_nothing),
};
TEST_MAIN(tests)
