#include "common/plan/program/script.h"

#include <vector>

#include "common/core/text.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {
std::string path_of(const std::string& line) { return script_of(*shell_words(line)).path; }
}  // namespace

TEST_CASE("script: the first word of an interpreter that is no option") {
  for (const char* line :
       {"python3 train.py", "/usr/bin/python3.11 -u train.py --lr 1", "python -W ignore -Wd train.py x",
        "pypy3 -X dev -- train.py", "python -uB train.py -c", "bash -ex train.py", "sh train.py",
        "dash -o pipefail train.py", "bash +x train.py", "zsh -- train.py", "perl -w train.py"}) {
    CAPTURE(line);
    CHECK(path_of(line) == "train.py");
  }
  CHECK(script_of(std::vector<std::string>{"bash", "x"}).place == ScriptPlace::FolderOrPath);
  CHECK(script_of(std::vector<std::string>{"python3", "x"}).place == ScriptPlace::Folder);
}

TEST_CASE("script: none, or none that can be told") {
  for (const char* line : {"python3",
                           "python3 -m torch.distributed.run x.py",
                           "python3 -c 'import x' x.py",
                           "python3 -uc x y",
                           "python3 -",
                           "python3 -V",
                           "python3 --check-hash-based-pycs always x.py",
                           "python3 -W",
                           "bash -c 'x' y",
                           "bash -lc x",
                           "sh -s x",
                           "bash --rcfile a b",
                           "perl -e 1 x",
                           "perl -I a b",
                           "python3 /dev/stdin",
                           "sh /proc/self/fd/0",
                           "node x.js",
                           "./python_like x.py",
                           "true x.py",
                           "sh ''"}) {
    CAPTURE(line);
    CHECK(path_of(line).empty());
  }
  CHECK(script_of({}).path.empty());
}
