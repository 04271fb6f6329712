# One file that is copied about stays small: cmake -DPROGRAM=file -DLIMIT=bytes -P size.cmake
file(SIZE ${PROGRAM} size)
if(size GREATER LIMIT)
  message(FATAL_ERROR "${PROGRAM} has ${size} bytes; the limit is ${LIMIT}")
endif()
