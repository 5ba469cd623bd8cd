#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// A function that was entered on the way to a value: its parameters are what the call hands over.
struct FlowFrame {
  SyntaxIndex function = no_syntax;
  SyntaxIndex call = no_syntax;
  const FlowFrame* caller = nullptr;
  std::uint32_t depth = 0;
};

// How much of a thing goes into a value.
// `major`: of an architecture, its first number alone.
enum class FlowForm : std::uint8_t { value, content, mtime, identity, major };

// Where a value comes from, once names, helper functions and containers are followed.
struct FlowRoot {
  enum class Kind : std::uint8_t {
    parameter,
    // `self.flags`
    attribute,
    // A variable of the environment; an empty name is all of it.
    environment,
    // Of the module, and assigned by a function of it.
    global,
    // A text that the module names.
    constant,
    // Another module's.
    imported,
    // What a function tells that is not this file's, without being handed anything.
    call,
    // What a compiler says of itself.
    compiler_version,
    // A digest that is made here; what goes into it is asked for apart.
    digest,
  };
  Kind kind = Kind::parameter;
  FlowForm form = FlowForm::value;
  std::string name;
  // What of a parameter is taken, where that is told: `block` of `config.block` or
  // `config["block"]`, `tile.m` of `config.tile.m`; empty is all of it.
  std::string field;
  SyntaxIndex node = no_syntax;
  const FlowFrame* frame = nullptr;
  // It is the parameter or its field, not something made of it.
  bool itself = false;
};

struct FlowTrace {
  std::vector<FlowRoot> roots;
  // What stands beside a digest in the name of an output: it tells builds apart as the digest does.
  std::vector<FlowRoot> beside;
  // Names and pieces of texts on the way.
  std::set<std::string_view> words;
  // Something was too deep, too much, or goes a way that isn't followed.
  bool limited = false;

  // The first digest in it, or null.
  const FlowRoot* digest() const;
  bool has_digest() const { return digest() != nullptr; }
  // What names an output after a digest is the digest's: the folder above it is no input.
  void take(const FlowTrace& part, bool only_digest);
};

// Follows values of one file backwards to where they come from. Bounded in depth and steps.
class ValueFlow {
 public:
  // Needs: both outlive this.
  ValueFlow(const PythonSyntax& syntax, const PythonScopes& scopes);

  FlowTrace of(SyntaxIndex expression, const FlowFrame* frame);
  // The same of a command: an argument that is named after a digest counts for the digest alone.
  FlowTrace of_command(SyntaxIndex expression, const FlowFrame* frame);

  // The function of this file that a call enters, or none.
  SyntaxIndex function_of(SyntaxIndex call) const;
  // What the function returns.
  const std::vector<SyntaxIndex>& returned_by(SyntaxIndex function) const;
  // The calls of it in this file.
  const std::vector<SyntaxIndex>& calls_of(SyntaxIndex function) const;
  // Whether roots say which field of a parameter it is; one by one, they are more.
  void tell_fields(bool told) { fields_told_ = told; }
  // Null where it is entered already, or too deep.
  const FlowFrame* enter(SyntaxIndex function, SyntaxIndex call, const FlowFrame* caller);

  // The expressions that `name.update(x)`, `name.append(x)` and their like hand to what is bound
  // there; by the first place that binds the name.
  const std::vector<SyntaxIndex>& handed_to(SyntaxIndex binding) const;
  // The first place that binds the name, or none.
  SyntaxIndex first_binding(SyntaxIndex identifier) const;
  std::string_view called(SyntaxIndex call) const;
  // Names of what `self.name` was made of, as far as the file assigns it.
  std::vector<std::string> made_of(const FlowRoot& attribute);
  // By its full name, imports resolved; `hashlib.` is everything of that module.
  bool is_named(SyntaxIndex expression, std::string_view prefix) const;
  // The arguments of a call, those by name as they stand.
  std::vector<SyntaxIndex> arguments(SyntaxIndex call) const;

 private:
  // Places that bind one name, or call one helper.
  static constexpr std::size_t max_bindings = 16;

  struct Walk {
    FlowTrace& trace;
    std::set<std::pair<SyntaxIndex, const FlowFrame*>>& seen;
    // Nothing was made of it on the way up.
    bool itself = true;
  };

  void index();
  void walk(SyntaxIndex expression, const FlowFrame* frame, FlowForm form, std::size_t depth,
            Walk& into);
  // Each of its own, so that what is named after a digest counts for that alone.
  void walk_part(SyntaxIndex expression, const FlowFrame* frame, FlowForm form, std::size_t depth,
                 Walk& into);
  // What is the first of several: of a compute capability its major number.
  void walk_major(SyntaxIndex object, const FlowFrame* frame, FlowForm form, std::size_t depth,
                  Walk& into);
  void walk_children(SyntaxIndex node, const FlowFrame* frame, FlowForm form, std::size_t depth,
                     Walk& into);
  void walk_name(SyntaxIndex name, const FlowFrame* frame, FlowForm form, std::size_t depth,
                 Walk& into);
  void walk_bindings(SyntaxIndex name, const std::vector<PythonBinding>& bindings,
                     const FlowFrame* frame, FlowForm form, std::size_t depth, Walk& into);
  bool is_of_module(SyntaxIndex name, const std::vector<PythonBinding>& bindings) const;
  void walk_binding(const PythonBinding& binding, const FlowFrame* frame, FlowForm form,
                    std::size_t depth, Walk& into);
  void walk_parameter(const PythonBinding& binding, const FlowFrame* frame, FlowForm form,
                      std::size_t depth, Walk& into);
  void walk_own(SyntaxIndex attribute, const FlowFrame* frame, FlowForm form, std::size_t depth,
                Walk& into);
  void walk_attribute(SyntaxIndex attribute, const FlowFrame* frame, FlowForm form,
                      std::size_t depth, Walk& into);
  // Something that is made of what stands in it.
  void walk_made(SyntaxIndex node, const FlowFrame* frame, FlowForm form, std::size_t depth,
                 Walk& into);
  // One named part of an object: an attribute, or what lies under a text.
  void walk_field(SyntaxIndex object, std::string_view field, const FlowFrame* frame, FlowForm form,
                  std::size_t depth, Walk& into);
  void walk_call(SyntaxIndex call, const FlowFrame* frame, FlowForm form, std::size_t depth,
                 Walk& into);
  bool walk_known_call(SyntaxIndex call, const FlowFrame* frame, FlowForm form, std::size_t depth,
                       Walk& into);
  bool walk_environment(SyntaxIndex node, SyntaxIndex named, const FlowFrame* frame, Walk& into);
  SyntaxIndex argument_for(SyntaxIndex call, SyntaxIndex function, std::string_view parameter,
                           bool& decided) const;
  SyntaxIndex function_above(SyntaxIndex node) const;
  SyntaxIndex class_above(SyntaxIndex node) const;
  bool is_import(SyntaxIndex object) const;
  // The function behind `self.name`, where it is decorated as a property.
  SyntaxIndex property_of(SyntaxIndex attribute) const;
  bool is_one_text(SyntaxIndex value) const;
  // What a text that is written out in one piece says, or nothing.
  std::string_view written_text(SyntaxIndex node) const;
  // `hash(…)` of Python's own, of something that is a text.
  bool hashes_text(SyntaxIndex call) const;
  void add(FlowRoot::Kind kind, std::string_view name, SyntaxIndex node, const FlowFrame* frame,
           FlowForm form, Walk& into) const;

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  std::map<SyntaxIndex, std::vector<SyntaxIndex>> handed_;
  std::map<SyntaxIndex, std::vector<SyntaxIndex>> returns_;
  std::map<SyntaxIndex, std::vector<SyntaxIndex>> calls_of_;
  std::map<std::pair<SyntaxIndex, std::string_view>, SyntaxIndex> methods_;
  std::deque<FlowFrame> frames_;
  std::size_t steps_ = 0;
  bool fields_told_ = false;
};

}  // namespace opseal
