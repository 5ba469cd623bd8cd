// How the child of an exporter ends: in time, too late, or not at all.

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <limits>
#include <string>

#include "tests/export_workshop.h"

namespace fs = std::filesystem;

namespace opseal::test {

TEST_CASE("a package that hangs is killed with its children when its time is up") {
  const Workshop workshop;
  workshop.write_braintrace(
      "import subprocess, time\n"
      "child = subprocess.Popen(['sleep', '600'])\n"
      "print('child', child.pid, flush=True)\n"
      "time.sleep(600)");
  const auto outcome = run_braintrace({.time_limit_seconds = 2});
  if (!outcome) return;
  CHECK(outcome->status == ExportStatus::timed_out);
  CHECK(outcome->message.ends_with(" after 2 s"));
  REQUIRE(outcome->stderr_tail.starts_with("child "));
  const std::string process = outcome->stderr_tail.substr(6, outcome->stderr_tail.find('\n') - 6);
  CHECK(ends_soon(process));
}

TEST_CASE("a time limit that no clock can count is still a limit") {
  const Workshop workshop;
  workshop.write_braintrace("");
  for (const double endless : {std::numeric_limits<double>::infinity(), 1e300}) {
    const auto outcome = run_braintrace({.time_limit_seconds = endless});
    if (!outcome) return;
    CHECK(outcome->status == ExportStatus::ok);
  }
  for (const double none : {std::numeric_limits<double>::quiet_NaN(), -1e300}) {
    const auto outcome = run_braintrace({.time_limit_seconds = none});
    if (!outcome) return;
    CHECK(outcome->status == ExportStatus::timed_out);
  }
}

TEST_CASE("the ways in which a child can end without a manifest are told apart") {
  struct Case {
    const char* first;
    ExportStatus status;
    const char* part;
  };
  const std::array cases{
      Case{"import os, signal; os.kill(os.getpid(), signal.SIGKILL)", ExportStatus::failed,
           "was ended by signal 9"},
      Case{"import os; os._exit(7)", ExportStatus::failed, "ended with exit status 7"},
      Case{"import os; os._exit(0)", ExportStatus::bad_answer, "ended without a manifest"},
      Case{"import os; os.write(3, b'manifest\\n{'); os._exit(0)", ExportStatus::bad_answer,
           "ended without a manifest"},
      Case{"raise SystemExit('enough')", ExportStatus::failed, "SystemExit: enough"},
  };
  for (const Case& each : cases) {
    const Workshop workshop;
    workshop.write_braintrace(each.first);
    const auto outcome = run_braintrace();
    if (!outcome) return;
    CAPTURE(each.first);
    CAPTURE(outcome->message);
    CHECK(outcome->status == each.status);
    CHECK(outcome->message.find(each.part) != std::string::npos);
    CHECK(outcome->manifest.empty());
  }
}

TEST_CASE("what is no interpreter is said before anything runs") {
  const Workshop workshop;
  workshop.write("text", "not a program");
  fs::permissions(workshop.folder() / "text", fs::perms::owner_all);
  ExportRequest request;
  request.python = (workshop.folder() / "absent").string();
  CHECK(run_exporter(exporter("jax"), request).status == ExportStatus::no_interpreter);
  request.python = workshop.folder().string();
  CHECK(run_exporter(exporter("jax"), request).status == ExportStatus::no_interpreter);
  request.python = (workshop.folder() / "text").string();
  CHECK(run_exporter(exporter("jax"), request).status == ExportStatus::no_interpreter);
}

}  // namespace opseal::test
