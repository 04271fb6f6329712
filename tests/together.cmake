# Writes one source of several test files: OUT of FILES, a list. Many of them keep the same names to themselves, so each lies
# in a namespace of its own; what they include comes first, outside of these.
set(includes)
set(parts)
foreach(file ${FILES})
  file(STRINGS ${file} lines REGEX "^#include ")
  list(APPEND includes ${lines})
  get_filename_component(name ${file} NAME_WE)
  string(APPEND parts "\nnamespace ${name} {\n#include \"${file}\"\n}\n")
endforeach()
list(REMOVE_DUPLICATES includes)
list(JOIN includes "\n" includes)
file(WRITE ${OUT} "${includes}\n${parts}")
