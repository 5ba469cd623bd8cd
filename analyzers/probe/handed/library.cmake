# The child's side of probes once more, as a library that a Python process can load: handlers that a module hands out
# work in that process alone. The program carries it (`opseal_handed_library`), so that nothing is to be installed.
set(handed_sources analyzers/child_process.cpp analyzers/process_limits.cpp analyzers/rows.cpp analyzers/probe/handed/entry.cpp)
foreach(name child element_places ffi_answer ffi_frame ffi_question ffi_runtime ffi_signature ffi_stages frames guarded_buffer handed_out
        kernel_probe landlock operation plain_call sandbox system_calls values)
  list(APPEND handed_sources analyzers/probe/${name}.cpp)
endforeach()
add_library(opseal_handed MODULE ${handed_sources})
# No sanitizer: its run-time library would have to be in the interpreter first. So the library is there in every build, and
# what it does is watched only where the program itself runs the same code.
add_library(opseal_unwatched INTERFACE)
target_compile_options(opseal_unwatched INTERFACE -fno-sanitize=all)
target_link_options(opseal_unwatched INTERFACE -fno-sanitize=all)
target_link_libraries(opseal_handed PRIVATE opseal_flags Threads::Threads ${SECCOMP_LIBRARY} ${FFI_LIBRARY} ${CMAKE_DL_LIBS}
                      opseal_unwatched)
# It shares a process with libraries that nobody here knows: no name of it is theirs, and none of theirs is its.
set_target_properties(opseal_handed PROPERTIES PREFIX "" SUFFIX .so LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_link_options(opseal_handed PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,-z,defs -Wl,-s)
set(handed_library ${CMAKE_CURRENT_LIST_DIR}/library.S)
set_source_files_properties(${handed_library} PROPERTIES OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/opseal_handed.so
                            COMPILE_DEFINITIONS "OPSEAL_HANDED_LIBRARY=\"${CMAKE_BINARY_DIR}/opseal_handed.so\"")
