# The static agent must stay small, and free of the libc functions that load the target's shared libraries at run time
# (the name service). Called at build time: cmake -DAGENT=file -P check.cmake
file(SIZE ${AGENT} size)
if(size GREATER 2400000)
  message(FATAL_ERROR "sml-run-agent has ${size} bytes; the limit is 2400000")
endif()
# (Where no_resolver.c cannot be linked, iconv is there too; nothing of ours calls it.)
file(STRINGS ${AGENT} found REGEX "nsswitch\\.conf")
if(found)
  message(FATAL_ERROR "sml-run-agent pulls in the name service: look for getaddrinfo, getpw* and getgr*")
endif()
