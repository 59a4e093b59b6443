/* Tables narrower than the model: which projections are around them. */
#include "find_models.h"

static void projections_are_found_where_they_fit(void **state)
{
    static const struct {
        const char *tensors, *in, *out;
    } cases[] = {
        { "model.decoder.embed_tokens.weight 40x2; model.decoder.project_in.weight 8x2; "
          "model.decoder.project_out.weight 2x8",
          "model.decoder.project_in.weight", "model.decoder.project_out.weight" },
        { "albert.embeddings.word_embeddings.weight 40x2; "
          "albert.encoder.embedding_hidden_mapping_in.weight 8x2; "
          "albert.encoder.embedding_hidden_mapping_in.bias 8",
          "albert.encoder.embedding_hidden_mapping_in.weight", "" },
        { "electra.embeddings.word_embeddings.weight 40x2; "
          "electra.embeddings_project.weight 8x2",
          "electra.embeddings_project.weight", "" },
        { "deberta.embeddings.word_embeddings.weight 40x2; deberta.embeddings.embed_proj.weight "
          "8x2",
          "deberta.embeddings.embed_proj.weight", "" },
        { "decoder.embed_tokens.weight 40x2; decoder.project_in_dim.weight 8x2; "
          "decoder.project_out_dim.weight 2x8",
          "decoder.project_in_dim.weight", "decoder.project_out_dim.weight" },
        /* of another width, of another part, no matrix */
        { "embed_tokens.weight 40x2; project_in.weight 8x3; project_out.weight 3x8", "", "" },
        { "embed_tokens.weight 40x2; visual.project_in.weight 8x2; "
          "vision_tower.project_out.weight 2x8",
          "", "" },
        { "embed_tokens.weight 40x2; project_in.weight 2; project_out.weight 2", "", "" },
        /* a head of its own: before it */
        { "embed_tokens.weight 40x2; lm_head.weight 40x4; project_out.weight 4x8", "",
          "project_out.weight" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *dir = model_of(NULL, cases[i].tensors);
        wte_model *m = open_model(dir);
        const wte_model_output *o = wte_model_output_of(m);
        assert_string_equal(o->project_in_name, cases[i].in);
        assert_string_equal(o->project_out_name, cases[i].out);
        assert_int_equal(o->project_in == WTE_NO_INDEX, !*cases[i].in);
        assert_int_equal(o->project_out == WTE_NO_INDEX, !*cases[i].out);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
    wte_model *demo = open_model("demo");
    assert_int_equal(wte_model_output_of(demo)->project_out, WTE_NO_INDEX);
    assert_string_equal(wte_model_output_of(demo)->project_in_name, "");
    wte_model_free(demo);
}

static const struct CMUnitTest tests[] = {
    TEST("projections are found where they fit", projections_are_found_where_they_fit),
};
TEST_MAIN(tests)
