#include "analyzers/native/ffi_handlers.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analyzers/native/budget.h"
#include "analyzers/native/read_only_data.h"

namespace opseal {
namespace {

// How an exported handler shows its type, as gcc and clang build it (Itanium C++ ABI, "Virtual
// Table Layout" and "Run-Time Type Information"):
//
//   code of the function, or a constructor that it calls
//     loads the address of the vtable, or of its first function, 16 bytes behind
//   vtable       0: offset to top, 8: pointer to the type's description, 16: functions
//   description  0: vtable of its own class, 8: pointer to the type's name
//   name         N3xla3ffi7HandlerI...
//
// All pointers are filled in by the loader, so that relocations tell them.
constexpr std::string_view name_start = "N3xla3ffi7HandlerI";
constexpr std::uint64_t name_pointer = 8;
constexpr std::uint64_t description_pointer = 8;
constexpr std::uint64_t first_function = 16;

constexpr std::size_t longest_name = std::size_t{64} << 10;

// The function that the macro makes calls little: the guard of its static object, the constructor,
// and the binding's functions where they were not inlined, one for each operand.
constexpr std::size_t most_functions = 400;

struct HandlerType {
  std::string_view name;
  // In bytes of the file.
  std::uint64_t offset = 0;
  FfiSignature signature;
  bool exported = false;
};

// By the address of each name; types of equal names are one.
struct HandlerTypes {
  std::vector<HandlerType> types;
  std::unordered_map<std::uint64_t, std::size_t> at;
};

HandlerTypes read_types(const Elf& elf) {
  HandlerTypes found;
  std::map<std::string_view, std::size_t> by_name;
  Budget budget(elf.file(), "names of handlers");
  for (const ReadOnlyData& data : read_only_data(elf)) {
    // One text may hold many starts.
    std::size_t end = 0;
    std::size_t start = data.bytes.find(name_start);
    for (; start != std::string_view::npos; start = data.bytes.find(name_start, start + 1)) {
      if (end <= start) end = data.bytes.find('\0', start);
      if (end == std::string_view::npos) break;
      if (end - start > longest_name) continue;
      const std::string_view name =
          budget.take(data.bytes.substr(start, end - start), data.offset + start);
      const auto [row, is_new] = by_name.try_emplace(name, found.types.size());
      if (is_new) {
        HandlerType type{name, data.offset + start, {}, false};
        if (!parse_handler_type(name, type.signature)) {
          by_name.erase(row);
          continue;
        }
        found.types.push_back(std::move(type));
      }
      found.at.emplace(data.address + start, row->second);
      // gcc puts a `*` before the name of a type that no other file can name.
      if (start > 0 && data.bytes[start - 1] == '*') {
        found.at.emplace(data.address + start - 1, row->second);
      }
    }
  }
  return found;
}

// What code loads to make an object of a type.
std::unordered_map<std::uint64_t, std::size_t> find_vtables(const HostCode& code,
                                                            const HandlerTypes& types) {
  std::unordered_map<std::uint64_t, std::size_t> descriptions;
  for (const ElfPointer& pointer : code.pointers()) {
    const auto type = types.at.find(pointer.target);
    if (type != types.at.end()) descriptions.emplace(pointer.address - name_pointer, type->second);
  }
  std::unordered_map<std::uint64_t, std::size_t> vtables;
  for (const ElfPointer& pointer : code.pointers()) {
    const auto type = descriptions.find(pointer.target);
    if (type == descriptions.end()) continue;
    const std::uint64_t vtable = pointer.address - description_pointer;
    vtables.emplace(vtable, type->second);
    vtables.emplace(vtable + first_function, type->second);
  }
  return vtables;
}

// C functions, and C++ ones that take a call frame and are not the headers' own.
bool may_be_handler(const ElfSymbol& symbol) {
  if (!symbol.is_export() || !symbol.is_function()) return false;
  if (symbol.name.starts_with("_ZN3xla3ffi") || symbol.name.starts_with("_ZNK3xla3ffi")) {
    return false;
  }
  return !symbol.name.starts_with("_Z") || symbol.name.ends_with("P17XLA_FFI_CallFrame");
}

// The C function that the headers' macro puts a static variable `handler` into, by the variable's
// name: `_ZZZ3addENKUlP17XLA_FFI_CallFrameE_clES0_E7handler`, for a closure within `add`; without
// one `_ZZ3addE7handler`. Empty for other names.
std::string_view function_of_handler(std::string_view name) {
  if (!name.starts_with("_ZZ") || !name.ends_with("E7handler")) return {};
  name.remove_prefix(name.starts_with("_ZZZ") ? 4 : 3);
  std::size_t length = 0;
  while (!name.empty() && name[0] >= '0' && name[0] <= '9' && length <= longest_name) {
    length = length * 10 + static_cast<std::size_t>(name[0] - '0');
    name.remove_prefix(1);
  }
  return length < name.size() && name[length] == 'E' ? name.substr(0, length) : std::string_view();
}

// Functions of handlers that only the symbol table names.
std::vector<ElfSymbol> unexported_handlers(const std::vector<ElfSymbol>& symbols) {
  std::unordered_set<std::string_view> names;
  for (const ElfSymbol& symbol : symbols) {
    const std::string_view name = function_of_handler(symbol.name);
    if (!name.empty()) names.insert(name);
  }
  std::vector<ElfSymbol> found;
  std::copy_if(symbols.begin(), symbols.end(), std::back_inserter(found),
               [&names](const ElfSymbol& symbol) {
                 return symbol.is_defined() && symbol.is_function() && !symbol.is_export() &&
                        names.contains(symbol.name);
               });
  return found;
}

// From function to function, nearest first.
class Search {
 public:
  using Makers = std::unordered_map<std::uint64_t, std::vector<std::size_t>>;

  Search(HostCode& code, const Makers& makers) : code_(code), makers_(makers) {}

  // Types that the nearest functions make objects of. Only what is called counts: whoever loads the
  // address of a handler's function hands it out, or registers it.
  std::vector<std::size_t> nearest(std::uint64_t function) {
    std::unordered_set<std::uint64_t> seen{function};
    std::vector<std::uint64_t> level{function};
    while (!level.empty()) {
      std::vector<std::size_t> found;
      for (const std::uint64_t place : level) {
        const auto made = makers_.find(place);
        if (made == makers_.end()) continue;
        found.insert(found.end(), made->second.begin(), made->second.end());
      }
      if (!found.empty()) {
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
      }
      std::vector<std::uint64_t> next;
      for (const std::uint64_t place : level) {
        for (const std::uint64_t to : code_.edges(place).calls) {
          if (seen.insert(to).second) next.push_back(to);
        }
      }
      if (seen.size() > most_functions) break;
      level = std::move(next);
    }
    return {};
  }

 private:
  HostCode& code_;
  const Makers& makers_;
};

}  // namespace

bool mentions_ffi_handlers(const Elf& elf) {
  // Nearly always in vain, and passes over most bytes.
  const std::boyer_moore_horspool_searcher searcher(name_start.begin(), name_start.end());
  for (const ReadOnlyData& data : read_only_data(elf)) {
    if (std::search(data.bytes.begin(), data.bytes.end(), searcher) != data.bytes.end())
      return true;
  }
  return false;
}

std::vector<FfiHandler> find_ffi_handlers(HostCode& code,
                                          const std::vector<ElfSymbol>& dynamic_symbols) {
  HandlerTypes types = read_types(code.elf());
  std::vector<FfiHandler> handlers;
  if (types.types.empty()) return handlers;
  std::vector<ElfSymbol> candidates;
  std::copy_if(dynamic_symbols.begin(), dynamic_symbols.end(), std::back_inserter(candidates),
               may_be_handler);
  const std::vector<ElfSymbol> local = unexported_handlers(code.elf().symbols());
  candidates.insert(candidates.end(), local.begin(), local.end());
  const auto vtables = find_vtables(code, types);
  std::vector<std::uint64_t> addresses;
  for (const auto& [address, type] : vtables) addresses.push_back(address);
  std::sort(addresses.begin(), addresses.end());
  // The walk over all code is the dear part, and in vain where nothing is exported.
  if (candidates.empty()) addresses.clear();
  Search::Makers makers;
  for (const CodeReference& reference : code.references_to(addresses)) {
    makers[code.function_of(reference.from)].push_back(vtables.at(reference.to));
  }
  Search search(code, makers);
  for (const ElfSymbol& symbol : candidates) {
    const std::uint64_t function = code.function_of(symbol.value);
    if (function == 0) continue;
    const std::vector<std::size_t> found = search.nearest(function);
    for (const std::size_t type : found) types.types[type].exported = true;
    if (found.empty()) continue;
    FfiHandler handler{
        {}, types.types[found[0]].signature, symbol.value, symbol.offset, found.size() > 1, {}};
    (symbol.is_export() ? handler.symbol : handler.local_symbol) = symbol.name;
    handlers.push_back(std::move(handler));
  }
  for (HandlerType& type : types.types) {
    if (type.exported) continue;
    handlers.push_back({{}, std::move(type.signature), 0, type.offset, false, {}});
  }
  return handlers;
}

}  // namespace opseal
