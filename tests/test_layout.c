/* Ids that classes of tokenizers give to the tokens of their files, in folders as models come. */
#include "test.h"

#include <wte/vocab.h>

#include "spm_help.h"
#include "vocab_folder.h"

#define MODEL "sentencepiece.bpe.model"

/* Pieces with `n` words behind the specials: "w0", "w1", ...; three specials in the order given. */
static void put_pieces(const char *name, const char *const special[3], unsigned n)
{
    char path[256], word[16];
    proto p = { .n = 0 };
    for (int i = 0; i < 3; i++) p_piece(&p, special[i], strcmp(special[i], "<unk>") ? 3 : 2);
    for (unsigned i = 0; i < n; i++) {
        snprintf(word, sizeof word, "w%u", i);
        p_piece(&p, word, 1);
    }
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    test_write_file(path, p.data, p.n);
}

static const char *const usual[3] = { "<unk>", "<s>", "</s>" };

/* The first four ids of fairseq's order, and pieces from place 3 on at their place + 1. */
static void has_fairseq_order(const wte_vocab *v)
{
    has(v, 0, "<s>", WTE_TOKEN_SPECIAL);
    has(v, 1, "<pad>", WTE_TOKEN_SPECIAL);
    has(v, 2, "</s>", WTE_TOKEN_SPECIAL);
    has(v, 3, "<unk>", WTE_TOKEN_SPECIAL);
    has(v, 4, "w0", WTE_TOKEN_NORMAL);
    has(v, 8, "w4", WTE_TOKEN_NORMAL);
    finds(v, "</s>", 2);
}

static void xlm_r_shifts_pieces_by_one(void **state)
{
    (void)state;
    static const char *const said[][2] = {
        { "tokenizer_config.json", "{\"tokenizer_class\":\"XLMRobertaTokenizer\"}" },
        { "tokenizer_config.json", "{\"tokenizer_class\":\"XLMRobertaTokenizerFast\"}" },
        { "config.json", "{\"tokenizer_class\":\"MLukeTokenizer\",\"model_type\":\"luke\"}" },
        { "config.json", "{\"model_type\":\"xlm-roberta\"}" },
        /* no class that is known, but ids and the number of rows */
        { "config.json", "{\"bos_token_id\":0,\"pad_token_id\":1,\"eos_token_id\":2,"
                         "\"vocab_size\":10,\"nan\":NaN}" },
    };
    for (int i = 0; i < 2; i++) {
        put_pieces(i ? "tokenizer.model" : MODEL, usual, 5);
        for (size_t k = 0; k < sizeof said / sizeof *said - (size_t)i; k++) {
            put(said[k][0], said[k][1]);
            wte_vocab *v = open_folder();
            assert_int_equal(wte_vocab_size(v), 10);
            assert_int_equal(wte_vocab_n_duplicates(v), 0);
            has_fairseq_order(v);
            has(v, 9, "<mask>", WTE_TOKEN_SPECIAL);
            wte_vocab_free(v);
            forget(said[k][0]);
        }
        forget(MODEL);
    }
}

static void languages_follow_the_pieces(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        uint64_t size, id;
        const char *text;
    } cases[] = {
        /* the number of the language in the real model, less 250000 or 256000 pieces, plus 8 */
        { "{\"tokenizer_class\":\"MBartTokenizer\"}", 35, 250004 - 250000 + 8, "en_XX" },
        { "{\"tokenizer_class\":\"MBartTokenizer\"}", 35, 250020 - 250000 + 8, "ro_RO" },
        { "{\"tokenizer_class\":\"MBart50Tokenizer\"}", 62, 250053 - 250000 + 7, "sl_SI" },
        { "{\"tokenizer_class\":\"NllbTokenizerFast\"}", 212, 256047 - 256000 + 8, "eng_Latn" },
        { "{\"tokenizer_class\":\"NllbTokenizer\"}", 212, 256202 - 256000 + 8, "zul_Latn" },
        { "{\"tokenizer_class\":\"PLBartTokenizer\"}", 13, 11, "__en_XX__" },
        { "{\"tokenizer_class\":\"PLBartTokenizer\",\"language_codes\":\"multi\"}", 16, 15,
          "__go__" },
        { "{\"tokenizer_class\":\"XGLMTokenizer\"}", 16, 15, "<madeupword6>" },
    };
    put_pieces(MODEL, usual, 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put("tokenizer_config.json", cases[i].config);
        wte_vocab *v = open_folder();
        assert_int_equal(wte_vocab_size(v), cases[i].size);
        assert_int_equal(wte_vocab_n_holes(v), 0);
        has_fairseq_order(v);
        finds(v, cases[i].text, cases[i].id);
        wte_vocab_free(v);
    }
    forget("tokenizer_config.json");
    /* without a class, the number of rows tells which list it is */
    put("config.json", "{\"model_type\":\"mbart\",\"bos_token_id\":0,\"pad_token_id\":1,"
                       "\"eos_token_id\":2,\"vocab_size\":62}");
    wte_vocab *v = open_folder();
    has(v, 60, "sl_SI", WTE_TOKEN_SPECIAL);
    has(v, 61, "<mask>", WTE_TOKEN_SPECIAL);
    wte_vocab_free(v);
}

static void m2m_has_languages_behind_its_map(void **state)
{
    (void)state;
    put("vocab.json", "{\"<s>\":0,\"<pad>\":1,\"</s>\":2,\"<unk>\":3,\"a\":4}");
    put("tokenizer_config.json", "{\"tokenizer_class\":\"M2M100Tokenizer\"}");
    wte_vocab *v = open_folder();
    assert_int_equal(wte_vocab_size(v), 5 + 100 + 8);
    has(v, 4, "a", WTE_TOKEN_NORMAL);
    has(v, 128022 - 128004 + 5, "__en__", WTE_TOKEN_SPECIAL); /* the real ids of English, French */
    has(v, 128028 - 128004 + 5, "__fr__", WTE_TOKEN_SPECIAL);
    has(v, 112, "<madeupword7>", WTE_TOKEN_UNUSED);
    wte_vocab_free(v);
    put("tokenizer_config.json",
        "{\"tokenizer_class\":\"M2M100Tokenizer\",\"language_codes\":\"wmt21\"}");
    v = open_folder();
    has(v, 12, "__de__", WTE_TOKEN_SPECIAL);
    assert_int_equal(wte_vocab_size(v), 21);
    wte_vocab_free(v);
    /* the pieces of M2M have another order than its map: nothing is named from them */
    forget("vocab.json");
    put_pieces(MODEL, usual, 5);
    put("config.json", "{\"bos_token_id\":0,\"pad_token_id\":1,\"eos_token_id\":2}");
    refused(WTE_E_UNSUPPORTED, WTE_NO_INDEX, "class 'M2M100' is not known");
}

static void camembert_shifts_by_four(void **state)
{
    (void)state;
    put_pieces(MODEL, usual, 5);
    put("tokenizer_config.json", "{\"tokenizer_class\":\"CamembertTokenizer\"}");
    wte_vocab *v = open_folder();
    assert_int_equal(wte_vocab_size(v), 13);
    has(v, 0, "<s>NOTUSED", WTE_TOKEN_UNUSED);
    has(v, 1, "<pad>", WTE_TOKEN_SPECIAL);
    has(v, 3, "<unk>", WTE_TOKEN_SPECIAL);
    has(v, 4, "<unk>NOTUSED", WTE_TOKEN_UNUSED);
    has(v, 5, "<s>", WTE_TOKEN_SPECIAL); /* the real model's bos is 5, its eos 6 */
    has(v, 6, "</s>", WTE_TOKEN_SPECIAL);
    has(v, 7, "w0", WTE_TOKEN_NORMAL);
    has(v, 12, "<mask>", WTE_TOKEN_SPECIAL);
    wte_vocab_free(v);
}

static void other_classes_with_ids_of_their_own(void **state)
{
    (void)state;
    put_pieces("tokenizer.model", usual, 2);
    put("tokenizer_config.json", "{\"tokenizer_class\":\"SeamlessM4TTokenizer\"}");
    wte_vocab *v = open_folder();
    has(v, 0, "<pad>", WTE_TOKEN_SPECIAL);
    has(v, 1, "<unk>", WTE_TOKEN_SPECIAL);
    has(v, 4, "w0", WTE_TOKEN_NORMAL);
    assert_int_equal(wte_vocab_size(v), 6);
    wte_vocab_free(v);
    forget("tokenizer.model");
    put_pieces("prophetnet.tokenizer", usual, 2);
    put("tokenizer_config.json", "{\"tokenizer_class\":\"XLMProphetNetTokenizer\"}");
    v = open_folder();
    has(v, 4, "[MASK]", WTE_TOKEN_SPECIAL);
    has(v, 14, "[unused9]", WTE_TOKEN_SPECIAL);
    has(v, 15, "w0", WTE_TOKEN_NORMAL);
    assert_int_equal(wte_vocab_size(v), 17);
    wte_vocab_free(v);
}

static void pegasus_has_an_offset(void **state)
{
    (void)state;
    static const char *const specials[3] = { "<pad>", "</s>", "<unk>" };
    put_pieces("spiece.model", specials, 5);
    put("config.json", "{\"model_type\":\"pegasus\"}");
    for (int i = 0; i < 2; i++) {
        wte_vocab *v = open_folder();
        assert_int_equal(wte_vocab_size(v), 111);
        assert_int_equal(wte_vocab_n_holes(v), 0);
        has(v, 0, "<pad>", WTE_TOKEN_SPECIAL);
        has(v, 1, "</s>", WTE_TOKEN_SPECIAL);
        has(v, 2, "<mask_1>", WTE_TOKEN_SPECIAL);
        has(v, 3, "<mask_2>", WTE_TOKEN_SPECIAL);
        has(v, 4, "<unk_2>", WTE_TOKEN_UNUSED);
        has(v, 104, "<unk_102>", WTE_TOKEN_UNUSED);
        has(v, 105, "<unk>", WTE_TOKEN_SPECIAL);
        has(v, 106, "w0", WTE_TOKEN_NORMAL);
        has(v, 110, "w4", WTE_TOKEN_NORMAL);
        wte_vocab_free(v);
        put("tokenizer_config.json", "{\"tokenizer_class\":\"PegasusTokenizer\",\"offset\":103}");
    }
    put("tokenizer_config.json", "{\"tokenizer_class\":\"PegasusTokenizer\",\"offset\":0}");
    wte_vocab *v = open_folder(); /* BigBird-Pegasus */
    assert_int_equal(wte_vocab_size(v), 8);
    has(v, 1, "</s>", WTE_TOKEN_SPECIAL);
    has(v, 2, "<unk>", WTE_TOKEN_SPECIAL);
    has(v, 3, "w0", WTE_TOKEN_NORMAL);
    wte_vocab_free(v);
    put("tokenizer_config.json", "{\"tokenizer_class\":\"PegasusTokenizer\",\"offset\":4097}");
    refused(WTE_E_LIMIT, WTE_NO_INDEX, "offset is 4097, but at most 4096");
}

static void t5_ends_with_its_sentinels(void **state)
{
    (void)state;
    static const char *const specials[3] = { "<pad>", "</s>", "<unk>" };
    put_pieces("spiece.model", specials, 5);
    put("config.json", "{\"model_type\":\"t5\"}");
    wte_vocab *v = open_folder();
    assert_int_equal(wte_vocab_size(v), 108);
    has(v, 7, "w4", WTE_TOKEN_NORMAL);
    has(v, 8, "<extra_id_99>", WTE_TOKEN_SPECIAL);
    has(v, 107, "<extra_id_0>", WTE_TOKEN_SPECIAL);
    wte_vocab_free(v);
    put("tokenizer_config.json", "{\"tokenizer_class\":\"T5Tokenizer\",\"extra_ids\":0}");
    v = open_folder();
    assert_int_equal(wte_vocab_size(v), 8);
    wte_vocab_free(v);
    put("tokenizer_config.json", "{\"tokenizer_class\":\"T5Tokenizer\",\"extra_ids\":5000}");
    refused(WTE_E_LIMIT, WTE_NO_INDEX, "extra_ids is 5000, but at most 4096");
}

static void shifted_names_need_a_class(void **state)
{
    (void)state;
    static const char *const own[3] = { "<s>", "<pad>", "<unk>" };
    put_pieces(MODEL, usual, 5);
    refused(WTE_E_UNSUPPORTED, WTE_NO_INDEX, "no class is named: set tokenizer_class");
    put("tokenizer_config.json", "{\"tokenizer_class\":\"OursTokenizer\"}");
    refused(WTE_E_UNSUPPORTED, WTE_NO_INDEX, "class 'Ours' is not known");
    put("tokenizer_config.json", "{\"tokenizer_class\":\"BarthezTokenizer\"}");
    wte_vocab *v = open_folder();
    has(v, 3, "w0", WTE_TOKEN_NORMAL);
    wte_vocab_free(v);
    forget("tokenizer_config.json");
    put_pieces(MODEL, own, 5); /* in the order of the model's ids already */
    v = open_folder();
    has(v, 1, "<pad>", WTE_TOKEN_SPECIAL);
    has(v, 3, "w0", WTE_TOKEN_NORMAL);
    wte_vocab_free(v);
}

static void the_config_replaces_tokens(void **state)
{
    (void)state;
    put_pieces("tokenizer.model", usual, 5);
    put("tokenizer_config.json",
        "{\"x\":[1,{}],\"tokenizer_class\":\"InternLM2Tokenizer\",\"added_tokens_decoder\":{"
        "\"0\":{\"content\":\"<unk>\",\"special\":true},"
        "\"6\":{\"lstrip\":false,\"content\":\"<|im_end|>\",\"special\":true},"
        "\"7\":{\"content\":\"plain\",\"special\":false},\"9\":\"text\"}}");
    wte_vocab *v = open_folder();
    assert_int_equal(wte_vocab_size(v), 10);
    has(v, 5, "w2", WTE_TOKEN_NORMAL);
    has(v, 6, "<|im_end|>", WTE_TOKEN_SPECIAL);
    has(v, 7, "plain", WTE_TOKEN_ADDED);
    has(v, 9, "text", WTE_TOKEN_ADDED);
    assert_int_equal(wte_vocab_kind(v, 8), WTE_TOKEN_NONE);
    finds(v, "<|im_end|>", 6);
    wte_vocab_free(v);
    forget("tokenizer.model");
    /* the same over a map, and over lines; added_tokens.json has not the last word */
    put("vocab.json", "{\"a\":0,\"b\":1}");
    put("added_tokens.json", "{\"c\":2}");
    put("tokenizer_config.json",
        "{\"added_tokens_decoder\":{\"1\":{\"content\":\"B\"},\"2\":{\"content\":\"C\"}}}");
    for (int i = 0; i < 2; i++) {
        v = open_folder();
        has(v, 0, "a", WTE_TOKEN_NORMAL);
        has(v, 1, "B", WTE_TOKEN_ADDED);
        has(v, 2, "C", WTE_TOKEN_ADDED);
        wte_vocab_free(v);
        forget("vocab.json");
        put("vocab.txt", "a\nb\n");
    }
    /* tokenizer.json says all by itself */
    put("tokenizer.json", "{\"model\":{\"vocab\":{\"a\":0,\"b\":1}}}");
    v = open_folder();
    has(v, 1, "b", WTE_TOKEN_NORMAL);
    wte_vocab_free(v);
}

static void moved_specials_are_refused(void **state)
{
    (void)state;
    put_pieces("tokenizer.model", usual, 5);
    put("tokenizer_config.json", "{\"added_tokens_decoder\":{\"0\":{\"content\":\"<s>\"}}}");
    refused(WTE_E_UNSUPPORTED, 25, "'<s>' is id 0 here (byte 25), but 1 in ");
}

static void broken_configs_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        uint64_t where;
    } cases[] = {
        { "[]", "an object was expected", 0 },
        { "{\"a\":", "not valid JSON", 5 },
        { "{\"a\" 1}", "not valid JSON", 5 },
        { "{\"added_tokens_decoder\":1}", "is an object of ids", 24 },
        { "{\"added_tokens_decoder\":{\"x\":{}}}", "is not the id of a token", 25 },
        { "{\"added_tokens_decoder\":{\"\":{}}}", "is not the id of a token", 25 },
        { "{\"added_tokens_decoder\":{\"16777216\":{}}}", "is not the id of a token", 25 },
        { "{\"added_tokens_decoder\":{\"1\":2}}", "has a content, a string", 29 },
        { "{\"added_tokens_decoder\":{\"1\":{}}}", "has a content, a string", 30 },
        { "{\"added_tokens_decoder\":{\"1\":{\"content\":1}}}", "has a content, a string", 40 },
    };
    put_pieces("tokenizer.model", usual, 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put("tokenizer_config.json", cases[i].text);
        refused(WTE_E_FORMAT, cases[i].where, cases[i].message);
        refused(WTE_E_FORMAT, cases[i].where, "tokenizer_config.json");
    }
    put("tokenizer_config.json", "{\"added_tokens_decoder\":null}");
    wte_vocab_free(open_folder());
    put("config.json", "7");
    refused(WTE_E_FORMAT, 0, "an object was expected");
}

static void dictionaries_of_fairseq_are_read(void **state)
{
    (void)state;
    static const char text[] = "c\xc3\xb3 900\nb c 7\nnh@@ 7 #fairseq:overwrite\nd 0\r\n";
    static const char said[] =
        "{\"bos_token_id\":0,\"pad_token_id\":1,\"eos_token_id\":2,\"vocab_size\":";
    static const struct {
        const char *file, *config;
        uint64_t size;
        bool ids;
    } cases[] = {
        { "vocab.txt", "{\"tokenizer_class\":\"PhobertTokenizer\"}", 9, false },
        { "vocab.txt", "{\"tokenizer_class\":\"BertweetTokenizer\"}", 9, false },
        { "dict.txt", "{\"tokenizer_class\":\"BartphoTokenizer\"}", 9, false },
        { "dict.txt", "{}", 8, false },
        { "vocab.txt", "9}", 9, true },
        { "vocab.txt", "8}", 8, true },
    };
    char config[160];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(cases[i].file, text);
        snprintf(config, sizeof config, "%s%s", cases[i].ids ? said : "", cases[i].config);
        put("config.json", config);
        wte_vocab *v = open_folder();
        assert_int_equal(wte_vocab_size(v), cases[i].size);
        has(v, 0, "<s>", WTE_TOKEN_SPECIAL);
        has(v, 3, "<unk>", WTE_TOKEN_SPECIAL);
        has(v, 4, "c\xc3\xb3", WTE_TOKEN_NORMAL);
        has(v, 5, "b c", WTE_TOKEN_NORMAL);
        has(v, 6, "nh@@", WTE_TOKEN_NORMAL);
        has(v, 7, "d", WTE_TOKEN_NORMAL);
        if (cases[i].size == 9) has(v, 8, "<mask>", WTE_TOKEN_SPECIAL);
        wte_vocab_free(v);
        forget(cases[i].file);
    }
}

static void other_counted_lines_are_refused(void **state)
{
    (void)state;
    put("vocab.txt", "the 1061396\nof 593677\n");
    refused(WTE_E_UNSUPPORTED, 0, "each line is 'TOKEN COUNT': a dictionary of fairseq");
    put("config.json", "{\"bos_token_id\":0,\"pad_token_id\":1,\"eos_token_id\":2,"
                       "\"vocab_size\":2}"); /* as many rows as lines */
    refused(WTE_E_UNSUPPORTED, 0, "or a list of counts (the id is the line)");
    put("vocab.txt", "the 1061396\nof\n"); /* no such file: a token may hold a space */
    wte_vocab *v = open_folder();
    has(v, 0, "the 1061396", WTE_TOKEN_NORMAL);
    wte_vocab_free(v);
    put("config.json", "{\"tokenizer_class\":\"PhobertTokenizer\"}");
    refused(WTE_E_FORMAT, 12, "line 2 column 1 (byte 12): a line of a fairseq dictionary is");
    put("vocab.txt", "a 1\na 1\n");
    refused(WTE_E_FORMAT, 4, "line 2 column 1 (byte 4): this token is in the dictionary already");
    put("vocab.txt", "a 1\n<pad> 1\n");
    refused(WTE_E_FORMAT, 4, "this token is in the dictionary already");
}

static void running_out_of_memory_is_an_error_and_no_leak(void **state)
{
    (void)state;
    put_pieces("tokenizer.model", usual, 5);
    put("tokenizer_config.json", "{\"tokenizer_class\":\"XGLMTokenizer\",\"added_tokens_decoder\":{"
                                 "\"4\":{\"content\":\"\\u0041\"},\"6\":\"\\u0042\"}}");
    starve();
    put("tokenizer_config.json", "{\"tokenizer_class\":\"PegasusTokenizer\"}");
    starve();
    forget("tokenizer.model");
    put("dict.txt", "a 1\nb 2\n");
    starve();
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER("XLM-R: pieces are shifted by one, the mask is last", xlm_r_shifts_pieces_by_one),
    IN_FOLDER("languages follow the pieces", languages_follow_the_pieces),
    IN_FOLDER("M2M-100 has languages behind its map", m2m_has_languages_behind_its_map),
    IN_FOLDER("CamemBERT shifts by four", camembert_shifts_by_four),
    IN_FOLDER("SeamlessM4T and XLM-ProphetNet", other_classes_with_ids_of_their_own),
    IN_FOLDER("Pegasus has an offset", pegasus_has_an_offset),
    IN_FOLDER("T5 ends with its sentinels", t5_ends_with_its_sentinels),
    IN_FOLDER("where a name means shifted ids, a class is needed", shifted_names_need_a_class),
    IN_FOLDER("added_tokens_decoder has the last word", the_config_replaces_tokens),
    IN_FOLDER("special pieces at other ids are refused", moved_specials_are_refused),
    IN_FOLDER("broken configs are refused", broken_configs_are_refused),
    IN_FOLDER("dictionaries of fairseq are read", dictionaries_of_fairseq_are_read),
    IN_FOLDER("other counted lines are refused", other_counted_lines_are_refused),
    IN_FOLDER("every allocation may fail", running_out_of_memory_is_an_error_and_no_leak),
};
TEST_MAIN(tests)
