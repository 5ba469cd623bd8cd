#include "analyzers/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "opseal/text.h"

namespace opseal {
namespace {

YamlPlace place_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}

// The keys of a finished map are scalars, and no two are equal.
void check_keys(const YamlValue& map) {
  std::vector<const YamlValue*> keys;
  for (std::size_t at = 0; at < map.items.size(); at += 2) {
    const YamlValue& key = map.items[at];
    if (key.kind != YamlValue::Kind::scalar) throw YamlError(key.place, "a key that is no text");
    keys.push_back(&key);
  }
  std::ranges::stable_sort(keys, {},
                           [](const YamlValue* key) { return std::string_view(key->text); });
  const auto twice = std::ranges::adjacent_find(
      keys, {}, [](const YamlValue* key) { return std::string_view(key->text); });
  if (twice == keys.end()) return;
  throw YamlError(twice[1]->place, "key " + quote(twice[1]->text) +
                                       " stands twice in one map, first in line " +
                                       std::to_string(twice[0]->place.line));
}

void check_lines(std::string_view text) {
  int line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end - at > max_yaml_line_bytes) {
      throw YamlError({line, 1}, "a line of " + std::to_string(end - at) +
                                     " bytes, expected at most " +
                                     std::to_string(max_yaml_line_bytes));
    }
    at = end + 1;
  }
}

// Builds the tree while yaml-cpp reads, so that limits end the reading itself.
class Builder : public YAML::EventHandler {
 public:
  YamlValue take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) throw YamlError(place_of(mark), "a second document, expected one");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    add({YamlValue::Kind::null, {}, place_of(mark), {}});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw YamlError(place_of(mark), "an alias, expected the value itself");
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& text) override {
    add({YamlValue::Kind::scalar, text, place_of(mark), {}});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(YamlValue::Kind::list, mark);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(YamlValue::Kind::map, mark);
  }
  void OnMapEnd() override {
    check_keys(open_.back());
    close();
  }

 private:
  void open(YamlValue::Kind kind, const YAML::Mark& mark) {
    if (open_.size() >= max_yaml_depth) {
      throw YamlError(place_of(mark), "more than " + std::to_string(max_yaml_depth) +
                                          " lists and maps in each other");
    }
    open_.push_back({kind, {}, place_of(mark), {}});
  }

  void close() {
    YamlValue value = std::move(open_.back());
    open_.pop_back();
    add(std::move(value));
  }

  void add(YamlValue value) {
    if (++values_ > max_yaml_values) {
      throw YamlError(value.place, "more than " + std::to_string(max_yaml_values) + " values");
    }
    if (open_.empty()) {
      root_ = std::move(value);
    } else {
      open_.back().items.push_back(std::move(value));
    }
  }

  YamlValue root_;
  std::vector<YamlValue> open_;
  std::size_t values_ = 0;
  int documents_ = 0;
};

}  // namespace

const YamlValue* YamlValue::at(std::string_view key) const {
  if (kind != Kind::map) return nullptr;
  for (std::size_t at = 0; at + 1 < items.size(); at += 2) {
    if (items[at].text == key) return &items[at + 1];
  }
  return nullptr;
}

std::string_view YamlValue::text_at(std::string_view key) const {
  const YamlValue* value = at(key);
  return value != nullptr && value->kind == Kind::scalar ? std::string_view(value->text)
                                                         : std::string_view();
}

YamlValue read_yaml(const std::string& text) {
  if (text.size() > max_yaml_bytes) {
    throw YamlError({}, std::to_string(text.size()) + " bytes, expected at most " +
                            std::to_string(max_yaml_bytes));
  }
  check_lines(text);
  std::istringstream stream(text);
  Builder builder;
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    throw YamlError(place_of(error.mark), error.msg);
  }
  return builder.take();
}

}  // namespace opseal
