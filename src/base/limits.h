/* Every bound on untrusted input, each with its reason. docs/limits.md is the page for users. */
#ifndef WTE_SRC_BASE_LIMITS_H
#define WTE_SRC_BASE_LIMITS_H

/* What a message says of a limit: how it is raised, or that it cannot be. */
#define WTE__FIXED_LIMIT  "a fixed limit"
#define WTE__RAISE_HEADER "raise max_header_bytes, or --max-header"
#define WTE__RAISE_BYTES  "raise max_bytes, or --max-bytes"
#define WTE__RAISE_VOCAB  "raise max_bytes of wte_vocab_options, or --max-vocab"

/* The reference safetensors reader's own cap; 87 MB headers with a million tensors are legal. */
#define WTE_LIMIT_SAFETENSORS_HEADER 100000000u
/* Tensors in one file: 2^31 would need more header than the cap above allows at ~50 bytes each. */
#define WTE_LIMIT_TENSORS 4000000u
/* Dimensions of one tensor. NumPy stops at 32, ggml at 4; models have at most 8. */
#define WTE_LIMIT_RANK 16u
/* Name of one tensor: longer than any seen by 100 times; names are compared and printed. */
#define WTE_LIMIT_NAME 65535u
/* NumPy reads 10,000 characters by default. */
#define WTE_LIMIT_NPY_HEADER 10000u
/* Directory of a zip archive: 600,000 members at some 100 bytes each. */
#define WTE_LIMIT_ZIP_DIRECTORY 67108864u
/* What the packed entries of one archive may unpack to in memory: whatever it is, this much ... */
#define WTE_LIMIT_UNPACKED_FREE 33554432u
/* ... beyond it this many times the size of the archive (real tables shrink to a half or a tenth,
 * padding more; deflate can claim a thousand) ... */
#define WTE_LIMIT_UNPACKED_RATIO 64u
/* ... and never more than 4 GiB: a larger archive is better unpacked once. */
#define WTE_LIMIT_UNPACKED 4294967296u
/* Bytes of memory for a row of a text of vectors besides its text: offset, token and vocabulary
 * entry. They count towards the size of a decompressed text. */
#define WTE_LIMIT_TEXT_ROW 96u
/* All indexes of texts that are kept in the cache folder: those of some hundred files of a million
 * words. The oldest make room for new ones. */
#define WTE_LIMIT_CACHE 1073741824u
/* Header of a GGUF file: the largest vocabularies in use, with 262144 tokens and their merges, take
 * some 20 MB. */
#define WTE_LIMIT_GGUF_HEADER 100000000u
/* Metadata pairs of a GGUF file: real ones have under a hundred. */
#define WTE_LIMIT_GGUF_PAIRS 65536u
/* Tokens in the metadata of a GGUF file: four times those of the largest vocabulary in use. A text
 * takes as little as 8 bytes there, and its entry here some 130. */
#define WTE_LIMIT_GGUF_TOKENS 1048576u
/* Alignment of the tensors of a GGUF file: 32 is usual, a page 4096. */
#define WTE_LIMIT_GGUF_ALIGNMENT 1048576u
/* One line of a text file of vectors: a word and 16,384 numbers of 20 characters are 330 KB. */
#define WTE_LIMIT_TEXT_LINE 16777216u
/* Characters of one n-gram of a fastText model: its default is 6. */
#define WTE_LIMIT_NGRAM 64u
/* N-grams of one word, each a row to read: a word of 20 letters has about 80. */
#define WTE_LIMIT_NGRAMS 262144u
/* One pickle of a PyTorch checkpoint: it holds names and shapes, some 200 bytes a tensor. */
#define WTE_LIMIT_PICKLE 67108864u
/* Steps of the pickle machine: a tensor takes 32, so this is 125,000 tensors in one file. */
#define WTE_LIMIT_PICKLE_OPCODES 4000000u
/* Values on its stack: Python's own writer puts down 1000 entries of a dict at a time. */
#define WTE_LIMIT_PICKLE_STACK 1000000u
/* Bytes that are read again because values refer to earlier ones: a text or tuple can be reused for
 * two bytes each time. 125,000 tensors with names of 100 bytes come to 20 MB. */
#define WTE_LIMIT_PICKLE_WORK 268435456u
/* Names of all its tensors together: this much whatever the pickle ... */
#define WTE_LIMIT_PICKLE_NAMES_FREE 1048576u
/* ... and beyond it this many times its size. Names in dicts inside dicts repeat what is above. */
#define WTE_LIMIT_PICKLE_NAMES_RATIO 16u
/* Marks that are open at once, and dicts inside dicts: Python's own writer stops at about 300. */
#define WTE_LIMIT_PICKLE_DEPTH 256u
/* JSON nesting: the deepest tokenizer.json seen has 8 levels. */
#define WTE_LIMIT_JSON_DEPTH 64u
/* One decoded JSON string: precompiled charsmaps are some 320 KB of base64. */
#define WTE_LIMIT_JSON_STRING 67108864u
/* config.json, index files: real ones are under 10 MB even with 100,000 tensors. */
#define WTE_LIMIT_CONFIG 67108864u
/* tokenizer.json: the largest public ones are about 35 MB. */
#define WTE_LIMIT_VOCAB 268435456u
/* Token ids: one past the largest id a vocabulary may name. Tables with more rows exist
 * (recommenders), but none with texts; memory is 16 bytes an id, so a hostile id costs at most this
 * times 16. */
#define WTE_LIMIT_VOCAB_IDS 16777216u
/* Zeros after a zip archive that are looked through for its end: what a preallocated file leaves.
 */
#define WTE_LIMIT_PADDING 67108864u
/* Tokens that a class of tokenizers adds to the pieces of its file: T5 has 100, UL2 a few hundred.
 */
#define WTE_LIMIT_VOCAB_OWN 4096u
/* Special tokens of tekken.json: Mistral's files have 1000. */
#define WTE_LIMIT_TEKKEN_SPECIALS 65536u
/* Ids without a token below the largest id: added tokens sit some thousands past the vocabulary at
 * most. Beyond this (16 MiB of entries) the file's own size no longer justifies the memory. */
#define WTE_LIMIT_VOCAB_HOLES 1048576u
/* Text of one token: the longest in public vocabularies have some hundred bytes. */
#define WTE_LIMIT_TOKEN_TEXT 1048576u
/* Files of one sharded model, parts of one in parts: DeepSeek-V3 has 163. */
#define WTE_LIMIT_SHARDS 4096u
/* What a checkpoint of llama2.c may say of itself: a file without a magic number is known by sizes
 * that a Llama can have, and their product stays below 2^63. Larger ones are other files. */
#define WTE_LIMIT_LLAMA2C_WIDTH  (1 << 20)
#define WTE_LIMIT_LLAMA2C_VOCAB  (1 << 24)
#define WTE_LIMIT_LLAMA2C_LAYERS 4096
/* One table in memory when the caller sets no limit: 1 TiB. */
#define WTE_LIMIT_TABLE_BYTES 1099511627776u
/* Ids of one backward call, and its bags: they are numbered in 32 bits. */
#define WTE_LIMIT_PARTS 4294967295u
/* Threads of one pool. */
#define WTE_LIMIT_THREADS 256u
/* Path of a file, with its NUL. Linux' own PATH_MAX. */
#define WTE_LIMIT_PATH 4096u
/* Tensors that are kept as candidates for each role: a real model has under ten, a file of a
 * million tensors with one name each could otherwise fill memory with reasons. */
#define WTE_LIMIT_CANDIDATES 256u
/* Bytes of the JSON text that bitsandbytes stores with a four-bit table: real ones have about 200.
 */
#define WTE_LIMIT_QUANT_STATE 65536u
/* Largest finite table for which `trace` multiplies a one-hot vector by the matrix. */
#define WTE_LIMIT_ONE_HOT 268435456u
/* Logits that are kept of each hidden vector: sampling uses some tens, distillation some hundreds;
 * 65536 take 1.5 MiB of work memory. */
#define WTE_LIMIT_TOP 65536u
/* Bytes of the rough copy that `check` keeps of rows that are dear to read: one a number, so that
 * the largest tables of word vectors and of quantised models (some 2,000,000 x 300) have room. */
#define WTE_LIMIT_ROUGH_COPY 1073741824u
/* One word of a corpus, which a window of 256 KiB must hold whole: longer ones are not text. */
#define WTE_LIMIT_CORPUS_WORD 4096u
/* Words of a corpus that are rows of the table: as many ids as a vocabulary may have. */
#define WTE_LIMIT_CORPUS_WORDS 16777216u
/* Distinct words of a corpus while they are counted, before the rare ones are dropped: each takes
 * about 40 bytes besides its text, so that this many take 11 GB. Billions of words of web text have
 * about 100 million. */
#define WTE_LIMIT_CORPUS_DISTINCT 268435456u
/* Steps of an optimizer: beyond 2^53 a double counts no longer by ones, and bias corrections are
 * computed in it. A million steps a second take 285 years to get there. */
#define WTE_LIMIT_OPTIM_STEPS 9007199254740992u
/* Words that predict the next one: a model that looks at its context as one vector gains nothing
 * beyond some ten. */
#define WTE_LIMIT_LM_CONTEXT 1024u
/* Numbers of a row of a table that is trained, and of a hidden layer: the widest models in use have
 * 16384 and 65536. */
#define WTE_LIMIT_LM_WIDTH 65536u
/* Words of a mini-batch: the activations of every layer are held for each of them. */
#define WTE_LIMIT_LM_BATCH 1048576u
/* Context words to each side of a word: 5 to 15 are in use. The products of their vectors with the
 * rows of samples, 128 by 128, take 64 KiB of stack. */
#define WTE_LIMIT_WORDS_WINDOW 64u
/* Negative samples for each word: 5 to 15 are in use. */
#define WTE_LIMIT_WORDS_NEGATIVE 64u
/* Rows that n-grams share: fastText's own bound, whose hash has 32 bits. */
#define WTE_LIMIT_WORDS_BUCKETS 2147483647u
/* Numbers of a word vector: 100 to 300 are in use. */
#define WTE_LIMIT_WORDS_DIM 65536u
/* A file of word pairs or analogies: those of word2vec, with 19544 questions, have 604 KB. */
#define WTE_LIMIT_EVAL_FILE 67108864u
/* A word in one of these: they are words of a language. */
#define WTE_LIMIT_EVAL_WORD 1024u
/* Ids of one check of gradients: every entry is a difference of two forward computations. */
#define WTE_LIMIT_GRADCHECK_IDS 256u
/* Bytes of the logits that are held there in f64: 256 ids and a million rows. */
#define WTE_LIMIT_GRADCHECK_LOGITS 2147483648u
/* Files that one process writes at once and a signal handler removes: a training run has seven. */
#define WTE_LIMIT_UNFINISHED 64u
/* The journal of a transaction: two names of at most 255 bytes for each of a few files. */
#define WTE_LIMIT_JOURNAL 65536u

#endif
