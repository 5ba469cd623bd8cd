#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace opseal {

// Python that opseal carries, and the interpreter that runs it in a child: for what only the
// process of a framework itself knows.

// `wanted`: a path, or a name on PATH. Empty: `$VIRTUAL_ENV/bin/python`, else `python3` on PATH.
// The path as the user would write it: a virtual environment is known by its link, not by its
// target.
std::optional<std::string> find_python(const std::string& wanted);

// Why there is none.
std::string no_python_message(const std::string& wanted);

// The text of a script, by the name of its file without `.py`.
std::string_view python_script(std::string_view name);

// What is handed to `python -B -c`.
std::string_view python_bootstrap();

// All others, for its standard input: `MODULE LENGTH`, a line break, the text.
std::string framed_python_scripts();

}  // namespace opseal
