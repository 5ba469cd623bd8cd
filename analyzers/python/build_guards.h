#pragma once

#include <optional>

#include "analyzers/python/python_code.h"

namespace opseal {

// How a function that builds looks whether it has to.
class BuildGuards {
 public:
  // Needs: the code outlives this.
  explicit BuildGuards(PythonCode& code) : code_(code) {}

  // The digest by which a function looks whether there is something to build: the one that names
  // what its build is handed, or any where that names nothing after one. A file that is merely
  // named after a digest is written each time.
  // `path` is what the output is named after.
  std::optional<FlowRoot> guard_of(SyntaxIndex function, const FlowTrace& command, FlowTrace& path);
  // `getmtime(source) > getmtime(library)`: the first of the times that it compares.
  // Whether a build is left out as soon as its library is there: a path that tells no two builds
  // apart, and nothing else that is asked. `command`: what starts it, where it names its output.
  std::optional<PythonPlace> presence_in(SyntaxIndex function, SyntaxIndex build,
                                         const FlowFrame* frame, const FlowTrace* command);
  std::optional<PythonPlace> times_in(SyntaxIndex function) const;

 private:
  std::optional<PythonPlace> own_times(SyntaxIndex function) const;
  bool leaves_out(SyntaxIndex question, SyntaxIndex build) const;
  bool decides(SyntaxIndex call) const;
  bool is_question(SyntaxIndex call) const;
  bool asks(SyntaxIndex function) const;
  bool is_asked_for(SyntaxIndex function, const FlowFrame* frame, const FlowRoot& digest);

  PythonCode& code_;
};

}  // namespace opseal
