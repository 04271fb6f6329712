/* What assert() of the GNU C library calls, for a static agent: the library's prints to wide streams, too, and that
 * brings all of wprintf(), 28 KB of a program that travels to every host. The same words, without the program's name. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void __assert_fail(const char* assertion, const char* file, unsigned line, const char* function);

void __assert_fail(const char* assertion, const char* file, unsigned line, const char* function) {
  char text[512];
  const char* where = function == NULL ? "" : function;
  const int size = snprintf(text, sizeof text, "%s:%u: %s: Assertion `%s' failed.\n", file, line, where, assertion);
  const size_t most = sizeof text - 1;
  if (size > 0 && write(STDERR_FILENO, text, (size_t)size < most ? (size_t)size : most) < 0) abort();
  abort();
}
