#include "analyzers/native_functions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "analyzers/native_functions_yaml.h"
#include "analyzers/torch_schema_json.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using Json = nlohmann::ordered_json;
using Kind = YamlValue::Kind;

// The keys under which the generator itself fills in kernels of an operator that has
// `ufunc_inner_loop`.
constexpr std::string_view ufunc_keys[] = {"CPU", "CUDA"};
// What the generator takes an operator for that says nothing about its kernels.
constexpr std::string_view implied_key = "CompositeImplicitAutograd";
// The keys whose kernels the generator makes from one structured kernel.
constexpr std::string_view structured_keys[] = {"CPU", "CUDA", "MPS", "XPU", "MTIA"};
constexpr std::string_view no_gradient = "non_differentiable";
constexpr std::string_view derivative_words[] = {"name", "output_differentiability", "dispatch"};

// What a file of a backend may say (torchgen/gen_backend_stubs.py); kernels stand in the first
// three.
constexpr std::string_view backend_words[] = {
    "supported",     "full_codegen", "autograd", "backend", "class_name",         "cpp_namespace",
    "extra_headers", "non_native",   "ir_gen",   "symint",  "use_out_as_primary", "device_guard"};
// Beside the bits of `structured_bit`: nobody can say what kernels the operator has.
constexpr std::uint8_t unknown_bit = 0x80;

std::uint8_t structured_bit(std::string_view key) {
  for (std::size_t at = 0; at < std::size(structured_keys); ++at) {
    if (structured_keys[at] == key) return static_cast<std::uint8_t>(1U << at);
  }
  return 0;
}

class Collector {
 public:
  void add(const std::string& path, const YamlValue& root, NativeFunctionsKind kind) {
    path_ = path;
    switch (kind) {
      case NativeFunctionsKind::functions:
        for (const YamlValue& entry : root.items) add_function(entry);
        resolve_delegates();
        break;
      case NativeFunctionsKind::derivatives:
        for (const YamlValue& entry : root.items) add_derivative(entry);
        break;
      case NativeFunctionsKind::backend:
        add_backend(root);
        break;
    }
  }

  // One operator on each line, so that a diff names what changed.
  std::string text(std::string_view tool_version) const {
    Json head = {{"opseal_manifest", 1},
                 {"producer", {{"name", "export native-functions"}, {"version", tool_version}}},
                 {"system", "torch"}};
    if (!messages_.empty()) head["remarks"] = messages_;
    std::string out = "{\n";
    for (const auto& [key, value] : head.items()) {
      out += " " + Json(key).dump() + ": " + dumped(value) + ",\n";
    }
    out += " \"operators\": [";
    const char* separator = "\n  ";
    for (const Json& each : operators_) {
      out += separator + dumped(each);
      separator = ",\n  ";
    }
    return out + "\n ]\n}\n";
  }

  void remark(std::string text) { messages_.push_back(std::move(text)); }

  std::vector<std::string> take_messages() { return std::move(messages_); }
  std::size_t lost() const { return lost_; }

 private:
  // What is no UTF-8 in a file must not end the program.
  static std::string dumped(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  Json location(const YamlPlace& place) const {
    return {{"file", path_}, {"line", place.line}, {"column", place.column}};
  }

  void message(const YamlPlace& place, const std::string& text) {
    messages_.push_back(path_ + ":" + std::to_string(place.line) + ":" +
                        std::to_string(place.column) + ": " + text);
  }

  Json& new_operator(const std::string& name, const YamlPlace& place) {
    index_.try_emplace(name, operators_.size());
    operators_.push_back({{"name", name},
                          {"namespace", name.substr(0, name.find("::"))},
                          {"location", location(place)},
                          {"defined_in", "native"}});
    return operators_.back();
  }

  void add_function(const YamlValue& entry) {
    const YamlValue* func = entry.at("func");
    if (func == nullptr || func->kind != Kind::scalar) {
      ++lost_;
      message(entry.place, "an element without `func` is not said");
      return;
    }
    const std::optional<OperatorSchema> schema = read_torch_schema(func->text);
    if (!schema || schema->name.empty()) {
      ++lost_;
      message(func->place, "the schema " + quote(func->text) + " cannot be read");
      // Others may still point at it, and a comparison must not take it for removed.
      if (const std::string_view name = name_before(func->text); !name.empty()) {
        new_operator(torch_operator_name(name), func->place);
        structured_.push_back(unknown_bit);
      }
      return;
    }
    Json& added = new_operator(torch_operator_name(schema->name), func->place);
    added["schema"] = torch_operator_name(func->text);
    add_torch_operands(*schema, added);
    add_kernels(added, entry);
    if (std::vector<std::string> tags = yaml_texts(entry.at("tags")); !tags.empty()) {
      added["tags"] = std::move(tags);
    }
    const YamlValue* generated = entry.at("autogen");
    for (const std::string& name : yaml_texts(generated)) {
      // Its schema and kernels are worked out by the generator, so the file does not say them.
      new_operator(torch_operator_name(name), generated->place)["tags"] = {"generated"};
      structured_.push_back(0);
    }
  }

  Json kernel(std::string_view platform, const YamlPlace& place) const {
    return {{"platform", platform}, {"location", location(place)}, {"witnesses", {"declared"}}};
  }

  void add_kernels(Json& added, const YamlValue& entry) {
    const YamlValue* dispatch = said_at(entry, "dispatch");
    const YamlValue* delegate = said_at(entry, "structured_delegate");
    if (dispatch != nullptr && dispatch->kind != Kind::map) {
      message(dispatch->place, "`dispatch` is no map, so the kernels of " +
                                   quote(added["name"].get<std::string>()) + " are not said");
      structured_.push_back(unknown_bit);
      return;
    }
    Json kernels = Json::array();
    std::uint8_t structured = 0;
    const auto add = [&](std::string_view key, const YamlPlace& place) {
      kernels.push_back(kernel(key, place));
      structured |= structured_bit(key);
    };
    if (dispatch == nullptr && delegate == nullptr) add(implied_key, entry.place);
    if (dispatch != nullptr) {
      for (std::size_t at = 0; at < dispatch->items.size(); at += 2) {
        const YamlValue& symbol = dispatch->items[at + 1];
        for (const std::string& key : names_in_text(dispatch->items[at].text)) {
          add(key, dispatch->items[at].place);
          if (symbol.kind == Kind::scalar) kernels.back()["symbol"] = symbol.text;
        }
      }
    }
    if (const YamlValue* loops = entry.at("ufunc_inner_loop")) {
      for (const std::string_view key : ufunc_keys) add(key, loops->place);
    }
    added["kernels"] = std::move(kernels);
    structured_.push_back(structured);
    if (delegate != nullptr) delegates_.push_back({operators_.size() - 1, delegate});
  }

  // An operator with `structured_delegate` has the kernels of that one under the structured keys.
  void resolve_delegates() {
    for (const auto& [index, delegate] : delegates_) {
      Json& added = operators_[index];
      const auto found = index_.find(torch_operator_name(delegate->text));
      if (found == index_.end()) {
        message(delegate->place, "`structured_delegate` names " + quote(delegate->text) +
                                     ", which no file declares");
        added.erase("kernels");
        continue;
      }
      if ((structured_[found->second] & unknown_bit) != 0) {
        added.erase("kernels");
        continue;
      }
      for (const std::string_view key : structured_keys) {
        if ((structured_[found->second] & structured_bit(key)) == 0) continue;
        added["kernels"].push_back(kernel(key, delegate->place));
      }
    }
    delegates_.clear();
  }

  // The operator that an entry of another file is about, or nullptr, which is said.
  Json* find(std::string_view written, const YamlPlace& place, std::string_view what) {
    const std::string name =
        torch_operator_name(written.substr(0, std::min(written.find('('), written.size())));
    const auto found = index_.find(name);
    if (found != index_.end()) return &operators_[found->second];
    message(place, std::string(what) + " for " + quote(name) + ", which no file declares");
    return nullptr;
  }

  void add_derivative(const YamlValue& entry) {
    const YamlValue* name = entry.at("name");
    if (name == nullptr || name->kind != Kind::scalar) {
      ++lost_;
      message(entry.place, "an element without `name` is not said");
      return;
    }
    Json* added = find(name->text, name->place, "a derivative");
    if (added == nullptr) return;
    (*added)["gradient"] = {
        {"function", {{"name", (*added)["name"]}, {"location", location(name->place)}}}};
    add_formulas(*added, entry);
    // Several sets of formulas for one operator; only the first is the ordinary one.
    const YamlValue* dispatch = entry.at("dispatch");
    if (dispatch != nullptr && dispatch->kind == Kind::map && !dispatch->items.empty()) {
      add_formulas(*added, dispatch->items[1]);
    }
    if (const YamlValue* outputs = entry.at("output_differentiability")) {
      add_output_marks(*added, *outputs);
    }
  }

  static void add_formulas(Json& added, const YamlValue& formulas) {
    if (formulas.kind != Kind::map || !added.contains("inputs")) return;
    std::unordered_map<std::string, Json*> inputs;
    for (Json& input : added["inputs"]) inputs.emplace(input.value("name", ""), &input);
    for (std::size_t at = 0; at < formulas.items.size(); at += 2) {
      const std::string& names = formulas.items[at].text;
      if (std::ranges::find(derivative_words, names) != std::end(derivative_words)) continue;
      for (const std::string& name : names_in_text(names)) {
        const auto input = inputs.find(name);
        if (input == inputs.end()) continue;
        (*input->second)["differentiable"] = formulas.items[at + 1].text != no_gradient;
      }
    }
  }

  // One truth value for each output; a shorter list is about the first ones.
  static void add_output_marks(Json& added, const YamlValue& marks) {
    if (!added.contains("outputs")) return;
    Json& outputs = added["outputs"];
    for (std::size_t at = 0; at < std::min(outputs.size(), marks.items.size()); ++at) {
      const std::string word = lower(marks.items[at].text);
      // Anything else is a condition in C++.
      if (word == "true" || word == "false") outputs[at]["differentiable"] = word == "true";
    }
  }

  void add_backend(const YamlValue& root) {
    for (std::size_t at = 0; at < root.items.size(); at += 2) {
      const YamlValue& key = root.items[at];
      if (std::ranges::find(backend_words, key.text) != std::end(backend_words)) continue;
      message(key.place, "unknown key " + quote(key.text) + " of a backend" +
                             did_you_mean(key.text, backend_words));
    }
    const std::string backend(root.text_at("backend"));
    if (backend.empty()) {
      ++lost_;
      message(root.place, "`backend` is no text, so its kernels are not said");
      return;
    }
    add_backend_kernels(backend, root, "supported");
    add_backend_kernels(backend, root, "full_codegen");
    add_backend_kernels("Autograd" + backend, root, "autograd");
  }

  void add_backend_kernels(const std::string& key, const YamlValue& root, std::string_view word) {
    const YamlValue* list = said_at(root, word);
    if (list == nullptr) return;
    if (list->kind != Kind::list) {
      ++lost_;
      message(list->place, quote(word) + " is no list of operators");
      return;
    }
    const std::string space(root.text_at("cpp_namespace"));
    for (const YamlValue& item : list->items) {
      if (item.kind != Kind::scalar) {
        ++lost_;
        message(item.place, "an element of " + quote(word) + " that is no text is not said");
        continue;
      }
      Json row = kernel(key, item.place);
      if (!space.empty()) row["package"] = space;
      if (Json* added = find(item.text, item.place, "a kernel")) {
        (*added)["kernels"].push_back(std::move(row));
      }
    }
  }

  std::string path_;
  std::vector<Json> operators_;
  // Of each operator the structured keys that it has kernels for, a bit each.
  std::vector<std::uint8_t> structured_;
  // Of the file that is being read: operators that take kernels of another, and where they say so.
  std::vector<std::pair<std::size_t, const YamlValue*>> delegates_;
  // Of each name the first operator.
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::string> messages_;
  std::size_t lost_ = 0;
};

struct ReadFile {
  const NativeFunctionsFile* file;
  YamlValue root;
  NativeFunctionsKind kind;
};

}  // namespace

static_assert(max_native_functions_bytes == max_yaml_bytes);

NativeFunctionsResult native_functions_manifest(std::span<const NativeFunctionsFile> files,
                                                std::string_view tool_version) {
  std::vector<ReadFile> read;
  for (const NativeFunctionsFile& file : files) {
    try {
      YamlValue root = read_yaml(file.text);
      const NativeFunctionsKind kind = native_functions_kind(root);
      read.push_back({&file, std::move(root), kind});
    } catch (const YamlError& error) {
      return {{},
              {file.path + ":" + std::to_string(error.place.line) + ":" +
               std::to_string(error.place.column) + ": " + error.what()},
              0};
    }
  }
  // What the others are about is declared in the files of functions.
  std::ranges::stable_sort(read, {}, &ReadFile::kind);
  if (read.empty() || read.front().kind != NativeFunctionsKind::functions) {
    return {{}, {"no file declares functions, expected one with a list of `func`"}, 0};
  }
  Collector collector;
  for (const ReadFile& each : read) collector.add(each.file->path, each.root, each.kind);
  if (std::ranges::count(read, NativeFunctionsKind::derivatives, &ReadFile::kind) == 0) {
    collector.remark("no file of derivatives, so gradients are not said");
  }
  std::string manifest = collector.text(tool_version);
  return {std::move(manifest), collector.take_messages(), collector.lost()};
}

}  // namespace opseal
