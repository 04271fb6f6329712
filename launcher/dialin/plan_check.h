// What a head may tell the agent of a host that called it: what that host has reckoned itself, and no more. A key can
// be guessed or stolen; whoever has it starts nothing here that this host was not asked to start anyway. What this host
// runs, and in which directory, it says itself, in the place of the head. Pure.
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

// Stand for any address in what a host reckons: it cannot know those of the others. In the first form in brackets where
// an IPv6 address would be.
inline constexpr std::array<std::string_view, 2> kAnyAddress{"\x01", "::"};

enum class Starts : std::uint8_t { No, Yes };  // No: the hosts are only looked at

// What this host would be told if it was the head that reckoned as it does.
struct OwnPart {
  std::string host;  // its name in the job
  wire::Prepare prepare;
  Starts starts = Starts::Yes;
  plan::TorchStore torch_store = plan::TorchStore::OfAgent;
  std::string health_check{};  // the only command that may be asked for beside the programs; empty: none
  // Of each rank, for each of kAnyAddress; ports as plan::preset_environment() writes those that are not known.
  std::array<std::vector<wire::RankVariables>, kAnyAddress.size()> variables;
};

// Of an attempt at a job, what only the head knows.
struct HeadsChoice {
  std::string job_id;
  std::uint32_t attempt = 1;    // counts from the first
  std::uint32_t restarts = 0;   // plan::JobIdentity::restarts
  std::vector<HostId> order{};  // of all hosts so far, those that have gone with them; empty: as it begins
  std::vector<HostId> idle{};   // those of them without workers
};
// The part of this host in it. Nothing: it has none.
using Reckon = std::function<std::optional<OwnPart>(const HeadsChoice& choice)>;

// How many attempts a head may make.
using AttemptLimit = std::uint32_t;
inline constexpr AttemptLimit kAnyAttempt = UINT32_MAX;

// What starts nothing on a host that calls, nor sends its bytes anywhere. Any other message has a check of its own, or
// does not compile.
template <class Message>
concept StartsNothing = (std::is_same_v<Message, wire::Probe> || std::is_same_v<Message, wire::Signal> ||
                         std::is_same_v<Message, wire::Stop> || std::is_same_v<Message, wire::Credit> ||
                         std::is_same_v<Message, wire::Ping> || std::is_same_v<Message, wire::Suspend> ||
                         std::is_same_v<Message, wire::Resume> || std::is_same_v<Message, wire::Leave> ||
                         std::is_same_v<Message, wire::AskJoined> || std::is_same_v<Message, wire::Inspect> ||
                         std::is_same_v<Message, wire::Vouch> || std::is_same_v<Message, wire::Ruled> ||
                         std::is_same_v<Message, wire::Fenced> || std::is_same_v<Message, wire::Relay> ||
                         std::is_same_v<Message, wire::AskTraces> || std::is_same_v<Message, wire::AskUse> ||
                         std::is_same_v<Message, wire::AskRecorded> || std::is_same_v<Message, wire::Received> ||
                         std::is_same_v<Message, wire::SpawnAnswer>);

class PlanCheck {
 public:
  // Without restarts `attempts` is 1.
  PlanCheck(Reckon reckon, AttemptLimit attempts) : reckon_(std::move(reckon)), attempts_(attempts) {}

  // The place that a head has given to this host: its own, or if the head chooses, any of the job but the head's; and
  // how many hosts the job has.
  static Result<void> check_welcome(const Welcome& welcome, const Settings& own);
  // By which an agent may be told to open, and the workers of the job are known.
  Result<void> take_mark(std::string_view mark);
  // Takes the head's bytes in whatever pieces, and answers those that the agent may have: whole messages. Error (Auth):
  // the head wants something else than this host has reckoned, in a clause that shows no value of a variable. Nothing
  // more may go to the agent then.
  Result<std::string> pass(std::span<const char> bytes);

 private:
  Result<void> check(wire::ToAgent& message);
  Result<void> check_one(const wire::Hello& hello);
  Result<void> check_one(wire::Prepare& prepare);
  Result<void> check_one(const wire::Start& start);
  Result<void> check_one(const wire::EndLeft& what) const;
  Result<void> check_one(const wire::AddWorkers& more) const;
  Result<void> check_one(const wire::StdinData& data) const { return check_input(data.rank); }
  Result<void> check_one(const wire::StdinEof& end) const { return check_input(end.rank); }
  Result<void> check_one(const wire::AskHealth& ask) const;
  Result<void> check_one(const wire::Return&) const;
  Result<void> check_one(const wire::StartAdded&) const;
  Result<void> check_one(const wire::HorovodRound&) const;
  Result<void> check_one(const wire::HorovodCall&) const;
  Result<void> check_one(const StartsNothing auto&) const { return {}; }
  Result<void> check_input(Rank rank) const;
  Result<void> begin_attempt(const wire::Prepare& prepare);
  Result<void> reckon(const HeadsChoice& choice);

  // Again: another attempt, once the agent has cleared this one away.
  enum class Due : std::uint8_t { Hello, Prepare, Start, Again, Nothing };
  Reckon reckon_;
  AttemptLimit attempts_;
  std::uint32_t attempt_ = 0;  // the last that was prepared
  std::string job_id_;
  Due due_ = Due::Hello;
  std::string mark_;
  std::optional<OwnPart> own_;  // once the head has named the job
  wire::Decoder<wire::ToAgent> decoder_;
};

}  // namespace sml::dialin
