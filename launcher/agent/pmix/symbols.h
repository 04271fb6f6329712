/* Lets a program that is linked on a new system start on old ones: it requests the oldest version of symbols of which
 * glibc has newer versions, and has its own _start, since that of the system's crt1.o requires glibc 2.34.
 *
 * To be included first in a file that is compiled with -fno-builtin for the symbols named here, and linked with
 * -nostartfiles. */
#pragma once

#if defined(__x86_64__)
#define SML_OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define SML_OLDEST "GLIBC_2.17"
#else
#error "the oldest glibc of this processor has to be named here"
#endif

#define SML_OLD(name) __asm__(".symver " #name ", " #name "@" SML_OLDEST)
SML_OLD(dlopen);
SML_OLD(dlsym);
SML_OLD(dlerror);
SML_OLD(__libc_start_main);

/* SML_START(main_function) defines a _start like the system's own, which passes libc the stack and calls exit() with
 * the result of main(). It runs no constructors and destructors. The first instruction is one to which an indirect jump
 * may lead (endbr64; hint #34, which is "bti c"): processors that check this end the program otherwise. */
extern int __libc_start_main(int (*main)(int, char**, char**), int count, char** words, void (*begin)(void),
                             void (*end)(void), void (*loader_end)(void), void* stack);

#if defined(__x86_64__)
#define SML_START(main_function)                                                                       \
  __attribute__((used)) static void sml_enter(long* stack, void (*loader_end)(void)) {                 \
    __libc_start_main(main_function, (int)stack[0], (char**)(stack + 1), 0, 0, loader_end, stack);     \
  }                                                                                                    \
  __asm__(                                                                                             \
      ".text\n.globl _start\n.type _start,@function\n_start:\n.cfi_startproc\n.cfi_undefined rip\n"    \
      "endbr64\nxor %ebp, %ebp\nmov %rsp, %rdi\nmov %rdx, %rsi\nand $-16, %rsp\ncall sml_enter\nhlt\n" \
      ".cfi_endproc\n.size _start, .-_start\n");
#elif defined(__aarch64__)
#define SML_START(main_function)                                                                   \
  __attribute__((used)) static void sml_enter(long* stack, void (*loader_end)(void)) {             \
    __libc_start_main(main_function, (int)stack[0], (char**)(stack + 1), 0, 0, loader_end, stack); \
  }                                                                                                \
  __asm__(                                                                                         \
      ".text\n.globl _start\n.type _start,%function\n_start:\nhint #34\nmov x29, #0\n"             \
      "mov x30, #0\nmov x1, x0\nmov x0, sp\nb sml_enter\n.size _start, .-_start\n");
#endif
