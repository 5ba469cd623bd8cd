#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/chunked.h"
#include "opseal/keys.h"
#include "opseal/location.h"
#include "opseal/names.h"

namespace opseal {

// How facts are kept
// ------------------
// A registration can say some hundred things and says ten. So facts are not structs with a hundred
// optional members but one row of nodes, 12 bytes each, in the order in which they were read: a
// container is followed by what it holds, and knows how many nodes that is. A key that nobody said
// has no node. The set of keys and the type under each is closed
// (`form.h`); readers check it, so that a rule never meets a text where a number belongs.

enum class NodeType : std::uint8_t {
  // Something stands here that could not be read; a problem says what. It keeps the count of a list
  // right, and counts as not said.
  unread,
  // `null`: said to be absent.
  null,
  truth,
  // A non-negative integer below 2^32, in `Node::value`.
  count,
  // Any other number, `Node::value` is an index into `Facts::reals`.
  real,
  // `Node::value` is a Name.
  text,
  // `Node::value` is the number of nodes it takes, itself included.
  list,
  object,
  // Keys are free names: children are (entry_name, entry_value) pairs.
  map,
  // Under `Key::extension`: `Node::value` is the Name of the JSON text as written.
  raw,
};

// Packed, since a large registry has tens of millions of them.
struct Node {
  std::uint32_t value = 0;
  // The place of its first byte, in 34 bits.
  std::uint32_t offset_low = 0;
  std::uint32_t offset_high : 2 = 0;
  // Bytes; what is longer is cut here, and `Facts::long_lengths` has it.
  std::uint32_t bytes : 17 = 0;
  Key key : 9 = Key::none;
  NodeType type : 4 = NodeType::unread;

  static constexpr std::uint64_t max_offset = (std::uint64_t{1} << 34) - 1;
  static constexpr std::uint64_t max_length = (std::uint64_t{1} << 17) - 1;

  std::uint64_t offset() const { return std::uint64_t{offset_high} << 32 | offset_low; }
  std::uint32_t length() const { return bytes; }
  // Needs: offset <= max_offset.
  void set_place(std::uint64_t offset, std::uint64_t length) {
    offset_low = static_cast<std::uint32_t>(offset);
    offset_high = offset >> 32 & 3;
    bytes = (length < max_length ? length : max_length) & max_length;
  }
  bool is_container() const {
    return type == NodeType::list || type == NodeType::object || type == NodeType::map;
  }
};

static_assert(sizeof(Node) == 12);
static_assert(static_cast<unsigned>(Key::key_count) <= 512);

// The length of a value that `Node` has no room for.
struct LongLength {
  std::uint32_t node = 0;
  // Bytes; what is longer than `Location::max_length` is cut there.
  std::uint32_t length = 0;
};

enum class Severity : std::uint8_t { note, warning, error };

// An input, or a part of one, that could not be read.
struct Problem {
  Location where;
  std::string message;
  // The other side of an equal key, or unknown.
  Location related;
  // An error makes the run incomplete (exit 4).
  Severity severity = Severity::error;
};

struct InputFile {
  // As a report names it: relative to the root of the run, with `/`; `-` is standard input.
  std::string path;
  // Where the bytes are, for the excerpts of a report; empty when `bytes` holds them.
  std::string open_path;
  // Only for what can't be opened again (standard input, a test's text).
  std::string bytes;
  // Bytes.
  std::uint64_t size = 0;
  // Has no lines: places are offsets.
  bool binary = false;
};

// Where two dumps are compared, which of them a document belongs to.
enum class Side : std::uint8_t { alone, before, after };

// One read manifest, or the settings of the run.
struct Document {
  std::uint32_t file = 0;
  // What `opseal.toml` states (`required_platforms`, `architectures`), or what was found on disk of
  // the libraries that manifests name: a document like any other, but it is no input.
  bool settings = false;
  Side side = Side::alone;
  // It was read only because a manifest names it, and is no input either.
  bool named = false;
  // Documents with the same number lie below one directory that was given, or in one directory by
  // name, or are one package, so that their libraries are loaded together. 0: nothing is known.
  std::uint32_t group = 0;
  // Its nodes are [first, end); the first is the document's object.
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

// From this node on, and up to the next such mark or the end of the document, places are in that
// file and not in the document's own: a cache directory is one document that many files speak for.
struct OtherFile {
  std::uint32_t node = 0;
  std::uint32_t file = 0;
};

class Fact;
class FactRange;
class EntryRange;

// The inventory: everything that the inputs say. Analyzers fill it; from then on it is const.
class Facts {
 public:
  std::vector<InputFile> files;
  std::vector<Document> documents;
  std::vector<Problem> problems;
  Names names;
  Chunked<Node> nodes;
  std::vector<double> reals;
  // Of the nodes longer than `Node::max_length`, by node: few, since each takes so many bytes.
  std::vector<LongLength> long_lengths;
  // By node.
  std::vector<OtherFile> other_files;
  // Keys that occur anywhere, so that a rule about keys nobody said costs nothing.
  std::bitset<static_cast<std::size_t>(Key::key_count)> said;

  // The object of a document.
  Fact root(const Document& document) const;
  Fact fact(std::uint32_t node) const;
  Location place(std::uint32_t node) const;
  // Bytes of the value.
  std::uint32_t length(std::uint32_t node) const;

  // Puts what another Facts holds behind what this one holds.
  void append(Facts&& other);
};

// A handle on one fact, or on its absence. Asking an absent fact for anything is allowed and gives
// "not said" again, so that a rule can ask for `op[Key::jvp][Key::rules]` in one go.
class Fact {
 public:
  Fact() = default;
  Fact(const Facts& facts, std::uint32_t node) : facts_(&facts), node_(node) {}

  // Somebody said something readable here, be it `null`.
  bool said() const { return facts_ != nullptr && node().type != NodeType::unread; }
  // Said to be absent.
  bool is_null() const { return has(NodeType::null); }
  // Said, and said to be there.
  bool present() const { return said() && !is_null(); }
  explicit operator bool() const { return present(); }

  bool is_text() const { return has(NodeType::text); }
  bool is_count() const { return has(NodeType::count); }
  bool is_number() const { return is_count() || has(NodeType::real); }
  bool is_truth() const { return has(NodeType::truth); }
  bool is_list() const { return has(NodeType::list); }
  bool is_object() const { return has(NodeType::object); }
  bool is_map() const { return has(NodeType::map); }

  // The value, or the given one when there is none of that type.
  std::string_view text(std::string_view otherwise = {}) const {
    return is_text() ? facts_->names.text(node().value) : otherwise;
  }
  Name name() const { return is_text() ? node().value : Names::missing; }
  std::uint32_t count(std::uint32_t otherwise = 0) const {
    return is_count() ? node().value : otherwise;
  }
  double number(double otherwise = 0) const;
  bool truth(bool otherwise = false) const { return is_truth() ? node().value != 0 : otherwise; }
  bool is(std::string_view word) const { return is_text() && text() == word; }

  // A member of an object.
  Fact operator[](Key key) const;
  // The value under a name in a map.
  Fact at(std::string_view name) const;
  // Elements of a list, members of an object. Empty for anything else.
  FactRange items() const;
  // (name, value) pairs of a map. Empty for anything else.
  EntryRange entries() const;
  // Elements of a list, entries of a map, members of an object.
  std::uint32_t size() const;

  Key key() const { return facts_ == nullptr ? Key::none : node().key; }
  Location where() const;
  std::uint32_t index() const { return node_; }
  const Facts& facts() const { return *facts_; }
  const Node& node() const { return facts_->nodes[node_]; }

  friend bool operator==(const Fact& a, const Fact& b) {
    return a.facts_ == b.facts_ && a.node_ == b.node_;
  }

 private:
  bool has(NodeType type) const { return facts_ != nullptr && node().type == type; }

  const Facts* facts_ = nullptr;
  std::uint32_t node_ = 0;
};

// The number of nodes that a node and what it holds take.
inline std::uint32_t extent(const Node& node) { return node.is_container() ? node.value : 1; }

class FactRange {
 public:
  class Iterator {
   public:
    Iterator(const Facts* facts, std::uint32_t node) : facts_(facts), node_(node) {}
    Fact operator*() const { return Fact(*facts_, node_); }
    Iterator& operator++() {
      node_ += extent(facts_->nodes[node_]);
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.node_ == b.node_; }

   private:
    const Facts* facts_;
    std::uint32_t node_;
  };

  FactRange(const Facts* facts, std::uint32_t first, std::uint32_t end)
      : facts_(facts), first_(first), end_(end) {}
  Iterator begin() const { return {facts_, first_}; }
  Iterator end() const { return {facts_, end_}; }

 private:
  const Facts* facts_;
  std::uint32_t first_;
  std::uint32_t end_;
};

class EntryRange {
 public:
  struct Entry {
    Fact name;
    Fact value;
  };
  class Iterator {
   public:
    Iterator(const Facts* facts, std::uint32_t node) : facts_(facts), node_(node) {}
    Entry operator*() const { return {Fact(*facts_, node_), Fact(*facts_, node_ + 1)}; }
    Iterator& operator++() {
      node_ += 1 + extent(facts_->nodes[node_ + 1]);
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.node_ == b.node_; }

   private:
    const Facts* facts_;
    std::uint32_t node_;
  };

  EntryRange(const Facts* facts, std::uint32_t first, std::uint32_t end)
      : facts_(facts), first_(first), end_(end) {}
  Iterator begin() const { return {facts_, first_}; }
  Iterator end() const { return {facts_, end_}; }

 private:
  const Facts* facts_;
  std::uint32_t first_;
  std::uint32_t end_;
};

inline Fact Facts::root(const Document& document) const { return Fact(*this, document.first); }
inline Fact Facts::fact(std::uint32_t node) const { return Fact(*this, node); }

inline FactRange Fact::items() const {
  if (!is_list() && !is_object()) return {facts_, 0, 0};
  return {facts_, node_ + 1, node_ + node().value};
}

inline EntryRange Fact::entries() const {
  if (!is_map()) return {facts_, 0, 0};
  return {facts_, node_ + 1, node_ + node().value};
}

inline Fact Fact::operator[](Key key) const {
  if (!is_object()) return {};
  const std::uint32_t end = node_ + node().value;
  for (std::uint32_t child = node_ + 1; child < end;) {
    const Node& candidate = facts_->nodes[child];
    if (candidate.key == key) return {*facts_, child};
    child += extent(candidate);
  }
  return {};
}

}  // namespace opseal
