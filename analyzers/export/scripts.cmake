# Turns the scripts of exporters and of framework probes into one C++ file of texts; sets `export_scripts` to it.
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.py ${CMAKE_CURRENT_LIST_DIR}/../probe/python/*.py)
list(SORT scripts)
list(JOIN scripts "," joined_scripts)
set(export_scripts ${CMAKE_BINARY_DIR}/export_scripts.cpp)
set(embed ${CMAKE_CURRENT_LIST_DIR}/embed.cmake)
add_custom_command(
  OUTPUT ${export_scripts}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${export_scripts} -DSCRIPTS=${joined_scripts} -P ${embed}
  DEPENDS ${scripts} ${embed}
  COMMENT "Embedding the export scripts"
  VERBATIM)
