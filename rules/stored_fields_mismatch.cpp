#include <algorithm>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using Members = std::vector<std::string>;

Members members_of(const Fact& list) {
  Members members;
  for (const Fact member : list.items()) members.emplace_back(member.text());
  return members;
}

// Those of one list that the other lacks, each as often as it does.
Members without(Members all, Members others) {
  std::sort(all.begin(), all.end());
  std::sort(others.begin(), others.end());
  Members left;
  std::set_difference(all.begin(), all.end(), others.begin(), others.end(),
                      std::back_inserter(left));
  return left;
}

std::string list_of(const Members& members) {
  std::string text;
  for (const std::string& member : members) text += (text.empty() ? "" : ", ") + quote(member);
  return text;
}

struct Plugin {
  std::string subject;
  Fact built;
};

void add(const Plugin& plugin, std::string message, const Fact& at, const std::string& label,
         const Fact& other, const std::string& other_label, Sink& sink) {
  Finding& finding =
      sink.add(plugin.subject,
               quote(plugin.built[Key::function][Key::name].text()) + " " + std::move(message),
               evidence(at, label));
  finding.related.push_back(evidence(other, other_label));
}

void check_size(const Plugin& plugin, Sink& sink) {
  const Fact fields = plugin.built[Key::fields];
  const Fact writes = plugin.built[Key::writes];
  const Members unwritten = without(members_of(fields), members_of(writes));
  const Members uncounted = without(members_of(writes), members_of(fields));
  // Both: one of them may count a member by its type.
  if (unwritten.empty() == uncounted.empty()) return;
  if (!uncounted.empty()) {
    add(plugin, "stores " + list_of(uncounted) + " beyond the size that it gives", writes,
        "stored here", fields, "not counted here", sink);
  } else {
    add(plugin, "counts " + list_of(unwritten) + " in its size and stores nothing for it", writes,
        "not stored here", fields, "counted here", sink);
  }
}

void check_order(const Plugin& plugin, Sink& sink) {
  const Fact writes = plugin.built[Key::writes];
  const Fact reads = plugin.built[Key::reads];
  const Members written = members_of(writes);
  const Members read = members_of(reads);
  const Members unread = without(written, read);
  const Members unwritten = without(read, written);
  // Both: one of them may have another name here than there.
  if (!unread.empty() && !unwritten.empty()) return;
  if (!unread.empty() || !unwritten.empty()) {
    // What is read last may be left out on purpose: nothing is read wrongly then.
    if (unwritten.empty() && std::equal(read.begin(), read.end(), written.begin())) return;
    add(plugin,
        unread.empty() ? "reads " + list_of(unwritten) + ", which it doesn't store"
                       : "stores " + list_of(unread) + ", which it doesn't read",
        reads, "read here", writes, "stored here", sink);
    return;
  }
  const auto [first, second] = std::mismatch(written.begin(), written.end(), read.begin());
  if (first == written.end()) return;
  add(plugin,
      "reads " + quote(*second) + " where it stores " + quote(*first) +
          ", expected one order in both",
      reads, "read here", writes, "stored here", sink);
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        const Fact built = kernel[Key::built];
        const bool sized = built[Key::fields].is_list() && built[Key::writes].is_list();
        const bool read = built[Key::reads].is_list() && built[Key::writes].is_list();
        if (!sized && !read) continue;
        sink.inspected();
        const Plugin plugin{subject_of(manifest, op), built};
        if (sized) check_size(plugin, sink);
        if (read) check_order(plugin, sink);
      }
    }
  }
}

}  // namespace

extern constinit const Rule stored_fields_mismatch{
    .id = "stored-fields-mismatch",
    .title = "a plugin counts, stores and reads different members",
    .rationale =
        "An engine asks a plugin for the size of what it stores, has it write that much, and "
        "hands the same bytes back when it is loaded. A member that is stored and not counted is "
        "written past the end; one that is counted and not stored leaves bytes of chance; and "
        "members that are read in another order, or not at all, give the loaded plugin the values "
        "of others.",
    .example =
        R"({"opseal_manifest": 1, "system": "tensorrt", "operators": [{"name": "Roll_TRT", "kernels": [{"platform": "any", "built": {"function": {"name": "Roll"}, "fields": ["mA"], "writes": ["mA", "mB"]}}]}]})",
    .fix = "name the same members in the same order wherever the plugin is stored and read",
    .severity = Severity::error,
    .inspects = "creator whose plugin is known to store members and to count or read some",
    .check = check,
};

}  // namespace opseal
