#include "launcher/transport/command_words.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sml::transport {

namespace {

constexpr std::string_view kHost = "{host}";
constexpr std::string_view kCommand = "{command}";

bool any_holds(std::span<const std::string> words, std::string_view place) {
  return std::any_of(words.begin(), words.end(),
                     [place](const std::string& word) { return word.find(place) != std::string::npos; });
}

std::string with_host(std::string word, const std::string& host) {
  for (std::size_t at = word.find(kHost); at != std::string::npos; at = word.find(kHost, at + host.size())) {
    word.replace(at, kHost.size(), host);
  }
  return word;
}

}  // namespace

bool has_places(std::span<const std::string> command) {
  return any_holds(command, kHost) || any_holds(command, kCommand);
}

Result<void> check_places(std::span<const std::string> command) {
  if (!has_places(command)) return {};
  if (!any_holds(command, kHost)) {
    return Error(ErrorKind::Usage, "there is {command} but no {host}, so that all hosts would be one");
  }
  const auto hides_it = [](const std::string& word) {
    return word != kCommand && word.find(kCommand) != std::string::npos;
  };
  if (std::any_of(command.begin(), command.end(), hides_it)) {
    return Error(ErrorKind::Usage, "{command} stands for several words, so it must be a word of its own");
  }
  if (std::count(command.begin(), command.end(), kCommand) > 1) {
    return Error(ErrorKind::Usage, "{command} is there more than once");
  }
  return {};
}

std::vector<std::string> command_words(CommandTarget target) {
  const std::string host = target.user.empty() ? target.host : target.user + "@" + target.host;
  if (!has_places(target.command)) {
    std::vector<std::string> words = std::move(target.command);
    if (target.port) words.insert(words.end(), {"-p", std::to_string(*target.port)});
    words.insert(words.end(), {host, std::move(target.remote_command)});
    return words;
  }
  std::vector<std::string> words;
  for (const std::string& word : target.command) {
    if (word == kCommand) {
      words.insert(words.end(), {"/bin/sh", "-c", target.remote_command});
    } else {
      words.push_back(with_host(word, host));
    }
  }
  if (!any_holds(target.command, kCommand)) words.push_back(std::move(target.remote_command));
  return words;
}

}  // namespace sml::transport
