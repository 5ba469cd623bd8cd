// Two schema texts of one operator, by what they mean: who may call it how.

#include <map>
#include <string>

#include "compare/call_signature.h"
#include "compare/change_list.h"
#include "opseal/text.h"

namespace opseal {
namespace {

std::string_view without_mark(std::string_view type) {
  if (type.ends_with('?')) type.remove_suffix(1);
  return type;
}

// What callers pass for the one type may be passed where the other is asked for.
bool accepts(std::string_view asked, std::string_view passed) {
  if (asked == passed) return true;
  if (asked.ends_with('?')) return accepts(without_mark(asked), without_mark(passed));
  if (passed.ends_with('?')) return false;
  if (asked.ends_with(']')) {
    const std::size_t open = asked.rfind('[');
    const std::size_t other = passed.rfind('[');
    if (open == asked.npos) return false;
    const std::string_view element = asked.substr(0, open);
    const std::string_view length = asked.substr(open);
    // One number stands for a list of a fixed length, and for no other list.
    if (other == passed.npos) return length != "[]" && accepts(element, passed);
    return length == passed.substr(other) && accepts(element, passed.substr(0, other));
  }
  if (asked == "Scalar") return passed == "int" || passed == "float" || passed == "bool";
  if (asked == "complex") return passed == "int" || passed == "float";
  return asked == "float" && passed == "int";
}

class SchemaComparison {
 public:
  SchemaComparison(const Compared& compared, CallSignature before, CallSignature after)
      : compared_(compared), before_(std::move(before)), after_(std::move(after)) {}

  void compare() {
    for (std::size_t at = 0; at < after_.arguments.size(); ++at)
      now_.emplace(after_.arguments[at].name, at);
    for (std::size_t at = 0; at < before_.arguments.size(); ++at)
      then_.emplace(before_.arguments[at].name, at);
    for (std::size_t at = 0; at < before_.arguments.size(); ++at) compare_argument(at);
    compare_order();
    compare_more();
    for (std::size_t at = 0; at < after_.arguments.size(); ++at) added_argument(at);
    compare_results();
  }

 private:
  void add(Impact impact, std::string_view kind, std::string message, std::string_view meaning) {
    compared_.list.add(impact, kind, compared_.subject, std::move(message), meaning,
                       compared_.before()[Key::schema], compared_.after()[Key::schema]);
  }

  // The argument that took the place of one that is gone.
  const CallArgument* renamed(std::size_t at) const {
    if (at >= after_.arguments.size()) return nullptr;
    const CallArgument& other = after_.arguments[at];
    const CallArgument& own = before_.arguments[at];
    const bool same = other.type == own.type && other.keyword_only == own.keyword_only;
    return same && !then_.contains(other.name) ? &other : nullptr;
  }

  void compare_argument(std::size_t at) {
    const CallArgument& then = before_.arguments[at];
    const auto found = now_.find(then.name);
    const std::string what = "argument " + quote(then.name);
    if (found == now_.end()) {
      if (const CallArgument* other = renamed(at)) {
        add(Impact::breaking, "argument", what + " is named " + quote(other->name) + " now",
            "callers that pass it by name fail");
      } else {
        add(Impact::breaking, "argument", "no " + what + " any more", "callers that pass it fail");
      }
      return;
    }
    const CallArgument& now = after_.arguments[found->second];
    compare_types(what, then, now);
    compare_fallbacks(what, then, now);
    if (now.keyword_only && !then.keyword_only) {
      add(Impact::breaking, "argument", what + " is passed by name alone",
          "callers that pass it by position fail");
    } else if (then.keyword_only && !now.keyword_only) {
      const bool shifts = in_front(found->second);
      add(shifts ? Impact::breaking : Impact::additive, "argument",
          what + " is passed by position too" + (shifts ? ", in front of others" : ""),
          shifts ? "callers that pass those by position pass the wrong ones"
                 : "old calls still work");
    }
    if (then.alias.ends_with('!') != now.alias.ends_with('!')) {
      add(Impact::breaking, "mutation",
          what + (now.alias.ends_with('!') ? " is written" : " is not written any more"),
          now.alias.ends_with('!') ? "callers find another value in it"
                                   : "callers no longer find the result in it");
    }
  }

  void compare_types(const std::string& what, const CallArgument& then, const CallArgument& now) {
    if (then.type == now.type) return;
    const bool wider = accepts(now.type, then.type);
    add(wider ? Impact::additive : Impact::breaking, "argument",
        what + " is a " + quote(now.type) + ", before a " + quote(then.type),
        wider ? "old calls still work" : "callers that pass the old type are refused");
  }

  void compare_fallbacks(const std::string& what, const CallArgument& then,
                         const CallArgument& now) {
    if (same_default(then.fallback, now.fallback)) return;
    if (now.fallback.empty()) {
      add(Impact::breaking, "argument", what + " has no default, before " + quote(then.fallback),
          "callers that leave it out fail");
    } else if (then.fallback.empty()) {
      add(Impact::additive, "argument",
          what + " has the default " + quote(now.fallback) + ", before none", "it can be left out");
    } else {
      add(Impact::numerics, "argument",
          what + " has the default " + quote(now.fallback) + ", before " + quote(then.fallback),
          "callers that leave it out get something else");
    }
  }

  // Positional arguments that both have stand in another order.
  void compare_order() {
    std::size_t last = 0;
    for (const CallArgument& argument : before_.arguments) {
      const auto found = now_.find(argument.name);
      if (argument.keyword_only || found == now_.end()) continue;
      if (after_.arguments[found->second].keyword_only) continue;
      if (found->second < last) {
        add(Impact::breaking, "argument", "arguments stand in another order",
            "callers that pass them by position pass the wrong ones, and nothing raises where both "
            "are taken");
        return;
      }
      last = found->second;
    }
  }

  // `...` at the end.
  void compare_more() {
    if (before_.more_arguments != after_.more_arguments) {
      add(after_.more_arguments ? Impact::additive : Impact::breaking, "argument",
          after_.more_arguments ? "takes any number of further arguments, before none"
                                : "takes no further arguments, before any number",
          after_.more_arguments ? "old calls still work" : "callers that pass more fail");
    }
    if (before_.more_results != after_.more_results) {
      add(Impact::breaking, "outputs",
          after_.more_results ? "returns any number of further outputs, before none"
                              : "returns no further outputs, before any number",
          "callers unpack another number of results");
    }
  }

  void added_argument(std::size_t at) {
    const CallArgument& now = after_.arguments[at];
    if (then_.contains(now.name)) return;
    // The other half of a renaming.
    if (at < before_.arguments.size() && !now_.contains(before_.arguments[at].name) &&
        renamed(at) != nullptr) {
      return;
    }
    const std::string what = "new argument " + quote(now.name);
    if (now.fallback.empty()) {
      add(Impact::breaking, "argument", what + " without a default", "old calls fail");
    } else if (!now.keyword_only && in_front(at)) {
      add(Impact::breaking, "argument", what + " in front of others",
          "callers that pass those by position pass the wrong ones");
    } else {
      add(Impact::additive, "argument", what + " with the default " + quote(now.fallback),
          "old calls still work");
    }
  }

  // Some positional argument of the first dump stands behind it.
  bool in_front(std::size_t at) const {
    for (++at; at < after_.arguments.size(); ++at) {
      if (after_.arguments[at].keyword_only) return false;
      const auto found = then_.find(after_.arguments[at].name);
      if (found != then_.end() && !before_.arguments[found->second].keyword_only) return true;
    }
    return false;
  }

  void compare_results() {
    const std::size_t then = before_.results.size();
    const std::size_t now = after_.results.size();
    if (then != now) {
      add(Impact::breaking, "outputs",
          "returns " + plural(now, "output") + ", before " + std::to_string(then),
          "callers unpack another number of results");
      return;
    }
    for (std::size_t at = 0; at < now; ++at) {
      compare_result("output " + std::to_string(at), before_.results[at], after_.results[at]);
    }
  }

  void compare_result(const std::string& what, const CallArgument& then, const CallArgument& now) {
    if (then.type != now.type) {
      add(Impact::breaking, "outputs",
          what + " is a " + quote(now.type) + ", before a " + quote(then.type),
          "callers get something else");
    } else if (then.alias.empty() != now.alias.empty()) {
      add(Impact::numerics, "outputs",
          what + (now.alias.empty() ? " shares no memory with an argument any more"
                                    : " shares memory with an argument"),
          now.alias.empty() ? "writing to it leaves the argument alone"
                            : "writing to it writes to the argument");
    }
    if (then.name == now.name) return;
    const auto text = [](const std::string& name) {
      return name.empty() ? "no name" : quote(name);
    };
    add(then.name.empty() ? Impact::additive : Impact::breaking, "outputs",
        what + " has " + (now.name.empty() ? "no name" : "the name " + quote(now.name)) +
            ", before " + text(then.name),
        then.name.empty() ? "it can be taken by name" : "callers that take it by name fail");
  }

  const Compared& compared_;
  CallSignature before_;
  CallSignature after_;
  std::map<std::string_view, std::size_t> then_;
  std::map<std::string_view, std::size_t> now_;
};

std::string without_spaces(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (byte != ' ' && byte != '\n' && byte != '\t') out += byte;
  }
  return out;
}

}  // namespace

bool compare_schemas(const Compared& compared) {
  const Fact then = compared.before()[Key::schema];
  const Fact now = compared.after()[Key::schema];
  if (!compared.list.both(compared.before(), compared.after(), Key::schema)) return false;
  if (then.is_null() != now.is_null()) {
    const bool lost = now.is_null();
    compared.list.add(lost ? Impact::breaking : Impact::additive, "schema", compared.subject,
                      lost ? "nobody defines it any more" : "somebody defines it, before nobody",
                      lost ? "it can't be called by its name" : "it can be called by its name",
                      then, now);
    return false;
  }
  CallSignature before = read_call_signature(then.text());
  CallSignature after = read_call_signature(now.text());
  if (before.readable && after.readable) {
    if (then.name() == now.name()) return false;
    SchemaComparison(compared, std::move(before), std::move(after)).compare();
    return true;
  }
  if (without_spaces(then.text()) != without_spaces(now.text())) {
    compared.list.add(Impact::breaking, "schema", compared.subject,
                      "schema " + difference_text(then, now),
                      "callers that were written against the old one may be refused", then, now);
  }
  return false;
}

}  // namespace opseal
