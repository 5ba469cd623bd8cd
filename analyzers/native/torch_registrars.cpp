// torch/library.h and torch/csrc/stable/library.h give each block two local symbols: a function
// `TORCH_LIBRARY_init_<namespace>` and an object `TORCH_LIBRARY_static_init_<namespace>`. Either
// may be missing: the function when it is inlined. Fragments and implementations carry a counter,
// which starts anew in each source file: `TORCH_LIBRARY_IMPL_init_<namespace>_<key>_<counter>`.

#include "analyzers/native/torch_registrars.h"

#include <string.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzers/native/torch_schemas.h"

namespace opseal {
namespace {

constexpr std::string_view mark = "TORCH_LIBRARY_";

struct Block {
  Registrar::Kind kind = Registrar::Kind::definition;
  std::string_view name_space;
  std::string_view key;
  bool is_object = false;
};

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Cuts off what follows the last `_`; empty where there is none.
std::string_view take_last_part(std::string_view& text) {
  const std::size_t at = text.rfind('_');
  if (at == text.npos) return "";
  const std::string_view last = text.substr(at + 1);
  text = text.substr(0, at);
  return last;
}

// Takes a length and the identifier that follows it from a mangled name; empty where none follows.
std::string_view take_identifier(std::string_view& mangled) {
  std::size_t length = 0, digits = 0;
  while (digits < mangled.size() && mangled[digits] >= '0' && mangled[digits] <= '9') {
    length = length * 10 + static_cast<std::size_t>(mangled[digits] - '0');
    if (length > mangled.size()) return "";
    ++digits;
  }
  if (length > mangled.size() - digits) return "";
  const std::string_view identifier = mangled.substr(digits, length);
  mangled.remove_prefix(digits + length);
  return identifier;
}

// The last part of the name of a function or object, where it is a mark: `_ZL...` or, in
// namespaces, `_ZN...L...`. Much else mentions a mark in its template arguments: every lambda that
// a block registers.
std::string_view identifier_with_mark(std::string_view symbol) {
  if (!take(symbol, "_Z")) return "";
  take(symbol, "N");
  while (true) {
    take(symbol, "L");
    const std::string_view identifier = take_identifier(symbol);
    if (identifier.empty()) return "";
    std::string_view rest = identifier;
    take(rest, "STABLE_");
    if (rest.starts_with(mark)) return identifier;
  }
}

std::optional<Block> read_block(std::string_view symbol) {
  std::string_view text = identifier_with_mark(symbol);
  take(text, "STABLE_");
  if (!take(text, mark)) return std::nullopt;
  Block block;
  if (take(text, "IMPL_")) {
    block.kind = Registrar::Kind::implementation;
  } else if (take(text, "FRAGMENT_")) {
    block.kind = Registrar::Kind::fragment;
  }
  block.is_object = take(text, "static_");
  if (!take(text, "init_")) return std::nullopt;
  if (block.kind != Registrar::Kind::definition) take_last_part(text);
  if (block.kind == Registrar::Kind::implementation) {
    // Of all dispatch keys only those for tests have an underscore.
    constexpr std::string_view tests = "_TESTING_ONLY_";
    if (const std::size_t at = text.rfind(tests); at != text.npos) {
      block.key = text.substr(at + 1);
      text = text.substr(0, at);
    } else {
      block.key = take_last_part(text);
    }
  }
  block.name_space = text;
  if (text.empty()) return std::nullopt;
  return block;
}

// Imports without which nothing can be registered from C++.
bool is_registration(std::string_view name) {
  constexpr std::string_view prefixes[] = {
      // torch::Library::Library
      "_ZN5torch7LibraryC",
      // c10::RegisterOperators, the interface before torch::Library
      "_ZN3c1017RegisterOperators", "_ZNR3c1017RegisterOperators", "_ZNO3c1017RegisterOperators",
      // torch::jit::registerOperator
      "_ZN5torch3jit16registerOperator",
      // torch::class_
      "_ZN5torch6detail10class_baseC"};
  constexpr std::string_view names[] = {"aoti_torch_library_init_def",
                                        "aoti_torch_library_init_fragment",
                                        "aoti_torch_library_init_impl"};
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(std::begin(names), std::end(names), name) != std::end(names);
}

class TorchReader {
 public:
  TorchReader(const Elf& elf, const std::vector<ElfSymbol>& dynamic_symbols)
      : elf_(elf), dynamic_symbols_(dynamic_symbols) {}

  std::vector<Registrar> read() {
    // Whoever registers calls this interface, or is the library that has it. Only then the symbol
    // table, which may be most of a file, is worth a look.
    const bool knows_torch =
        std::any_of(dynamic_symbols_.begin(), dynamic_symbols_.end(),
                    [](const ElfSymbol& symbol) { return is_registration(symbol.name); });
    if (!knows_torch) return {};
    read_blocks();
    if (registrars_.empty()) read_imports();
    if (!registrars_.empty()) give_schemas();
    return std::move(registrars_);
  }

 private:
  void read_blocks() {
    // Two blocks of one name in one file, from two of its sources, are two objects and two
    // functions: the larger count is that of the blocks.
    std::map<std::tuple<Registrar::Kind, std::string_view, std::string_view>,
             std::pair<std::vector<ElfSymbol>, std::vector<ElfSymbol>>>
        blocks;
    for (const ElfSymbol& symbol : elf_.symbols_with(mark)) {
      const std::optional<Block> block = read_block(symbol.name);
      if (!block || !symbol.is_defined()) continue;
      if (symbol.is_function()) code_.push_back({symbol, {block->kind, block->name_space}});
      // `.cold`, `.part.0`: pieces of a function that has its own symbol.
      if (symbol.name.find('.') != symbol.name.npos) continue;
      auto& [functions, objects] = blocks[{block->kind, block->name_space, block->key}];
      (block->is_object ? objects : functions).push_back(symbol);
    }
    for (const auto& [what, symbols] : blocks) {
      const auto& [kind, name_space, key] = what;
      const auto& [functions, objects] = symbols;
      const std::vector<ElfSymbol>& shown = objects.size() > functions.size() ? objects : functions;
      for (const ElfSymbol& symbol : shown) {
        registrars_.push_back({"torch",
                               kind,
                               std::string(name_space),
                               std::string(key),
                               std::string(symbol.name),
                               {},
                               symbol.offset});
        // Of these several are usual, and say the same.
        if (kind != Registrar::Kind::definition) break;
      }
    }
  }

  void read_imports() {
    for (const ElfSymbol& symbol : dynamic_symbols_) {
      if (symbol.is_defined() || !is_registration(symbol.name)) continue;
      registrars_.push_back(
          {"torch", Registrar::Kind::imports, "", "", std::string(symbol.name), {}, symbol.offset});
    }
  }

  // Which block's code loads the address of each text. Texts of code that was inlined elsewhere are
  // not among them.
  std::unordered_map<std::uint64_t, std::pair<Registrar::Kind, std::string_view>> users_of(
      const std::vector<SchemaString>& schemas) const {
    std::unordered_map<std::uint64_t, std::pair<Registrar::Kind, std::string_view>> users;
    constexpr std::uint16_t x86_64 = 62;
    if (elf_.machine() != x86_64) return users;
    std::set<std::uint64_t> addresses;
    for (const SchemaString& schema : schemas) addresses.insert(schema.address);
    for (const auto& [symbol, block] : code_) {
      const Bytes rest = elf_.at_address(symbol.value);
      const std::string_view code = rest.view().substr(0, symbol.size);
      // `lea register, [rip + distance]`: 8d, a byte that names register and form, 4 of distance.
      for (std::size_t at = 0; at + 6 <= code.size(); ++at) {
        if (code[at] != '\x8d' || (static_cast<unsigned char>(code[at + 1]) & 0xc7) != 5) continue;
        const std::uint64_t target =
            symbol.value + at + 6 + static_cast<std::uint64_t>(std::int64_t{rest.i32(at + 2)});
        if (addresses.count(target) != 0) users.emplace(target, block);
      }
    }
    return users;
  }

  Registrar* owner(Registrar::Kind kind, std::string_view name_space) {
    for (Registrar& registrar : registrars_) {
      if (registrar.kind == kind && registrar.namespace_ == name_space) return &registrar;
    }
    return nullptr;
  }

  // The block that defines operators of a namespace.
  Registrar* definer(std::string_view name_space) {
    Registrar* const found = owner(Registrar::Kind::definition, name_space);
    return found != nullptr ? found : owner(Registrar::Kind::fragment, name_space);
  }

  std::set<std::string_view> defined_namespaces() const {
    std::set<std::string_view> namespaces;
    for (const Registrar& registrar : registrars_) {
      if (registrar.kind == Registrar::Kind::definition ||
          registrar.kind == Registrar::Kind::fragment) {
        namespaces.insert(registrar.namespace_);
      }
    }
    return namespaces;
  }

  void give_schemas() {
    const std::vector<SchemaString> schemas = find_torch_schemas(elf_);
    const auto users = users_of(schemas);
    std::set<std::string_view> given;
    for (const SchemaString& schema : schemas) {
      const auto user = users.find(schema.address);
      if (user == users.end()) continue;
      Registrar* const registrar = owner(user->second.first, user->second.second);
      if (registrar == nullptr || !given.insert(schema.text).second) continue;
      registrar->schemas.emplace_back(schema.text);
    }
    const std::set<std::string_view> namespaces = defined_namespaces();
    std::vector<SchemaString> left;
    for (const SchemaString& schema : schemas) {
      // A text may stand there again for messages and look-ups.
      if (!given.insert(schema.text).second) continue;
      const std::string_view name = schema.text.substr(0, schema.text.find('('));
      const std::size_t colons = name.find("::");
      Registrar* registrar = nullptr;
      if (colons != name.npos) {
        registrar = definer(name.substr(0, colons));
        // Others' operators, which this file looks up or rewrites.
        if (registrar == nullptr && !namespaces.empty()) continue;
      } else if (namespaces.size() == 1) {
        registrar = definer(*namespaces.begin());
      }
      if (registrar != nullptr) {
        registrar->schemas.emplace_back(schema.text);
      } else {
        left.push_back(schema);
      }
    }
    if (left.empty()) return;
    if (registrars_.front().kind != Registrar::Kind::imports) {
      registrars_.insert(registrars_.begin(),
                         {"torch", Registrar::Kind::imports, "", "", "", {}, left.front().offset});
    }
    for (const SchemaString& schema : left) registrars_.front().schemas.emplace_back(schema.text);
  }

  const Elf& elf_;
  const std::vector<ElfSymbol>& dynamic_symbols_;
  std::vector<Registrar> registrars_;
  std::vector<std::pair<ElfSymbol, std::pair<Registrar::Kind, std::string_view>>> code_;
};

}  // namespace

std::vector<Registrar> find_torch_registrars(const Elf& elf,
                                             const std::vector<ElfSymbol>& dynamic_symbols) {
  return TorchReader(elf, dynamic_symbols).read();
}

}  // namespace opseal
