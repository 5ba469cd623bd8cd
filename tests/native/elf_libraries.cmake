# Small libraries for the tests of the ELF reader. Built by commands of their own, so that no sanitizer or option of the
# rest changes what is in them. Fills `elf_libraries`.
set(elf_library_folder ${CMAKE_CURRENT_BINARY_DIR}/native)
file(MAKE_DIRECTORY ${elf_library_folder})
set(elf_libraries)

# elf_library(NAME SOURCE OPTIONS...)
function(elf_library name source)
  set(output ${elf_library_folder}/${name})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_CXX_COMPILER} -shared -fPIC -o ${output} ${CMAKE_CURRENT_SOURCE_DIR}/native/${source} ${ARGN}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/native/${source} ${CMAKE_CURRENT_SOURCE_DIR}/native/symbols.map
    VERBATIM)
  set(elf_libraries ${elf_libraries} ${output} PARENT_SCOPE)
endfunction()

set(symbols_options -O1 -nostdlib -lc -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/native/symbols.map
    -Wl,-soname,libsymbols.so.1 "-Wl,-rpath,$ORIGIN/lib:/opt/lib" -Wl,--build-id=0x0123456789abcdef)
elf_library(symbols.so symbols.cpp ${symbols_options} -s)
elf_library(symbols_sysv.so symbols.cpp ${symbols_options} -s -Wl,--hash-style=sysv -Wl,--disable-new-dtags)
elf_library(symbols_debug.so symbols.cpp ${symbols_options} -g)
elf_library(registrars.so registrars.cpp -O1)
elf_library(registrars_stripped.so registrars.cpp -O1 -s)
# One keeps to itself what the other asks for.
set(keeper_options -O1 -nostdlib -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/native/keeper.map -Wl,-soname,libkeeper.so)
elf_library(libkeeper.so keeper.cpp ${keeper_options})
elf_library(libkeeper_stripped.so keeper.cpp ${keeper_options} -s)
add_custom_command(OUTPUT ${elf_library_folder}/libasker.so
  COMMAND ${CMAKE_CXX_COMPILER} -shared -fPIC -O1 -nostdlib -o ${elf_library_folder}/libasker.so
          ${CMAKE_CURRENT_SOURCE_DIR}/native/asker.cpp -Wl,--no-as-needed ${elf_library_folder}/libkeeper.so
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/native/asker.cpp ${elf_library_folder}/libkeeper.so
  VERBATIM)
list(APPEND elf_libraries ${elf_library_folder}/libasker.so)
# At several levels, since inlining decides how far a handler is from its type.
foreach(level 0 1 2 3)
  elf_library(handlers_O${level}.so handlers.cpp -std=c++20 -O${level} -s)
endforeach()
elf_library(handlers_hidden.so handlers.cpp -std=c++20 -O2 -fvisibility=hidden)

# Kernels that are called. No sanitizer: what they do wrong is for opseal to find.
set(probe_folder ${CMAKE_CURRENT_BINARY_DIR}/native/probe)
file(MAKE_DIRECTORY ${probe_folder})
function(probe_library name)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/native/probe/${name}.cpp)
  add_custom_command(OUTPUT ${probe_folder}/lib${name}.so
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -O1 -shared -fPIC ${ARGN} -I${PROJECT_SOURCE_DIR} -o ${probe_folder}/lib${name}.so ${source}
    DEPENDS ${source} ${CMAKE_CURRENT_SOURCE_DIR}/native/probe/handler.h ${PROJECT_SOURCE_DIR}/analyzers/probe/ffi_abi.h
    VERBATIM)
  set(elf_libraries ${elf_libraries} ${probe_folder}/lib${name}.so PARENT_SCOPE)
  configure_file(native/probe/${name}.json ${probe_folder}/${name}.json COPYONLY)
endfunction()
probe_library(lying)
probe_library(derivatives)
probe_library(plain)
probe_library(handed -fvisibility=hidden)
foreach(file absent.json handed_ops.py handed_broken.py handed_leaves.py handed_threads.py)
  configure_file(native/probe/${file} ${probe_folder}/${file} COPYONLY)
endforeach()

include(CheckLinkerFlag)
check_linker_flag(CXX -Wl,-z,pack-relative-relocs OPSEAL_PACKS_RELOCATIONS)
if(OPSEAL_PACKS_RELOCATIONS)
  elf_library(symbols_packed.so symbols.cpp ${symbols_options} -s -Wl,-z,pack-relative-relocs)
endif()
foreach(form zlib zstd)
  check_linker_flag(CXX -Wl,--compress-debug-sections=${form} OPSEAL_COMPRESSES_${form})
  if(OPSEAL_COMPRESSES_${form})
    elf_library(symbols_${form}.so symbols.cpp ${symbols_options} -g -Wl,--compress-debug-sections=${form})
  endif()
endforeach()
