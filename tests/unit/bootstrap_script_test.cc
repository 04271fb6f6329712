#include "launcher/transport/bootstrap_script.h"

#include "tests/support/catch.h"

using namespace sml::transport;

TEST_CASE("the line for the login shell reads the same in any of them") {
  const AgentImage image = AgentImage::embedded();
  const std::string line = bootstrap_script(image, "sml0123456789abcdef");
  const std::string before = "exec /bin/sh -c '";
  REQUIRE(line.starts_with(before));
  REQUIRE(line.back() == '\'');
  const std::string script = line.substr(before.size(), line.size() - before.size() - 1);
  CHECK(script.find('\'') == std::string::npos);
  CHECK(script.find('\\') == std::string::npos);
  CHECK(script.find('\n') == std::string::npos);
  CHECK(script.find('!') == std::string::npos);
  for (const char c : script) CHECK((c >= ' ' && c < 127));
}

TEST_CASE("it is one argument of a size that any system takes") {
  CHECK(bootstrap_script(AgentImage::embedded(), "m").size() < 4096);
}

TEST_CASE("it names the agent's file and size, and marks every line that it prints") {
  const AgentImage image = AgentImage::embedded();
  const std::string mark = "sml0123456789abcdef";
  const std::string line = bootstrap_script(image, mark);
  CHECK(line.find(image.file_name()) != std::string::npos);
  CHECK(line.find("head -c " + std::to_string(image.bytes().size()) + " ") != std::string::npos);
  CHECK(line.find("= \"" + image.cksum() + "\"") != std::string::npos);
  CHECK(line.find("=700:*=700:" + std::to_string(image.bytes().size()) + ":946684800 ") != std::string::npos);
  CHECK(line.find("--mark " + mark) != std::string::npos);
  for (const char* place : {"@MARK@", "@NAME@", "@SIZE@", "@CKSUM@", "@START@", "@SILENCE@"})
    CHECK(line.find(place) == std::string::npos);
  std::size_t echoes = 0;
  for (std::size_t at = line.find("echo "); at != std::string::npos; at = line.find("echo ", at + 1), ++echoes) {
    CHECK(line.substr(at).starts_with("echo \"" + mark + " "));
  }
  CHECK(echoes == 2);
}

TEST_CASE("two marks give scripts that differ in nothing else") {
  const AgentImage image = AgentImage::embedded();
  std::string one = bootstrap_script(image, "markone");
  const std::string two = bootstrap_script(image, "marktwo");
  CHECK(one != two);
  for (std::size_t at = one.find("markone"); at != std::string::npos; at = one.find("markone"))
    one.replace(at, 7, "marktwo");
  CHECK(one == two);
}

TEST_CASE("the script is taken out of what is said of it") {
  const std::string script = bootstrap_script(AgentImage::embedded(), "sml0123456789abcdef");
  const std::string instead = "(the script that starts the agent)";
  CHECK(without_bootstrap_script("my-ssh: bad words: h " + script + "\nbye") ==
        "my-ssh: bad words: h " + instead + "\nbye");
  CHECK(without_bootstrap_script(script + ": " + script) == instead + ": " + instead);
  std::string quoted;  // as Python shows it
  for (const char c : script) quoted += c == '\'' ? std::string("\\'") : std::string(1, c);
  CHECK(without_bootstrap_script("['h', '" + quoted + "', 7]") == "['h', '" + instead + ", 7]");
  CHECK(without_bootstrap_script("exec /bin/sh -c x").starts_with("exec /bin/sh"));
  CHECK(without_bootstrap_script("").empty());
}
