#include "cli/settings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/discover.h"
#include "opseal/text.h"
#include "rules/fleet_words.h"
#include "rules/rules.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

Profile parse_profile(const std::string& text) {
  if (text == "strict") return Profile::strict;
  if (text == "audit") return Profile::audit;
  return Profile::standard;
}

Severity parse_severity(const std::string& text) {
  if (text == "note") return Severity::note;
  return text == "warning" ? Severity::warning : Severity::error;
}

// Empty: the default.
Impact parse_impact(const std::string& text) {
  for (const Impact impact : {Impact::additive, Impact::speed, Impact::numerics}) {
    if (text == to_text(impact)) return impact;
  }
  return Impact::breaking;
}

std::vector<std::string> values(const std::vector<ConfigText>& texts) {
  std::vector<std::string> out;
  for (const ConfigText& text : texts) out.push_back(text.value);
  return out;
}

void add_all(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void set_fail_on(Settings& settings, const std::string& text) {
  settings.never_fail = text == "never";
  if (!settings.never_fail) settings.fail_on = parse_severity(text);
}

// As if the arguments were a file, so that a finding can show what stated a platform.
StatedSettings state_arguments(const Options& options) {
  StatedSettings stated;
  stated.file.path = "(command line)";
  const auto add = [&stated](const char* flag, const std::vector<std::string>& from,
                             std::vector<StatedSettings::Text>& to) {
    for (const std::string& value : from) {
      stated.file.bytes += std::string(stated.file.bytes.empty() ? "" : " ") + flag + ' ';
      to.push_back({value, stated.file.bytes.size(), value.size()});
      stated.file.bytes += value;
    }
  };
  add("--platform", options.platforms, stated.platforms);
  for (const std::string& list : options.architectures) {
    const std::vector<std::string_view> words = fleet_words(list);
    if (const std::string mistake = fleet_mistake(list); !mistake.empty())
      throw UsageError("`--arch`: " + mistake);
    add("--arch", {words.begin(), words.end()}, stated.architectures);
  }
  stated.file.size = stated.file.bytes.size();
  return stated;
}

std::vector<StatedSettings::Text> state(const std::vector<ConfigText>& texts) {
  std::vector<StatedSettings::Text> out;
  for (const ConfigText& text : texts) out.push_back({text.value, text.offset, text.length});
  return out;
}

// A text that holds several words is the place of each.
std::vector<StatedSettings::Text> state_fleet(const std::vector<ConfigText>& texts) {
  std::vector<StatedSettings::Text> out;
  for (const ConfigText& text : texts) {
    for (const std::string_view word : fleet_words(text.value))
      out.push_back({std::string(word), text.offset, text.length});
  }
  return out;
}

Exclusion exclusion(std::string pattern, const std::string& base) {
  while (pattern.starts_with("./")) pattern.erase(0, 2);
  while (pattern.ends_with('/')) pattern.pop_back();
  return {std::move(pattern), base};
}

// `~` stands for the home directory, as in a shell.
std::string cache_directory(const std::string& written, const std::string& base) {
  const char* home = std::getenv("HOME");
  if (home != nullptr && (written == "~" || written.starts_with("~/"))) {
    return home + written.substr(1);
  }
  return (fs::path(base) / written).lexically_normal().string();
}

// https://specifications.freedesktop.org/basedir-spec: a relative path is to be passed over.
std::string own_cache_folder() {
  if (const char* stated = std::getenv("OPSEAL_CACHE_DIR"); stated != nullptr) return stated;
  const auto below = [](const char* variable, const char* rest) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value == '/' ? value + std::string(rest) : std::string();
  };
  const std::string stated = below("XDG_CACHE_HOME", "/opseal");
  return stated.empty() ? below("HOME", "/.cache/opseal") : stated;
}

void apply_config(const Config& config, Settings& settings) {
  if (!config.profile.empty()) settings.profile = parse_profile(config.profile);
  if (!config.fail_on.empty()) set_fail_on(settings, config.fail_on);
  settings.typed = config.tier == "typed";
  settings.select = values(config.select);
  settings.ignore = values(config.ignore);
  for (const ConfigText& pattern : config.exclude) {
    settings.exclude.push_back(exclusion(pattern.value, config.directory));
  }
  for (const auto& [rule, severity] : config.severity) {
    settings.severities.emplace_back(rule.value, parse_severity(severity));
  }
  settings.silences = config.silence;
  for (CacheDescription cache : config.caches) {
    cache.base = config.directory;
    cache.directory = cache_directory(cache.directory, config.directory);
    settings.caches.push_back(std::move(cache));
  }
  for (const auto& [head, body] : config.macros) {
    settings.macros += "#define " + head.value + ' ' + body + '\n';
    settings.macro_heads.push_back(head);
  }
  settings.config_file = config.file;
  settings.pairs = config.pairs;
  settings.stated = {config.file, state(config.platforms), state_fleet(config.architectures), {}};
  for (const std::vector<ConfigText>& names : config.joins)
    settings.stated.joins.push_back(state(names));
}

bool matches_any(const std::vector<std::string>& patterns, std::string_view id) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [id](const std::string& pattern) { return glob_match(pattern, id); });
}

bool matches_a_rule(const std::string& pattern) {
  return std::any_of(all_rules().begin(), all_rules().end(),
                     [&pattern](const Rule* rule) { return glob_match(pattern, rule->id); });
}

bool matches_a_comparison(const std::string& pattern) {
  return std::any_of(all_rules().begin(), all_rules().end(), [&pattern](const Rule* rule) {
    return rule->two_dumps && glob_match(pattern, rule->id);
  });
}

bool needs_architectures(const Rule* rule) {
  return std::find(rule->needs.begin(), rule->needs.end(), Key::architectures) != rule->needs.end();
}

bool matches_a_change(const std::string& pattern) {
  return std::any_of(change_kinds().begin(), change_kinds().end(),
                     [&pattern](std::string_view kind) { return glob_match(pattern, kind); });
}

}  // namespace

std::string no_such_rule(const std::string& pattern) {
  std::vector<std::string_view> ids;
  for (const Rule* rule : all_rules()) ids.push_back(rule->id);
  return "no rule matches " + quote(pattern) + did_you_mean(pattern, ids) +
         " (`opseal rules` lists them)";
}

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
  if (!options.no_config) {
    const std::string found = options.config.empty()
                                  ? find_config(std::filesystem::current_path().string())
                                  : options.config;
    if (!found.empty()) {
      Config config = read_config(found);
      config.directory = std::filesystem::absolute(found).parent_path().lexically_normal().string();
      config.file.path = shown_path(found, find_root(std::filesystem::current_path().string()));
      apply_config(config, settings);
    }
  }
  if (!options.profile.empty()) settings.profile = parse_profile(options.profile);
  settings.compares = options.command == Command::diff;
  if (settings.compares) {
    // What the file says of these is for `check`.
    settings.never_fail = options.fail_on == "never";
    settings.fail_on_impact = parse_impact(options.fail_on);
    settings.select = options.select;
  } else if (!options.fail_on.empty()) {
    set_fail_on(settings, options.fail_on);
  }
  if (!options.select.empty()) settings.select = options.select;
  add_all(settings.ignore, options.ignore);
  for (const std::string& pattern : options.exclude) {
    settings.exclude.push_back(exclusion(pattern, std::filesystem::current_path().string()));
  }
  settings.strict = options.strict;
  if (!options.no_cache) settings.own_cache = own_cache_folder();
  if (!options.tier.empty()) settings.typed = options.tier == "typed";
  if (!options.platforms.empty() || !options.architectures.empty()) {
    settings.also_stated = {settings.stated.file, {}, {}, std::move(settings.stated.joins)};
    settings.stated = state_arguments(options);
  }
  return settings;
}

bool Settings::states(Key key) const {
  const auto either = [this](auto member) {
    return !(stated.*member).empty() || !(also_stated.*member).empty();
  };
  if (key == Key::architectures) return either(&StatedSettings::architectures);
  if (key == Key::required_platforms) return either(&StatedSettings::platforms);
  return key == Key::joins && either(&StatedSettings::joins);
}

std::vector<const Rule*> choose_rules(Settings& settings) {
  for (const std::string& pattern : settings.select) {
    if (!matches_a_rule(pattern)) throw UsageError(no_such_rule(pattern));
    if (settings.compares && !matches_a_comparison(pattern)) {
      throw UsageError(quote(pattern) + " compares no dumps; `opseal check` runs it");
    }
  }
  for (const std::string& pattern : settings.ignore) {
    if (!matches_a_rule(pattern)) settings.remarks.push_back("`ignore`: " + no_such_rule(pattern));
  }
  for (const auto& [pattern, severity] : settings.severities) {
    if (!matches_a_rule(pattern))
      settings.remarks.push_back("`severity`: " + no_such_rule(pattern));
  }
  const bool fleet_is_read =
      std::any_of(all_rules().begin(), all_rules().end(), needs_architectures);
  if (!settings.stated.architectures.empty() && !fleet_is_read) {
    settings.remarks.push_back("`architectures`: no rule of this version looks at them");
  }
  for (const StatedSettings::Text& text : settings.stated.architectures) {
    if (is_amd_architecture(text.value)) {
      settings.remarks.push_back(quote(text.value) +
                                 ": no rule of this version holds code for AMD devices against it");
    }
  }
  std::vector<const Rule*> chosen;
  for (const Rule* rule : all_rules()) {
    if (settings.compares ? !rule->two_dumps : rule->two_dumps && settings.select.empty()) continue;
    const bool asked = rule->profile <= settings.profile || settings.states(rule->asked_by);
    const bool wanted = settings.select.empty() ? asked : matches_any(settings.select, rule->id);
    if (wanted && !matches_any(settings.ignore, rule->id)) chosen.push_back(rule);
  }
  return chosen;
}

void settle_findings(Settings& settings, const std::vector<const Rule*>& ran,
                     std::vector<Finding>& findings, std::vector<Change>& changes) {
  std::vector<bool> used(settings.silences.size());
  const auto silence_of = [&settings, &used](std::string_view rule, std::string_view subject) {
    const Silence* last = nullptr;
    for (std::size_t i = 0; i < settings.silences.size(); ++i) {
      const Silence& silence = settings.silences[i];
      if (!glob_match(silence.rule.value, rule) || !glob_match(silence.subject, subject)) continue;
      used[i] = true;
      last = &silence;
    }
    return last;
  };
  for (Finding& finding : findings) {
    for (const auto& [pattern, severity] : settings.severities) {
      if (glob_match(pattern, finding.rule->id)) finding.severity = severity;
    }
    if (const Silence* silence = silence_of(finding.rule->id, finding.subject)) {
      finding.silenced_by = "config";
      finding.silenced_reason = silence->reason;
    }
  }
  for (Change& change : changes) {
    if (const Silence* silence = silence_of(change.kind, change.subject))
      change.silenced_reason = silence->reason;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    const std::string& pattern = settings.silences[i].rule.value;
    const std::string about = quote(pattern) + " about " + quote(settings.silences[i].subject);
    const bool change = matches_a_change(pattern);
    if (std::any_of(ran.begin(), ran.end(),
                    [&pattern](const Rule* rule) { return glob_match(pattern, rule->id); })) {
      settings.remarks.push_back("`silence`: no finding of " + about);
    } else if (change && settings.compares) {
      settings.remarks.push_back("`silence`: no change of the kind " + about);
    } else if (!change && !matches_a_rule(pattern)) {
      settings.remarks.push_back("`silence`: " + no_such_rule(pattern));
    }
  }
}

}  // namespace opseal
