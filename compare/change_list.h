#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "compare/changes.h"
#include "compare/library_sets.h"
#include "compare/served_devices.h"
#include "rules/two_dumps.h"

namespace opseal {

// What the comparing parts share: where changes go, and what is no change.
class ChangeList {
 public:
  explicit ChangeList(Changes& changes) : changes_(changes) {}

  // The reference is good until the next call.
  Change& add(Impact impact, std::string_view kind, const std::string& subject, std::string message,
              std::string_view meaning, const Fact& before, const Fact& after) {
    changes_.list.push_back({kind, impact, usual_bump(impact), subject, std::move(message), meaning,
                             before.where(), after.where()});
    return changes_.list.back();
  }

  // Both objects say the key; where only one does, that is counted.
  bool both(const Fact& before, const Fact& after, Key key) {
    const bool then = before[key].said();
    const bool now = after[key].said();
    if (then != now) count_unsaid(key);
    return then && now;
  }

  // Only one dump says the fact: no change, but told at the end.
  void count_unsaid(Key key) { ++changes_.unsaid[to_text(key)]; }

  Changes& changes() { return changes_; }

 private:
  Changes& changes_;
};

// One operator or target of both dumps.
struct Compared {
  ChangeList& list;
  const RegisteredPair& pair;
  const std::string& subject;
  NamesByManifest& names;

  const Fact& before() const { return pair.before.item; }
  const Fact& after() const { return pair.after.item; }
  PlatformNames& names_before() const { return names.of(pair.before.manifest); }
  PlatformNames& names_after() const { return names.of(pair.after.manifest); }
};

// Namespace, name and first version of operators that came or went.
using Moved = std::set<std::tuple<Name, Name, std::uint32_t>>;

void compare_operator(const Compared& compared, const Moved& moved);
void compare_kernels(const Compared& compared);
// Everything of one kernel but what it takes, its function and its last version.
void compare_kernel_members(const Compared& compared, const Fact& before, const Fact& after);
// The dtypes for which the code behind one kernel has a case.
void compare_cases(const Compared& compared, const Fact& before, const Fact& after);
// The same of anything whose code chooses: `what` is it in a sentence.
void compare_choices(ChangeList& list, const std::string& subject, const std::string& what,
                     const Fact& before, const Fact& after);
// What modules of C++ give Python.
void compare_bindings(ChangeList& list, const Facts& facts);
// Arguments and results. False where the texts are equal or can't be read, and so nothing is told.
bool compare_schemas(const Compared& compared);
// Inputs, outputs and attributes by themselves. Where `compare_schemas` has told what differs,
// only that which no schema text says.
void compare_operands(const Compared& compared, bool schema_told);
// "until 7", "without an end": where versions end, in an object with `since` and `until`. `exact`:
// versions without an end are only one, as in ONNX Runtime.
std::string end_text(const Fact& versions, bool exact);
void compare_differentiation(const Compared& compared);
void compare_trace_rules(const Compared& compared);
void compare_target(const Compared& compared);
// Everything in two manifests but operators and targets.
void compare_manifests(ChangeList& list, const Fact& before, const Fact& after);
void compare_caches(ChangeList& list, const Fact& before, const Fact& after);
// Elements of a list by the text under a key; the first of equal ones.
std::map<std::string_view, Fact> by_text(const Fact& list, Key key);
// What was read of a library's file.
void compare_library_content(ChangeList& list, const std::string& subject, const Fact& before,
                             const Fact& after);
// What devices its code serves.
void compare_device_code(ChangeList& list, const std::string& subject, const Fact& before,
                         const Fact& after);
// What devices single kernels of it have code for, but for the changes that are true of the whole
// library.
void compare_kernel_devices(ChangeList& list, const std::string& subject, const Fact& before,
                            const Fact& after, const DeviceChanges& told);
// Libraries and packages of all manifests and files.
void compare_libraries(ChangeList& list, const Facts& facts);
// What two packages promise by their tags.
void compare_packages(ChangeList& list, const LibrarySet& before, const LibrarySet& after);
// What their libraries ask of the system and of others.
void compare_needs(ChangeList& list, const LibrarySet& before, const LibrarySet& after);
// Kernels that did something for a device in one of two builds and nothing in the other.
void compare_bodies(ChangeList& list, const std::string& subject, const Fact& before,
                    const Fact& after);
void compare_dispatches(ChangeList& list, const Fact& before, const Fact& after);
// Tells of operators and targets that came and went, and which may be the same.
void add_moved(ChangeList& list, const Paired& paired, bool operators);

// Two facts say the same: places and keys that only one of them has are left aside, and functions
// are the same where their own names are.
bool same_meaning(const Fact& before, const Fact& after);

// A fact in few words: `"2"`, `null`, `a, b`.
std::string value_text(const Fact& fact);

// "gained `a`; lost `b`" for two lists of texts, or empty.
std::string list_difference(const Fact& before, const Fact& after);

// "is 9, before 2", "gained `a`; lost `b`": what differs, however long the two facts are. Needs:
// they don't have the same meaning.
std::string difference_text(const Fact& before, const Fact& after);

}  // namespace opseal
