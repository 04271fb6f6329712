#include "launcher/report/outcome/error_file.h"

#include <csignal>

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using nlohmann::json;

namespace {

json for_parent(const std::string& text, const ExitStatus& status) {
  const std::string out = error_file_for_parent(parse_error_file(text), status);
  return out.empty() ? json() : json::parse(out);
}

}  // namespace

TEST_CASE("torchrun's parent gets the error file of the root cause with its exit code") {
  const json written = {{"message", {{"message", "ValueError: no"}, {"extraInfo", {{"timestamp", "17"}}}}}, {"own", 1}};
  json expected = written;
  expected["message"]["errorCode"] = 3;
  CHECK(for_parent(written.dump(), Exited{3}) == expected);
  expected["message"]["errorCode"] = -SIGSEGV;
  CHECK(for_parent(written.dump(), Signaled{SIGSEGV, false}) == expected);
}

TEST_CASE("an error file of the old form is left as it is, and text of another form makes none") {
  const json old = {{"message", "ValueError: no"}, {"timestamp", 17}};
  CHECK(for_parent(old.dump(), Exited{3}) == old);
  CHECK(for_parent("ValueError: no", Exited{3}).is_null());
  CHECK(for_parent("{}", Exited{3}).is_null());
  CHECK(for_parent("", Exited{3}).is_null());
}
