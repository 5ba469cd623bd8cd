#include <exception>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "analyzers/clang/child.h"
#include "analyzers/probe/child.h"
#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/framework_child.h"
#include "analyzers/probe/handed_child.h"
#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/options.h"

namespace opseal {
namespace {

int run(const Options& options) {
  switch (options.command) {
    case Command::check:
      return check(options);
    case Command::diff:
      return diff(options);
    case Command::dump:
      return dump(options);
    case Command::explain:
      return explain(options);
    case Command::rules:
      return list_rules(options);
    case Command::schema:
      return print_schema(options);
    case Command::export_:
      return export_registry(options);
    case Command::init:
      return init(options);
    case Command::probe:
      return probe(options);
  }
  return exit_code::defect;
}

}  // namespace
}  // namespace opseal

int main(int argc, char** argv) {
  try {
    // Not for users: how the program starts itself.
    if (argc == 2 && std::string_view(argv[1]) == opseal::typed_child_argument) {
      return opseal::run_typed_child();
    }
    if (argc == 2 && std::string_view(argv[1]) == opseal::probe_child_argument) {
      return opseal::run_probe_child(opseal::ffi::answer_question);
    }
    if (argc > 1 && std::string_view(argv[1]) == opseal::framework_child_argument) {
      return opseal::run_framework_child({argv + 2, argv + argc});
    }
    if (argc > 1 && std::string_view(argv[1]) == opseal::handed_child_argument) {
      return opseal::run_handed_child({argv + 2, argv + argc});
    }
    const opseal::Parsed parsed = opseal::parse_command_line(argc, argv);
    const int code = parsed.options ? opseal::run(*parsed.options) : parsed.exit_code;
    // A report that nobody can read must not look like a clean run.
    std::cout.flush();
    if (!std::cout) throw opseal::UsageError("can't write to standard output");
    return code;
  } catch (const opseal::UsageError& error) {
    std::cerr << "opseal: " << error.what() << '\n';
    return opseal::exit_code::usage;
  } catch (const std::filesystem::filesystem_error& error) {
    std::cerr << "opseal: " << error.what() << '\n';
    return opseal::exit_code::usage;
  } catch (const std::exception& error) {
    std::cerr << "opseal: internal error, please report: " << error.what() << '\n';
    return opseal::exit_code::defect;
  }
}
