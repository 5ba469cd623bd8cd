#include "analyzers/sources/twin_bindings.h"

#include <algorithm>
#include <map>

namespace opseal {
namespace {

constexpr std::size_t most_bindings = 4096;
constexpr std::uint32_t longest_statement = 20'000;

class BindingReader {
 public:
  BindingReader(const PlainSource& source, std::uint32_t number,
                std::vector<MethodBinding>& bindings)
      : number_(number),
        tokens_(source.unit.tokens),
        partners_(source.shape.partners),
        bindings_(bindings) {}

  void run() {
    find_variables();
    for (std::uint32_t at = 0; at + 3 < tokens_.size(); ++at) {
      // The beginning of a statement, or of the last chain.
      if (tokens_[at].is(';') || tokens_[at].is('{') || tokens_[at].is('}')) begin_ = at + 1;
      if (tokens_[at].is("class_")) class_at_ = at;
      const bool defines = tokens_[at].is("def") && at > 0 && tokens_[at - 1].is('.') &&
                           tokens_[at + 1].is('(') && tokens_[at + 2].is_string();
      if (!defines || bindings_.size() >= most_bindings) continue;
      const std::uint32_t close = partners_[at + 1];
      if (close == no_token || close <= at || close - at > longest_statement) continue;
      read_def(at, close);
      at = close - 1;
    }
  }

 private:
  // `class_<a::b::T, …>`: `T`.
  std::string_view class_behind(std::uint32_t at, std::uint32_t* end = nullptr) const {
    if (at + 1 >= tokens_.size() || !tokens_[at + 1].is('<')) return {};
    constexpr std::uint32_t most = 64;
    const std::uint32_t behind = behind_angles(tokens_, at + 1, most);
    if (behind == at + 1) return {};
    if (end != nullptr) *end = behind;
    std::string_view name;
    for (std::uint32_t in = at + 2; in + 1 < behind; ++in) {
      if (!tokens_[in].is_identifier() && !tokens_[in].is("::")) break;
      if (tokens_[in].is_identifier()) name = tokens_[in].text;
    }
    return name;
  }

  // `py::class_<T> name(…)`, `py::class_<T>& name`
  void find_variables() {
    for (std::uint32_t at = 0; at + 3 < tokens_.size(); ++at) {
      if (!tokens_[at].is("class_")) continue;
      std::uint32_t end = at;
      const std::string_view type = class_behind(at, &end);
      if (type.empty()) continue;
      if (end < tokens_.size() && tokens_[end].is('&')) ++end;
      if (end < tokens_.size() && tokens_[end].is_identifier()) {
        const auto [place, fresh] = variables_.emplace(tokens_[end].text, type);
        // Two of one name say nothing.
        if (!fresh && place->second != type) place->second = {};
      }
    }
  }

  std::string_view class_here() const {
    if (class_at_ >= begin_ && class_at_ > 0) return class_behind(class_at_);
    const auto variable = variables_.find(tokens_[begin_].text);
    return variable == variables_.end() ? std::string_view() : variable->second;
  }

  void read_def(std::uint32_t at, std::uint32_t close) {
    const std::string_view type = class_here();
    if (type.empty()) return;
    const auto arguments = split_call_arguments(tokens_.subspan(at + 2, close - at - 2));
    if (arguments.size() < 3) return;
    MethodBinding binding;
    for (const Tokens argument : arguments) {
      std::size_t text = 0;
      while (text < argument.size() && !argument[text].is_string()) ++text;
      const bool named = text >= 2 && text < argument.size() && argument[text - 1].is('(') &&
                         argument[text - 2].is("arg");
      const bool literal = text + 1 < argument.size() && text == 0 && argument[1].is("_a");
      if (!named && !literal) continue;
      binding.parameters.push_back(string_value(argument.subspan(text, 1)));
      if (std::any_of(argument.begin(), argument.end(),
                      [](const Token& token) { return token.is('='); })) {
        ++binding.defaults;
      }
    }
    if (binding.parameters.empty()) return;
    binding.name = std::string(type) + "." + string_value(tokens_.subspan(at + 2, 1));
    const Token& first = tokens_[at];
    binding.place = {number_, first.offset,
                     tokens_[close].offset + tokens_[close].length - first.offset};
    bindings_.push_back(std::move(binding));
  }

  std::uint32_t number_;
  Tokens tokens_;
  const std::vector<std::uint32_t>& partners_;
  std::vector<MethodBinding>& bindings_;
  std::map<std::string_view, std::string_view> variables_;
  std::uint32_t begin_ = 0;
  std::uint32_t class_at_ = 0;
};

}  // namespace

bool may_bind_methods(std::string_view bytes) {
  return bytes.find("class_<") != bytes.npos && bytes.find(".def(") != bytes.npos &&
         (bytes.find("::arg(") != bytes.npos || bytes.find("\"_a") != bytes.npos);
}

void read_method_bindings(const PlainSource& source, std::uint32_t number,
                          std::vector<MethodBinding>& bindings) {
  BindingReader(source, number, bindings).run();
}

std::vector<MethodBinding> twin_bindings(std::vector<MethodBinding> all) {
  std::map<std::string, std::vector<std::size_t>> by_name;
  for (std::size_t at = 0; at < all.size(); ++at) by_name[all[at].name].push_back(at);
  std::vector<MethodBinding> twins;
  for (const auto& [name, indices] : by_name) {
    if (indices.size() != 2) continue;
    if (all[indices[0]].place.file == all[indices[1]].place.file) continue;
    for (const std::size_t at : indices) twins.push_back(std::move(all[at]));
  }
  return twins;
}

void write_twin_bindings(const std::vector<MethodBinding>& twins,
                         const std::vector<std::string>& paths, PlacedWriter& writer) {
  const std::uint32_t functions = writer.open_list(Key::functions);
  for (const MethodBinding& binding : twins) {
    const std::uint32_t object = writer.open(Key::none, NodeType::object, binding.place);
    writer.text(Key::name, binding.name, binding.place);
    writer.text(Key::namespace_, paths[binding.place.file], binding.place);
    const auto count = static_cast<std::uint32_t>(binding.parameters.size());
    writer.count(Key::positional, count, binding.place);
    writer.count(Key::required, count - binding.defaults, binding.place);
    writer.texts(Key::parameters, binding.parameters, binding.place);
    writer.close(object);
  }
  writer.close_list(functions);
}

}  // namespace opseal
