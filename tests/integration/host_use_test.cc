#include "launcher/agent/os/host_use.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/catch.h"

using namespace sml;

namespace {

// A process that sleeps, and on order has a child or uses processor time.
class Sleeper {
 public:
  Sleeper() {
    REQUIRE(::pipe(orders_) == 0);
    REQUIRE(::pipe(answers_) == 0);
    pid_ = ::fork();
    if (pid_ == 0) obey();
    REQUIRE(pid_ > 0);
  }
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    for (const int fd : {orders_[0], orders_[1], answers_[0], answers_[1]}) ::close(fd);
  }
  pid_t pid() const { return pid_; }
  void order(char what) {
    REQUIRE(::write(orders_[1], &what, 1) == 1);
    REQUIRE(::read(answers_[0], &what, 1) == 1);
  }

 private:
  [[noreturn]] void obey() {
    pid_t child = -1;
    for (char what = 0; ::read(orders_[0], &what, 1) == 1;) {
      if (what == 'c') child = ::fork();
      if (child == 0) {
        ::pause();
        ::_exit(0);
      }
      if (what == 'e') {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
      }
      while (what == 'w' && ::clock() < CLOCKS_PER_SEC / 5) continue;
      if (::write(answers_[1], &what, 1) != 1) break;
    }
    ::_exit(0);
  }

  int orders_[2]{};
  int answers_[2]{};
  pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("a process is looked at anew when it has run") {
  Sleeper sleeper;
  os::FamilyUse family(sleeper.pid());
  sleeper.order('-');
  const ProcessUse first = family.look();
  CHECK(first.processes == 1);
  CHECK(first.memory > 0);
  sleeper.order('c');
  CHECK(family.look().processes == 2);
  sleeper.order('e');
  CHECK(family.look().processes == 1);
  sleeper.order('w');
  const ProcessUse worked = family.look();
  CHECK(worked.cpu_ms >= first.cpu_ms + 100);
  for (int i = 0; i < 3; ++i) CHECK(family.look().memory == worked.memory);
}

TEST_CASE("accelerators are those whose driver tells how busy they are") {
  std::string top = "/tmp/sml-drm-XXXXXX";
  REQUIRE(::mkdtemp(top.data()) != nullptr);
  const auto put = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(top + "/" + name).parent_path());
    std::ofstream(top + "/" + name) << text;
  };
  put("card1/device/gpu_busy_percent", "87\n");
  put("card1/device/mem_info_vram_used", "1073741824\n");
  put("card1/device/mem_info_vram_total", "68719476736\n");
  put("card1-DP-1/device/gpu_busy_percent", "1\n");
  put("card0/device/vendor", "0x10de\n");
  put("card2/device/gpu_busy_percent", "999\n");
  put("renderD128/device/gpu_busy_percent", "5\n");
  const std::vector<std::string> found = os::accelerators_in(top);
  CHECK(found == std::vector<std::string>{top + "/card1", top + "/card2"});
  CHECK(os::use_of(found.at(0)) == AcceleratorUse{"card1", 87, 1073741824, 68719476736});
  CHECK(os::use_of(found.at(1)) == AcceleratorUse{"card2", 100, 0, 0});
  std::filesystem::remove_all(top);
  CHECK(os::accelerators_in(top).empty());
}
