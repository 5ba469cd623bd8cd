#include "analyzers/native/library_parts.h"

#include <algorithm>
#include <array>
#include <compare>
#include <string>

namespace opseal {
namespace {

constexpr std::uint64_t symbol_bytes = 24;

// Functions of one address and size, by the name that comes first. Compilers give a constructor two
// names, and linkers fold equal templates by the thousand: what C++ named is left out.
class Aliases {
 public:
  explicit Aliases(const std::vector<ElfSymbol>& symbols) {
    for (const ElfSymbol& symbol : symbols) {
      if (counts(symbol))
        functions_.push_back({symbol.section, symbol.value, symbol.size, symbol.name});
    }
    std::sort(functions_.begin(), functions_.end());
  }

  // The first of the other names; empty for the first itself, and where there is but one.
  std::string_view of(const ElfSymbol& symbol) const {
    if (!counts(symbol)) return {};
    const Function key{symbol.section, symbol.value, symbol.size, {}};
    const auto first = std::lower_bound(functions_.begin(), functions_.end(), key);
    return first->name == symbol.name ? std::string_view() : first->name;
  }

 private:
  struct Function {
    std::uint32_t section;
    std::uint64_t value;
    std::uint64_t size;
    std::string_view name;

    auto operator<=>(const Function&) const = default;
  };

  static bool counts(const ElfSymbol& symbol) {
    return symbol.is_export() && symbol.is_function() && symbol.size > 0 && !symbol.name.empty() &&
           !symbol.name.starts_with("_Z");
  }

  std::vector<Function> functions_;
};

void write_symbol(const ElfSymbol& symbol, std::string_view alias, FactWriter& writer) {
  const std::uint64_t at = symbol.offset;
  const std::uint32_t object = writer.open(Key::none, NodeType::object, at);
  writer.add_text(Key::name, symbol.name, at, symbol_bytes);
  writer.add_text(Key::kind, kind_word(symbol), at, symbol_bytes);
  if (!symbol.version.empty()) {
    writer.add_text(Key::version, symbol.version, at, symbol_bytes);
  }
  if (!symbol.version_library.empty()) {
    writer.add_text(Key::library, symbol.version_library, at, symbol_bytes);
  }
  if (!symbol.default_version) writer.add(Key::default_, NodeType::truth, 0, at, symbol_bytes);
  if (symbol.is_weak()) writer.add(Key::weak, NodeType::truth, 1, at, symbol_bytes);
  if (!alias.empty()) writer.add_text(Key::alias_of, alias, at, symbol_bytes);
  writer.close(object, at + symbol_bytes);
}

std::string_view word_of(ImageKind kind) {
  switch (kind) {
    case ImageKind::sass:
      return "sass";
    case ImageKind::ptx:
      return "ptx";
    case ImageKind::lto_ir:
      return "lto_ir";
    case ImageKind::other:
      break;
  }
  return "other";
}

std::string_view word_of(Compression compression) {
  switch (compression) {
    case Compression::zstd:
      return "zstd";
    case Compression::lz4:
      return "lz4";
    case Compression::none:
      break;
  }
  return "none";
}

std::string_view word_of(Registrar::Kind kind) {
  switch (kind) {
    case Registrar::Kind::definition:
      return "definition";
    case Registrar::Kind::fragment:
      return "fragment";
    case Registrar::Kind::implementation:
      return "implementation";
    case Registrar::Kind::entry:
      return "entry";
    case Registrar::Kind::imports:
      break;
  }
  return "imports";
}

// Everything of an image is in one place: its entry.
class ImageWriter {
 public:
  ImageWriter(const DeviceImages& images, FactWriter& writer) : images_(images), writer_(writer) {}

  void write(const DeviceImage& image) {
    offset_ = image.offset;
    length_ = image.length;
    const std::uint32_t object = writer_.open(Key::none, NodeType::object, offset_);
    count(Key::container, image.container);
    const std::string_view section = images_.containers[image.container].section;
    if (!section.empty()) text(Key::section, section);
    text(Key::kind, word_of(image.kind));
    if (!image.architecture.empty()) text(Key::architecture, image.architecture);
    if (!image.version.empty()) text(Key::version, image.version);
    text(Key::compression, word_of(image.compression));
    if (image.relocatable) writer_.add(Key::relocatable, NodeType::truth, 1, offset_, length_);
    if (image.kind == ImageKind::sass || image.kind == ImageKind::ptx) {
      const std::uint32_t kernels = writer_.open(Key::kernels, NodeType::list, offset_);
      for (const DeviceKernel& kernel : image.kernels) write(kernel);
      writer_.close(kernels, offset_ + length_);
    }
    writer_.close(object, offset_ + length_);
  }

 private:
  void text(Key key, std::string_view value) { writer_.add_text(key, value, offset_, length_); }
  void count(Key key, std::uint32_t value) {
    writer_.add(key, NodeType::count, value, offset_, length_);
  }
  void truth(Key key, bool value) {
    writer_.add(key, NodeType::truth, value ? 1 : 0, offset_, length_);
  }
  template <typename Counts>
  void counts(Key key, const Counts& values) {
    const std::uint32_t list = writer_.open(key, NodeType::list, offset_);
    for (const std::uint32_t value : values) count(Key::none, value);
    writer_.close(list, offset_ + length_);
  }
  void dimensions(Key key, const std::array<std::uint32_t, 3>& values) {
    if (values != std::array<std::uint32_t, 3>{}) counts(key, values);
  }
  void stated(Key key, std::int32_t value) {
    if (value >= 0) count(key, static_cast<std::uint32_t>(value));
  }

  void write(const DeviceKernel& kernel) {
    const std::uint32_t object = writer_.open(Key::none, NodeType::object, offset_);
    text(Key::name, kernel.name);
    stated(Key::registers, kernel.registers);
    stated(Key::shared_memory, kernel.shared_memory);
    counts(Key::parameters, kernel.parameters);
    dimensions(Key::max_threads, kernel.max_threads);
    dimensions(Key::required_threads, kernel.required_threads);
    dimensions(Key::cluster, kernel.cluster);
    if (kernel.local) truth(Key::local, true);
    stated(Key::instructions, kernel.instructions);
    if (kernel.body_read) {
      truth(Key::writes, kernel.writes || kernel.calls);
      if (kernel.traps) truth(Key::traps, true);
    }
    writer_.close(object, offset_ + length_);
  }

  const DeviceImages& images_;
  FactWriter& writer_;
  std::uint64_t offset_ = 0;
  std::uint64_t length_ = 0;
};

void write_operand(const FfiOperand& operand, std::uint64_t at, FactWriter& writer) {
  const std::uint32_t object = writer.open(Key::none, NodeType::object, at);
  if (!operand.dtype.empty()) {
    const std::uint32_t dtypes = writer.open(Key::dtypes, NodeType::list, at);
    writer.add_text(Key::none, operand.dtype, at, 0);
    writer.close(dtypes, at);
  }
  if (operand.rank >= 0) {
    writer.add(Key::rank, NodeType::count, static_cast<std::uint32_t>(operand.rank), at, 0);
  }
  if (operand.optional) writer.add(Key::optional, NodeType::truth, 1, at, 0);
  if (operand.kind == FfiOperand::Kind::remaining) {
    writer.add(Key::variadic, NodeType::truth, 1, at, 0);
  }
  if (!operand.type.empty()) writer.add_text(Key::type, operand.type, at, 0);
  writer.close(object, at);
}

void write_operands(Key key, const std::vector<FfiOperand>& operands, std::uint64_t at,
                    FactWriter& writer) {
  const std::uint32_t list = writer.open(key, NodeType::list, at);
  for (const FfiOperand& operand : operands) write_operand(operand, at, writer);
  writer.close(list, at);
}

template <typename Texts>
void write_list(Key key, const Texts& texts, std::uint64_t at, FactWriter& writer) {
  const std::uint32_t list = writer.open(key, NodeType::list, at);
  for (const auto& text : texts) writer.add_text(Key::none, text, at, 0);
  writer.close(list, at);
}

}  // namespace

std::string_view kind_word(const ElfSymbol& symbol) {
  // STT_...
  switch (symbol.type) {
    case 1:
      return "object";
    case 2:
      return "function";
    case 3:
      return "section";
    case 4:
      return "file";
    case 5:
      return "common";
    case 6:
      return "tls";
    case 10:
      return "ifunc";
    default:
      return "none";
  }
}

void write_texts(Key key, const std::vector<std::string_view>& texts, FactWriter& writer) {
  write_list(key, texts, 0, writer);
}

void write_dynamic(const ElfDynamic& dynamic, FactWriter& writer) {
  if (!dynamic.soname.empty()) writer.add_text(Key::soname, dynamic.soname, 0, 0);
  write_texts(Key::needed, dynamic.needed, writer);
  if (!dynamic.rpath.empty()) write_texts(Key::rpath, dynamic.rpath, writer);
  if (!dynamic.run_path.empty()) write_texts(Key::run_path, dynamic.run_path, writer);
  if (!dynamic.version_needs.empty()) {
    const std::uint32_t map = writer.open(Key::version_needs, NodeType::map, 0);
    for (const auto& [library, versions] : dynamic.version_needs) {
      writer.add_text(Key::entry_name, library, 0, 0);
      write_list(Key::entry_value, versions, 0, writer);
    }
    writer.close(map, 0);
  }
  if (!dynamic.version_definitions.empty()) {
    write_texts(Key::version_definitions, dynamic.version_definitions, writer);
  }
}

void write_symbols(const std::vector<ElfSymbol>& symbols, bool from_object, FactWriter& writer) {
  const std::uint32_t exports = writer.open(Key::exports, NodeType::list, 0);
  // Addresses of object files count from the start of a section, of many files at once in archives.
  const Aliases aliases(from_object ? std::vector<ElfSymbol>() : symbols);
  for (const ElfSymbol& symbol : symbols) {
    if (!symbol.is_export() || symbol.name.empty()) continue;
    write_symbol(symbol, from_object ? std::string_view() : aliases.of(symbol), writer);
  }
  writer.close(exports, 0);
  if (from_object) return;
  const std::uint32_t imports = writer.open(Key::imports, NodeType::list, 0);
  for (const ElfSymbol& symbol : symbols) {
    if (!symbol.is_defined() && !symbol.name.empty()) write_symbol(symbol, {}, writer);
  }
  writer.close(imports, 0);
}

void write_images(const DeviceImages& images, FactWriter& writer) {
  const std::uint32_t list = writer.open(Key::images, NodeType::list, 0);
  ImageWriter one(images, writer);
  for (const DeviceImage& image : images.images) one.write(image);
  writer.close(list, 0);
  if (images.bundles.empty()) return;
  const std::uint32_t bundles = writer.open(Key::bundles, NodeType::list, 0);
  for (const BundleEntry& entry : images.bundles) {
    writer.add_text(Key::none, entry.target, entry.offset, entry.length);
  }
  writer.close(bundles, 0);
}

void write_handler(const FfiHandler& handler, const std::vector<std::string_view>& reaches,
                   bool reaches_known, FactWriter& writer) {
  const std::uint64_t at = handler.offset;
  const FfiSignature& signature = handler.signature;
  const std::uint32_t object = writer.open(Key::none, NodeType::object, at);
  if (!handler.symbol.empty()) writer.add_text(Key::symbol, handler.symbol, at, 0);
  if (handler.symbol.empty() && !handler.local_symbol.empty()) {
    writer.add_text(Key::function, handler.local_symbol, at, 0);
  }
  if (!signature.stage.empty()) writer.add_text(Key::stage, signature.stage, at, 0);
  if (!signature.returns.empty()) writer.add_text(Key::returns, signature.returns, at, 0);
  write_operands(Key::arguments, signature.arguments, at, writer);
  write_operands(Key::results, signature.results, at, writer);
  write_list(Key::attributes, signature.attributes, at, writer);
  if (!signature.contexts.empty()) write_list(Key::contexts, signature.contexts, at, writer);
  if (!signature.version_min.empty() || !signature.version_max.empty()) {
    const std::uint32_t versions = writer.open(Key::api_versions, NodeType::object, at);
    const auto bound = [&](Key key, const std::string& version) {
      if (!version.empty()) writer.add_text(key, version, at, 0);
    };
    bound(Key::min, signature.version_min);
    bound(Key::max, signature.version_max);
    writer.close(versions, at);
  }
  if (handler.ambiguous) writer.add(Key::ambiguous, NodeType::truth, 1, at, 0);
  if (reaches_known) write_list(Key::reaches, reaches, at, writer);
  writer.close(object, at);
}

void write_registrars(const std::vector<Registrar>& registrars, FactWriter& writer) {
  const std::uint32_t list = writer.open(Key::registrars, NodeType::list, 0);
  for (const Registrar& registrar : registrars) {
    const std::uint64_t at = registrar.offset;
    const std::uint32_t object = writer.open(Key::none, NodeType::object, at);
    writer.add_text(Key::system, registrar.system, at, 0);
    writer.add_text(Key::kind, word_of(registrar.kind), at, 0);
    if (!registrar.namespace_.empty()) {
      writer.add_text(Key::namespace_, registrar.namespace_, at, 0);
    }
    if (!registrar.platform.empty()) writer.add_text(Key::platform, registrar.platform, at, 0);
    if (!registrar.symbol.empty()) writer.add_text(Key::symbol, registrar.symbol, at, 0);
    if (!registrar.schemas.empty()) write_list(Key::schemas, registrar.schemas, at, writer);
    writer.close(object, at);
  }
  writer.close(list, 0);
}

}  // namespace opseal
