#include "launcher/transport/command_words.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::transport;

namespace {

using Words = std::vector<std::string>;

Words words_for(Words command, const std::string& user = "") {
  return command_words({.command = std::move(command), .host = "pod-0", .user = user, .remote_command = "exec it"});
}

std::string refusal(const Words& command) {
  const Result<void> checked = check_places(command);
  return checked ? "" : checked.error().message();
}

}  // namespace

TEST_CASE("a command without places is called as ssh is") {
  CHECK(words_for({"ssh", "-F", "x"}) == Words{"ssh", "-F", "x", "pod-0", "exec it"});
  CHECK(words_for({"ssh"}, "me") == Words{"ssh", "me@pod-0", "exec it"});
  const CommandTarget target{.command = {"ssh"}, .host = "pod-0", .user = "", .remote_command = "exec it", .port = 22};
  CHECK(command_words(target) == Words{"ssh", "-p", "22", "pod-0", "exec it"});
  CHECK_FALSE(has_places(Words{"ssh", "-o", "ProxyCommand=nc %h {port}"}));
}

TEST_CASE("a command with places gets the host and the program there") {
  CHECK(words_for({"kubectl", "exec", "-i", "{host}", "--", "{command}"}) ==
        Words{"kubectl", "exec", "-i", "pod-0", "--", "/bin/sh", "-c", "exec it"});
  CHECK(words_for({"docker", "-H=tcp://{host}", "exec", "x-{host}", "{command}", "end"}) ==
        Words{"docker", "-H=tcp://pod-0", "exec", "x-pod-0", "/bin/sh", "-c", "exec it", "end"});
  CHECK(words_for({"rsh", "{host}", "-n"}, "me") == Words{"rsh", "me@pod-0", "-n", "exec it"});
}

TEST_CASE("a host's name that looks like a place is a name") {
  const CommandTarget target{.command = {"x", "{host}{host}", "{command}"},
                             .host = "{host}",
                             .user = "",
                             .remote_command = "{host} {command}"};
  CHECK(command_words(target) == Words{"x", "{host}{host}", "/bin/sh", "-c", "{host} {command}"});
}

TEST_CASE("a command whose places make no sense is refused") {
  CHECK(refusal({"ssh"}).empty());
  CHECK(refusal({"kubectl", "exec", "{host}", "{command}"}).empty());
  CHECK(refusal({"docker", "exec", "box", "{command}"}) ==
        "there is {command} but no {host}, so that all hosts would be one");
  CHECK(refusal({"x", "{host}", "sh -c {command}"}) ==
        "{command} stands for several words, so it must be a word of its own");
  CHECK(refusal({"x", "{host}", "{command}", "{command}"}) == "{command} is there more than once");
}
