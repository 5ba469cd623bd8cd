#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// How to parse a file alone, without a header of any kind.
std::vector<std::string> flags_without_headers(std::string_view path);

// The flags of a command of a build, as far as they say what the source means: a list of those that
// are kept, for the rest runs programs, loads plugins or confuses libclang, which takes the operand
// of a flag it doesn't know for a second file. `command` begins with the compiler; `directory` is
// what its paths are relative to. Empty where it is no command of a compiler.
std::vector<std::string> kept_flags(const std::vector<std::string>& command,
                                    const std::string& directory, std::string_view path);

// The words of a command line, by the rules of a shell for quotation marks and backslashes.
std::vector<std::string> split_command(std::string_view line);

// The language is CUDA, by the name of the file.
bool is_cuda_path(std::string_view path);

}  // namespace opseal
