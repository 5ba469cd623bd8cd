#include "analyzers/sources/load_callers.h"

#include <algorithm>
#include <set>

#include "analyzers/source/source_tree.h"

namespace opseal {
namespace {

// No project has so many; then nothing is known of them.
constexpr std::size_t most_functions = 1000;
// Callers of callers of callers.
constexpr int most_rounds = 4;

class CallerLoader {
 public:
  CallerLoader(const std::vector<std::string>& paths, const SourceTexts& texts)
      : paths_(paths), texts_(texts) {}

  void ask_layouts(std::vector<LayoutFunction*>& functions) const {
    if (functions.empty()) return;
    std::set<std::string> names;
    for (const LayoutFunction* function : functions) names.insert(function->name);
    for_each_source({names.begin(), names.end()}, [&functions](const PlainSource& plain) {
      read_layout_callers(plain, functions);
    });
    for_each_python({"contiguous"}, [&functions](const std::string& bytes) {
      read_layout_python(bytes, functions);
    });
  }

  void ask_dtypes(std::vector<UntypedPointer*>& pointers) const {
    for (int round = 0; round < most_rounds; ++round) {
      std::vector<std::string> names = untyped_holders(pointers);
      if (names.empty()) break;
      for_each_source(std::move(names), [&pointers](const PlainSource& plain) {
        read_untyped_callers(plain, pointers);
      });
      end_untyped_round(pointers);
    }
    // Of those whose callers were not looked at nothing is known.
    untyped_holders(pointers);
    bool any = false;
    for (UntypedPointer* pointer : pointers) {
      if (pointer->asked < pointer->holders.size()) pointer->checked.reset();
      any = any || pointer->checked == std::optional(false);
    }
    if (!any) return;
    for_each_python({"int", "int32", "IntTensor"}, [&pointers](const std::string& bytes) {
      read_untyped_python(bytes, pointers);
    });
  }

 private:
  template <typename Visit>
  void for_each_source(const std::vector<std::string>& names, Visit visit) const {
    const WordQuery any_name(names);
    std::string bytes;
    PlainSource plain;
    for (std::size_t at = 0; at < paths_.size(); ++at) {
      if (paths_[at].ends_with(".py") || !texts_.read_holding(any_name, at, bytes)) continue;
      read_plain(static_cast<std::uint32_t>(at), bytes, plain);
      visit(plain);
    }
  }

  template <typename Visit>
  void for_each_python(const std::vector<std::string>& words, Visit visit) const {
    const WordQuery any_word(words);
    std::string bytes;
    for (std::size_t at = 0; at < paths_.size(); ++at) {
      if (!paths_[at].ends_with(".py") || !texts_.read_holding(any_word, at, bytes)) continue;
      visit(bytes);
    }
  }

  const std::vector<std::string>& paths_;
  const SourceTexts& texts_;
};

}  // namespace

void ask_callers(std::vector<DeviceCode>& codes, const std::vector<std::string>& paths,
                 const SourceTexts& texts) {
  std::vector<LayoutFunction*> layouts;
  std::vector<UntypedPointer*> untyped;
  for (DeviceCode& code : codes) {
    for (LayoutFunction& function : code.layouts) layouts.push_back(&function);
    for (UntypedPointer& pointer : code.untyped) untyped.push_back(&pointer);
  }
  const CallerLoader loader(paths, texts);
  if (layouts.size() > most_functions) {
    for (DeviceCode& code : codes) code.layouts.clear();
  } else {
    loader.ask_layouts(layouts);
  }
  if (untyped.size() > most_functions) {
    for (DeviceCode& code : codes) code.untyped.clear();
  } else {
    loader.ask_dtypes(untyped);
  }
}

}  // namespace opseal
