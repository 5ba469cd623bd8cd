// `opseal dump`: the facts that were read, as a manifest again. The first thing to look at when a
// finding surprises.
//
// One line for each operator, target and so on, so that a diff names what changed. What could not
// be read is left out, and so is a list in which anything could not be read: a shorter list would
// say something else, and a key that is missing says nothing. The lists at the top are the
// exception: each of their elements speaks for itself.

#include <algorithm>
#include <charconv>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/places.h"
#include "cli/reports.h"
#include "opseal/sources.h"

namespace opseal {
namespace {

// The shortest text that reads back as the same number.
std::string number_text(double number) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, number);
  (void)error;
  return {buffer, end};
}

// Without white space between tokens, so that it stays on its line.
std::string compact(std::string_view json) {
  std::string out;
  bool quoted = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char byte = json[at];
    if (byte == '"') quoted = !quoted;
    if (quoted || (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r')) out += byte;
    if (quoted && byte == '\\' && at + 1 < json.size()) out += json[++at];
  }
  return out;
}

// Every element was read, those of lists in lists too.
bool whole(const Fact& fact) {
  if (!fact.said()) return false;
  if (!fact.is_list()) return true;
  for (const Fact item : fact.items()) {
    if (!whole(item)) return false;
  }
  return true;
}

// Elements of these lists, and values of these keys, have a `location`.
bool is_located(Key key) {
  constexpr Key located[] = {Key::operators, Key::kernels, Key::targets,  Key::registrations,
                             Key::undecided, Key::lookups, Key::function, Key::abstract};
  return std::find(std::begin(located), std::end(located), key) != std::end(located);
}

class Dump {
 public:
  explicit Dump(std::ostream& out) : out_(out) {}

  void write_manifest(const Fact& manifest) {
    // A manifest says where a thing was registered; of sources the place of the fact is that.
    if (is_of_sources(manifest)) {
      places_facts_ = &manifest.facts();
      places_.emplace(manifest.facts());
    }
    out_ << '{';
    const char* separator = "\n ";
    for_each_member(manifest, [&](std::string_view key, const Fact& value) {
      const bool lines = value.is_list() && holds_objects(value);
      if (!lines && !whole(value)) return;
      out_ << separator << json_quote(key) << ": ";
      separator = ",\n ";
      if (lines) {
        write_lines(value);
      } else {
        write_value(value);
      }
    });
    out_ << "\n}\n";
  }

 private:
  // Calls `visit(key, value)`; the key of an extension is a fact of its own, in front of the value.
  template <typename Visit>
  static void for_each_member(const Fact& object, Visit visit) {
    std::string_view extension;
    for (const Fact item : object.items()) {
      if (item.key() != Key::extension) {
        visit(to_text(item.key()), item);
      } else if (item.is_text()) {
        extension = item.text();
      } else {
        visit(extension, item);
      }
    }
  }

  static bool holds_objects(const Fact& list) {
    for (const Fact item : list.items()) {
      if (item.is_object()) return true;
    }
    return false;
  }

  void write_lines(const Fact& list) {
    out_ << '[';
    const char* separator = "\n  ";
    for (const Fact item : list.items()) {
      if (!whole(item)) continue;
      out_ << separator;
      separator = ",\n  ";
      write_value(item, list.key());
    }
    out_ << "\n ]";
  }

  // Needs: whole(fact).
  void write_value(const Fact& fact) { write_value(fact, fact.key()); }

  // `key`: its own, or that of the list it is in.
  void write_value(const Fact& fact, Key key) {
    switch (fact.node().type) {
      case NodeType::unread:
        break;
      case NodeType::null:
        out_ << "null";
        break;
      case NodeType::truth:
        out_ << (fact.truth() ? "true" : "false");
        break;
      case NodeType::count:
        out_ << fact.count();
        break;
      case NodeType::real:
        out_ << number_text(fact.number());
        break;
      case NodeType::text:
        out_ << json_quote(fact.text());
        break;
      case NodeType::list:
        write_list(fact);
        break;
      case NodeType::object:
        write_object(fact, key);
        break;
      case NodeType::map:
        write_map(fact);
        break;
      case NodeType::raw:
        out_ << compact(fact.facts().names.text(fact.node().value));
        break;
    }
  }

  void write_list(const Fact& list) {
    out_ << '[';
    const char* separator = "";
    for (const Fact item : list.items()) {
      out_ << separator;
      separator = ",";
      write_value(item, list.key());
    }
    out_ << ']';
  }

  void write_object(const Fact& object, Key under) {
    out_ << '{';
    const char* separator = "";
    for_each_member(object, [&](std::string_view key, const Fact& value) {
      if (!whole(value)) return;
      out_ << separator << json_quote(key) << ':';
      separator = ",";
      write_value(value);
    });
    if (places_ && is_located(under) && !object[Key::location].said()) {
      write_location(object.where(), separator);
    }
    out_ << '}';
  }

  void write_location(const Location& where, const char* separator) {
    const Position position = places_->position(where);
    if (position.line == 0) return;
    out_ << separator << R"("location":{"file":)"
         << json_quote(places_facts_->files[where.file].path) << R"(,"line":)" << position.line
         << R"(,"column":)" << position.column << '}';
  }

  void write_map(const Fact& map) {
    out_ << '{';
    const char* separator = "";
    for (const auto [name, value] : map.entries()) {
      if (!whole(value)) continue;
      out_ << separator << json_quote(name.text()) << ':';
      separator = ",";
      write_value(value);
    }
    out_ << '}';
  }

  std::ostream& out_;
  // For facts of sources alone.
  const Facts* places_facts_ = nullptr;
  std::optional<Places> places_;
};

}  // namespace

void write_dump(const Facts& facts, const Document& document, std::ostream& out) {
  Dump(out).write_manifest(facts.root(document));
}

int dump(const Options& options) {
  const Audit audit = read_inputs(options);
  // The trees of sources of one directory are one.
  const std::uint64_t inputs = audit.inputs - audit.source_trees + (audit.source_trees > 0 ? 1 : 0);
  if (inputs > 1) {
    throw UsageError("dump takes one input, " + std::to_string(inputs) + " were given");
  }
  write_problems(audit, {}, std::cerr);
  for (const Document& document : audit.facts.documents) {
    write_dump(audit.facts, document, std::cout);
  }
  const bool unread =
      std::any_of(audit.facts.problems.begin(), audit.facts.problems.end(),
                  [](const Problem& problem) { return problem.severity == Severity::error; });
  if (unread) return exit_code::incomplete;
  if (audit.inputs == 0) std::cerr << "opseal: no manifest to dump\n";
  return audit.inputs == 0 ? exit_code::nothing : exit_code::clean;
}

}  // namespace opseal
