// sml-run: starts one distributed job. See man/sml-run.1.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "common/os/fd.h"
#include "common/os/private_process.h"
#include "launcher/start/commands.h"
#include "launcher/start/refusal.h"
#include "launcher/transport/names/addresses.h"
#include "launcher/transport/ssh/crypto_library.h"

int main(int argc, char** argv, char** environment) {
  using namespace sml;
  os::become_private();
  names::keep_to_built_in_sources();
  ssh::keep_to_built_in_crypto();
  int status = 125;
  try {
    std::size_t size = 0;
    while (environment[size] != nullptr) ++size;
    os::ensure_standard_descriptors();
    status = run_command(
        {.called = argc > 0 ? argv[0] : "", .arguments = {argv + 1, argv + argc}, .environment = {environment, size}});
  } catch (const std::exception& e) {
    print(std::string("internal error: ") + e.what());
  }
  std::fflush(nullptr);
  std::_Exit(status);  // a name lookup may still be in progress on a thread that cannot be ended
}
