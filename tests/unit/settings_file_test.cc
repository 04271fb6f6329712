#include "launcher/options/settings_file.h"

#include "tests/support/catch.h"

using namespace sml;

namespace {
using Words = std::vector<std::string>;

std::vector<plan::Setting> read(std::string_view text) {
  auto settings = plan::parse_settings_file(text, "f");
  if (settings.has_error()) FAIL(settings.error().message());
  return std::move(*settings);
}

Words values_of(const std::string& value) { return read("key = " + value).front().values; }

std::string error_of(std::string_view text) {
  const auto settings = plan::parse_settings_file(text, "f");
  if (settings.has_value()) return "(accepted)";
  CHECK(settings.error().kind() == ErrorKind::Config);
  return settings.error().message();
}
}  // namespace

TEST_CASE("a settings file holds keys, values and sections, with their lines") {
  const auto settings = read(
      "\xEF\xBB\xBF# of the site\r\n; old style\n\nnp = 4\r\n  start_timeout=2m # minutes\n"
      "\"grace\" = 5s\n\n[x]\nNCCL_DEBUG = INFO\n");
  REQUIRE(settings.size() == 4);
  CHECK(settings[0].key == "np");
  CHECK(settings[0].values == Words{"4"});
  CHECK(settings[0].line == 4);
  CHECK(settings[1].key == "start_timeout");
  CHECK(settings[1].values == Words{"2m"});
  CHECK(settings[2].key == "grace");
  CHECK(settings[2].section.empty());
  CHECK(settings[3].section == "x");
  CHECK(settings[3].key == "NCCL_DEBUG");
  CHECK(settings[3].line == 9);
  CHECK(read("").empty());
  CHECK(read("np=2").front().values == Words{"2"});
}

TEST_CASE("values of a settings file are bare, quoted or lists") {
  CHECK(values_of("ssh -F 'a b' -p 22") == Words{"ssh -F 'a b' -p 22"});
  CHECK(values_of("a#b;c # comment") == Words{"a#b;c"});
  CHECK(values_of("'it is # all \\n literal' # comment") == Words{"it is # all \\n literal"});
  CHECK(values_of(R"("tab\t \"quoted\" \\ \n")") == Words{"tab\t \"quoted\" \\ \n"});
  CHECK(values_of("a = b") == Words{"a = b"});
  CHECK(values_of("[1, 'two', \"three\"]") == Words{"1", "two", "three"});
  CHECK(values_of("[ # hosts\n  a:8,  # the first\n\n  'b:8',\n] # end") == Words{"a:8", "b:8"});
  CHECK(read("a = [\n1,\n2]\nb = 3")[1].line == 4);
}

TEST_CASE("what is wrong in a settings file is said with its line, and values are not shown") {
  struct Row {
    std::string_view text;
    const char* message;
  };
  using namespace std::string_view_literals;
  const Row rows[] = {
      {"np = 4\nnp 4", "f:2: no \"=\" in the line; expected KEY = VALUE"},
      {"= 4", "f:1: no key before \"=\"; expected letters, digits, \"-\", \"_\" and \".\""},
      {"a b = 4", "f:1: no key before \"=\"; expected letters, digits, \"-\", \"_\" and \".\""},
      {"np =", "f:1: no value after \"=\""},
      {"np = # none", "f:1: no value after \"=\""},
      {"np = ''", "f:1: no value after \"=\""},
      {"a = 'secret\nb = 1", "f:1: closing ' is missing"},
      {"a = \"secret", "f:1: closing \" is missing"},
      {"a = \"\\u0041\"", "f:1: unknown escape; expected \\n, \\t, \\r, \\\" or \\\\, or '...', where none is needed"},
      {"a = \"\\", "f:1: unknown escape; expected \\n, \\t, \\r, \\\" or \\\\, or '...', where none is needed"},
      {"a = 'b' c", "f:1: text follows the end of the value"},
      {"\na = [1, 2\n", "f:2: the list's \"]\" is missing"},
      {"a = ['x' 1]", "f:1: expected \",\" or \"]\" after a value of the list"},
      {"a = [1,,2]", "f:1: an empty value in the list"},
      {"a = []", "f:1: the list is empty"},
      {"a = [1] 2", "f:1: text follows the end of the value"},
      {"[x", "f:1: no section; expected [NAME]"},
      {"[]", "f:1: no section; expected [NAME]"},
      {"[[x]]", "f:1: no section; expected [NAME]"},
      {"[x] y", "f:1: text follows the section's \"]\""},
      {"a = b\0c"sv, "f:1: a value cannot hold a NUL byte"},
      {"a = 'b\0c'"sv, "f:1: a value cannot hold a NUL byte"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(error_of(row.text) == row.message);
  }
  CHECK(error_of(std::string(plan::kMaxSettingsBytes + 1, '\n')) == "f: is larger than 1 MiB");
}
