# The static agent must stay small, and free of the libc functions that load the target's shared libraries at run time
# (name service, iconv). Called at build time: cmake -DAGENT=file -DNM=nm -P check.cmake
file(SIZE ${AGENT} size)
if(size GREATER 2000000)
  message(FATAL_ERROR "sml-run-agent has ${size} bytes; the limit is 2000000")
endif()
# The file is stripped; what the linker put in shows as strings of the functions' own messages.
file(STRINGS ${AGENT} found REGEX "nsswitch\\.conf|gconv-modules")
if(found)
  message(FATAL_ERROR "sml-run-agent pulls in the name service or iconv: ${found}")
endif()
