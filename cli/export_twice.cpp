#include "cli/export_twice.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "analyzers/analyzers.h"
#include "cli/audit.h"
#include "cli/reports.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using nlohmann::json;

constexpr std::string_view lists_without_order[] = {
    "operators", "targets",   "kernels", "caches", "libraries",  "dispatch", "registrations",
    "aliases",   "platforms", "tags",    "traits", "attributes", "devices",  "remarks"};

// Sorts the lists whose order means nothing, and takes away the numbers that only tell equal names
// apart by their order.
void bring_to_order(json& value) {
  if (value.is_object()) value.erase("identity");
  for (json& member : value) {
    if (member.is_structured()) bring_to_order(member);
  }
  if (!value.is_object()) return;
  for (const std::string_view name : lists_without_order) {
    const auto found = value.find(name);
    if (found != value.end() && found->is_array()) std::sort(found->begin(), found->end());
  }
}

std::string name_of(const json& element) {
  for (const char* key : {"name", "path", "operator"}) {
    if (element.is_object() && element.contains(key) && element[key].is_string()) {
      return quote(element[key].get<std::string>());
    }
  }
  return quote(element.dump());
}

// Elements of one sorted list that another lacks, by name.
std::map<std::string, const json*> alone(const json& list, const json& other) {
  std::map<std::string, const json*> found;
  auto place = other.begin();
  for (const json& element : list) {
    while (place != other.end() && *place < element) ++place;
    if (place != other.end() && *place == element) {
      ++place;
    } else {
      found.emplace(name_of(element), &element);
    }
  }
  return found;
}

void compare_lists(const std::string& key, const json& first, const json& second,
                   std::vector<std::string>& lines) {
  const auto before = alone(first, second);
  const auto after = alone(second, first);
  for (const auto& [name, element] : before) {
    const auto found = after.find(name);
    if (found == after.end()) {
      lines.push_back(quote(key) + ": only the first export has " + name);
    } else {
      const json difference = json::diff(*element, *found->second);
      lines.push_back(quote(key) + ": " + name + " differs at " +
                      quote(difference.front()["path"].get<std::string>()));
    }
  }
  for (const auto& [name, element] : after) {
    if (!before.contains(name))
      lines.push_back(quote(key) + ": only the second export has " + name);
  }
}

std::vector<std::string> compare_texts(const std::string& first, const std::string& second) {
  json before = json::parse(first);
  json after = json::parse(second);
  bring_to_order(before);
  bring_to_order(after);
  std::vector<std::string> lines;
  for (const auto& [key, value] : before.items()) {
    if (!after.contains(key)) {
      lines.push_back("only the first export says " + quote(key));
    } else if (value.is_array() && after[key].is_array()) {
      compare_lists(key, value, after[key], lines);
    } else if (value != after[key]) {
      lines.push_back(quote(key) + " differs");
    }
  }
  for (const auto& [key, value] : after.items()) {
    if (!before.contains(key)) lines.push_back("only the second export says " + quote(key));
  }
  return lines;
}

Facts read_export(const std::string& manifest, const char* name, Side side) {
  InputFile input;
  input.path = name;
  input.bytes = manifest;
  input.size = manifest.size();
  const auto analyzers = all_analyzers();
  const auto reader = std::find_if(analyzers.begin(), analyzers.end(),
                                   [](const Analyzer& one) { return one.load == load_manifest; });
  Facts facts = load_file(*reader, std::move(input));
  for (Document& document : facts.documents) document.side = side;
  return facts;
}

// What the differences mean, where they mean something.
std::string report_of(const std::string& first, const std::string& second) {
  Audit audit;
  audit.settings.compares = true;
  audit.settings.profile = Profile::audit;
  audit.facts = read_export(first, "(first export)", Side::before);
  audit.facts.append(read_export(second, "(second export)", Side::after));
  audit.inputs = 2;
  compare_dumps(Options{}, audit);
  if (audit.changes.list.empty() && audit.findings.empty()) return {};
  std::ostringstream out;
  write_text(audit, {}, out);
  return out.str();
}

}  // namespace

std::string export_differences(const std::string& first, const std::string& second) {
  if (first == second) return {};
  const std::vector<std::string> lines = compare_texts(first, second);
  if (lines.empty()) return {};
  std::string text = report_of(first, second);
  if (!text.empty()) text += '\n';
  text += "two exports of one package differ in more than order:\n";
  for (const std::string& line : lines) text += "  " + line + '\n';
  return text;
}

}  // namespace opseal
