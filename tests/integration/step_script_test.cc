#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/text.h"
#include "launcher/dialin/step/step_call.h"
#include "tests/support/catch.h"

using namespace sml;
namespace fs = std::filesystem;

namespace {

constexpr gid_t kOther = 4242;

// A folder of root's with a program, which a host runs as its part of a step.
struct Folder {
  Folder() {
    std::string name = "/root/sml-step-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
    std::ofstream(program()) << "#!/bin/sh\n[ \"$1\" = --answer-step ]\n";
    set(program(), 0755);
  }
  ~Folder() { fs::remove_all(path); }
  std::string program() const { return path + "/program"; }
  static void set(const std::string& file, mode_t mode, uid_t owner = 0, gid_t group = 0) {
    REQUIRE(::chown(file.c_str(), owner, group) == 0);
    REQUIRE(::chmod(file.c_str(), mode) == 0);
  }
  std::string path;
};

int status_of_step(const std::string& file) {
  std::string line;
  for (const std::string& word :
       dialin::words_of_step(file, {.addresses = {"10.0.0.1"}, .port = 1, .host = "n2", .mark = "smlab"})) {
    line += shell_quote(word) + " ";
  }
  const int raw = std::system((line + "> /dev/null").c_str());
  return WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
}

}  // namespace

TEST_CASE("step script: the program runs only where it and its folders are closed to others", "[step]") {
  const Folder folder;
  CHECK(status_of_step(folder.program()) == 0);
  CHECK(status_of_step(folder.path + "/none") == dialin::kNoProgram);
  struct Row {
    mode_t mode;
    uid_t owner;
    gid_t group;
    int status;
  };
  const Row rows[] = {{0755, 0, kOther, 0},
                      {0775, 0, 0, 0},
                      {02775, 0, kOther, dialin::kNoProgram},
                      {0775, 0, kOther, dialin::kNoProgram},
                      {0757, 0, 0, dialin::kNoProgram},
                      {0755, kOther, 0, dialin::kNoProgram}};
  for (const Row& row : rows) {
    CAPTURE(row.mode, row.owner, row.group);
    Folder::set(folder.path, row.mode, row.owner, row.group);
    CHECK(status_of_step(folder.program()) == row.status);
    Folder::set(folder.path, 0755);
    Folder::set(folder.program(), row.mode, row.owner, row.group);
    CHECK(status_of_step(folder.program()) == row.status);
    Folder::set(folder.program(), 0755);
  }
  Folder::set(folder.path, 01777);  // the program in it is root's all the same
  CHECK(status_of_step(folder.program()) == 0);
  const std::string second = folder.path + "/below/program";  // as another user may have made it
  fs::create_directory(folder.path + "/below");
  fs::create_hard_link(folder.program(), second);
  CHECK(status_of_step(folder.program()) == dialin::kNoProgram);
  CHECK(status_of_step(second) == 0);
  Folder::set(folder.path, 0755);
  CHECK(status_of_step(folder.program()) == 0);
}
