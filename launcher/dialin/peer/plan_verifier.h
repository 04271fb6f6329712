// Checks that the coordinator sends to this host's agent only what this host has computed itself. So someone who has
// guessed or stolen the job key can start here only what this host was asked to start anyway. The command, the
// working directory and the names of log files are always this host's own, whatever the coordinator sends. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/core/error.h"
#include "common/wire/codec.h"
#include "common/wire/messages.h"
#include "launcher/dialin/messages.h"
#include "launcher/dialin/settings.h"

namespace sml::dialin {

// Placeholders that stand for any address in the computed plan, since a host cannot know the addresses of the others.
// The second has colons, so that presets put it in brackets like an IPv6 address.
inline constexpr std::array<std::string_view, 2> kAnyAddress{"\x01", "::"};

enum class Starts : std::uint8_t { No, Yes };  // whether workers are started; No: a --check, which only examines hosts

// This host's part of the plan, as a coordinator sends it that has made the same plan.
struct ExpectedPlan {
  std::string host;  // this host's name in the job
  wire::Prepare prepare;
  Starts starts = Starts::Yes;
  plan::TorchStore torch_store = plan::TorchStore::OfAgent;
  std::string health_check{};  // the only health-check command that may be requested; empty: none
  // For each of kAnyAddress: the variables of presets for each rank here. Unknown ports are as
  // plan::preset_environment() writes them.
  std::array<std::vector<wire::RankVariables>, kAnyAddress.size()> variables;
};

// Parameters of an attempt that only the coordinator knows; its messages to the agent contain them.
struct AttemptParameters {
  std::string job_id;
  std::uint32_t attempt = 1;    // counts from 1
  std::uint32_t restarts = 0;   // plan::JobIdentity::restarts
  std::vector<HostId> order{};  // of all hosts so far, lost ones included; empty: the initial order
  std::vector<HostId> idle{};   // the hosts without workers
};
// Computes this host's part of the plan for an attempt. Returns nullopt if it has none.
using ComputePlan = std::function<std::optional<ExpectedPlan>(const AttemptParameters& choice)>;

// The number of attempts that a coordinator may make; kAnyAttempt: no limit.
using AttemptLimit = std::uint32_t;
inline constexpr AttemptLimit kAnyAttempt = UINT32_MAX;

class PlanVerifier {
 public:
  // `attempts` is 1 for a job without restarts.
  PlanVerifier(ComputePlan compute_plan, AttemptLimit attempts)
      : compute_plan_(std::move(compute_plan)), attempts_(attempts) {}

  // Checks Welcome: the place must be this host's own or, with PlaceRule::ChosenByHead, any but the coordinator's; the
  // number of hosts must be one that the settings allow; a share for this host must be its own. Error (Auth).
  static Result<void> check_welcome(const Welcome& welcome, const Settings& own);
  // Takes the mark with which the agent's output is to begin, and by which the processes of the job are found. Error
  // (Auth): it is no plain name.
  Result<void> take_mark(std::string_view mark);
  // Takes the coordinator's bytes for the agent in pieces of any size, and returns the bytes that the caller may send
  // to the agent: whole, checked messages; empty: none yet. Error (Auth): the coordinator sends something that
  // this host has not computed; the text shows no value of a variable. The caller must send the agent no further bytes
  // after an error.
  Result<std::string> pass(std::span<const char> bytes);

 private:
  Result<void> check(wire::ToAgent& message);
  // PlanVerifier does not compile without one for each message with PeerCheck::Checked.
  Result<void> check_one(const wire::Hello& hello);
  Result<void> check_one(wire::Prepare& prepare);
  Result<void> check_one(const wire::Start& start);
  Result<void> check_one(const wire::StdinData& data) const { return check_input(data.rank); }
  Result<void> check_one(const wire::StdinEof& end) const { return check_input(end.rank); }
  Result<void> check_one(const wire::AskHealth& ask) const;
  Result<void> check_input(Rank rank) const;
  Result<void> begin_attempt(const wire::Prepare& prepare);
  Result<void> compute(const AttemptParameters& choice);

  // The message that is due next. Again: the Prepare of another attempt, once the agent has cleaned up this one.
  enum class Due : std::uint8_t { Hello, Prepare, Start, Again, Nothing };
  ComputePlan compute_plan_;
  AttemptLimit attempts_;
  std::uint32_t attempt_ = 0;  // the last prepared attempt
  std::string job_id_;
  Due due_ = Due::Hello;
  std::string mark_;
  std::optional<ExpectedPlan> own_;  // set once the coordinator has named the job
  wire::Decoder<wire::ToAgent> decoder_;
};

}  // namespace sml::dialin
