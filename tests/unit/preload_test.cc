#include "common/plan/program/preload.h"

#include <string>
#include <vector>

#include "common/core/text.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

namespace {

using Words = std::vector<std::string>;

PythonLine line_of(const std::string& text) {
  const std::optional<PythonLine> line = python_line(*shell_words(text));
  REQUIRE(line);
  return *line;
}

}  // namespace

TEST_CASE("preload: names of modules") {
  CHECK(*parse_modules("torch") == Words{"torch"});
  CHECK(*parse_modules("torch,my_models.v2,torch,größe") == Words{"torch", "my_models.v2", "größe"});
  for (const char* text : {"", ",", "torch,", "a b", "torch.", ".torch", "2d", "a.2d", "a-b", "a;b", "a..b"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_modules(text).has_value());
  }
  CHECK(parse_modules("a-b").error().message() ==
        "a-b is not the name of a module: expected names with , between them, such as torch,transformers");
}

TEST_CASE("preload: what a command has Python run") {
  const PythonLine script = line_of("/opt/bin/python3.11 -uB -X dev -Wignore train.py -m x");
  CHECK(script.interpreter == Words{"/opt/bin/python3.11", "-uB", "-X", "dev", "-Wignore"});
  CHECK(script.runs == PythonRuns::Script);
  CHECK(script.words == Words{"train.py", "-m", "x"});

  const PythonLine module = line_of("python -u -m my.train --lr 1");
  CHECK(module.interpreter == Words{"python", "-u"});
  CHECK(module.runs == PythonRuns::Module);
  CHECK(module.words == Words{"my.train", "--lr", "1"});
  CHECK(line_of("python3 -mtrain -u").words == Words{"train", "-u"});
  CHECK(line_of("python3 -Bum train").interpreter == Words{"python3", "-Bu"});
  CHECK(line_of("python3 -Xdev -- train.py").interpreter == Words{"python3", "-Xdev"});
}

TEST_CASE("preload: what a fork cannot run") {
  for (const char* text :
       {"./train", "bash train.py", "pypy3 train.py", "python3", "python3 -c 'import x' y", "python3 -i train.py",
        "python3 -", "python3 - x", "python3 /dev/stdin", "python3 -m", "python3 -X", "python3 --version", "python3 -V",
        "python3 -x train.py", "python3 -Z train.py", "python3 --", "python3 ''", "ipython train.py"}) {
    CAPTURE(text);
    CHECK_FALSE(python_line(*shell_words(text)).has_value());
  }
  CHECK_FALSE(python_line(Words{}).has_value());
}

TEST_CASE("preload: what all ranks have alike, and what counts when Python starts") {
  const std::vector<Environment> all{{"A=1", "B=1", "C=1"}, {"A=1", "B=2"}, {"A=1", "C=1"}};
  CHECK(common_environment(all) == Environment{"A=1"});
  CHECK(common_environment({}).empty());
  CHECK(common_environment(std::vector<Environment>{{"A=1", "B=1"}}) == Environment{"A=1", "B=1"});

  const Environment before{"A=1", "OMP_NUM_THREADS=2", "PYTHONPATH=/x"};
  CHECK(differs_at_start(before, Environment{"A=2", "B=1", "OMP_NUM_THREADS=2", "PYTHONPATH=/x"}).empty());
  CHECK(differs_at_start(before, Environment{"A=1", "OMP_NUM_THREADS=2", "PYTHONPATH=/y"}) == "PYTHONPATH");
  CHECK(differs_at_start(before, Environment{"A=1", "PYTHONPATH=/x"}) == "OMP_NUM_THREADS");
  CHECK(differs_at_start({}, Environment{"LD_PRELOAD=/z.so"}) == "LD_PRELOAD");
}
