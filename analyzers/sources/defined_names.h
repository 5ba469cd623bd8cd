#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"

namespace opseal {

// What functions, or classes, of a tree stand for, by their names and the namespaces and classes
// that they are defined in. A use of a name means one of them only where it is known which.
class DefinedNames {
 public:
  static constexpr std::size_t several = static_cast<std::size_t>(-1);

  // A name as it is written, and where.
  struct Use {
    std::string_view name;
    // `a::b` of `a::b::name`, with `::` in front where that is written.
    std::string qualifier;
    // Which object, or which instance of a template, it belongs to is not known.
    bool of_unknown = false;
    // Namespaces and classes around it.
    std::string around;
    std::uint32_t file = 0;
  };

  bool contains(std::string_view name) const { return names_.find(name) != names_.end(); }
  bool empty() const { return names_.empty(); }
  std::vector<std::string> names() const;

  // False where one of that file and owner stands for something already.
  bool add(std::string_view name, std::string owner, std::uint32_t file, std::size_t meaning);
  // One that may be declared alone, such as a class without code: it counts where nothing else
  // has its owner.
  void add_weak(std::string_view name, std::string owner, std::uint32_t file);

  // What is meant, or `several`.
  std::size_t meaning_of(const Use& use) const;

 private:
  struct Definition {
    std::string owner;
    std::uint32_t file = 0;
    std::size_t meaning = several;
    bool weak = false;
  };
  std::size_t decide(const std::vector<Definition>& all, std::string_view owner,
                     std::uint32_t file) const;

  std::map<std::string, std::vector<Definition>, std::less<>> names_;
};

// Names of the namespaces and classes from outside to inside, of the scope and around it.
std::string owner_path(const PlainSource& source, std::uint32_t scope);
// Of a function: with what its own name says of it, `A` of `A::run`.
std::string owner_of_function(const PlainSource& source, const Scope& function);
// Of the name at a token.
DefinedNames::Use use_at(const PlainSource& source, std::uint32_t token);
// `a::b` in front of the name at a token, and whether that is all there is.
void read_qualifier(Tokens tokens, std::size_t at, DefinedNames::Use& use);

}  // namespace opseal
