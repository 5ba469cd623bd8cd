// Facts as a manifest again.
//
// One line for each operator, target and so on, so that a diff names what changed. What could not
// be read is left out, and so is a list in which anything could not be read: a shorter list would
// say something else, and a key that is missing says nothing. The lists at the top are the
// exception: each of their elements speaks for itself.
//
// Facts of sources have places in many files, which a manifest says as `location`, and comments
// that accept findings say of which facts they speak: read again, both mean what they meant.

#include <charconv>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/comments.h"
#include "cli/json_text.h"
#include "cli/places.h"
#include "opseal/form.h"
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

// The form of a member; nullptr where the form has none such.
const Form* member_form(const Form* form, Key key) {
  if (form == nullptr) return nullptr;
  for (const Field& field : form->fields) {
    if (field.key == key) return field.form;
  }
  return nullptr;
}

class Dump {
 public:
  Dump(const Facts& facts, std::ostream& out) : facts_(facts), out_(out), places_(facts) {}

  void write() {
    std::vector<const Document*> documents;
    for (const Document& document : facts_.documents) {
      if (!document.settings) documents.push_back(&document);
    }
    covered_ = covered_facts(facts_, documents, places_);
    const bool list = documents.size() != 1;
    if (list) out_ << "[\n";
    for (std::size_t at = 0; at < documents.size(); ++at) {
      if (at > 0) out_ << ",\n";
      write_manifest(*documents[at]);
    }
    out_ << (list ? "\n]\n" : "\n");
  }

 private:
  void write_manifest(const Document& document) {
    const Fact manifest = facts_.root(document);
    tree_file_ = document.file;
    of_sources_ = is_of_sources(manifest);
    out_ << '{';
    const char* separator = "\n ";
    for_each_member(manifest, [&](std::string_view key, const Fact& value) {
      const bool lines = value.is_list() && holds_objects(value);
      if (!lines && !whole(value)) return;
      out_ << separator << json_quote(key) << ": ";
      separator = ",\n ";
      const Form* form = member_form(&manifest_form, value.key());
      if (lines) {
        write_lines(value, form);
      } else {
        write_value(value, form);
      }
    });
    out_ << "\n}";
  }

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

  void write_lines(const Fact& list, const Form* form) {
    out_ << '[';
    const char* separator = "\n  ";
    for (const Fact item : list.items()) {
      if (!whole(item)) continue;
      out_ << separator;
      separator = ",\n  ";
      write_value(item, form == nullptr ? nullptr : form->item);
    }
    out_ << "\n ]";
  }

  // Needs: whole(fact).
  void write_value(const Fact& fact, const Form* form) {
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
        write_list(fact, form == nullptr ? nullptr : form->item);
        break;
      case NodeType::object:
        write_object(fact, form);
        break;
      case NodeType::map:
        write_map(fact, form == nullptr ? nullptr : form->map_value);
        break;
      case NodeType::raw:
        out_ << compact(facts_.names.text(fact.node().value));
        break;
    }
  }

  void write_list(const Fact& list, const Form* item_form) {
    out_ << '[';
    const char* separator = "";
    for (const Fact item : list.items()) {
      out_ << separator;
      separator = ",";
      write_value(item, item_form);
    }
    out_ << ']';
  }

  void write_object(const Fact& object, const Form* form) {
    out_ << '{';
    const char* separator = "";
    for_each_member(object, [&](std::string_view key, const Fact& value) {
      if (!whole(value)) return;
      out_ << separator << json_quote(key) << ':';
      separator = ",";
      write_value(value, member_form(form, value.key()));
    });
    // A manifest says where a thing was registered; of sources the place of the fact is that.
    if (of_sources_ && member_form(form, Key::location) != nullptr &&
        !object[Key::location].said()) {
      write_location(object.where(), separator);
    }
    if (const auto covered = covered_.find(object.index()); covered != covered_.end()) {
      write_covered(covered->second);
    }
    out_ << '}';
  }

  void write_location(const Location& where, const char* separator) {
    // What stands for the tree as a whole has no place in it.
    if (where.file == tree_file_) return;
    const Position position = places_.position(where);
    if (position.line == 0) return;
    out_ << separator << R"("location":{"file":)" << json_quote(facts_.files[where.file].path)
         << R"(,"line":)" << position.line << R"(,"column":)" << position.column << '}';
  }

  void write_covered(const std::vector<std::string>& pointers) {
    out_ << R"(,"covered":[)";
    const char* separator = "";
    for (const std::string& pointer : pointers) {
      out_ << separator << json_quote(pointer);
      separator = ",";
    }
    out_ << ']';
  }

  void write_map(const Fact& map, const Form* value_form) {
    out_ << '{';
    const char* separator = "";
    for (const auto [name, value] : map.entries()) {
      if (!whole(value)) continue;
      out_ << separator << json_quote(name.text()) << ':';
      separator = ",";
      write_value(value, value_form);
    }
    out_ << '}';
  }

  const Facts& facts_;
  std::ostream& out_;
  Places places_;
  CoveredFacts covered_;
  // Of the document that is being written.
  std::uint32_t tree_file_ = 0;
  bool of_sources_ = false;
};

}  // namespace

void write_dump(const Facts& facts, std::ostream& out) { Dump(facts, out).write(); }

}  // namespace opseal
