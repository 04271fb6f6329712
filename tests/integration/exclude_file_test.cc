#include "launcher/run/restarts/exclude_file.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <sys/resource.h>

#include "tests/support/catch.h"

using namespace sml;

TEST_CASE("a line of the exclude file that fits in part is an error with its reason") {
  std::string folder = "/tmp/sml-exclude-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const std::string path = folder + "/file";
  CHECK(run::append_line(path, "algo-1\n").has_value());
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{10, before.rlim_max};
  auto* const handler = ::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  errno = 0;
  const Result<void> cut = run::append_line(path, "algo-2\n");
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  REQUIRE(cut.has_error());
  CHECK(cut.error().message() == "cannot write " + path + ": " + errno_text(EFBIG));
  std::filesystem::remove_all(folder);
}
