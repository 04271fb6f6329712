# Toolchain file: programs for aarch64, built on another machine with Debian's compiler and Debian's arm64 packages
# (packaging/dependencies install cross). Programs that the build itself runs are run by qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_OBJCOPY aarch64-linux-gnu-objcopy)
set(CMAKE_STRIP aarch64-linux-gnu-strip)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)

# Debian keeps libraries of several processors in one tree.
set(CMAKE_FIND_ROOT_PATH /usr)
set(CMAKE_LIBRARY_PATH /usr/lib/aarch64-linux-gnu)
set(CMAKE_IGNORE_PATH /usr/lib/x86_64-linux-gnu)

# LLVM's linker: that of binutils 2.40 cannot pack relocations for this processor, and pads the file for pages of 64 KB.
# What the C library keeps in sections that are only found by their names must stay.
find_program(SML_LLD ld.lld REQUIRED)
file(REAL_PATH ${SML_LLD} lld)
get_filename_component(lld_folder ${lld} DIRECTORY)  # as the cross compiler looks for it there; no assembler is in it
set(CMAKE_EXE_LINKER_FLAGS_INIT "-B${lld_folder} -fuse-ld=lld -Wl,-z,nostart-stop-gc")
