/* The table of kinds. A kind is stated only on evidence in the file itself, and the message states
 * the evidence; names of files decide nothing. To read a kind is to remove its line here. */
#include "format/kinds.h"

#include <inttypes.h>

#include "base/error.h"

#define AT(at, bytes, name, to_do)                                                                 \
    {                                                                                              \
        WTE__KIND_AT, at, sizeof bytes - 1, bytes, name, to_do, NULL                               \
    }
#define END(bytes, name, to_do)                                                                    \
    {                                                                                              \
        WTE__KIND_END, 0, sizeof bytes - 1, bytes, name, to_do, NULL                               \
    }
#define MEMBER(bytes, name, to_do)                                                                 \
    {                                                                                              \
        WTE__KIND_MEMBER, 0, sizeof bytes - 1, bytes, name, to_do, NULL                            \
    }
#define PROBE(probe, evidence, name, to_do)                                                        \
    {                                                                                              \
        WTE__KIND_PROBE, 0, 0, evidence, name, to_do, wte__probe_##probe                           \
    }

#define KERAS  "numpy.save of layer.get_weights()[0] in Keras"
#define FAISS  "numpy.save of faiss.read_index(F).reconstruct_n()"
#define GGML   "llama.cpp's convert_llama_ggml_to_gguf.py, or convert the model again"
#define UNPACK "unpack it first"
#define PANDAS "numpy.save of pandas.read_"
#define NUMPY  "numpy.save of its arrays"
#define NC     "numpy.save of xarray.open_dataset(F)[NAME]"
/* It belongs to a model, which is opened by its folder: read, but not as a file of tensors. */
#define FOLDER "name the model's folder"

static const wte__kind kinds[] = {
    /* fixed bytes, the longest first */
    AT(0, "SQLite format 3\0", "an SQLite database", "export its vectors, numpy.save"),
    AT(0, "MATLAB 5.0 MAT-file", "a MATLAB 5 file", "numpy.save of scipy.io.loadmat(F)[NAME]"),
    AT(0, "\x12\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "a file of MXNet parameters",
       "numpy.save of mxnet.nd.load(F)[NAME].asnumpy()"),
    AT(0, "\x89HDF\r\n\x1a\n", "an HDF5 file of Keras or h5py", KERAS " or h5py"),
    AT(0, "ARROW1\0\0", "an Arrow or Feather 2 file", PANDAS "feather(F)"),
    AT(0, "MZqFpD='", "a llamafile", "unzip it: the .gguf in it is read"),
    AT(0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document", NULL),
    AT(0, "7z\xbc\xaf\x27\x1c", "7z-compressed", UNPACK),
    AT(0, "Rar!\x1a\7", "RAR-compressed", UNPACK),
    AT(0, "\xfd\x37zXZ\0", "xz-compressed", UNPACK " (unxz)"),
    AT(0, "7767517\n", "a graph of ncnn", "use the model it was converted from"),
    AT(0, "RDX2\n", "an R workspace, RData", "write.table in R"),
    AT(0, "RDX3\n", "an R workspace, RData", "write.table in R"),
    AT(0, "X\n\0\0\0", "an R object, RDS", "write.table(readRDS(F)) in R"),
    AT(0, "SIMPLE  =", "a FITS file", "numpy.save of astropy.io.fits.getdata(F)"),
    AT(4, "TFL3", "a TensorFlow Lite model", "numpy.save of Interpreter.get_tensor(i)"),
    AT(4, "ET12", "an ExecuTorch program", "use the checkpoint it was exported from"),
    AT(8, "DUCK", "a DuckDB database", "export its vectors, numpy.save"),
    AT(0, "PAR1", "a Parquet file", PANDAS "parquet(F)"),
    AT(0, "FEA1", "a Feather 1 file", PANDAS "feather(F)"),
    AT(0, "FiFu", "a file of finalfusion embeddings", "finalfusion convert F V.bin -t word2vec"),
    AT(0, "IxF2", "a flat FAISS index of L2 distances", FAISS),
    AT(0, "IxFI", "a flat FAISS index of inner products", FAISS),
    AT(0, "IxFl", "a flat FAISS index", FAISS),
    AT(0, "IxMp", "a FAISS index with a map of ids", FAISS),
    AT(0, "IxM2", "a FAISS index with a map of ids", FAISS),
    AT(0, "IHNf", "a FAISS index of kind HNSW", FAISS),
    AT(0, "IxSQ", "a FAISS index with a scalar quantiser", FAISS),
    AT(0, "IwFl", "a FAISS index of inverted lists", FAISS),
    AT(0, "IwPQ", "a FAISS index of inverted lists, quantised", FAISS),
    AT(0, "IxPT", "a FAISS index behind a transform", FAISS),
    AT(0, "lmgg", "a ggml model of llama.cpp or whisper.cpp, from before GGUF", GGML),
    AT(0, "fmgg", "a ggmf model of llama.cpp, from before GGUF", GGML),
    AT(0, "tjgg", "a ggjt model of llama.cpp, from before GGUF", GGML),
    AT(0, "algg", "a LoRA adapter of llama.cpp, from before GGUF", "convert_lora_to_gguf.py"),
    AT(0, "\xa3\xd9\x34\x01", "a Llama checkpoint of llm.c", "use the model it was made from"),
    AT(0, "\xc7\xd7\x34\x01", "a debug state of llm.c", "use the checkpoint it was made of"),
    AT(0, "\xc8\xd7\x34\x01", "a tokenizer of llm.c",
       "put GPT-2's tokenizer.json beside the model"),
    AT(0, "\x88\xd8\x34\x01", "a file of token ids of llm.c", "use the checkpoint, gpt2_124M.bin"),
    AT(0, "\x2a\x3a\xdb\x0c", "an OCDBT database of Orbax or TensorStore",
       "restore it with orbax, numpy.save"),
    AT(0, "\x0c\xdb\x3a\x2a", "an OCDBT database of Orbax or TensorStore",
       "restore it with orbax, numpy.save"),
    AT(0, "ptrt", "a TensorRT engine", "use the checkpoint it was built from"),
    AT(0, "EDL2", "an ESP-DL model", "use the model it was converted from"),
    AT(0, "Obj\1", "an Avro file", NUMPY),
    PROBE(orc, "'ORC' at both ends", "an ORC file", PANDAS "orc(F)"),
    AT(0, "CDF\1", "a NetCDF 3 file", NC),
    AT(0, "CDF\2", "a NetCDF 3 file", NC),
    AT(0, "CDF\5", "a NetCDF 3 file", NC),
    AT(64, "\xef\xbe\xad\xde", "the weights of a Core ML model",
       "use the model it was converted from"),
    AT(0, "\x28\xb5\x2f\xfd", "zstd-compressed", UNPACK " (unzstd)"),
    AT(0, "\4\x22\x4d\x18", "lz4-compressed", UNPACK " (unlz4)"),
    AT(0, "\xff\6\0\0sNaPpY", "snappy-compressed", UNPACK),
    AT(0, "\x1f\x8b\x08", "gzip again", UNPACK),
    AT(0, "BZh", "bzip2-compressed", UNPACK " (bunzip2)"),
    AT(0, "\x1f\x9d", "compressed by compress, .Z", UNPACK),
    AT(0, "\x7f\x45LF", "a program or library, ELF", NULL),
    AT(0, "\xcf\xfa\xed\xfe", "a program or library, Mach-O", NULL),
    AT(0, "\0asm", "a WebAssembly program", NULL),
    AT(0, "\x89PNG", "a PNG image", NULL),
    AT(0, "\xff\xd8\xff", "a JPEG image", NULL),
    AT(0, "GIF8", "a GIF image", NULL),
    AT(0, "RIFF", "a RIFF file, as WAV or WebP", NULL),
    AT(0, "%PDF-", "a PDF document", NULL),
    PROBE(utf16, "a mark of byte order", "text in UTF-16", "iconv -f UTF-16 -t UTF-8"),
    END("PAR1", "the end of a Parquet file", "get the whole file"),
    END("LANC", "a Lance file", "numpy.save of lance.dataset(FOLDER)"),
    /* what the structure tells */
    PROBE(navec, "a tar archive with pq.bin or vocab.bin", "an archive of navec embeddings",
          "numpy.save of Navec.load(F).pq.unpack()"),
    AT(257, "ustar", "a tar archive", UNPACK),
    PROBE(hdf5_block, "HDF5's signature behind a user block", "an HDF5 file, as of MATLAB 7.3",
          "numpy.save of h5py.File(F)[NAME][:]"),
    PROBE(tfrecord, "a length and its CRC-32C", "a TFRecord file of TensorFlow",
          "read them with tf.data.TFRecordDataset, numpy.save"),
    PROBE(hnswlib, "sizes that add up", "an hnswlib index", "numpy.save of index.get_items(ids)"),
    PROBE(fasttext_early, "arguments and sizes that add up, and no magic number",
          "a fastText model of before 2017",
          "use the .vec beside it, or train with a newer fastText"),
    PROBE(ctranslate2, "a version and the name of its spec", "a CTranslate2 model",
          "use the model it was converted from"),
    PROBE(saved_model, "protobuf fields", "a TensorFlow saved model",
          "numpy.save of tf.saved_model.load(DIR).variables"),
    PROBE(onnx, "protobuf fields", "an ONNX model", "numpy.save of onnx.numpy_helper.to_array"),
    PROBE(onnx_tensor, "protobuf fields", "a tensor of ONNX",
          "numpy.save of onnx.numpy_helper.to_array"),
    PROBE(bundle, "the header under an empty key", "the index of a TensorFlow checkpoint",
          "numpy.save of tf.train.load_checkpoint(F).get_tensor(NAME)"),
    END("\x57\xfb\x80\x8b\x24\x75\x47\xdb", "a table of LevelDB", NUMPY),
    PROBE(sentencepiece, "pieces with scores", "a sentencepiece tokenizer, not tensors", FOLDER),
    PROBE(meta_graph, "protobuf fields", "the graph of a TensorFlow checkpoint",
          "its values are in .data and .index: tf.train.load_checkpoint"),
    PROBE(graph_def, "protobuf fields", "a frozen graph of TensorFlow",
          "numpy.save of tf.make_ndarray of its Const nodes"),
    PROBE(flax, "msgpack with arrays as ext type 1", "a Flax checkpoint",
          "flax.serialization.msgpack_restore, then numpy.save"),
    PROBE(key2row, "a msgpack map of 64-bit hashes", "the keys of spaCy vectors, key2row",
          "open `vectors` beside it"),
    PROBE(msgpack, "a map of texts", "a msgpack file", NUMPY),
    /* pickles: what they name tells whose they are */
    PROBE(gensim, "a pickle that names gensim", "a gensim model",
          "KeyedVectors.load(F).save_word2vec_format(V, binary=True)"),
    PROBE(dcp, "it names its classes", "the .metadata of a distributed checkpoint",
          "torch.distributed.checkpoint.format_utils dcp_to_torch . m.pt"),
    PROBE(joblib, "a pickle that names joblib", "a dump of joblib", "numpy.save of joblib.load(F)"),
    PROBE(paddle, "a pickle with StructuredToParameterName@@", "a file of PaddlePaddle parameters",
          "numpy.save of paddle.load(F)[NAME]"),
    PROBE(numpy_pickle, "it names numpy", "a Python pickle of NumPy arrays",
          "numpy.save of pickle.load(open(F, 'rb'))"),
    PROBE(pickle, "its protocol and opcodes", "a Python pickle, but not one of PyTorch's",
          "save its arrays with numpy.save"),
    PROBE(pickle_text, "opcodes of protocol 0", "a Python pickle, but not one of PyTorch's",
          "numpy.save of pickle.load(open(F, 'rb'))"),
    PROBE(zlib, "its header", "zlib-compressed, as joblib does", "numpy.save of joblib.load(F)"),
    /* text */
    PROBE(openvino, "XML whose root is <net>", "the graph of an OpenVINO model",
          "use the model it was converted from"),
    PROBE(json_lines, "a JSON value on each line", "text in JSON Lines",
          "numpy.save of the vectors"),
    PROBE(zarr, "\"zarr_format\"", "the metadata of a Zarr array",
          "numpy.save of zarr.open(FOLDER)[:]"),
    PROBE(tfjs, "\"weightsManifest\"", "a TensorFlow.js model",
          "tensorflowjs_converter to Keras, numpy.save"),
    PROBE(vectors_json, "\"embedding\" or \"vectors\" in JSON text", "JSON text with vectors",
          "numpy.save of json.load(open(F))"),
    PROBE(tokenizer_json, "\"added_tokens\" in JSON text", "a tokenizer, not tensors", FOLDER),
    PROBE(config_json, "a model's settings in JSON text", "a config, not tensors", FOLDER),
    PROBE(json_numbers, "a list of numbers in JSON text", "JSON text with vectors",
          "numpy.save of json.load(open(F))"),
    PROBE(json_list, "a list of values", "JSON text", NULL),
    PROBE(ini, "[section] and key = value", "settings in INI or TOML, not tensors", FOLDER),
    PROBE(checkpoint_state, "\"model_checkpoint_path:\"",
          "the list of checkpoints of TensorFlow, not tensors",
          "its values are in .data and .index: tf.train.load_checkpoint"),
    /* zip archives */
    MEMBER("model.weights.h5", "a Keras model", KERAS),
    MEMBER("/weights/model_weights_config.json", "a program of torch.export",
           "torch.save(torch.export.load(F).state_dict, P)"),
    MEMBER("[Content_Types].xml", "an Office document", "save the sheet as CSV"),
    MEMBER("META-INF/MANIFEST.MF", "a Java archive", UNPACK),
    MEMBER("MAR-INF/MANIFEST.json", "an archive of TorchServe", UNPACK ": the model in it is read"),
    MEMBER("Manifest.json", "a Core ML package", "use the model it was converted from"),
    MEMBER(".onnx", "a zip archive with an ONNX model", UNPACK),
    MEMBER(".safetensors", "a zip archive with a safetensors file", UNPACK),
    MEMBER(".gguf", "a zip archive with a GGUF file", UNPACK),
    MEMBER(".vec", "a zip archive with word vectors", UNPACK),
    MEMBER(".txt", "a zip archive with text", UNPACK ": word vectors in text are read"),
    /* any message of protobuf at all */
    PROBE(protobuf, "its fields", "a protobuf message of an unknown kind", NUMPY),
};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

const wte__kind *wte__kinds(size_t *n)
{
    *n = N_KINDS;
    return kinds;
}

static bool fits(const wte__kind *k, const wte__head *head)
{
    switch (k->form) {
    case WTE__KIND_AT:
        return (uint64_t)k->at + k->n <= head->n &&
               memcmp(head->bytes + k->at, k->bytes, k->n) == 0;
    case WTE__KIND_END:
        return k->n <= head->n_tail &&
               memcmp(head->tail + head->n_tail - k->n, k->bytes, k->n) == 0;
    case WTE__KIND_PROBE: return k->probe(head);
    case WTE__KIND_MEMBER: return false;
    }
    return false;
}

const wte__kind *wte__kind_of(const wte__head *head)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (fits(&kinds[i], head)) return &kinds[i];
    return NULL;
}

const wte__kind *wte__kind_of_member(const char *name, size_t n)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        const wte__kind *k = &kinds[i];
        if (k->form != WTE__KIND_MEMBER || k->n > n) continue;
        const bool ending = k->bytes[0] == '.' || k->bytes[0] == '/' || k->n == n;
        if (ending && memcmp(name + n - k->n, k->bytes, k->n) == 0) return k;
    }
    return NULL;
}

/* "'ARROW1' at byte 0", or the bytes in hexadecimal digits where they are no text. */
static const char *evidence(const wte__kind *k, char *out, size_t cap)
{
    bool text = true;
    size_t n = 0;
    if (k->form == WTE__KIND_PROBE) return k->bytes;
    for (size_t i = 0; i < k->n; i++) text = text && k->bytes[i] >= ' ' && k->bytes[i] <= '~';
    if (text) n += (size_t)snprintf(out, cap, "'%.*s'", k->n, k->bytes);
    for (size_t i = 0; !text && i < k->n && n + 4 < cap; i++)
        n += (size_t)snprintf(out + n, cap - n, "%s%02x", i ? " " : "", (uint8_t)k->bytes[i]);
    if (k->form == WTE__KIND_AT && n < cap) snprintf(out + n, cap - n, " at byte %u", k->at);
    if (k->form == WTE__KIND_END && n < cap) snprintf(out + n, cap - n, " at its end");
    if (k->form == WTE__KIND_MEMBER && n < cap) snprintf(out + n, cap - n, " in a zip archive");
    return out;
}

wte_status wte__kind_refuse(const wte__kind *kind, const wte__head *head, const char *path,
                            wte_error *err)
{
    char text[96];
    const char *is = head && head->packed ? "gzip, and in it is" : "is";
    const char *why = evidence(kind, text, sizeof text);
    if (kind->to_do && strcmp(kind->to_do, FOLDER) == 0)
        return wte__fail(err, WTE_E_FORMAT, 0, "%s: %s %s (%s): " FOLDER, path, is, kind->name,
                         why);
    if (!kind->to_do)
        return wte__fail(err, WTE_E_FORMAT, 0, "%s: %s %s (%s), not tensors", path, is, kind->name,
                         why);
    return wte__fail(err, WTE_E_UNSUPPORTED, 0, "%s: %s %s (%s); this build does not read it: %s",
                     path, is, kind->name, why, kind->to_do);
}
