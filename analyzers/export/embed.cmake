# Writes Python files into one C++ file, so that the program carries them and a build needs no Python.
# usage: cmake -DOUTPUT=FILE -DSCRIPTS=FILE,FILE... -P embed.cmake

string(REPLACE "," ";" scripts "${SCRIPTS}")
set(constants "")
set(rows "")
foreach(script IN LISTS scripts)
  get_filename_component(name "${script}" NAME_WE)
  file(READ "${script}" text)
  string(FIND "${text}" ")opseal\"" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${script} holds the text that ends the raw string")
  endif()
  string(APPEND constants "constexpr char ${name}_text[] = R\"opseal(${text})opseal\";\n\n")
  string(APPEND rows "    EmbeddedScript{\"${name}\", ${name}_text},\n")
endforeach()

file(WRITE "${OUTPUT}" "#include \"analyzers/export/scripts.h\"

namespace opseal {
namespace {

${constants}constexpr EmbeddedScript scripts[] = {
${rows}};

}  // namespace

std::span<const EmbeddedScript> embedded_scripts() { return scripts; }

}  // namespace opseal
")
