#include "cli/settings.h"

#include <algorithm>

#include "opseal/text.h"
#include "rules/rules.h"

namespace opseal {
namespace {

Profile parse_profile(const std::string& text) {
  if (text == "strict") return Profile::strict;
  if (text == "audit") return Profile::audit;
  return Profile::standard;
}

}  // namespace

const char* to_text(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "";
}

const char* to_text(Profile profile) {
  switch (profile) {
    case Profile::standard:
      return "default";
    case Profile::strict:
      return "strict";
    case Profile::audit:
      return "audit";
  }
  return "";
}

Settings make_settings(const Options& options) {
  Settings settings;
  if (!options.profile.empty()) settings.profile = parse_profile(options.profile);
  settings.select = options.select;
  settings.ignore = options.ignore;
  settings.exclude = options.exclude;
  settings.strict = options.strict;
  return settings;
}

std::vector<const Rule*> choose_rules(Settings& settings) {
  const auto matches = [](const std::vector<std::string>& patterns, std::string_view id) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [id](const std::string& pattern) { return glob_match(pattern, id); });
  };
  std::vector<const Rule*> chosen;
  for (const Rule* rule : all_rules()) {
    const bool wanted = settings.select.empty() ? rule->profile <= settings.profile
                                                : matches(settings.select, rule->id);
    if (wanted && !matches(settings.ignore, rule->id)) chosen.push_back(rule);
  }
  return chosen;
}

}  // namespace opseal
