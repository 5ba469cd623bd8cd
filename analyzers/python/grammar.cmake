# The parser of Python, from the sources that ./dev fetches: see grammar.txt.
set(grammar_folder ${PROJECT_SOURCE_DIR}/build/third_party/tree_sitter)
if(NOT EXISTS ${grammar_folder}/python/parser.c)
  message(FATAL_ERROR "no sources of the Python grammar in ${grammar_folder}: `./dev build` fetches them")
endif()
add_library(opseal_python_grammar STATIC ${grammar_folder}/runtime/src/lib.c ${grammar_folder}/python/parser.c
            ${grammar_folder}/python/scanner.c)
set_target_properties(opseal_python_grammar PROPERTIES C_STANDARD 11)
# Not our code: no warnings, and fast in a debug build too, in which a tree of files is read by tests.
target_compile_options(opseal_python_grammar PRIVATE -w -O2)
# The runtime asks for `fdopen` and the byte order of the system.
target_compile_definitions(opseal_python_grammar PRIVATE _POSIX_C_SOURCE=200112L _DEFAULT_SOURCE)
target_include_directories(opseal_python_grammar PRIVATE ${grammar_folder}/runtime/src ${grammar_folder}/python)
target_include_directories(opseal_python_grammar SYSTEM PUBLIC ${grammar_folder}/runtime/include)
