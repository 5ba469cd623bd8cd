#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "analyzers/probe/frameworks.h"
#include "cli/reports.h"
#include "cli/version.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr int usage_error = 2;

ReportRequest parse_report(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return {text, "-"};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string check_report(const std::string& text) {
  const std::string format = parse_report(text).format;
  if (find_report(format) == nullptr) return unknown_report(format);
  return parse_report(text).path.empty() ? "no path after `=` in " + quote(text) : std::string();
}

// CLI11 takes `nan` for a positive number, and refuses others with the largest double in digits.
// What is no number at all is refused when it is converted.
std::string check_seconds(const std::string& text) {
  const double seconds = std::strtod(text.c_str(), nullptr);
  const bool usable = std::isfinite(seconds) && seconds > 0;
  return usable ? std::string() : quote(text) + ", expected a finite number above 0";
}

// Findings alone would leave out what a comparison is for.
std::string check_diff_report(const std::string& text) {
  const std::string format = parse_report(text).format;
  if (format == "jsonl" || format == "sarif")
    return quote(format) + ", expected `text` or `json`: the others have no place for changes";
  return check_report(text);
}

void add_reading_options(CLI::App& app, Options& options) {
  app.add_flag("--no-ignore", options.no_ignore, "read files that git ignores too");
  app.add_option("--exclude", options.exclude, "leave out paths that match a glob")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  app.add_option("--config", options.config,
                 "configuration file instead of the `opseal.toml` found upwards")
      ->type_name("FILE");
  app.add_flag("--no-config", options.no_config, "read no configuration file");
  app.add_option("--tier", options.tier,
                 "lexed: read C++ as text (default); typed: ask libclang for types, too")
      ->check(CLI::IsMember({"lexed", "typed"}));
  app.add_flag("--no-cache", options.no_cache,
               "--tier typed: don't keep precompiled headers for the next run, nor read any");
  app.add_option("-j,--threads", options.threads, "threads; 0: one for each core")
      ->check(CLI::Range(0u, 256u));
}

void add_input_options(CLI::App& app, Options& options) {
  app.add_option("paths", options.paths,
                 "files and directories; `-` is standard input; none: the current directory")
      ->type_name("PATH");
  add_reading_options(app, options);
}

void add_rule_options(CLI::App& app, Options& options) {
  app.add_option("--select", options.select,
                 "run only rules that match one of these ids or globs; repeatable")
      ->type_name("RULE[,RULE…]")
      ->allow_extra_args(false)
      ->delimiter(',');
  app.add_option("--ignore", options.ignore,
                 "leave out rules that match one of these ids or globs; repeatable")
      ->type_name("RULE[,RULE…]")
      ->allow_extra_args(false)
      ->delimiter(',');
  app.add_option("--profile", options.profile,
                 "default, strict (every error and warning) or audit (notes too)")
      ->check(CLI::IsMember({"default", "strict", "audit"}));
  app.add_option("--color", options.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

// What a run with findings and a verdict takes.
void add_audit_options(CLI::App& app, Options& options, std::vector<std::string>& reports) {
  add_input_options(app, options);
  app.add_option("-o,--output", reports, "report: text, json, jsonl or sarif; repeatable")
      ->type_name("FORMAT[=PATH]")
      ->check(CLI::Validator(check_report, ""))
      ->allow_extra_args(false);
  add_rule_options(app, options);
  app.add_option("--fail-on", options.fail_on,
                 "lowest severity that makes the exit code 1 (default: error)")
      ->check(CLI::IsMember({"error", "warning", "note", "never"}));
  app.add_flag("--strict", options.strict,
               "exit 4 when a rule that was asked for had nothing to look at");
  app.add_flag("--allow-empty", options.allow_empty, "exit 0 when none of the paths is an input");
  app.add_option("--platform", options.platforms,
                 "platforms that every operator must serve, such as cpu,gpu; repeatable")
      ->allow_extra_args(false)
      ->delimiter(',');
  app.add_option("--arch", options.architectures,
                 "GPU architectures of the fleet, such as sm_80,sm_90a or \"8.0;9.0\"; repeatable")
      ->allow_extra_args(false)
      ->delimiter(',');
}

void add_check(CLI::App& app, Options& options, std::vector<std::string>& reports) {
  CLI::App* check = app.add_subcommand(
      "check", "audit registrations: manifests, caches, built libraries and packages");
  add_audit_options(*check, options, reports);
  check->callback([&options] { options.command = Command::check; });
}

void add_probe(CLI::App& app, Options& options, std::vector<std::string>& reports) {
  CLI::App* probe = app.add_subcommand(
      "probe",
      "call the kernels of built libraries, in processes that are shut in, and judge what they do: "
      "the only command that runs code of what it audits");
  add_audit_options(*probe, options, reports);
  probe->add_option("--seed", options.seed, "of the generated inputs (default: 1)")
      ->check(CLI::Range(0u, 4294967295u));
  probe
      ->add_option("--only", options.only,
                   "run only probes whose identity matches one of these globs; repeatable")
      ->type_name("ID")
      ->allow_extra_args(false);
  probe
      ->add_option("--repro", options.repro,
                   "print a command that runs this probe again, and run nothing")
      ->type_name("ID");
  probe
      ->add_option("--time-limit", options.probe_limit,
                   "seconds for each probe (default: 10, and 300 for a check of a framework)")
      ->check(CLI::Validator(check_seconds, ""));
  std::vector<std::string> frameworks;
  for (const Framework& framework : all_frameworks()) frameworks.emplace_back(framework.name);
  probe
      ->add_option("--framework", options.frameworks,
                   "ask this framework itself what it does, besides or instead of paths; "
                   "repeatable")
      ->type_name("NAME")
      ->check(CLI::IsMember(frameworks))
      ->allow_extra_args(false);
  probe
      ->add_option(
          "--import", options.imports,
          "import this module first: call the handlers that it hands out, or with --framework the "
          "operators that it registers; repeatable")
      ->type_name("MODULE")
      ->allow_extra_args(false);
  probe
      ->add_option("--python", options.python,
                   "interpreter that has the framework or the module (default: that of the active "
                   "virtual environment, else python3)")
      ->type_name("PATH");
  probe->callback([&options] {
    if (!options.python.empty() && options.frameworks.empty() && options.imports.empty()) {
      throw CLI::ValidationError("--python", "needs --framework or --import");
    }
    options.command = Command::probe;
  });
}

void add_diff(CLI::App& app, Options& options, std::vector<std::string>& reports) {
  CLI::App* diff = app.add_subcommand(
      "diff", "compare two dumps, libraries or packages, and say what each change means");
  diff->add_option("dumps", options.paths,
                   "what was before and what came after; `-` is standard input")
      ->type_name("PATH")
      ->required()
      ->expected(2);
  add_reading_options(*diff, options);
  diff->add_option("-o,--output", reports, "report: text or json; repeatable")
      ->type_name("FORMAT[=PATH]")
      ->check(CLI::Validator(check_diff_report, ""))
      ->allow_extra_args(false);
  add_rule_options(*diff, options);
  diff->add_option("--fail-on", options.fail_on,
                   "weakest change that makes the exit code 1: breaking (default), numerics, speed "
                   "or additive; each includes those before it")
      ->check(CLI::IsMember({"breaking", "numerics", "speed", "additive", "never"}));
  diff->callback([&options] { options.command = Command::diff; });
}

void add_dump(CLI::App& app, Options& options) {
  CLI::App* dump = app.add_subcommand("dump", "print the facts that were read, as a manifest");
  add_input_options(*dump, options);
  dump->add_option("-o,--output", options.output, "file instead of standard output")
      ->type_name("FILE");
  dump->callback([&options] { options.command = Command::dump; });
}

void add_texts(CLI::App& app, Options& options) {
  CLI::App* explain =
      app.add_subcommand("explain", "say what a rule is for and what to do about a finding");
  explain->add_option("rule", options.name, "id of a rule")->required();
  explain->callback([&options] { options.command = Command::explain; });

  CLI::App* rules = app.add_subcommand("rules", "list the rules");
  rules->add_flag("--markdown", options.markdown, "as the table of the README");
  rules->callback([&options] { options.command = Command::rules; });

  CLI::App* schema = app.add_subcommand("schema", "print the JSON Schema of a format");
  schema->add_option("format", options.name, "manifest, report or config")->required();
  schema->callback([&options] { options.command = Command::schema; });
}

void add_export(CLI::App& app, Options& options) {
  CLI::App* exporter = app.add_subcommand(
      "export",
      "write a manifest from a live registry: imports the package, asks braintrace's functions "
      "for its layouts, changes nothing");
  exporter
      ->add_option(
          "name", options.name,
          "brainevent, braintrace, executorch, jax, native-functions, onnxruntime, torch or "
          "tvm-ffi")
      ->required();
  exporter
      ->add_option("files", options.paths,
                   "native-functions: `native_functions.yaml`, and `derivatives.yaml` or the YAML "
                   "file of a backend")
      ->type_name("FILE");
  exporter
      ->add_option("--python", options.python,
                   "interpreter that has the package (default: of the active virtual environment, "
                   "else python3)")
      ->type_name("PATH");
  exporter->add_option("--import", options.imports, "import this module too; repeatable")
      ->type_name("MODULE")
      ->allow_extra_args(false);
  exporter
      ->add_option("--namespace", options.namespaces,
                   "jax, onnxruntime, torch: only operators of this package, domain or namespace; "
                   "repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  exporter->add_flag("--trace", options.trace,
                     "trace the operators' own benchmark calls: runs code of the package");
  exporter
      ->add_option("--custom-op", options.custom_ops,
                   "onnxruntime: library of custom operators to load; repeatable")
      ->type_name("LIB")
      ->allow_extra_args(false);
  exporter->add_flag("--twice", options.twice,
                     "export in two fresh processes, the second with the modules of `--import` in "
                     "reverse, and compare: exit 1 where more than the order differs");
  exporter->add_option("--time-limit", options.time_limit, "seconds")
      ->check(CLI::Validator(check_seconds, ""));
  exporter->add_option("-o,--output", options.output, "file instead of standard output")
      ->type_name("FILE");
  exporter->callback([&options] { options.command = Command::export_; });
}

void add_init(CLI::App& app, Options& options) {
  CLI::App* init = app.add_subcommand(
      "init", "write an `opseal.toml` to begin with, with proposals from the code that is there");
  init->add_option("directory", options.paths, "where to; none: the current directory")
      ->type_name("DIRECTORY")
      ->expected(0, 1);
  init->add_flag("--print", options.print, "write to standard output instead");
  init->callback([&options] {
    options.command = Command::init;
    if (options.paths.empty()) options.paths.emplace_back(".");
  });
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  Options options;
  std::vector<std::string> reports;
  CLI::App app(
      "opseal audits kernel registrations: what a system was told it can run, against what is "
      "there",
      "opseal");
  app.set_version_flag("--version", std::string("opseal ") + version_text);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  add_check(app, options, reports);
  add_diff(app, options, reports);
  add_dump(app, options);
  add_texts(app, options);
  add_export(app, options);
  add_init(app, options);
  add_probe(app, options, reports);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11's own exit codes start at 105; ours are fixed by the report format.
    const int code = app.exit(error, std::cout, std::cerr);
    return {std::nullopt, code == 0 ? 0 : usage_error};
  }
  for (const std::string& report : reports) options.reports.push_back(parse_report(report));
  options.arguments.assign(argv + 1, argv + argc);
  return {options, 0};
}

}  // namespace opseal
