#include "analyzers/sources/key_types.h"

#include <algorithm>
#include <initializer_list>

#include "opseal/text.h"

namespace opseal {
namespace {

// A class with more is no key.
constexpr std::size_t max_fields = 512;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Declarations that make no field.
bool begins_other(std::string_view word) {
  return is_one_of(word, {"using", "typedef", "friend", "static", "template", "extern",
                          "static_assert", "explicit", "virtual", "inline", "enum", "operator"});
}

class TypeReader {
 public:
  TypeReader(const PlainSource& source, const Scope& scope)
      : unit_(source.unit), partners_(source.shape.partners), scope_(scope) {}

  KeyType read() {
    type_.name = scope_.name.substr(scope_.name.rfind(':') + 1);
    type_.place = place_of(scope_.name_token);
    read_bases();
    std::uint32_t at = scope_.body.begin;
    while (at < scope_.body.end && type_.fields.size() < max_fields) at = read_declaration(at);
    return std::move(type_);
  }

 private:
  const Token& token(std::uint32_t at) const { return unit_.tokens[at]; }
  SourcePlace place_of(std::uint32_t at) const {
    return {unit_.file, token(at).offset, token(at).length};
  }

  // `struct A : public n::B<int>, C {`
  void read_bases() {
    std::uint32_t at = scope_.name_token + 1;
    while (at + 1 < scope_.body.begin && !token(at).is(':')) ++at;
    std::string last;
    std::size_t depth = 0;
    for (++at; at < scope_.body.begin; ++at) {
      if (token(at).is('<')) ++depth;
      if (token(at).is('>') && depth > 0) --depth;
      if (depth > 0) continue;
      if (token(at).is(',') || token(at).is('{')) {
        if (!last.empty()) type_.bases.push_back(last);
        last.clear();
      } else if (token(at).is_identifier() &&
                 !is_one_of(token(at).text, {"public", "private", "protected", "virtual"})) {
        last = token(at).text;
      }
    }
  }

  std::uint32_t behind(std::uint32_t open) const {
    const std::uint32_t close = partners_[open];
    return close == no_token || close < open || close > scope_.body.end ? open + 1 : close + 1;
  }

  // Where the next one begins.
  std::uint32_t read_declaration(std::uint32_t start) {
    if (token(start).is(';')) return start + 1;
    if (is_one_of(token(start).text, {"public", "private", "protected"}) &&
        start + 1 < scope_.body.end && token(start + 1).is(':')) {
      return start + 2;
    }
    // What of the declaration stands in no brackets but those of templates.
    std::vector<std::uint32_t> plain;
    bool round = false;
    bool value = false;
    bool nested = false;
    std::uint32_t at = start;
    std::size_t angles = 0;
    for (; at < scope_.body.end && !token(at).is(';');) {
      const Token& one = token(at);
      if (one.is('{')) {
        if (!nested && !value && is_type(plain)) {
          nested = true;
          named_until_ = plain.size();
        }
        const std::uint32_t next = behind(at);
        // The body of a function ends it.
        if (round && !value && !nested) {
          at = next;
          add_method(plain);
          return at < scope_.body.end && token(at).is(';') ? at + 1 : at;
        }
        at = next;
        continue;
      }
      if (one.is('(') || one.is('[')) {
        const bool attribute = !plain.empty() && takes_brackets(token(plain.back()).text);
        if (one.is('(') && !value && angles == 0 && !attribute) {
          if (!round) method_at_ = plain.size();
          round = true;
        }
        at = behind(at);
        continue;
      }
      if (one.is('<')) ++angles;
      if (one.is('>') && angles > 0) --angles;
      if (one.is('=') && angles == 0) value = true;
      plain.push_back(at++);
    }
    finish(plain, round, nested);
    return at + 1;
  }

  static bool takes_brackets(std::string_view word) {
    return is_one_of(word, {"alignas", "__attribute__", "__declspec", "decltype", "__align__"});
  }

  bool is_type(const std::vector<std::uint32_t>& plain) const {
    return std::any_of(plain.begin(), plain.end(), [this](std::uint32_t at) {
      return is_one_of(token(at).text, {"struct", "class", "union", "enum"});
    });
  }

  void add_method(const std::vector<std::uint32_t>& plain) {
    if (method_at_ > 0 && method_at_ <= plain.size() &&
        token(plain[method_at_ - 1]).is_identifier()) {
      type_.methods.insert(std::string(token(plain[method_at_ - 1]).text));
    }
  }

  void finish(const std::vector<std::uint32_t>& plain, bool round, bool nested) {
    if (plain.empty()) return;
    if (nested) {
      // `struct { … } a;` and unnamed unions have members that are not looked for; a class of its
      // own, as `struct Hash { … };`, has none of this one.
      const std::string_view first = token(plain.front()).text;
      const bool declares = plain.size() > named_until_ || named_until_ < 2;
      const bool other = is_one_of(first, {"enum", "using", "typedef", "template", "friend"});
      if (declares && !other) type_.partial = true;
      return;
    }
    for (const std::uint32_t at : plain) {
      if (begins_other(token(at).text)) return;
    }
    if (round) {
      add_method(plain);
      // A macro, or a pointer to a function.
      const bool made = token(plain.front()).text == type_.name;
      if (method_at_ <= 1 && !made) type_.partial = true;
      return;
    }
    add_fields(plain);
  }

  void add_fields(const std::vector<std::uint32_t>& plain) {
    bool exempt = false;
    std::size_t angles = 0;
    std::size_t words = 0;
    std::uint32_t name = no_token;
    bool done = false;
    const auto add = [&] {
      if (name == no_token || words < 2) return;
      const std::string_view text = token(name).text;
      type_.fields.push_back(
          {std::string(text), place_of(name), exempt || is_exempt_key_field(text)});
    };
    for (const std::uint32_t at : plain) {
      const Token& one = token(at);
      if (one.is('<')) ++angles;
      if (one.is('>') && angles > 0) --angles;
      if (is_one_of(one.text, {"mutable", "atomic", "mutex", "shared_mutex", "once_flag"})) {
        exempt = true;
      }
      if (angles > 0 || done) {
        if (!(angles == 0 && one.is(','))) continue;
      }
      if (one.is('&')) exempt = true;
      if (one.is(',')) {
        add();
        name = no_token;
        done = false;
      } else if (one.is('=') || one.is(':')) {
        done = true;
      } else if (one.is_identifier()) {
        ++words;
        name = at;
      }
    }
    add();
  }

  const SourceUnit& unit_;
  const std::vector<std::uint32_t>& partners_;
  const Scope& scope_;
  KeyType type_;
  // How many tokens stand before the braces of a class within.
  std::size_t named_until_ = 0;
  // How many tokens stand before the brackets of a declaration.
  std::size_t method_at_ = 0;
};

}  // namespace

bool is_exempt_key_field(std::string_view name) {
  const std::string word = lower(name);
  if (word.find("hash") != word.npos) return true;
  std::string plain = word;
  if (plain.starts_with("m_")) plain.erase(0, 2);
  while (!plain.empty() && plain.back() == '_') plain.pop_back();
  return is_one_of(plain, {"parent", "owner", "allocator", "handle", "stream", "workspace",
                           "context", "ctx", "refcount", "ref_count", "mutex", "lock"});
}

KeyType read_key_type(const PlainSource& source, const Scope& scope) {
  return TypeReader(source, scope).read();
}

}  // namespace opseal
