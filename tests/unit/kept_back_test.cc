#include "common/plan/environment/kept_back.h"

#include "tests/support/catch.h"

using namespace sml::plan;

TEST_CASE("what other hosts do not get, and programs may be configured by, is told once") {
  CHECK(warning_of_kept_back(Environment{"A=1", "TMPDIR=/scratch"}, Environment{}, "head").empty());
  // as in a job of Grid Engine
  CHECK(warning_of_kept_back(Environment{"TMP=/tmp/7.1.q", "TMPDIR=/tmp/7.1.q"}, Environment{}, "head").empty());
  // as csh sets HOST
  CHECK(warning_of_kept_back(Environment{"HOST=head", "TMP="}, Environment{}, "head.example").empty());
  CHECK(warning_of_kept_back(Environment{"HOST=db", "TMP=/fast", "A=1"}, Environment{}, "head") ==
        "HOST, TMP of this host: workers of other hosts have what their login sets, as such variables mostly belong to "
        "one host; -x HOST -x TMP passes it on");
  CHECK(warning_of_kept_back(Environment{"HOST=db"}, Environment{"HOST=db"}, "head").empty());
}

TEST_CASE("a function of bash is known by its name") {
  CHECK(names_bash_function("BASH_FUNC_module%%"));
  CHECK(names_bash_function("BASH_FUNC_module()"));
  for (const char* name : {"BASH_FUNC_module", "BASH_ENV", "module%%", ""}) CHECK_FALSE(names_bash_function(name));
}
