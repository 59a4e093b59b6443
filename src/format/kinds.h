/* Kinds of files that are recognised but not read, so that a refusal can name the kind, the
 * evidence and the tool that converts it. One table (kinds.c) serves every command and every
 * caller. */
#ifndef WTE_SRC_FORMAT_KINDS_H
#define WTE_SRC_FORMAT_KINDS_H
#include "format/format.h"

typedef enum wte__kind_form {
    WTE__KIND_AT,    /* fixed bytes at a fixed offset */
    WTE__KIND_END,   /* the last bytes of the file */
    WTE__KIND_PROBE, /* a function of the start of the file */
    WTE__KIND_MEMBER /* a zip archive with a member whose path is, or ends in, these bytes */
} wte__kind_form;

typedef struct wte__kind {
    wte__kind_form form;
    uint16_t at;       /* AT: offset of the bytes */
    uint8_t n;         /* of them */
    const char *bytes; /* PROBE: the evidence, as a message states it */
    const char *name;  /* with its article: "an ONNX model" */
    const char *to_do; /* what converts it; NULL: it holds no vectors (E_FORMAT) */
    bool (*probe)(const wte__head *head);
} wte__kind;

/* The table, in order of precedence. */
const wte__kind *wte__kinds(size_t *n);
/* The first kind that fits the start and the end of a file; NULL: none. */
const wte__kind *wte__kind_of(const wte__head *head);
/* The same for the path of a member of a zip archive. */
const wte__kind *wte__kind_of_member(const char *name, size_t n);
/* "FILE: is NAME (EVIDENCE); this build does not read it: TO DO". */
wte_status wte__kind_refuse(const wte__kind *kind, const wte__head *head, const char *path,
                            wte_error *err);

/* probe_fasttext.c */
bool wte__probe_fasttext_early(const wte__head *head);
/* kind_probes.c */
bool wte__probe_hdf5_block(const wte__head *head);
bool wte__probe_tfrecord(const wte__head *head);
bool wte__probe_hnswlib(const wte__head *head);
bool wte__probe_ctranslate2(const wte__head *head);
bool wte__probe_bundle(const wte__head *head);
bool wte__probe_saved_model(const wte__head *head);
bool wte__probe_onnx(const wte__head *head);
bool wte__probe_onnx_tensor(const wte__head *head);
bool wte__probe_sentencepiece(const wte__head *head);
bool wte__probe_graph_def(const wte__head *head);
bool wte__probe_meta_graph(const wte__head *head);
bool wte__probe_protobuf(const wte__head *head);
bool wte__probe_flax(const wte__head *head);
bool wte__probe_key2row(const wte__head *head);
bool wte__probe_msgpack(const wte__head *head);
bool wte__probe_gensim(const wte__head *head);
bool wte__probe_dcp(const wte__head *head);
bool wte__probe_joblib(const wte__head *head);
bool wte__probe_paddle(const wte__head *head);
bool wte__probe_numpy_pickle(const wte__head *head);
bool wte__probe_pickle(const wte__head *head);
bool wte__probe_pickle_text(const wte__head *head);
bool wte__probe_zlib(const wte__head *head);
bool wte__probe_utf16(const wte__head *head);
bool wte__probe_orc(const wte__head *head);
bool wte__probe_openvino(const wte__head *head);
bool wte__probe_json_lines(const wte__head *head);
bool wte__probe_json_numbers(const wte__head *head);
bool wte__probe_json_list(const wte__head *head);
bool wte__probe_zarr(const wte__head *head);
bool wte__probe_tfjs(const wte__head *head);
bool wte__probe_tokenizer_json(const wte__head *head);
bool wte__probe_config_json(const wte__head *head);
bool wte__probe_vectors_json(const wte__head *head);
bool wte__probe_ini(const wte__head *head);
bool wte__probe_navec(const wte__head *head);
bool wte__probe_checkpoint_state(const wte__head *head);
#endif
