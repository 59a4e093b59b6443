"""Generate the API sweep: a C program that calls every public function with arguments that make no sense.

usage: make_api_sweep.py HEADERS OUT.c

Every function of HEADERS is called once with arguments that are valid, and then with one of them changed at a time:
each pointer NULL, each size 0 and larger than memory, each enum a value that there is not, each number NaN, negative
and infinite, each struct of options zeroed, with its size alone, with counts whose arrays are NULL, with callbacks that
lack their function, with an allocator that has nothing; each row source broken and failing without a word. All of it
comes from the declarations. What a valid argument is cannot be read there: the factories below say it for each type, and
for single parameters where the type says too little. A type without a factory ends the build and names the place to add
one. tests/api_sweep.h has the values themselves, runs each call in a process of its own, and judges it.
"""
import sys

from api_headers import Headers

# A C expression by (function, parameter), else by (type, parameter), else by type.
BY_TYPE = {
    "bool *": "buffer(@)", "char *": "buffer(@)", "float *": "buffer(@)", "uint8_t *": "buffer(@)", "void *": "buffer(@)",
    "uint32_t *": "buffer(@)",
    "const char *": '"a"', "const double *": "fix.doubles", "const float *": "fix.floats", "const void *": "fix.floats",
    "const uint64_t *": "fix.row_pairs", "const int64_t *": "fix.tokens", "const int32_t *": "fix.ids_i32",
    "const wte_block_type *": "fix.no_blocks", "const char *const (*)[2]": "(const char *const (*)[2])fix.metadata",
    "const wte_file *": "fix.file", "const wte_model *": "fix.model", "const wte_vocab *": "fix.vocab",
    "const wte_check *": "fix.check", "const wte_corpus *": "fix.corpus", "const wte_corpus_reader *": "fix.reader",
    "const wte_pairs *": "fix.pairs", "const wte_analogies *": "fix.analogies", "const wte_grad *": "fix.grad",
    "const wte_lm *": "fix.lm", "const wte_wordvec *": "fix.words", "const wte_optim *": "fix.optim",
    "const wte_pool *": "fix.pool",
    "const wte_head *": "fix.head", "wte_head *": "fix.head", "const wte_table *": "fix.table", "const wte_token_list *": "wte_corpus_words(fix.corpus)",
    "const wte_writer *": "new_writer()", "wte_grad *const *": "&fix.grad",
    "double": "1.0", "size_t": "2", "uint32_t": "0", "uint64_t": "0",
    "wte_dtype": "WTE_F32", "wte_block_type": "WTE_BLOCK_Q8_0", "wte_change": "WTE_CHANGE_MOVED", "wte_label": "WTE_LABEL_MATCH",
    "wte_check_level": "WTE_CHECK_WARN", "wte_format": "WTE_FORMAT_NPY", "wte_gradcheck_op": "WTE_GRADCHECK_LOOKUP",
    "wte_metric": "WTE_METRIC_DOT", "wte_rowwise": "WTE_ROW8", "wte_status": "WTE_E_IO", "wte_tie_verdict": "WTE_TIE_HEADLESS",
    "wte_token_class": "WTE_CLASS_BYTE", "wte_vocab_source": "WTE_VOCAB_TXT",
    # structs, given by value or by address
    "wte_ids": "fix.ids", "wte_word": "fix.word", "wte_row_source": "fix.rows", "wte_hidden": "fix.hidden", "wte_observed": "fix.got",
    "wte_tensor_out": "fix.tensor_out", "wte_allocator": "fix.allocator", "wte_progress": "fix.progress",
    "wte_train_callback": "fix.watch", "wte_diagnosis": "fix.diagnosis", "wte_hypothesis": "fix.diagnosis.best",
    "wte_gguf_options": "fix.gguf_options", "wte_lm_options": "fix.lm_options", "wte_wordvec_options": "fix.words_options",
    # handles that a call uses up, or changes
    "wte_analogies *": "fix.analogies", "wte_check *": "fix.check", "wte_corpus *": "fix.corpus", "wte_corpus_reader *": "fix.reader",
    "wte_file *": "fix.file", "wte_grad *": "fix.grad", "wte_lm *": "fix.lm", "wte_model *": "fix.model", "wte_optim *": "fix.optim",
    "wte_pairs *": "fix.pairs", "wte_pool *": "fix.pool", "wte_table *": "fix.table", "wte_trace *": "fix.trace",
    "wte_vocab *": "fix.vocab", "wte_wordvec *": "fix.words", "wte_writer *": "new_writer()",
    "wte_transaction *": "new_transaction()",
}
BY_NAME = {
    ("wte_ids", "offsets"): "fix.offsets",
    ("const wte_corpus *", "valid"): "NULL",
    ("size_t", "row_bytes"): "0", ("size_t", "i"): "0", ("size_t", "cap"): "1024", ("size_t", "n_blocks"): "1",
    ("uint32_t", "parts"): "1",
}
BY_PARAMETER = {
    ("wte_safetensors_write_to", "n"): "1", ("wte_safetensors_write_to", "n_metadata"): "1",
    ("wte_model_find_tensor", "m"): "fix.stored", ("wte_model_find_tensor", "name"): '"wte.weight"',
    ("wte_transaction_writer", "path"): '"scratch"', ("wte_lm_save_to", "folder"): '"."', ("wte_wordvec_save_to", "folder"): '"."',
    ("wte_writer_create", "path"): '"scratch"', ("wte_writer_remove_stale", "path"): '"scratch"',
    ("wte_utf8_next", "text"): '"a"', ("wte_utf8_next", "bytes"): "1",
    ("wte_writer_write", "bytes"): "4", ("wte_pool_create", "threads"): "2",
    ("wte_block_decode", "blocks"): "fix.block", ("wte_row_source_from_blocks", "data"): "fix.block",
    ("wte_row_source_from_blocks", "rows"): "2", ("wte_row_source_from_blocks", "cols"): "32",
    ("wte_row_source_from_rowwise", "rows"): "2", ("wte_row_source_from_rowwise", "cols"): "4",
    ("wte_rowwise_encode", "rows"): "2", ("wte_rowwise_encode", "cols"): "4",
    ("wte_corpus_open", "path"): '"corpus.txt"', ("wte_pairs_open", "path"): '"pairs.txt"', ("wte_analogies_open", "path"): '"analogies.txt"',
    ("wte_pairs_open_memory", "data"): '"a b 1\\n"', ("wte_pairs_open_memory", "bytes"): "6",
    ("wte_analogies_open_memory", "data"): '"a b c d\\n"', ("wte_analogies_open_memory", "bytes"): "8",
    ("wte_word_row", "rows"): "6", ("wte_pearson", "n"): "3", ("wte_spearman", "n"): "3",
    ("wte_pearson", "y"): "fix.doubles + 4", ("wte_spearman", "y"): "fix.doubles + 4",
    ("wte_eval_similarity", "n"): "2", ("wte_eval_analogies", "n"): "1",
    ("wte_file_open", "path"): '"two.safetensors"', ("wte_file_open_memory", "data"): "fix.bytes", ("wte_file_open_memory", "bytes"): "fix.n_bytes",
    ("wte_file_find", "name_bytes"): "1", ("wte_file_read", "n"): "4", ("wte_fasttext_oov_vector", "bytes"): "1",
    ("wte_file_fasttext", "f"): "fix.fasttext",
    ("wte_file_text_reading", "f"): "fix.text",
    ("wte_fasttext_oov_vector", "f"): "fix.fasttext", ("wte_file_tokens", "f"): "fix.fasttext",
    ("wte_file_unlisted_tensor", "f"): "fix.sharded", ("wte_file_storage", "f"): "fix.torch", ("wte_file_n_storages", "f"): "fix.torch",
    ("wte_safetensors_write", "path"): '"out.safetensors"', ("wte_gguf_write", "path"): '"out.gguf"', ("wte_npy_write", "path"): '"out.npy"',
    ("wte_safetensors_write", "n"): "1", ("wte_safetensors_write", "n_metadata"): "1", ("wte_gguf_write", "n"): "1",
    ("wte_npy_header", "shape"): "fix.shape", ("wte_npy_header", "rank"): "2", ("wte_grad_create", "rows"): "4", ("wte_grad_create", "cols"): "3",
    ("wte_grad_norm", "n"): "1", ("wte_grad_clip", "n"): "1", ("wte_nearest", "n"): "1", ("wte_nearest", "cols"): "3",
    ("wte_head_topk", "k"): "2", ("wte_topk", "k"): "2", ("wte_topk", "n"): "2", ("wte_lookup_i64", "ids"): "fix.id",
    ("wte_head_open", "m"): "fix.tied", ("wte_token_text", "m"): "fix.tied", ("wte_token_id", "m"): "fix.tied",
    ("wte_lm_save", "folder"): '"."', ("wte_wordvec_save", "folder"): '"."',
    ("wte_model_open", "path"): '"two.safetensors"', ("wte_model_candidate_facts", "m"): "fix.stored", ("wte_model_check", "m"): "fix.stored",
    ("wte_vocab_align", "rows_a"): "2", ("wte_vocab_align", "rows_b"): "2",
    ("wte_optim_load", "name"): '"sum"', ("wte_optim_load", "rows"): "rows_of_zeros", ("wte_optim_state_bytes", "rows"): "4",
    ("wte_optim_state_bytes", "cols"): "3", ("wte_optim_grow", "t"): "fix.taller",
    ("wte_packed_bytes", "packing"): "WTE_ROW8", ("wte_packed_bytes", "cols"): "4",
    ("wte_table_create", "rows"): "4", ("wte_table_create", "dim"): "3",
    ("wte_vocab_open", "path"): '"vocab.txt"', ("wte_vocab_open_memory", "data"): '"a\\nb\\n"', ("wte_vocab_open_memory", "bytes"): "4",
    ("wte_vocab_find", "bytes"): "1", ("wte_wordvec_save_fasttext", "path"): '"out.bin"', ("wte_diagnosis_summarize", "n"): "1",
    ("wte_gradcheck", "results"): "buffer(@)", ("wte_near_hit *", "hits"): "buffer(@)",
}
# Not a single value that a failure leaves NULL or 0: arrays, which it leaves alone or half written; a sum that is added to.
ARRAYS = {
    ("wte_eval_analogies", "answers"), ("wte_file_disk_usage", "storage_used"), ("wte_file_disk_usage", "same_as"), ("wte_head_sample", "ids"),
    ("wte_vocab_align", "b_of"), ("wte_diagnose_rows", "out"), ("wte_model_diagnose", "out"), ("wte_gradcheck", "results"),
    ("wte_topk", "out"),
    ("wte_head_topk", "out"), ("wte_head_topk", "sums"), ("wte_head_logprobs", "sums"), ("wte_nearest", "hits"),
    ("wte_vocab_align", "out"), ("wte_convert", "report"), ("wte_row_source_from_blocks", "storage"), ("wte_row_source_from_rowwise", "storage"),
}
# What a handle that is NULL gives, where it is not 0, NULL or "".
OF_NULL = {
    "wte_pool_n_threads": "1", "wte_token_id": "-1", "wte_word_row": "WTE_NO_INDEX", "wte_writer_fd": "-1", "wte_utf8_next": "0",
}
# Changes that no function can find wrong, with the reason.
UNFAIR = {
    ("wte_nearest", "opt.top", "huge"): "hits is said to have room for n x top",
}
SIZES = ("uint64_t", "size_t", "uint32_t")


class Sweep:
    def __init__(self, headers):
        self.h = headers
        self.out = []

    def missing(self, what):
        raise SystemExit(f"make_api_sweep.py: no factory for {what}; add one there, and its value to api_sweep.h")

    def struct_of(self, type_):
        """The struct that a parameter is, or points to for reading; None for anything else."""
        name = type_.removeprefix("const ").removesuffix(" *") if type_.startswith("const ") else type_
        return name if name in self.h.structs else None

    def value(self, f, p, k):
        struct = self.struct_of(p.type)
        for key in ((f.name, p.name), (p.type, p.name)):
            for table in (BY_PARAMETER, BY_NAME):
                if key in table:
                    return table[key].replace("@", str(k))
        key = struct or p.type
        if key in BY_TYPE:
            return BY_TYPE[key].replace("@", str(k))
        if struct and struct.endswith("_options"):
            return "{ 0 }"  # filled by the type's macro, in declare
        return self.missing(f"parameter '{p.name}' of {f.name}, of type '{p.type}'")

    def is_out(self, p):
        """A place for one result: T ** and, of scalars and structs, T *."""
        if p.type.endswith("**"):
            return True
        if p.type in BY_TYPE:
            return False
        base = p.type.removesuffix(" *")
        return base != p.type and not p.type.startswith("const ") and base != "wte_error" and (
            base in ("uint64_t", "double", "size_t") or base in self.h.structs or self.h.is_enum(base))

    def is_handle(self, p):
        base = p.type.removeprefix("const ").removesuffix(" *")
        return base != p.type and base in self.h.opaque

    def declare(self, f):
        lines, outs = [], []
        for k, p in enumerate(f.params):
            struct = self.struct_of(p.type)
            if p.type == "wte_error *":
                lines.append("wte_error *err = error_;")
            elif self.is_out(p):
                array = (f.name, p.name) in ARRAYS
                lines.append(f"{p.type} {p.name} = buffer({k});")
                if not array:
                    size = "sizeof(void *)" if p.type.endswith("**") else f"sizeof({p.type.removesuffix(' *')})"
                    outs.append((p.name, size))
            elif struct and struct.endswith("_options"):
                init = BY_TYPE.get(struct) or f"({struct}){struct.upper()}_INIT"
                lines.append(f"{struct} {p.name}_of = {init};")
                lines.append(f"const {struct} *{p.name} = &{p.name}_of;")
            elif struct and p.type.endswith("*"):
                lines.append(f"{struct} {p.name}_of = {self.value(f, p, k)};")
                lines.append(f"const {struct} *{p.name} = &{p.name}_of;")
            else:
                type_ = "const char *const (*@)[2]".replace("@", p.name) if p.type == "const char *const (*)[2]" else f"{p.type} {p.name}"
                lines.append(f"{type_} = {self.value(f, p, k)};")
        return lines, outs

    def of_field(self, place, type_, array, in_options):
        """Changes of one field: (what, statement, must fail)."""
        if array:
            return []
        if type_ in self.h.structs:
            changes = []
            for field in self.h.structs[type_]:
                changes += self.of_field(f"{place}.{field.name}", field.type, field.array, in_options)
            return changes
        if type_ in ("float", "double"):
            return [(f"{place} = {text}", f"{place} = {value};", text == "NaN" and in_options)
                    for text, value in (("NaN", "NAN"), ("-1", "-1"), ("infinity", "INFINITY"), ("-infinity", "-INFINITY"))]
        if type_ in SIZES and not place.endswith(".struct_size"):
            few = "3" if in_options else "0"
            return [(f"{place} = {few}", f"{place} = {few};", False), (f"{place} = huge", f"{place} = ({type_})UINT64_MAX;", False)]
        if type_ == "int64_t":
            return [(f"{place} = {value}", f"{place} = {value};", False) for value in ("3", "-1", "INT64_MIN", "INT64_MAX")]
        if self.h.is_enum(type_):
            return [(f"{place} = 77", f"{place} = ({type_})77;", False)]
        if type_ == "bool":
            return [(f"{place} = true", f"{place} = true;", False)]
        pointers = {
            "const wte_progress *": ["&no_report", "&stopping"], "const wte_allocator *": ["&no_functions", "&has_nothing"],
            "const wte_row_source *": ["&rows_of_nothing", "&rows_that_fail"], "const wte_named_source *": ["&named_nothing"],
            "wte_pool *": ["fix.pool"], "const char *": ['""'],
        }
        if in_options and type_ in pointers:
            return [(f"{place} = {value.lstrip('&')}", f"{place} = {value};", False) for value in pointers[type_]]
        if not in_options and (type_.endswith("*") or type_ == "function"):
            return [(f"{place} = NULL", f"{place} = NULL;", False)]
        return []

    def changes(self, f, p):
        struct, changes = self.struct_of(p.type), []
        if p.type == "wte_error *":
            return []
        if p.type.endswith("*") or p.type.endswith("[2]"):
            changes.append((f"{p.name} = NULL", f"{p.name} = NULL;", False))
            if p.type == "const char *":
                changes.append((f'{p.name} = ""', f'{p.name} = "";', False))
        if struct:
            options, place = struct.endswith("_options"), p.name + ("_of" if p.type.endswith("*") else "")
            if options:
                size = f"{place}.struct_size = sizeof {place};"
                changes.append((f"{p.name} zeroed", f"memset(&{place}, 0, sizeof {place});", True))
                changes.append((f"{p.name} with its size alone", f"memset(&{place}, 0, sizeof {place}); {size}", False))
            elif p.type.endswith("*"):
                changes.append((f"{p.name} zeroed", f"memset(&{place}, 0, sizeof {place});", False))
            if struct == "wte_row_source":
                changes.append((f"{p.name} fails without a word", f"{place} = rows_that_fail;", False))
            for field in self.h.structs[struct]:
                changes += [(c[0].replace(place, p.name, 1), *c[1:]) for c in self.of_field(f"{place}.{field.name}", field.type, field.array, options)]
        elif not p.type.endswith("*"):
            if p.type in SIZES:
                for text, value in (("0", "0"), ("1", "1"), ("huge", f"({p.type})UINT64_MAX"), ("half of huge", f"({p.type})(({p.type})UINT64_MAX / 2 + 1)")):
                    changes.append((f"{p.name} = {text}", f"{p.name} = {value};", False))
            else:
                changes += self.of_field(p.name, p.type, 0, False)
        return changes

    def function(self, f):
        lines, outs = self.declare(f)
        cases = []
        for p in f.params:
            for what, statement, must_fail in self.changes(f, p):
                place = what.rpartition(" = ")
                if (f.name, place[0], place[2]) in UNFAIR:
                    continue
                cases.append((what, statement, must_fail and f.result == "wte_status", self.is_handle(p) and what.endswith("= NULL")))
        o = self.out
        o.append(f"static void call_{f.name}(int change_, wte_error *error_, outcome *outcome_)\n{{")
        o += ["    " + line for line in lines]
        o.append("    (void)error_, (void)outcome_;\n    switch (change_) {")
        o += [f"    case {i + 1}: {c[1]} break;" for i, c in enumerate(cases)]
        o.append("    default: break;\n    }")
        call = f"{f.name}({', '.join(p.name for p in f.params)})"
        if f.result == "void":
            o.append(f"    {call};")
        elif f.result == "wte_status":
            o.append(f"    outcome_->status = {call};")
            if all(p.type != "wte_error *" for p in f.params):
                o.append("    note_last_error(outcome_, error_);")
        elif f.result in ("float", "double"):
            o.append(f"    outcome_->empty = {call} == 0;")
        elif f.result == "const char *":
            o.append(f"    const char *text_ = {call};\n    outcome_->empty = !text_ || !*text_;")
        else:
            o.append(f"    outcome_->empty = {call} == {OF_NULL.get(f.name, '0' if '*' not in f.result else 'NULL')};")
        for name, size in outs:
            o.append(f"    note_output(outcome_, \"{name}\", {name}, {size});")
        o.append("}")
        o.append(f"static const api_change changes_of_{f.name}[] = {{\n    {{ \"as it should be\", false, false }},")
        o += ['    {{ "{}", {}, {} }},'.format(c[0].replace('"', '\\"'), *("true" if x else "false" for x in c[2:])) for c in cases]
        o.append("};")

    def program(self):
        self.out.append('/* Made by tests/make_api_sweep.py from the headers. */\n#include "api_sweep.h"\n')
        for f in self.h.functions:
            self.function(f)
        self.out.append("static const api_function functions[] = {")
        for f in self.h.functions:
            kind = {"wte_status": "STATUS", "void": "NOTHING"}.get(f.result, "VALUE")
            self.out.append(f'    {{ "{f.name}", {kind}, call_{f.name}, changes_of_{f.name}, sizeof changes_of_{f.name} / sizeof(api_change) }},')
        self.out.append("};\n\nint main(int argc, char **argv)\n{\n    return sweep(functions, sizeof functions / sizeof functions[0], argc, argv);\n}")
        return "\n".join(self.out) + "\n"


def main():
    folder, path = sys.argv[1:]
    text = Sweep(Headers(folder)).program()
    with open(path, "w") as out:
        out.write(text)


if __name__ == "__main__":
    main()
