/* Where a static program of ours begins on x86-64: asks for its data at once, and goes on to the C library's _start.

   What relocates the program writes to each page of that data, some 130 in sml-run; one by one they cost as many faults,
   0.3 ms of processor time. MADV_POPULATE_WRITE is of Linux 5.14; older kernels refuse it, and nothing is lost. */
#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

#define SYS_madvise 28
#define MADV_POPULATE_WRITE 23
#define PAGE 4096

        .text
        .globl  sml_early_start
        .type   sml_early_start, @function
sml_early_start:
        _CET_ENDBR
        lea     __init_array_start(%rip), %rdi
        and     $-PAGE, %rdi
        lea     _edata(%rip), %rsi
        sub     %rdi, %rsi
        mov     $MADV_POPULATE_WRITE, %edx
        mov     $SYS_madvise, %eax
        syscall
        xor     %edx, %edx      /* as the kernel leaves it: no function of a loader's for the end */
        jmp     _start
        .size   sml_early_start, . - sml_early_start

        .section .note.GNU-stack, "", @progbits
