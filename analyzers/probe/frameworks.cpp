#include "analyzers/probe/frameworks.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "analyzers/fact_writer.h"
#include "analyzers/probe/framework_child.h"
#include "analyzers/python_program.h"
#include "opseal/side_by_side.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::string_view gpu = "needs a GPU";

// A check whose only row has its name.
FrameworkCheck alone(std::string_view name) { return {name, {name}}; }

struct Task {
  const Framework* framework;
  const FrameworkCheck* check;
  FrameworkAnswer answer{};
};

std::string identity_of(const Framework& framework, std::string_view row) {
  return std::string(framework.name) + '/' + std::string(row);
}

bool is_wanted(const FrameworkOptions& options, const std::string& identity) {
  return options.only.empty() ||
         std::any_of(options.only.begin(), options.only.end(), [&](const std::string& glob) {
           return glob == identity || glob_match(glob, identity);
         });
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
      const bool wanted = std::any_of(
          check.rows.begin(), check.rows.end(),
          [&](std::string_view row) { return is_wanted(options, identity_of(framework, row)); });
      if (wanted) tasks.push_back({&framework, &check});
    }
  }
  return tasks;
}

void run_task(Task& task, const FrameworkRunner& runner) {
  FrameworkRow given_up;
  if (!task.check->lack.empty()) {
    given_up.status = "skipped";
    given_up.reason = task.check->lack;
  } else {
    try {
      task.answer = run_framework_check(*task.framework, *task.check, runner);
      return;
    } catch (const std::system_error& error) {
      // The machine has no process, folder or memory to give; the others go on.
      given_up.status = "no_answer";
      given_up.reason = error.what();
    }
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
        const std::string identity = identity_of(*task.framework, row.name);
        if (!is_wanted(options, identity)) continue;
        write_one(*task.framework, version_of(tasks, *task.framework), identity, row);
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
    if (!value.empty()) writer_.add_text(key, value, 0, 0);
  }

  void write_one(const Framework& framework, const std::string& version,
                 const std::string& identity, const FrameworkRow& row) {
    const std::uint32_t object = writer_.open(Key::none, NodeType::object, 0);
    text(Key::kind, "framework");
    text(Key::identity, identity);
    text(Key::system, framework.name);
    text(Key::version, version);
    text(Key::name, row.name);
    text(Key::status, row.status);
    text(Key::reason, row.reason);
    text(Key::expected, row.expected);
    text(Key::seen, row.seen);
    if (row.seconds > 0) writer_.add_real(Key::seconds, row.seconds, 0, 0);
    writer_.close(object, 0);
  }

  Facts& facts_;
  FactWriter writer_;
  Location where_;
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
      {"jax",
       {
           alone("rebuild-same-target"),
           alone("error-no-target"),
           {"batch", {"batch", "batch-nested"}},
       }},
  };
  return frameworks;
}

ProbeRun run_framework_probes(const FrameworkOptions& options, Facts& facts) {
  std::vector<Task> tasks = plan_tasks(options);
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
