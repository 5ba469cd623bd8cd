// What a manifest says of built libraries and of the packages that hold them, as `formats.md`
// (docs/formats.md) fixes it.

#include "analyzers/forms.h"

namespace opseal::forms {
namespace {

// What opseal reads from a built library.
constexpr std::string_view symbol_kinds[] = {"function", "ifunc",   "object", "tls",
                                             "common",   "section", "file",   "none"};
constexpr Form symbol_kind_form{.text = true, .words = symbol_kinds};
constexpr Field symbol_fields[] = {
    {name, &text_form, true, "as in the symbol table, without a version"},
    {kind, &symbol_kind_form, false, ""},
    {version, &text_form, false, "symbol version; missing: unversioned"},
    {library, &text_form, false, "soname that shall provide the version"},
    {default_, &truth_form, false,
     "false: bound to only by those that ask for its version (`name@VERSION`)"},
    {weak, &truth_form, false, ""},
    {alias_of, &text_form, false,
     "of an exported function that C++ didn't name: another one of the same address and size"},
};
constexpr Form symbol_form{.name = "Symbol", .fields = symbol_fields};
constexpr Form symbols_form{.item = &symbol_form};

constexpr Field image_kernel_fields[] = {
    {name, &text_form, true, "mangled"},
    {registers, &count_form, false, "per thread"},
    {shared_memory, &count_form, false,
     "static, in bytes, without what the architecture reserves for itself"},
    {parameters, &counts_form, false, "bytes of each, in order"},
    {max_threads, &counts_form, false, "launch bound by dimension (`.maxntid`)"},
    {required_threads, &counts_form, false, "by dimension (`.reqntid`)"},
    {cluster, &counts_form, false, "blocks of a cluster by dimension"},
    {local, &truth_form, false, "has internal linkage"},
    {instructions, &count_form, false,
     "of the body, without no-ops and branches; missing: not counted"},
    {writes, &truth_form, false, "the body stores, or hands memory to somebody who may"},
    {traps, &truth_form, false, "the body can stop with a trap"},
};
constexpr Form image_kernel_form{.name = "ImageKernel", .fields = image_kernel_fields};
constexpr Form image_kernels_form{.item = &image_kernel_form};
constexpr std::string_view image_kinds[] = {"sass", "ptx", "lto_ir", "other"};
constexpr Form image_kind_form{.text = true, .words = image_kinds};
constexpr std::string_view compression_words[] = {"none", "zstd", "lz4"};
constexpr Form compression_form{.text = true, .words = compression_words};
constexpr Field image_fields[] = {
    {container, &count_form, false, "images of one container come from one translation unit"},
    {section, &text_form, false, "section of the host file"},
    {kind, &image_kind_form, true, "machine code, or text that the driver compiles"},
    {architecture, &text_form, false, "`sm_90a`; of PTX its target"},
    {version, &text_form, false, "of PTX the ISA"},
    {compression, &compression_form, false, ""},
    {relocatable, &truth_form, false, "a part that was not linked yet"},
    {kernels, &image_kernels_form, false, ""},
};
constexpr Form image_form{.name = "Image", .fields = image_fields};
constexpr Form images_form{.item = &image_form};

constexpr Field api_versions_fields[] = {
    {min, &text_form, false, "`0.2`"},
    {max, &text_form, false, ""},
};
constexpr Form api_versions_form{.name = "ApiVersions", .fields = api_versions_fields};
constexpr Field handler_fields[] = {
    {symbol, &text_form, false, "missing: the file holds the handler and doesn't export it"},
    {function, &text_form, false, "of a hidden handler, by its local symbol"},
    {stage, &text_form, false, ""},
    {returns, &text_form, false, "C++ type; `xla::ffi::Future`: it may end later than its call"},
    {arguments, &operands_form, false, ""},
    {results, &operands_form, false, ""},
    {attributes, &texts_form, false, "types, in the language of `spec`"},
    {contexts, &texts_form, false, "what else is bound: `stream`, `scratch`, `state<T>`"},
    {api_versions, &api_versions_form, false, "versions of the headers that make such a handler"},
    {ambiguous, &truth_form, false, "the code leads to several signatures"},
    {reaches, &texts_form, false,
     "kernels that its code may launch: an over-approximation, and blind to calls through tables"},
};
constexpr Form handler_form{.name = "Handler", .fields = handler_fields};
constexpr Form handlers_form{.item = &handler_form};

constexpr std::string_view registrar_kinds[] = {"definition", "fragment", "implementation", "entry",
                                                "imports"};
constexpr std::string_view registrar_systems[] = {"torch",   "onnxruntime", "ggml",
                                                  "tvm-ffi", "executorch",  "python"};
constexpr Form registrar_system_form{.text = true, .words = registrar_systems};
constexpr Form registrar_kind_form{.text = true, .words = registrar_kinds};
constexpr Field registrar_fields[] = {
    {system, &registrar_system_form, true, "`python`: an extension module"},
    {kind, &registrar_kind_form, true, ""},
    {namespace_, &text_form, false, ""},
    {platform, &text_form, false, "dispatch key"},
    {symbol, &text_form, false, "what shows it"},
    {schemas, &texts_form, false, "operators that it defines"},
};
constexpr Form registrar_form{.name = "Registrar", .fields = registrar_fields};
constexpr Form registrars_form{.item = &registrar_form};
constexpr Form locations_form{.item = &location_form};

constexpr std::string_view format_words[] = {"elf", "archive", "cubin", "fatbin", "ptx"};
constexpr Form format_form{.text = true, .words = format_words};
constexpr std::string_view library_types[] = {"shared", "program", "relocatable"};
constexpr Form library_type_form{.text = true, .words = library_types};

constexpr Field library_fields[] = {
    {path, &text_form, true, "relative to the manifest's folder"},
    {digest, &text_form, false, "`xxh128:...` or `sha256:...`"},
    {functions, &texts_form, false, ""},
    {symbols_prefix, &text_form, false, ""},
    {architectures, &texts_form, false, ""},
    {cache, &text_form, false, ""},
    {entry, &text_form, false, ""},
    {source_files, &texts_form, false, ""},
    {recipe, &text_form, false, "digest of what it was built from"},
    {found, &truth_form, false, "whether a file was there when somebody looked"},
    {found_digest, &text_form, false, "digest of the file that was there, spelled as `digest`"},
    {aliases, &texts_form, false, "other paths of the package with the same bytes"},
    {format, &format_form, false, ""},
    {type, &library_type_form, false, "of an ELF file"},
    {machine, &text_form, false, "of the host code"},
    {soname, &text_form, false, ""},
    {build_id, &text_form, false, ""},
    {needed, &texts_form, false, "sonames"},
    {rpath, &texts_form, false, "inherited by what is loaded"},
    {run_path, &texts_form, false, ""},
    {version_needs, &texts_map, false, "soname -> versions asked of it"},
    {version_definitions, &texts_form, false, ""},
    {exports, &symbols_form, false, ""},
    {imports, &symbols_form, false, ""},
    {hidden, &symbols_form, false,
     "definitions that the file keeps to itself, of names that a library beside it imports"},
    {images, &images_form, false, "device code; []: looked for, and none there"},
    {bundles, &texts_form, false, "targets of HIP code objects, which are not read"},
    {host_kernels, &texts_form, false, "kernels for which a host stub was found"},
    {unregistered_kernels, &texts_form, false,
     "kernels of images whose name stands nowhere in the host's data, so that it can't register "
     "them"},
    {handlers, &handlers_form, false, "XLA FFI"},
    {registrars, &registrars_form, false, "marks of other registries"},
    {imported_by, &locations_form, false, "Python files that import it as a module"},
    {loaded_by, &locations_form, false, "Python files that name its file"},
};

constexpr Field distribution_file_fields[] = {
    {path, &text_form, true, "inside the package"},
    {digest, &text_form, false, "as the package's own list of files says"},
};
constexpr Form distribution_file_form{.name = "PackageFile", .fields = distribution_file_fields};
constexpr Form distribution_files_form{.item = &distribution_file_form};
constexpr std::string_view distribution_kinds[] = {"wheel", "conda", "deb", "archive"};
constexpr Form distribution_kind_form{.text = true, .words = distribution_kinds};
constexpr Field distribution_fields[] = {
    {kind, &distribution_kind_form, true, ""},
    {name, &text_form, false, ""},
    {version, &text_form, false, ""},
    {tags, &texts_form, false,
     "of a wheel `cp311-cp311-manylinux2014_x86_64`, one by one; else architecture or platform"},
    {requires_, &texts_form, false, "packages that it asks for, in its own words"},
    {files, &distribution_files_form, false, ""},
    {loads, &texts_form, false, "names of libraries that its Python files mention"},
};

}  // namespace

constinit const Form library_form{.name = "Library", .fields = library_fields};
constinit const Form distribution_form{.name = "Package", .fields = distribution_fields};

}  // namespace opseal::forms
