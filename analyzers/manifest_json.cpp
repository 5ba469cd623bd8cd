// The registration manifest, version 1: JSON whose shape is `manifest_form`, or a list of such.
//
// A bad item inside a good file is a problem at its place, and reading goes on: a member of the
// wrong type counts as not said, an element of the wrong type keeps its place in the list as
// "unread", so that no rule counts too few. What breaks the grammar of JSON ends the file, and
// nothing of it is kept.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzers/analyzers.h"
#include "analyzers/fact_writer.h"
#include "analyzers/json_reader.h"
#include "opseal/form.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// "text or null", for messages.
std::string expectation(const Form& form) {
  std::vector<std::string> types;
  if (form.text) types.push_back("text");
  if (form.count) types.push_back("non-negative integer");
  if (form.real) types.push_back("number");
  if (form.truth) types.push_back("true or false");
  if (form.item != nullptr) types.push_back("list");
  if (!form.fields.empty() || form.map_value != nullptr) types.push_back("object");
  if (form.null) types.push_back("null");
  std::string out;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i > 0) out += i + 1 == types.size() ? " or " : ", ";
    out += types[i];
  }
  return out;
}

// "`inputs`", "an element of `tags`", "the document".
struct Site {
  Key key = Key::none;
  bool element = false;

  std::string text() const {
    if (key == Key::none) return "the document";
    return (element ? "an element of " : "") + quote(to_text(key));
  }
};

// Bytes. Without initial values: an object keeps room for 64 and mostly needs ten.
struct KeyPlace {
  std::uint64_t offset;
  std::uint64_t length;
};

// Keys of one object that its form doesn't have, and where each first stands.
using OtherKeys = std::unordered_map<std::string, KeyPlace>;

// Keys of an object that the form doesn't have, at most: whoever asks an object for a key looks
// through all its members.
constexpr std::size_t max_other_keys = 1000;

class ManifestReader {
 public:
  ManifestReader(JsonReader& json, Facts& facts) : json_(json), facts_(facts), writer_(facts) {}

  // One manifest, or a list of them, as `opseal dump` writes what a folder says of several systems.
  void read_file(std::uint32_t file) {
    if (json_.peek() == '[') {
      json_.take();
      if (json_.peek() == ']') json_.fail_expected("an object");
      bool first = true;
      while (json_.more(first, ']')) read_document(file);
    } else {
      read_document(file);
    }
    json_.expect_end();
  }

 private:
  void read_document(std::uint32_t file) {
    Document document;
    document.file = file;
    document.first = writer_.next();
    of_sources_ = false;
    if (json_.peek() != '{') json_.fail_expected("an object");
    if (!read_object(manifest_form, Key::none, {})) {
      writer_.drop(document.first);
      return;
    }
    document.end = writer_.next();
    facts_.documents.push_back(document);
  }

  // Reads a value and writes its node; false when it was no such value and nothing was written.
  // `key` is the node's own, `site` tells messages where it stands.
  bool read_value(const Form& form, Key key, const Site& site) {
    const char byte = json_.peek();
    if (byte == '"') return read_text(form, key, site);
    if (byte == '{') {
      if (!form.fields.empty()) return read_object(form, key, site);
      if (form.map_value != nullptr) return read_map(form, key, site);
      return wrong("an object", form, site);
    }
    if (byte == '[') {
      if (form.item != nullptr) return read_list(form, key, site);
      return wrong("a list", form, site);
    }
    if (byte == '-' || (byte >= '0' && byte <= '9')) return read_number(form, key, site);
    return read_literal(form, key, site);
  }

  bool wrong(std::string_view found, const Form& form, const Site& site) {
    const std::uint64_t begin = json_.offset();
    const std::string message =
        std::string(found) + " as " + site.text() + ", expected " + expectation(form);
    json_.skip_value();
    json_.problem(begin, json_.offset() - begin, message);
    return false;
  }

  bool wrong_token(std::string_view found, std::uint64_t offset, std::uint64_t length,
                   const Form& form, const Site& site) {
    json_.problem(offset, length,
                  std::string(found) + " as " + site.text() + ", expected " + expectation(form));
    return false;
  }

  bool read_text(const Form& form, Key key, const Site& site) {
    const JsonReader::Text text = json_.read_text();
    if (!text.good) return false;
    if (!form.text) return wrong_token("a text", text.offset, text.length, form, site);
    if (!form.words.empty() &&
        std::find(form.words.begin(), form.words.end(), text.text) == form.words.end()) {
      return unknown_word(text, form, site);
    }
    writer_.add_text(key, text.text, text.offset, text.length);
    return true;
  }

  bool unknown_word(const JsonReader::Text& text, const Form& form, const Site& site) {
    std::string message = quote(text.text) + " is no word for " + site.text();
    const std::string near = did_you_mean(text.text, form.words);
    if (near.empty()) {
      const std::vector<std::string> words(form.words.begin(), form.words.end());
      message += ", expected one of " + quote_list(words, words.size());
      if (site.key == Key::system) message += " (`engine` for a system of your own)";
    }
    json_.problem(text.offset, text.length, message + near);
    return false;
  }

  bool read_number(const Form& form, Key key, const Site& site) {
    const JsonReader::Number number = json_.read_number();
    if (number.kind == JsonReader::NumberKind::bad) return false;
    if (number.kind == JsonReader::NumberKind::count && form.count) {
      if (number.count < form.minimum || number.count > form.maximum) {
        if (site.key == Key::opseal_manifest) {
          json_.fail(number.offset, number.length,
                     "manifest version " + std::to_string(number.count) +
                         ", this opseal reads version " + std::to_string(manifest_version));
        }
        return out_of_range(form, site, number);
      }
      writer_.add(key, NodeType::count, number.count, number.offset, number.length);
      return true;
    }
    if (form.real) {
      if (form.not_negative && number.real < 0) {
        json_.problem(number.offset, number.length,
                      "negative number as " + site.text() + ", expected 0 or more");
        return false;
      }
      writer_.add_real(key, number.real, number.offset, number.length);
      return true;
    }
    if (form.count) return out_of_range(form, site, number);
    return wrong_token("a number", number.offset, number.length, form, site);
  }

  bool out_of_range(const Form& form, const Site& site, const JsonReader::Number& number) {
    json_.problem(number.offset, number.length,
                  "number out of range as " + site.text() + ", expected an integer from " +
                      std::to_string(form.minimum) + " to " + std::to_string(form.maximum));
    return false;
  }

  bool read_literal(const Form& form, Key key, const Site& site) {
    const JsonReader::Literal literal = json_.read_literal();
    if (literal.word == JsonReader::Word::unknown) return false;
    if (literal.word == JsonReader::Word::null) {
      if (!form.null) return wrong_token("null", literal.offset, literal.length, form, site);
      writer_.add(key, NodeType::null, 0, literal.offset, literal.length);
      return true;
    }
    if (!form.truth)
      return wrong_token("a truth value", literal.offset, literal.length, form, site);
    writer_.add(key, NodeType::truth, literal.word == JsonReader::Word::yes ? 1 : 0, literal.offset,
                literal.length);
    return true;
  }

  // In the place of a value, from `node` on, that could not be read: a rule must tell it from one
  // that nobody gave.
  void keep_unread(Key key, std::uint32_t node, std::uint64_t begin) {
    writer_.drop(node);
    writer_.add(key, NodeType::unread, 0, begin, json_.offset() - begin);
  }

  bool read_list(const Form& form, Key key, const Site& site) {
    const std::uint32_t list = writer_.open(key, NodeType::list, json_.offset());
    json_.take();
    bool first = true;
    while (json_.more(first, ']')) {
      json_.peek();
      const std::uint64_t begin = json_.offset();
      const std::uint32_t node = writer_.next();
      if (!read_value(*form.item, Key::none, {site.key, true})) keep_unread(Key::none, node, begin);
    }
    writer_.close(list, json_.offset());
    return true;
  }

  bool read_map(const Form& form, Key key, const Site& site) {
    const std::uint32_t map = writer_.open(key, NodeType::map, json_.offset());
    json_.take();
    // To clear a map of many buckets takes as long as to fill it, and small maps may follow a large
    // one by the thousand.
    if (entries_.bucket_count() > 1024) {
      entries_ = std::unordered_map<Name, KeyPlace>();
    } else {
      entries_.clear();
    }
    bool first = true;
    while (json_.more(first, '}')) {
      const std::uint32_t entry = writer_.next();
      const JsonReader::Text name = read_key();
      bool keep = name.good;
      if (name.good) {
        writer_.add_text(Key::entry_name, name.text, name.offset, name.length);
        const auto [before, fresh] =
            entries_.try_emplace(facts_.nodes[entry].value, KeyPlace{name.offset, name.length});
        if (!fresh) equal_keys(name, before->second);
        keep = fresh;
      }
      json_.expect_colon();
      json_.peek();
      const std::uint64_t begin = json_.offset();
      const std::uint32_t value = writer_.next();
      const bool read = read_value(*form.map_value, Key::entry_value, {site.key, true});
      if (!keep) {
        writer_.drop(entry);
      } else if (!read) {
        keep_unread(Key::entry_value, value, begin);
      }
    }
    writer_.close(map, json_.offset());
    return true;
  }

  // False when a required key is missing; then nothing is written.
  bool read_object(const Form& form, Key key, const Site& site) {
    const std::uint64_t begin = json_.offset();
    const std::uint32_t object = writer_.open(key, NodeType::object, begin);
    json_.take();
    std::uint64_t seen = 0;
    std::uint64_t written = 0;
    KeyPlace key_places[max_fields];
    // Made when the first one is met: they are rare.
    std::unique_ptr<OtherKeys> others;
    // Where the last key stood in the table: writers keep an order, so the next one is mostly the
    // next row.
    std::size_t guess = 0;
    bool first = true;
    while (json_.more(first, '}')) {
      const JsonReader::Text name = read_key();
      const std::size_t at = name.good ? find_field(form, name.text, guess) : form.fields.size();
      if (at == form.fields.size()) {
        read_unknown(form, site, name, others);
        continue;
      }
      guess = at + 1;
      const std::uint64_t bit = std::uint64_t{1} << at;
      const bool repeated = (seen & bit) != 0;
      if (repeated) equal_keys(name, key_places[at]);
      seen |= bit;
      if (!repeated) key_places[at] = {name.offset, name.length};
      json_.expect_colon();
      const Field& field = form.fields[at];
      json_.peek();
      const std::uint64_t value_begin = json_.offset();
      const std::uint32_t node = writer_.next();
      const bool read = read_value(*field.form, field.key, {field.key, false});
      if (repeated) {
        writer_.drop(node);
      } else if (!read) {
        keep_unread(field.key, node, value_begin);
      } else {
        written |= bit;
        of_sources_ = of_sources_ || field.key == Key::tree;
      }
    }
    writer_.close(object, json_.offset());
    return has_required(form, site, object, seen, written, begin);
  }

  static std::size_t find_field(const Form& form, std::string_view name, std::size_t guess) {
    const std::size_t count = form.fields.size();
    for (std::size_t step = 0; step < count; ++step) {
      const std::size_t at = guess + step < count ? guess + step : guess + step - count;
      if (to_text(form.fields[at].key) == name) return at;
    }
    return count;
  }

  // `x-` keys are kept as written; all others are a problem, so that a spelling mistake never
  // disables a rule silently. What stands under either isn't judged, equal keys included.
  void read_unknown(const Form& form, const Site& site, const JsonReader::Text& name,
                    std::unique_ptr<OtherKeys>& others) {
    const bool extension = name.good && name.text.starts_with("x-");
    bool repeated = false;
    if (name.good) {
      if (others == nullptr) others = std::make_unique<OtherKeys>();
      const auto [before, fresh] =
          others->try_emplace(std::string(name.text), KeyPlace{name.offset, name.length});
      repeated = !fresh;
      if (repeated) {
        equal_keys(name, before->second, extension);
      } else if (!extension) {
        unknown_key(form, site, name);
      }
    }
    if (extension && !repeated && others->size() <= max_other_keys) {
      read_extension(name);
      return;
    }
    if (extension && !repeated && others->size() == max_other_keys + 1) {
      json_.problem(name.offset, name.length,
                    "more than " + std::to_string(max_other_keys) + " `x-` keys in one object");
    }
    json_.expect_colon();
    json_.skip_value();
  }

  void unknown_key(const Form& form, const Site& site, const JsonReader::Text& name) {
    std::vector<std::string_view> known;
    for (const Field& field : form.fields) known.push_back(to_text(field.key));
    const std::string where = site.key == Key::none ? "the manifest" : quote(to_text(site.key));
    const std::string near = did_you_mean(name.text, known);
    json_.problem(name.offset, name.length,
                  "unknown key " + quote(name.text) + " in " + where +
                      (near.empty() ? "; keys of your own begin with `x-`" : near));
  }

  void read_extension(const JsonReader::Text& name) {
    const std::uint32_t node = writer_.next();
    writer_.add_text(Key::extension, name.text, name.offset, name.length);
    json_.expect_colon();
    json_.peek();
    const std::uint64_t begin = json_.offset();
    const std::string raw = json_.read_raw();
    if (raw.empty()) {
      writer_.drop(node);
      return;
    }
    writer_.add(Key::extension, NodeType::raw, facts_.names.intern(raw), begin, raw.size());
  }

  bool has_required(const Form& form, const Site& site, std::uint32_t object, std::uint64_t seen,
                    std::uint64_t written, std::uint64_t begin) {
    for (std::size_t at = 0; at < form.fields.size(); ++at) {
      const std::uint64_t bit = std::uint64_t{1} << at;
      const Field& field = form.fields[at];
      if (!field.required || (written & bit) != 0) continue;
      if (field.may_be_undecided && of_sources_ && (seen & bit) == 0) continue;
      if ((seen & bit) == 0) {
        json_.problem(begin, 1,
                      "object in " + site.text() + " without its key " + quote(to_text(field.key)));
      }
      writer_.drop(object);
      return false;
    }
    return true;
  }

  // `counts`: the first one is kept, which of two unknown keys neither is.
  void equal_keys(const JsonReader::Text& name, const KeyPlace& first, bool counts = true) {
    const std::uint64_t shown = std::min<std::uint64_t>(first.length, Location::max_length);
    json_.problem(name.offset, name.length,
                  "key " + quote(name.text) + " stands twice in one object" +
                      (counts ? "; the first one counts" : ""),
                  Location{json_.file(), static_cast<std::uint32_t>(shown), first.offset});
  }

  JsonReader::Text read_key() {
    if (json_.peek() != '"') json_.fail_expected("a key in quotation marks");
    return json_.read_text();
  }

  JsonReader& json_;
  Facts& facts_;
  FactWriter writer_;
  // The document says so, in front of what it registers.
  bool of_sources_ = false;
  // Of the map that is being read (maps don't nest): name -> where it stands.
  std::unordered_map<Name, KeyPlace> entries_;
};

}  // namespace

void load_manifest(ByteSource& source, std::uint32_t file, Facts& facts) {
  JsonReader json(source, file, facts.problems);
  ManifestReader(json, facts).read_file(file);
}

}  // namespace opseal
