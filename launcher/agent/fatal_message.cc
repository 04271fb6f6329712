#include "launcher/agent/fatal_message.h"

#include <cstdlib>
#include <exception>

#include <unistd.h>

#include "common/os/fd.h"

namespace sml::agent {

void say_last_words(std::initializer_list<std::string_view> words) {
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
    sml::agent::say_last_words({"internal error: terminated"});
  } catch (const std::exception& e) {
    sml::agent::say_last_words({"internal error: nobody has caught: ", e.what()});
  } catch (...) {
    sml::agent::say_last_words({"internal error: nobody has caught an exception"});
  }
  std::abort();
}

#if defined(_GLIBCXX_ASSERTIONS) && defined(_GLIBCXX_VERBOSE_ASSERT)
void std::__glibcxx_assert_fail(const char*, int, const char* function, const char* condition) noexcept {
  sml::agent::say_last_words({"internal error: ", function, ": ", condition});
  std::abort();
}
#endif
#endif
