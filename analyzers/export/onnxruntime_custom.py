"""Operators that a library of custom operators hands to ONNX Runtime.

The library calls three functions of the C interface, and nothing in Python shows what it said. So
it gets the table of the real interface with those three replaced: they note what they are given and
pass it on. What an operator tells of itself are functions of its own, in a structure that only ever
grew at its end; `ORDER` and the versions are those of `onnxruntime_c_api.h`.
"""

import ctypes
import glob
import os

from _opseal_common import ExportError, optional_module
from _opseal_forked import ForkFailed, call_in_fork
from _opseal_functions import relative_file

ENTRY = b"RegisterCustomOps"
# What the end of a range holds that has none.
OPEN_END = 2**31 - 1
DEFAULT_DOMAIN = "ai.onnx"
# Of a library that leaves it open; the provider for which ONNX Runtime then takes the operator.
DEFAULT_PROVIDER = "CPUExecutionProvider"

# Positions in the table OrtApi.
GET_ERROR_MESSAGE = 2
CREATE_SESSION_OPTIONS = 10
CREATE_DOMAIN, ADD_OPERATOR, ADD_DOMAIN = 26, 27, 28
# Table entries that are copied; more than there are does no harm.
MOST_FUNCTIONS = 1024

# Fields of OrtCustomOp after `version`, in their order; after each break, the version of the
# interface from which on a library may have filled the fields that follow.
ORDER = {
    1: ("CreateKernel", "GetName", "GetExecutionProviderType", "GetInputType", "GetInputTypeCount",
        "GetOutputType", "GetOutputTypeCount", "KernelCompute", "KernelDestroy"),
    8: ("GetInputCharacteristic", "GetOutputCharacteristic"),
    13: ("GetInputMemoryType",),
    14: ("GetVariadicInputMinArity", "GetVariadicInputHomogeneity",
         "GetVariadicOutputMinArity", "GetVariadicOutputHomogeneity"),
    16: ("CreateKernelV2", "KernelComputeV2"),
    17: ("InferOutputShapeFn", "GetStartVersion", "GetEndVersion"),
}  # fmt: skip
FIELDS = [(name, since) for since, names in ORDER.items() for name in names]
CHARACTERISTICS = {1: "optional", 2: "variadic"}

# ONNXTensorElementDataType; 0 stands for any type.
ELEMENT_TYPES = (
    None, "float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool",
    "float16", "double", "uint32", "uint64", "complex64", "complex128", "bfloat16",
    "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4",
    "float4e2m1",
)  # fmt: skip

Pointer = ctypes.c_void_p
TextFunction = ctypes.CFUNCTYPE(ctypes.c_char_p, Pointer)
CountFunction = ctypes.CFUNCTYPE(ctypes.c_size_t, Pointer)
VersionFunction = ctypes.CFUNCTYPE(ctypes.c_int, Pointer)
WordFunction = ctypes.CFUNCTYPE(ctypes.c_int, Pointer, ctypes.c_size_t)
CreateOptions = ctypes.CFUNCTYPE(Pointer, ctypes.POINTER(Pointer))
CreateDomain = ctypes.CFUNCTYPE(Pointer, Pointer, ctypes.POINTER(Pointer))
TwoPointers = ctypes.CFUNCTYPE(Pointer, Pointer, Pointer)
GetTable = ctypes.CFUNCTYPE(Pointer, ctypes.c_uint32)


def domain_of(text):
    return text or DEFAULT_DOMAIN


def describe_range(first, last):
    return {"since": first, "until": None if last >= OPEN_END else last}


def custom_operators(request):
    """Operators of the manifest. A library that was asked for and cannot be read ends the export."""
    found = []
    for library in request.custom_ops:
        try:
            described = call_in_fork(lambda: Reader(library).operators())
        except ForkFailed as reason:
            raise ExportError(
                "custom operators of `{}` cannot be read: {}".format(library, reason)
            ) from None
        if not described:
            request.remark("`{}` registers no operator".format(library))
        found += described
    return found


class Reader:
    """Needs: a process of its own, for the library stays loaded and keeps pointers into this."""

    def __init__(self, library):
        self.library = os.path.abspath(library)
        self.place = relative_file(self.library)
        self.base = runtime_base()
        self.tables = {}  # version of the interface -> its table with our functions in it
        self.real = None
        self.domains = {}  # address -> name
        self.pairs = []  # (address of a domain, address of an operator)
        self.added = set()

    def operators(self):
        register = function_of(self.library)
        self.table_for(newest_version(self.base))
        options = Pointer()
        self.raise_if_failed(
            CreateOptions(self.real[CREATE_SESSION_OPTIONS])(ctypes.byref(options))
        )
        # What the library may keep must outlive it, and Python would free it with this call.
        self.get_table = GetTable(lambda version: self.table_for(version))
        self.own_base = (Pointer * 2)(ctypes.cast(self.get_table, Pointer).value, self.base[1])
        self.raise_if_failed(register(options, ctypes.addressof(self.own_base)))
        return [
            describe(address, self.domains.get(domain, ""), self.place)
            for domain, address in self.pairs
            if domain in self.added
        ]

    def table_for(self, version):
        if version not in self.tables:
            address = GetTable(self.base[0])(version)
            if not address:
                return None  # the interface's own answer to a version that it does not have
            table = copied_table(address)
            self.real = self.real or list(table)
            self.tables[version] = self.with_own_functions(table)
        return ctypes.addressof(self.tables[version][0])

    def with_own_functions(self, table):
        create = CreateDomain(table[CREATE_DOMAIN])
        add_operator = TwoPointers(table[ADD_OPERATOR])
        add_domain = TwoPointers(table[ADD_DOMAIN])

        def on_create(name, out):
            status = create(name, out)
            if not status:
                text = ctypes.string_at(name) if name else b""
                self.domains[out[0]] = text.decode("utf-8", "replace")
            return status

        def on_operator(domain, operator):
            self.pairs.append((domain, operator))
            return add_operator(domain, operator)

        def on_domain(options, domain):
            self.added.add(domain)
            return add_domain(options, domain)

        own = CreateDomain(on_create), TwoPointers(on_operator), TwoPointers(on_domain)
        for position, function in zip((CREATE_DOMAIN, ADD_OPERATOR, ADD_DOMAIN), own):
            table[position] = ctypes.cast(function, Pointer).value
        return table, own

    def raise_if_failed(self, status):
        if status:
            text = TextFunction(self.real[GET_ERROR_MESSAGE])(status) or b""
            raise ExportError(text.decode("utf-8", "replace"))


def runtime_base():
    """The pair of pointers OrtApiBase of the runtime in the package. The Python module has one too,
    but does not export it."""
    package = optional_module("onnxruntime")
    folder = os.path.join(os.path.dirname(package.__file__), "capi")
    libraries = sorted(glob.glob(os.path.join(folder, "libonnxruntime.so*")))
    if not libraries:
        raise ExportError("the package has no `libonnxruntime.so`, expected it beside its module")
    get_base = ctypes.CDLL(libraries[0]).OrtGetApiBase
    get_base.restype = ctypes.POINTER(Pointer)
    return get_base()


def newest_version(base):
    """1.32.0 has version 32 of the interface."""
    text = ctypes.CFUNCTYPE(ctypes.c_char_p)(base[1])() or b""
    return int(text.split(b".")[1])


def function_of(library):
    loaded = ctypes.CDLL(library)
    if not hasattr(loaded, ENTRY.decode()):
        raise ExportError("no function `{}`".format(ENTRY.decode()))
    function = getattr(loaded, ENTRY.decode())
    function.restype, function.argtypes = Pointer, [Pointer, Pointer]
    return function


def copied_table(address):
    """The kernel reads the memory, for it stops where the mapped part ends."""
    memory = os.open("/proc/self/mem", os.O_RDONLY)
    try:
        size = MOST_FUNCTIONS * ctypes.sizeof(Pointer)
        bytes_read = os.pread(memory, size, address)
    finally:
        os.close(memory)
    return (Pointer * MOST_FUNCTIONS).from_buffer_copy(bytes_read.ljust(size, b"\0"))


class OrtCustomOp(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32)] + [(name, Pointer) for name, _ in FIELDS]


class Operator:
    """An OrtCustomOp, asked only for what its version says that it has."""

    def __init__(self, address):
        self.address = address
        self.version = ctypes.c_uint32.from_address(address).value
        self.offsets = {
            name: getattr(OrtCustomOp, name).offset
            for name, since in FIELDS
            if self.version >= since
        }

    def function(self, name):
        offset = self.offsets.get(name)
        return Pointer.from_address(self.address + offset).value if offset is not None else None

    def ask(self, kind, name, *arguments, default=None):
        function = self.function(name)
        return kind(function)(self.address, *arguments) if function else default

    def operands(self, side):
        count = self.ask(CountFunction, "Get{}TypeCount".format(side), default=0)
        return [self.operand(side, position) for position in range(count)]

    def operand(self, side, position):
        described = {}
        word = self.ask(WordFunction, "Get{}Characteristic".format(side), position, default=0)
        if word in CHARACTERISTICS:
            described[CHARACTERISTICS[word]] = True
        element = self.ask(WordFunction, "Get{}Type".format(side), position, default=0)
        if 0 < element < len(ELEMENT_TYPES):
            described["type"] = "tensor({})".format(ELEMENT_TYPES[element])
        return described


def describe(address, domain, place):
    operator = Operator(address)
    inputs, outputs = operator.operands("Input"), operator.operands("Output")
    versions = describe_range(
        operator.ask(VersionFunction, "GetStartVersion", default=1),
        operator.ask(VersionFunction, "GetEndVersion", default=OPEN_END),
    )
    provider = operator.ask(TextFunction, "GetExecutionProviderType") or b""
    kernel = {"platform": provider.decode() or DEFAULT_PROVIDER, "versions": dict(versions)}
    kernel["library"] = place
    operands = inputs + outputs
    if all(set(operand) == {"type"} for operand in operands):
        kernel["signatures"] = [[operand["type"] for operand in operands]]
    described = {
        "name": (operator.ask(TextFunction, "GetName") or b"").decode("utf-8", "replace"),
        "namespace": domain_of(domain),
        "versions": versions,
        "arity_source": "declared",
        "inputs": inputs,
        "outputs": outputs,
        "defined_in": "native",
    }
    if not operator.function("InferOutputShapeFn"):
        described["abstract"] = None
    described["kernels"] = [kernel]
    return described
