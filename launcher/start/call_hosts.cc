#include "launcher/start/call_hosts.h"

#include <string>
#include <utility>

#include "launcher/dialin/port.h"
#include "launcher/dialin/step_space.h"
#include "launcher/start/refusal.h"

namespace sml {

Result<dialin::AgreedSettings> be_head_or_call(dialin::Settings settings) {
  if (settings.port_taken == dialin::PortTaken::IsError)
    return dialin::AgreedSettings{std::move(settings), os::UniqueFd()};
  Result<std::optional<os::UniqueFd>> listener = dialin::listen_unless_taken(settings.port);
  if (!listener) return listener.error();
  if (*listener) return dialin::AgreedSettings{std::move(settings), std::move(**listener)};
  settings.own_index = 1;
  settings.place = dialin::PlaceRule::ChosenByHead;
  settings.part = "port " + std::to_string(settings.port) + " is taken on this host: the head is there, and is called";
  return dialin::AgreedSettings{std::move(settings), os::UniqueFd()};
}

Result<dialin::AgreedSettings> meet_others(dialin::Settings settings, const Options& options, const ThisHost& here) {
  const bool detailed = options.verbosity == Verbosity::Verbose || options.check == Preflight::Yes;
  if (detailed) print("the hosts know each other by " + settings.proof);
  if (!settings.space) return be_head_or_call(std::move(settings));
  const auto tell = [&options](const std::string& text) {
    if (options.verbosity != Verbosity::Quiet) print(text);
  };
  Result<dialin::AgreedSettings> met =
      dialin::meet_in_space(std::move(settings), here.names.own, {options.start_timeout, tell});
  return !met || met->listener ? std::move(met) : be_head_or_call(std::move(met->settings));
}

Result<void> open_port(std::optional<dialin::CoordinatorPlan>& head) {
  if (!head || head->opened || head->listener) return {};
  Result<os::UniqueFd> made = dialin::listen_on(head->settings.port);
  if (!made) return made.error();
  head->listener = std::move(*made);
  return {};
}

}  // namespace sml
