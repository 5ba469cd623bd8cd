#include "analyzers/probe/frameworks.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "analyzers/fact_writer.h"
#include "analyzers/probe/choice.h"
#include "analyzers/probe/framework_child.h"
#include "analyzers/probe/framework_operators.h"
#include "analyzers/probe/probe_operands.h"
#include "analyzers/python_program.h"
#include "opseal/side_by_side.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::string_view gpu = "needs a GPU";

// A check whose only row has its name.
FrameworkCheck alone(std::string_view name) { return {name, {name}}; }

// A check of a framework, or an operator that it calls.
struct Task {
  const Framework* framework;
  const FrameworkCheck* check;
  FrameworkAnswer answer{};
  const FrameworkOperator* op = nullptr;
};

std::string identity_of(const Framework& framework, std::string_view row) {
  return std::string(framework.name) + '/' + std::string(row);
}

// `torch/lib::op/fake/f32,f32/n=3`; what isn't said is left out.
std::string identity_of(const Task& task, const FrameworkRow& row) {
  std::string identity(task.framework->name);
  const std::string& name = task.op == nullptr ? row.operator_name : task.op->name;
  for (const std::string_view part : {std::string_view(name), std::string_view(row.name),
                                      std::string_view(row.call), std::string_view(row.input)}) {
    if (!part.empty()) identity += '/' + std::string(part);
  }
  return identity;
}

// The checks of which some row is wanted, in the order of the table.
std::vector<Task> plan_tasks(const FrameworkOptions& options) {
  std::vector<Task> tasks;
  for (const Framework& framework : all_frameworks()) {
    if (std::find(options.frameworks.begin(), options.frameworks.end(), framework.name) ==
        options.frameworks.end()) {
      continue;
    }
    for (const FrameworkCheck& check : framework.checks) {
      // Which operators it speaks of is known afterwards.
      const bool wanted =
          check.open ||
          std::any_of(check.rows.begin(), check.rows.end(), [&](std::string_view row) {
            return is_chosen(options.only, identity_of(framework, row));
          });
      if (wanted) tasks.push_back({&framework, &check});
    }
  }
  return tasks;
}

// Some row that it may state is wanted.
bool may_be_wanted(const FrameworkOptions& options, const Framework& framework,
                   const FrameworkOperator& one) {
  if (options.only.empty()) return true;
  Task task{&framework, nullptr, {}, &one};
  for (const std::string_view name : operator_row_names()) {
    FrameworkRow row;
    row.name = name;
    if (is_chosen(options.only, identity_of(task, row))) return true;
    for (const PlannedCall& call : one.calls.calls) {
      row.call = call.identity;
      row.input.clear();
      if (is_chosen(options.only, identity_of(task, row))) return true;
      for (std::size_t at = 0; at < call.question.arguments.size(); ++at) {
        // As the script calls an input without a name.
        row.input = one.calls.names[at].empty() ? std::to_string(at) : one.calls.names[at];
        if (is_chosen(options.only, identity_of(task, row))) return true;
      }
    }
  }
  return false;
}

void run_task(Task& task, const FrameworkRunner& runner) {
  FrameworkRow given_up;
  const bool skipped_operator = task.op != nullptr && task.op->calls.calls.empty();
  if (skipped_operator || (task.check != nullptr && !task.check->lack.empty())) {
    given_up.status = "skipped";
    given_up.reason = skipped_operator ? task.op->calls.skipped : std::string(task.check->lack);
  } else {
    try {
      if (task.op == nullptr) {
        task.answer = run_framework_check(*task.framework, *task.check, runner);
        return;
      }
      task.answer = run_framework_operator(*task.framework, task.op->plan, runner);
      // Some calls are not made.
      if (task.op->calls.skipped.empty()) return;
      given_up.status = "skipped";
      given_up.reason = task.op->calls.skipped;
    } catch (const std::system_error& error) {
      // The machine has no process, folder or memory to give; the others go on.
      given_up.status = "no_answer";
      given_up.reason = error.what();
    }
  }
  if (task.op != nullptr) {
    given_up.name = operator_row_names().front();
    task.answer.rows.push_back(given_up);
    return;
  }
  for (const std::string_view row : task.check->rows) {
    given_up.name = row;
    task.answer.rows.push_back(given_up);
  }
}

class RowWriter {
 public:
  RowWriter(Facts& facts, const std::string& python) : facts_(facts), writer_(facts) {
    where_.file = static_cast<std::uint32_t>(facts.files.size());
    InputFile interpreter;
    interpreter.path = python;
    interpreter.binary = true;
    facts.files.push_back(std::move(interpreter));
  }

  Location where() const { return where_; }

  std::size_t write(const FrameworkOptions& options, const std::vector<Task>& tasks) {
    Document document;
    document.settings = true;
    document.file = where_.file;
    document.first = writer_.next();
    const std::uint32_t root = writer_.open(Key::none, NodeType::object, 0);
    const std::uint32_t list = writer_.open(Key::probes, NodeType::list, 0);
    std::size_t written = 0;
    for (const Task& task : tasks) {
      if (task.answer.missing) continue;
      for (const FrameworkRow& row : task.answer.rows) {
        const std::string identity = identity_of(task, row);
        if (!is_chosen(options.only, identity)) continue;
        write_one(task, version_of(tasks, *task.framework), identity, row);
        ++written;
      }
    }
    writer_.close(list, 0);
    writer_.close(root, 0);
    document.end = writer_.next();
    facts_.documents.push_back(document);
    return written;
  }

 private:
  // All processes have the same interpreter, and so the same framework.
  static std::string version_of(const std::vector<Task>& tasks, const Framework& framework) {
    for (const Task& task : tasks) {
      if (task.framework == &framework && !task.answer.version.empty()) return task.answer.version;
    }
    return {};
  }

  void text(Key key, std::string_view value) {
    if (!value.empty()) writer_.add_text(key, value, place_.offset, place_.length);
  }

  void write_one(const Task& task, const std::string& version, const std::string& identity,
                 const FrameworkRow& row) {
    // An operator's rows stand where the manifest states it.
    place_ = task.op == nullptr ? where_ : task.op->op.where();
    facts_.other_files.push_back({writer_.next(), place_.file});
    const std::uint32_t object = writer_.open(Key::none, NodeType::object, place_.offset);
    text(Key::kind, "framework");
    text(Key::identity, identity);
    text(Key::operator_, task.op == nullptr ? row.operator_name : task.op->name);
    text(Key::system, task.framework->name);
    text(Key::version, version);
    text(Key::name, row.name);
    text(Key::input, row.input);
    text(Key::status, row.status);
    text(Key::reason, row.reason);
    text(Key::expected, row.expected);
    text(Key::seen, row.seen);
    if (task.op != nullptr) write_call(*task.op, row.call);
    if (row.seconds > 0) {
      writer_.add_real(Key::seconds, row.seconds, place_.offset, place_.length);
    }
    writer_.close(object, place_.offset + place_.length);
  }

  // The arguments of the call of that identity, where it is one of the plan. Results are made by
  // the framework.
  void write_call(const FrameworkOperator& one, const std::string& identity) {
    for (const PlannedCall& call : one.calls.calls) {
      if (call.identity != identity) continue;
      std::vector<ffi::QuestionOperand> given;
      for (std::size_t at = 0; at < call.question.arguments.size(); ++at) {
        const bool absent = std::ranges::find(call.absent, at) != call.absent.end();
        if (!absent) given.push_back(call.question.arguments[at]);
      }
      write_probe_operands(writer_, place_, Key::arguments, given);
      writer_.add(Key::declared, NodeType::truth, call.declared ? 1 : 0, place_.offset,
                  place_.length);
      return;
    }
  }

  Facts& facts_;
  FactWriter writer_;
  Location where_;
  // Of the row that is written.
  Location place_;
};

}  // namespace

std::span<const Framework> all_frameworks() {
  static const std::vector<Framework> frameworks{
      {"brainevent",
       {
           {"backend-switch",
            {"backend-switch", "backend-switch-global", "backend-per-call", "backend-warmcache"}},
           alone("jvp-missing-rule"),
           {"batch", {"batch", "batch-nested"}},
           {"batch-cuda", {"batch-cuda"}, false, gpu},
           {"zero-size-cuda", {"zero-size-cuda"}, false, gpu},
           alone("error-no-kernel"),
           alone("error-generator-fails"),
           alone("name-registered-twice"),
           {"name-stability", {"name-stability"}, true},
           alone("callback-ownership"),
           alone("targets-per-shape"),
           alone("dtype-codes"),
           alone("rebuild-same-target"),
           alone("two-sources-one-target"),
           alone("cache-key-functions"),
           alone("cache-key-headers"),
           alone("cache-key-environment"),
           alone("cache-key-separation"),
           alone("cache-temp-name"),
           alone("cache-prefix"),
       }},
      {"braintrace", {{"etp", {"etp"}, false, {}, true}}, true},
      {"jax",
       {
           alone("rebuild-same-target"),
           alone("error-no-target"),
           {"batch", {"batch", "batch-nested"}},
       },
       true},
      {"torch",
       {
           alone("rebuild-same-target"),
           alone("backend-warmcache"),
           alone("error-no-kernel"),
           {"batch", {"batch", "batch-nested"}},
       },
       true},
  };
  return frameworks;
}

ProbeRun run_framework_probes(const FrameworkOptions& options, Facts& facts) {
  std::vector<Task> tasks = plan_tasks(options);
  // Their addresses are kept.
  std::list<FrameworkOperator> operators;
  for (const Framework& framework : all_frameworks()) {
    const bool asked = std::find(options.frameworks.begin(), options.frameworks.end(),
                                 framework.name) != options.frameworks.end();
    if (!asked || !framework.calls_operators) continue;
    for (FrameworkOperator& one :
         plan_framework_operators(facts, framework.name, options.imports, options.seed)) {
      if (!is_for_framework(framework.name, one.system)) {
        const bool elsewhere = std::ranges::any_of(options.frameworks, [&one](const auto& name) {
          return is_for_framework(name, one.system);
        });
        if (elsewhere) continue;
        one.calls.skipped = "its manifest is of the system " + quote(one.system);
      }
      if (!may_be_wanted(options, framework, one)) continue;
      operators.push_back(std::move(one));
      tasks.push_back({&framework, nullptr, {}, &operators.back()});
    }
  }
  const std::optional<std::string> python = find_python(options.python);
  if (!python) {
    facts.problems.push_back({Location{}, no_python_message(options.python), {}, Severity::error});
    return {};
  }
  const FrameworkRunner runner{options.program, *python, options.time_limit_seconds};
  const unsigned workers =
      options.workers != 0 ? options.workers : std::max(1u, std::thread::hardware_concurrency());
  std::mutex guard;
  std::size_t done = 0;
  side_by_side(workers, tasks.size(), [&](std::size_t at) {
    run_task(tasks[at], runner);
    const std::lock_guard<std::mutex> lock(guard);
    if (options.progress) options.progress(++done, tasks.size());
  });
  RowWriter writer(facts, *python);
  std::set<std::string_view> failed;
  for (const Task& task : tasks) {
    const std::string& why = task.answer.failed_import;
    if (why.empty() || !failed.insert(why).second) continue;
    facts.problems.push_back({writer.where(), why, {}, Severity::error});
  }
  for (const std::string& name : options.frameworks) {
    const bool missing = std::any_of(tasks.begin(), tasks.end(), [&name](const Task& task) {
      return task.framework->name == name && task.answer.missing;
    });
    if (!missing) continue;
    facts.problems.push_back({writer.where(),
                              quote(name) + " is not installed for " + quote(*python),
                              {},
                              Severity::error});
  }
  ProbeRun run;
  run.probes = writer.write(options, tasks);
  for (const Task& task : tasks) {
    for (const std::string& lack : task.answer.lacks) {
      if (std::find(run.lacks.begin(), run.lacks.end(), lack) == run.lacks.end()) {
        run.lacks.push_back(lack);
      }
    }
  }
  return run;
}

}  // namespace opseal
