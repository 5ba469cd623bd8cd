// ExecuTorch's lists of operators and their kernels, from which its build generates registrations:
// elements with `op: NAME` (an operator of ATen) or `func: SCHEMA`, and `kernels: - kernel_name:`.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/analyzers.h"
#include "analyzers/input_error.h"
#include "analyzers/manifest_document.h"
#include "analyzers/words.h"
#include "analyzers/yaml_tree.h"

namespace opseal {
namespace {

using Kind = YamlValue::Kind;

// Offsets of places in a text.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    starts_.push_back(0);
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '\n') starts_.push_back(at + 1);
    }
  }

  std::uint64_t offset(const YamlPlace& place) const {
    const auto line = static_cast<std::size_t>(std::max(place.line, 1) - 1);
    if (line >= starts_.size()) return text_.size();
    const std::size_t column = static_cast<std::size_t>(std::max(place.column, 1) - 1);
    return std::min(starts_[line] + column, text_.size());
  }
  // Up to the end of the line.
  std::uint64_t length(std::uint64_t offset) const {
    const std::size_t end = text_.find('\n', static_cast<std::size_t>(offset));
    return trimmed(text_.substr(static_cast<std::size_t>(offset), end - offset)).size();
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

class Reader {
 public:
  Reader(const std::string& text, Facts& facts) : lines_(text), writer_(facts), facts_(facts) {}

  void read(const YamlValue& root, std::uint32_t file) {
    ManifestDocument document(writer_, file, "kernel list", "executorch");
    const std::uint32_t operators = writer_.open(Key::operators, NodeType::list, 0);
    for (const YamlValue& entry : root.items) {
      if (entry.kind == Kind::map) read_operator(entry);
    }
    writer_.close(operators, 0);
    document.end(facts_);
  }

 private:
  void text(Key key, std::string_view text, const YamlValue& value) {
    const std::uint64_t at = lines_.offset(value.place);
    writer_.add_text(key, text, at, lines_.length(at));
  }
  std::uint32_t open(Key key, NodeType type, const YamlValue& value) {
    return writer_.open(key, type, lines_.offset(value.place));
  }
  void close(std::uint32_t container, const YamlValue& value) {
    const std::uint64_t at = lines_.offset(value.place);
    writer_.close(container, at + lines_.length(at));
  }

  void read_operator(const YamlValue& entry) {
    const YamlValue* named = entry.at("op");
    const YamlValue* schema = entry.at("func");
    const YamlValue* said = named != nullptr ? named : schema;
    if (said == nullptr || said->kind != Kind::scalar) return;
    std::string name(trimmed(std::string_view(said->text).substr(0, said->text.find('('))));
    if (name.empty()) return;
    const bool spaced = name.find("::") != std::string::npos;
    if (!spaced) name.insert(0, "aten::");
    const std::uint32_t object = open(Key::none, NodeType::object, *said);
    text(Key::name, name, *said);
    text(Key::namespace_, std::string_view(name).substr(0, name.find("::")), *said);
    if (schema != nullptr && named == nullptr) {
      text(Key::schema, (spaced ? "" : "aten::") + schema->text, *said);
    }
    text(Key::defined_in, "native", *said);
    const YamlValue* kernels = entry.at("kernels");
    if (kernels != nullptr && kernels->kind == Kind::list) {
      const std::uint32_t list = open(Key::kernels, NodeType::list, *kernels);
      for (const YamlValue& kernel : kernels->items) {
        const YamlValue* function = kernel.kind == Kind::map ? kernel.at("kernel_name") : nullptr;
        if (function == nullptr || function->kind != Kind::scalar) continue;
        const std::uint32_t one = open(Key::none, NodeType::object, *function);
        const std::uint32_t of = open(Key::function, NodeType::object, *function);
        text(Key::name, function->text, *function);
        close(of, *function);
        close(one, *function);
      }
      close(list, *kernels);
    }
    close(object, *said);
  }

  Lines lines_;
  FactWriter writer_;
  Facts& facts_;
};

// The first line that says something.
std::string_view first_statement(std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = trimmed(head.substr(0, end));
    if (!line.empty() && !line.starts_with('#') && line != "---") return head.substr(0, end);
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return {};
}

}  // namespace

Accepts accepts_kernel_list(std::string_view head, bool whole) {
  // Comments may fill what is shown.
  const bool text = !head.empty() && (head[0] == '#' || head[0] == '-' || head[0] == '\n');
  if (!text) return Accepts::no;
  const std::string_view first = first_statement(head);
  if (first.empty() && !whole && head.size() < head_size) return Accepts::look_further;
  if (!first.starts_with("- op:") && !first.starts_with("- func:")) return Accepts::no;
  if (head.find("kernel_name:") != head.npos) return Accepts::yes;
  return !whole && head.size() < head_size ? Accepts::look_further : Accepts::no;
}

bool confirms_kernel_list(ByteSource&) { return false; }

void load_kernel_list(ByteSource& source, std::uint32_t file, Facts& facts) {
  std::string text;
  std::array<char, 65536> buffer;
  for (std::size_t got = 0; (got = source.read(buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), got);
    if (text.size() > max_yaml_bytes) throw InputError(0, 0, "larger than any list of operators");
  }
  try {
    Reader(text, facts).read(read_yaml(text), file);
  } catch (const YamlError& error) {
    throw InputError(Lines(text).offset(error.place), 0, error.what());
  }
}

}  // namespace opseal
