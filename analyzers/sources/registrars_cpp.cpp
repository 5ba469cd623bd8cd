#include "analyzers/sources/registrars_cpp.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "analyzers/source/needles.h"
#include "analyzers/sources/code_functions.h"
#include "analyzers/sources/executorch_names.h"
#include "analyzers/sources/failed_status.h"

namespace opseal {
namespace {

// Objects whose end takes back what they registered (torch/library.h, op_registration.h).
constexpr std::array<std::string_view, 2> owners{"Library", "RegisterOperators"};

// Calls whose result says whether anything was registered: of ExecuTorch an Error
// (operator_registry.h), of XLA an XLA_FFI_Error* (ffi.h).
struct StatusCall {
  std::string_view name;
  // A word that the file has, since the name alone may be anybody's.
  std::string_view of;
};
constexpr StatusCall status_calls[] = {{"register_kernels", "executorch"},
                                       {"register_kernel", "executorch"},
                                       {"RegisterStaticHandler", "XLA_FFI"}};

// What registers, within `try`.
constexpr std::array<std::string_view, 5> registering{"def", "impl", "register_kernels",
                                                      "register_kernel", "RegisterOperators"};

// A resolver of TensorFlow Lite for microcontrollers has room for as many operators as its type
// says, and gives back an error for more (micro_mutable_op_resolver.h).
constexpr std::string_view resolver = "MicroMutableOpResolver";

class RegistrarReader {
 public:
  RegistrarReader(std::uint32_t number, const CodeFunctions& code,
                  std::vector<RegistrarRecord>& records)
      : code_(code),
        unit_(code.files().front()->unit),
        partners_(code.files().front()->partners),
        number_(number),
        records_(records) {}

  void run() {
    for (const auto& function : code_.functions()) {
      function_ = function.get();
      visit(function->statements);
      find_swallowed(function->body);
    }
  }

 private:
  // For each the function around it is read; only a file made to be slow has so many.
  static constexpr std::size_t most_records = 512;

  const Token& at(std::uint32_t index) const { return unit_.tokens[index]; }

  SourcePlace place_of_token(std::uint32_t index) const {
    return {number_, at(index).offset, at(index).length};
  }

  void visit(const std::vector<Statement>& block) {
    for (const Statement& statement : block) {
      if (statement.kind == StatementKind::expression) read_statement(statement.tokens);
      read_status(statement.tokens, statement.kind == StatementKind::expression);
      visit(statement.body);
      visit(statement.otherwise);
    }
  }

  // The name that a statement begins with, behind `a::`.
  std::uint32_t name_at(TokenRange range) const {
    std::uint32_t name = range.begin;
    if (name < range.end && at(name).is("::")) ++name;
    while (name + 2 < range.end && at(name).is_identifier() && at(name + 1).is("::")) name += 2;
    return name;
  }

  void read_statement(TokenRange range) {
    bool is_static = false;
    while (!range.empty() && (at(range.begin).is("static") || at(range.begin).is("const"))) {
      is_static = is_static || at(range.begin).is("static");
      ++range.begin;
    }
    const std::uint32_t name = name_at(range);
    if (name + 1 >= range.end || !at(name).is_identifier()) return;
    const bool is_owner = std::find(owners.begin(), owners.end(), at(name).text) != owners.end();
    // Many projects have a class Library of their own.
    const bool of_torch =
        name >= range.begin + 2 && (at(name - 2).is("torch") || at(name - 2).is("c10"));
    if (is_owner && of_torch && !is_static) read_owner(range, name);
    if (at(name).text == resolver) read_resolver(range, name, is_static);
  }

  void read_owner(TokenRange range, std::uint32_t name) {
    const bool is_temporary = at(name + 1).is('(');
    if (!is_temporary && !at(name + 1).is_identifier()) return;
    if (records_.size() >= most_records) return;
    RegistrarRecord record;
    record.type = at(name).text;
    record.storage = is_temporary ? "temporary" : "automatic";
    record.place = place_of_token(name);
    if (is_temporary) {
      // The result of the chain may be what is kept: `registry.push_back(RegisterOperators()…)`
      // begins otherwise, and a constructor that takes something may be anything.
      if (at(name).is("Library") || name + 2 >= range.end || !at(name + 2).is(')')) return;
    } else {
      record.name = at(name + 1).text;
      if (function_->name == "main" || is_handed_on(name + 1)) return;
    }
    records_.push_back(std::move(record));
  }

  // The object is moved, given back, or its address kept: then somebody else has it.
  bool is_handed_on(std::uint32_t variable) const {
    for (std::uint32_t index = variable + 1; index < function_->body.end; ++index) {
      if (at(index).text != at(variable).text || !at(index).is_identifier()) continue;
      const Token& before = at(index - 1);
      if (before.is('.') || before.is("->")) continue;
      // `lib.impl(…)` uses it; `keep(lib)`, `return lib`, `&lib`, `[lib]` hand it on.
      if (index + 1 < function_->body.end && at(index + 1).is('.') && !before.is('&')) continue;
      return true;
    }
    return false;
  }

  void read_resolver(TokenRange range, std::uint32_t name, bool is_static) {
    if (name + 4 >= range.end || !at(name + 1).is('<') || records_.size() >= most_records) return;
    std::uint32_t most = 0;
    const std::string_view digits = at(name + 2).text;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), most);
    if (error != std::errc() || end != digits.data() + digits.size()) return;
    if (!at(name + 3).is('>') || !at(name + 4).is_identifier()) return;
    RegistrarRecord record;
    record.type = resolver;
    record.name = at(name + 4).text;
    record.storage = is_static ? "static" : "automatic";
    record.most = most;
    std::set<std::string_view> known;
    std::uint32_t custom = 0;
    // Another object of that name, in another block, gets what is added from there on.
    const std::uint32_t until = next_of_that_name(name);
    count_added(function_->statements, {name, until}, record.name, known, custom);
    record.added = static_cast<std::uint32_t>(known.size()) + custom;
    record.place = place_of_token(name);
    records_.push_back(std::move(record));
  }

  // Where the next resolver of the same name is declared, or the end of the function.
  std::uint32_t next_of_that_name(std::uint32_t name) const {
    for (std::uint32_t index = name + 5; index + 4 < function_->body.end; ++index) {
      if (at(index).text == resolver && at(index + 4).text == at(name + 4).text) return index;
    }
    return function_->body.end;
  }

  // Only what no condition, loop or branch of the preprocessor stands around. One operator that is
  // added twice takes one place.
  void count_added(const std::vector<Statement>& block, TokenRange within, std::string_view object,
                   std::set<std::string_view>& known, std::uint32_t& custom) const {
    std::size_t branches = 0;
    for (const Statement& statement : block) {
      if (statement.kind == StatementKind::branch_if) ++branches;
      if (statement.kind == StatementKind::branch_end && branches > 0) --branches;
      if (branches > 0) continue;
      if (statement.kind == StatementKind::block) {
        count_added(statement.body, within, object, known, custom);
      }
      const bool is_evaluated = statement.kind == StatementKind::expression ||
                                statement.kind == StatementKind::if_ ||
                                statement.kind == StatementKind::returns;
      if (!is_evaluated || statement.tokens.begin < within.begin) continue;
      if (statement.tokens.begin >= within.end) continue;
      for (std::uint32_t index = statement.tokens.begin; index + 3 < statement.tokens.end;
           ++index) {
        if (at(index).text != object || !(at(index + 1).is('.') || at(index + 1).is("->")))
          continue;
        const Token& member = at(index + 2);
        if (!member.text.starts_with("Add") || !at(index + 3).is('(')) continue;
        const bool is_custom = member.is("AddCustom");
        if (is_custom && index + 4 < statement.tokens.end && at(index + 4).is_string()) {
          known.insert(at(index + 4).text);
        } else if (is_custom) {
          ++custom;
        } else {
          known.insert(member.text);
        }
      }
    }
  }

  // Dropped is a call that is the whole statement: `register_kernels(…);`
  void read_status(TokenRange range, bool is_statement) {
    const std::uint32_t whole = is_statement && !range.empty() ? name_at(range) : no_token;
    for (std::uint32_t name = range.begin; name + 1 < range.end; ++name) {
      if (!at(name).is_identifier() || !at(name + 1).is('(')) continue;
      for (const StatusCall& call : status_calls) {
        if (at(name).text != call.name || unit_.bytes.find(call.of) == unit_.bytes.npos) continue;
        // A function of the file's own gives back what it likes.
        if (code_.find(call.name, 0) != nullptr) continue;
        RegistrarRecord record;
        record.type = call.name;
        const bool is_dropped = name == whole && partners_[name + 1] == range.end - 1;
        record.status = is_dropped ? "dropped" : "checked";
        record.place = place_of_token(name);
        records_.push_back(std::move(record));
      }
    }
  }

  // `try { m.def(…); } catch (...) {}`
  void find_swallowed(TokenRange body) {
    for (std::uint32_t index = body.begin; index + 1 < body.end; ++index) {
      if (!at(index).is("try") || !at(index + 1).is('{')) continue;
      const std::uint32_t close = partners_[index + 1];
      if (close == no_token || close + 6 >= unit_.tokens.size()) continue;
      const bool swallows = at(close + 1).is("catch") && at(close + 2).is('(') &&
                            at(close + 3).is("...") && at(close + 4).is(')') &&
                            at(close + 5).is('{') && at(close + 6).is('}');
      if (!swallows) continue;
      for (std::uint32_t inner = index + 2; inner < close; ++inner) {
        if (!at(inner).is_identifier() || !at(inner + 1).is('(')) continue;
        if (std::find(registering.begin(), registering.end(), at(inner).text) ==
            registering.end()) {
          continue;
        }
        // `def` and `impl` are members of what registers.
        const bool is_member = at(inner - 1).is('.') || at(inner - 1).is("->");
        const bool is_short = at(inner).is("def") || at(inner).is("impl");
        // Other classes have such members: `this->impl().close()`.
        if (is_short && (!is_member || !at(inner + 2).is_string())) continue;
        RegistrarRecord record;
        record.type = at(inner).text;
        record.status = "swallowed";
        record.place = place_of_token(inner);
        records_.push_back(std::move(record));
        break;
      }
    }
  }

  const CodeFunctions& code_;
  const SourceUnit& unit_;
  const std::vector<std::uint32_t>& partners_;
  std::uint32_t number_;
  std::vector<RegistrarRecord>& records_;
  const CodeFunction* function_ = nullptr;
};

}  // namespace

bool may_hold_registrars(std::string_view bytes) {
  const std::vector<std::string> own{
      "torch::Library ", "RegisterOperators", "register_kernel",        "RegisterStaticHandler",
      "->SetStatus(",    "->CtxFailure",      "MicroMutableOpResolver", "KernelRuntimeContext"};
  const auto with = [&own](std::vector<std::string> words) {
    words.insert(words.end(), own.begin(), own.end());
    return words;
  };
  static const Needles any(with({".impl(", ".def("}));
  // Most files that register have nothing around it by which it may go wrong.
  static const Needles telling(
      with({"catch", "Library", "SetStatus", "CtxFailure", "RuntimeContext"}));
  return any.occur_in(bytes) && telling.occur_in(bytes);
}

void read_registrars_cpp(std::uint32_t number, const std::string& bytes,
                         std::vector<RegistrarRecord>& records) {
  CodeFunctions code;
  code.add(number, {}, bytes);
  RegistrarReader(number, code, records).run();
  read_failed_statuses(code, number, records);
  read_operator_names(code, number, records);
}

void write_registrars(const std::vector<RegistrarRecord>& records, PlacedWriter& writer) {
  const std::uint32_t list = writer.open_list(Key::registrars);
  for (const RegistrarRecord& record : records) {
    const std::uint32_t item = writer.open(Key::none, NodeType::object, record.place);
    writer.text(Key::type, record.type, record.place);
    writer.text_if(Key::name, record.name, record.place);
    writer.text_if(Key::storage, record.storage, record.place);
    writer.text_if(Key::status, record.status, record.place);
    writer.text_if(Key::operator_, record.of_operator, record.place);
    if (record.most) writer.count(Key::max, *record.most, record.place);
    if (record.added) writer.count(Key::calls, *record.added, record.place);
    if (record.replaces) writer.truth(Key::replace, *record.replaces, record.place);
    if (record.listed) {
      writer.texts(Key::reads, {record.registry}, record.place);
      const std::uint32_t shown = writer.open(Key::listed, NodeType::list, record.listed_place);
      writer.text_if(Key::none, *record.listed, record.listed_place);
      writer.close(shown);
    }
    writer.text_if(Key::namespace_, record.space, record.place);
    writer.text_if(Key::when, record.when.text(), record.place);
    if (record.says_uses) {
      const std::uint32_t uses = writer.open(Key::uses, NodeType::list, record.place);
      for (const RegistrarUse& use : record.uses) {
        const std::uint32_t one = writer.open(Key::none, NodeType::object, use.definition);
        writer.text(Key::name, use.name.text, use.name.place);
        writer.close(one);
      }
      writer.close(uses);
    }
    writer.text_if(Key::library, record.library, record.place);
    if (!record.library.empty()) {
      const std::uint32_t names = writer.open(Key::loaded_by, NodeType::list, record.place);
      for (const PlacedName& one : record.loaded_by) writer.text(Key::none, one.text, one.place);
      writer.close(names);
    }
    if (record.typed) writer.text(Key::tier, "typed", record.place);
    writer.close(item);
  }
  writer.close_list(list);
}

}  // namespace opseal
