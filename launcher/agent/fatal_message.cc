#include "launcher/agent/fatal_message.h"

#include <cstdlib>
#include <exception>

#include <unistd.h>

#include "common/os/fd.h"

namespace sml::agent {

void write_fatal_message(std::initializer_list<std::string_view> words) {
  (void)os::write_all(STDERR_FILENO, "sml-run-agent: ");
  for (const std::string_view word : words) (void)os::write_all(STDERR_FILENO, word);
  (void)os::write_all(STDERR_FILENO, "\n");
}

}  // namespace sml::agent

#ifdef __GLIBCXX__
// Declared by the library, which calls it from std::terminate().
void __gnu_cxx::__verbose_terminate_handler() {
  try {
    if (const std::exception_ptr caught = std::current_exception()) std::rethrow_exception(caught);
    sml::agent::write_fatal_message({"internal error: terminated"});
  } catch (const std::exception& e) {
    sml::agent::write_fatal_message({"internal error: nobody has caught: ", e.what()});
  } catch (...) {
    sml::agent::write_fatal_message({"internal error: nobody has caught an exception"});
  }
  std::abort();
}

#if defined(_GLIBCXX_ASSERTIONS) && defined(_GLIBCXX_VERBOSE_ASSERT)
void std::__glibcxx_assert_fail(const char*, int, const char* function, const char* condition) noexcept {
  sml::agent::write_fatal_message({"internal error: ", function, ": ", condition});
  std::abort();
}
#endif
#endif
