"""libwte by way of ctypes, for the oracle tests: the few calls and structs that they need."""
import ctypes as c

SKIPPED = 77  # ctest's SKIP_RETURN_CODE

F64, F32, F16, BF16 = 1, 2, 3, 4
U16, I32, U32, I64 = 10, 11, 12, 13
TORCH_AVX2, TORCH_SCALAR, UNIFORM = 0, 1, 2


class Error(c.Structure):
    _fields_ = [("status", c.c_int32), ("sys_errno", c.c_int32), ("where", c.c_uint64), ("message", c.c_char * 240)]


class InitOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("kind", c.c_int),
        ("has_padding_id", c.c_uint32),
        ("seed", c.c_uint64),
        ("padding_id", c.c_uint64),
        ("mean", c.c_double),
        ("std", c.c_double),
        ("low", c.c_double),
        ("high", c.c_double),
    ]


class Rows(c.Structure):
    _fields_ = [
        ("rows", c.c_uint64),
        ("cols", c.c_uint64),
        ("dtype", c.c_int),
        ("packing", c.c_uint32),
        ("data", c.c_void_p),
        ("row_bytes", c.c_uint64),
        ("read_rows", c.c_void_p),
        ("read_block", c.c_void_p),
        ("ctx", c.c_void_p),
        ("packed", c.c_void_p),
        ("packed_row_bytes", c.c_uint64),
        ("read_packed", c.c_void_p),
    ]


class Ids(c.Structure):
    _fields_ = [("data", c.c_void_p), ("type", c.c_int), ("reserved", c.c_uint32), ("count", c.c_uint64)]


class LookupOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("out_dtype", c.c_int),
        ("bad_ids", c.c_int),
        ("ignore_ids", c.c_void_p),
        ("n_ignore_ids", c.c_size_t),
        ("pool", c.c_void_p),
        ("report", c.c_void_p),
        ("allocator", c.c_void_p),
        ("max_norm", c.c_double),
        ("norm_type", c.c_double),
        ("scale", c.c_float),
    ]


class BagOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("mode", c.c_int),
        ("out_dtype", c.c_int),
        ("bad_ids", c.c_int),
        ("offsets_end", c.c_uint32),
        ("ignore_ids", c.c_void_p),
        ("n_ignore_ids", c.c_size_t),
        ("bag_ids", c.c_uint64),
        ("weights", c.c_void_p),
        ("mask", c.c_void_p),
        ("mask_dtype", c.c_int),
        ("normalize", c.c_uint32),
        ("max_norm", c.c_double),
        ("norm_type", c.c_double),
        ("sizes", c.c_void_p),
        ("max_at", c.c_void_p),
        ("pool", c.c_void_p),
        ("report", c.c_void_p),
        ("allocator", c.c_void_p),
    ]


class GradOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("kind", c.c_int),
        ("f64_sums", c.c_uint32),
        ("max_bytes", c.c_uint64),
        ("pool", c.c_void_p),
        ("allocator", c.c_void_p),
    ]


class GradRows(c.Structure):
    _fields_ = [("n", c.c_uint64), ("cols", c.c_uint64), ("ids", c.POINTER(c.c_uint64)), ("values", c.POINTER(c.c_float))]


class OptimOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("kind", c.c_int), ("decay", c.c_int), ("rounding", c.c_int)]
    _fields_ += [(name, c.c_uint32) for name in ("nesterov", "amsgrad", "decay_touched")]
    _fields_ += [(name, c.c_double) for name in ("lr", "momentum", "dampening", "beta1", "beta2", "eps", "weight_decay")]
    _fields_ += [(name, c.c_double) for name in ("lr_decay", "initial_accumulator")]
    _fields_ += [("seed", c.c_uint64), ("trainable", c.c_void_p), ("max_bytes", c.c_uint64)]
    _fields_ += [("pool", c.c_void_p), ("allocator", c.c_void_p)]


OWN = -1.0  # WTE_OPTIM_DEFAULT
SGD, ADAM, ADAMW, LAZY_ADAM, ADAGRAD, ROWWISE_ADAGRAD, ADAFACTOR = range(7)


class BackwardOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("d_out_dtype", c.c_int),
        ("scale_by_freq", c.c_uint32),
        ("ignore_ids", c.c_void_p),
        ("n_ignore_ids", c.c_size_t),
        ("scale", c.c_float),
        ("report", c.c_void_p),
    ]


class Hidden(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("dtype", c.c_int),
        ("reserved", c.c_uint32),
        ("n", c.c_uint64),
        ("dim", c.c_uint64),
        ("row_bytes", c.c_size_t),
    ]


class Chain(c.Structure):
    _fields_ = [(name, c.c_float) for name in ("hidden_times", "hidden_over", "times", "over", "cap")] + [("reserved", c.c_uint32)]


class HeadOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("precision", c.c_int),
        ("bias_dtype", c.c_int),
        ("bias", c.c_void_p),
        ("chain", Chain),
        ("n_valid", c.c_uint64),
        ("valid", c.c_void_p),
        ("work_bytes", c.c_uint64),
        ("pool", c.c_void_p),
        ("progress", c.c_void_p),
        ("allocator", c.c_void_p),
    ]


class Library:
    def __init__(self, path):
        self.lib = c.CDLL(path)
        self.lib.wte_table_data.restype = c.c_void_p
        self.lib.wte_table_data.argtypes = [c.c_void_p]
        self.lib.wte_table_free.argtypes = [c.c_void_p]
        self.lib.wte_table_create.argtypes = [c.c_uint64, c.c_uint64, c.c_int] + [c.c_void_p] * 3
        self.lib.wte_table_init.argtypes = [c.c_void_p] * 3
        self.lib.wte_lookup.argtypes = [c.c_void_p, Ids, c.c_void_p, c.c_void_p, c.c_size_t, c.c_void_p]
        self.lib.wte_bag_reduce.argtypes = [c.c_void_p, Ids, Ids, c.c_void_p, c.c_void_p, c.c_size_t, c.c_void_p]
        self.lib.wte_rowwise_encode.argtypes = [c.c_int, c.c_void_p, c.c_uint64, c.c_uint64, c.c_void_p, c.c_uint64, c.c_void_p]
        self.lib.wte_row_source_from_rowwise.argtypes = [c.c_int, c.c_uint64, c.c_uint64, c.c_void_p, c.c_uint64] + [c.c_void_p] * 3
        gradient = [c.c_void_p, Ids, c.c_void_p, c.c_size_t, c.c_void_p, c.c_void_p]
        self.lib.wte_grad_create.argtypes = [c.c_uint64, c.c_uint64] + [c.c_void_p] * 3
        self.lib.wte_grad_lookup.argtypes = gradient
        self.lib.wte_grad_bag.argtypes = gradient[:2] + [Ids, c.c_void_p] + gradient[2:]
        self.lib.wte_bag_weights_grad.argtypes = [c.c_void_p, Ids, Ids] + [c.c_void_p] * 5
        self.lib.wte_grad_norm.argtypes = [c.c_void_p, c.c_size_t, c.c_void_p, c.c_void_p]
        self.lib.wte_grad_clip.argtypes = [c.c_void_p, c.c_size_t, c.c_double, c.c_void_p, c.c_void_p]
        self.lib.wte_grad_data.restype = c.c_void_p
        for name in ("data", "free", "zero"):
            getattr(self.lib, "wte_grad_" + name).argtypes = [c.c_void_p]
        self.lib.wte_grad_view.argtypes = [c.c_void_p] * 2
        self.lib.wte_head_logits.argtypes = [c.c_void_p] * 4 + [c.c_size_t, c.c_void_p]
        self.lib.wte_pool_create.argtypes = [c.c_uint32, c.c_void_p, c.c_void_p]
        self.lib.wte_pool_free.argtypes = [c.c_void_p]
        self.lib.wte_optim_create.argtypes = [c.c_void_p] * 4
        self.lib.wte_optim_free.argtypes = [c.c_void_p]
        self.lib.wte_optim_set_lr.argtypes = [c.c_void_p, c.c_double, c.c_void_p]
        self.lib.wte_optim_sync_rows.argtypes = [c.c_void_p, Ids, c.c_void_p]
        self.lib.wte_optim_step.argtypes = [c.c_void_p] * 3
        self.lib.wte_optim_step_lookup.argtypes = [c.c_void_p, Ids, c.c_void_p, c.c_size_t, c.c_void_p, c.c_void_p]
        self.lib.wte_optim_step_bag.argtypes = [c.c_void_p, Ids, Ids, c.c_void_p, c.c_void_p, c.c_size_t] + [c.c_void_p] * 2

    def call(self, name, *arguments):
        """Call wte_<name> with an error struct as its last argument; raise what it reports."""
        error = Error()
        if getattr(self.lib, "wte_" + name)(*arguments, c.byref(error)) != 0:
            raise RuntimeError(f"wte_{name}: {error.message.decode()}")

    def initial_values(self, rows, dim, dtype, **options):
        """The bytes of a table made by wte_table_create and wte_table_init."""
        size = {F64: 8, F32: 4, F16: 2, BF16: 2}[dtype]
        table = c.c_void_p()
        self.call("table_create", rows, dim, dtype, None, c.byref(table))
        given = InitOptions(struct_size=c.sizeof(InitOptions), **options)
        self.call("table_init", table, c.byref(given))
        values = c.string_at(self.lib.wte_table_data(table), rows * dim * size)
        self.lib.wte_table_free(table)
        return values

    def pool(self, threads):
        made = c.c_void_p()
        self.call("pool_create", threads, c.byref(made))
        return made

    def lookup(self, rows, ids, out, pool=None, **options):
        """out[i] = rows[ids[i]]; rows and ids are the structs above, out an address."""
        given = LookupOptions(struct_size=c.sizeof(LookupOptions), pool=pool, **options)
        self.call("lookup", c.byref(rows), ids, c.byref(given), out, 0)

    def bags(self, rows, ids, offsets, out, **options):
        """The same for bags; ids and offsets are structs, out an address."""
        given = BagOptions(struct_size=c.sizeof(BagOptions), **options)
        self.call("bag_reduce", c.byref(rows), ids, offsets, c.byref(given), out, 0)

    def logits(self, rows, hidden, out, **options):
        """out = hidden @ rows^T; rows and hidden are the structs above, out an address."""
        given = HeadOptions(struct_size=c.sizeof(HeadOptions), **options)
        self.call("head_logits", c.byref(rows), c.byref(hidden), c.byref(given), out, 0)

    def grad(self, rows, cols, **options):
        """A gradient of zeros; to be freed with grad_free."""
        made, given = c.c_void_p(), GradOptions(struct_size=c.sizeof(GradOptions), **options)
        self.call("grad_create", rows, cols, c.byref(given), c.byref(made))
        return made

    def optim(self, table, **options):
        """An optimizer of a table; to be freed with optim_free, before it."""
        own = {"lr": OWN, "beta1": OWN, "beta2": OWN, "eps": OWN}
        made, given = c.c_void_p(), OptimOptions(struct_size=c.sizeof(OptimOptions), **own | options)
        self.call("optim_create", table, c.byref(given), c.byref(made))
        return made

    def grad_rows(self, grad):
        """What has been added up: the numbers of rows, or None, and an address of n x cols f32."""
        view = GradRows()
        self.lib.wte_grad_view(grad, c.byref(view))
        ids = [view.ids[i] for i in range(view.n)] if view.ids else None
        return view.n, ids, c.cast(view.values, c.c_void_p).value
