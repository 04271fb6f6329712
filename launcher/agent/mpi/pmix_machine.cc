#include "launcher/agent/mpi/pmix_machine.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "common/plan/environment/kept_back.h"
#include "common/plan/environment/worker_env.h"
#include "common/plan/ranks/rank_layout.h"
#include "common/wire/bytes.h"
#include "common/wire/limits.h"
#include "launcher/agent/mpi/spawn_infos.h"

namespace sml::agent::pmix {

namespace {

constexpr std::size_t kMaxFence = wire::kMaxFenceOfHost / 2;  // bytes; two may wait at a time
// Bytes of one answer, whose head is shorter than 64 bytes.
constexpr std::size_t kMaxModex = wire::kMaxPiece - 64;
constexpr std::size_t kMostAsked = 65536;                       // answers that other hosts wait for
constexpr std::size_t kNameOfRanks = wire::kMaxFenceName - 32;  // bytes; beyond, ranks are named by a number

// A message between two hosts.
enum class Word : std::uint8_t { Ask, Data, Name };
struct HostWord {
  Word word = Word::Ask;
  std::uint32_t id = 0;
  std::int32_t status = kSuccess;
  std::string bytes{};
  void fields(auto& a) { a(word, id, status, bytes); }
};

std::string encode(const HostWord& word) {
  std::string out;
  wire::Writer writer(out);
  writer(word);
  return out;
}

std::string encode(const NameRequest& request) {
  std::string out;
  wire::Writer writer(out);
  writer(request);
  return out;
}

std::optional<NameRequest> decode_name(std::string_view bytes) {
  NameRequest out;
  wire::Reader reader(bytes);
  reader(out);
  if (!reader.ok() || !reader.at_end() || out.verb > NameRequest::Verb::Unpublish) return std::nullopt;
  return out;
}

constexpr std::size_t kMaxSpawn = std::size_t{256} << 10;  // bytes of a spawn request
const Rank kKeeper(0);                                     // its host keeps the names

std::optional<HostWord> decode(std::string_view bytes) {
  HostWord out;
  wire::Reader reader(bytes);
  reader(out);
  if (!reader.ok() || !reader.at_end() || out.word > Word::Name) return std::nullopt;
  return out;
}

class Hash {  // FNV-1a
 public:
  void add(std::uint64_t what) { hash_ = (hash_ ^ what) * 0x100000001b3; }
  std::string text() const { return std::to_string(hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

// The fence's name, which is the same on all hosts.
std::string name_of(const std::vector<Rank>& ranks) {
  if (ranks.empty()) return "all";
  std::string out;
  Hash hash;
  for (const Rank rank : ranks) {
    hash.add(rank.value());
    if (out.size() < kNameOfRanks) out += std::to_string(rank.value()) + ",";
  }
  if (out.size() >= kNameOfRanks) out += "... " + hash.text();
  return out;
}

std::string name_of(const Group& group, const std::vector<Rank>& ranks) {
  constexpr std::size_t kLongest = 64;  // bytes, for people
  Hash hash;
  hash.add(group.step);
  for (const char byte : group.name) hash.add(static_cast<unsigned char>(byte));
  for (const Rank rank : ranks) hash.add(rank.value());
  return "group " + group.name.substr(0, kLongest) + " " + hash.text();
}

// The data of one host for a group.
struct GroupPart {
  std::uint64_t context = 0;  // 0: another host chooses it
  std::string bytes{};
  void fields(auto& a) { a(context, bytes); }
};

std::string encode(const GroupPart& part) {
  std::string out;
  wire::Writer writer(out);
  writer(part);
  return out;
}

// Joins the parts of all hosts, which follow one another. Returns nullopt if they are invalid.
std::optional<std::string> join_group(std::string_view parts) {
  GroupPart whole;
  wire::Reader reader(parts);
  while (!reader.at_end()) {
    GroupPart part;
    reader(part);
    if (!reader.ok()) return std::nullopt;
    whole.context = std::max(whole.context, part.context);
    whole.bytes += part.bytes;
  }
  std::string out;
  wire::Writer writer(out);
  writer(whole.context);
  return out + whole.bytes;
}

int code_of(std::int32_t status) {
  const int code = status & 0xff;  // as exit() would
  return code == 0 ? 1 : code;
}

}  // namespace

Machine::Machine(const std::vector<Rank>& ranks, std::uint32_t world_size, std::uint32_t attempt)
    : world_size_(world_size), attempt_(attempt) {
  for (const Rank rank : ranks) ranks_.push_back({rank});
}

Machine::Place* Machine::place_of(Rank rank) {
  for (Place& place : ranks_) {
    if (place.rank == rank) return &place;
  }
  return nullptr;
}

Machine::Stage* Machine::stage_of(Rank rank) {
  Place* place = place_of(rank);
  return place == nullptr ? nullptr : &place->stage;
}

bool Machine::has_ever_joined(Rank rank) const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [rank](const Place& place) { return place.rank == rank && place.came; });
}

// MPI_Init waits for all ranks of its world: for ever, if one of them has ended without joining. Reports the waiting
// ranks as failed.
void Machine::look_for_missed() {
  for (const Place& waiting : ranks_) {
    const auto missed = std::find_if(ranks_.begin(), ranks_.end(), [&waiting](const Place& place) {
      return place.missed && place.world == waiting.world;
    });
    if (missed == ranks_.end() || waiting.stage != Stage::Joined) continue;
    deeds_.failures.push_back(
        {waiting.rank, wire::FaultKind::Broken, 1,
         "waits in MPI_Init for rank " + std::to_string(missed->rank.value()) + ", which has ended without it"});
  }
}

bool Machine::has_joined(Rank rank) const {
  return std::any_of(ranks_.begin(), ranks_.end(), [rank](const Place& place) {
    return place.rank == rank && place.stage != Stage::Alone && place.stage != Stage::Ended;
  });
}

std::optional<Rank> Machine::first_served() const {
  for (const Place& place : ranks_) {
    if (place.stage == Stage::Alone || place.stage == Stage::Joined) return place.rank;
  }
  return std::nullopt;
}

bool Machine::ended(Rank rank) {
  Stage* stage = stage_of(rank);
  return stage != nullptr && std::exchange(*stage, Stage::Ended) == Stage::Joined;
}

void Machine::ended_well(Rank rank) {
  Place* place = place_of(rank);
  if (place == nullptr || place->came) return;
  place->missed = true;
  look_for_missed();
}

void Machine::answer(std::uint32_t id, std::int32_t status, std::string bytes) {
  deeds_.helper.emplace_back(Answer{id, status, std::move(bytes)});
}

void Machine::relay(Rank to, std::string bytes) {
  if (ranks_.empty()) return;
  deeds_.launcher.emplace_back(wire::Relay{attempt_, wire::WireUp::Pmix, ranks_.front().rank, to, std::move(bytes)});
}

// ---- the helper

Result<void> Machine::take(const FromHelper& message) {
  return std::visit([this](const auto& m) { return on(m); }, message);
}

template <class Other>
Result<void> Machine::on(const Other&) {
  return Error(ErrorKind::Protocol, "sent again what it had sent");
}

// Another process of a rank may connect after one of them has left; a rank that has ended stays so.
Result<void> Machine::on(const Connected& m) {
  Place* place = place_of(m.rank);
  if (place == nullptr || place->stage == Stage::Ended) return {};
  if (!std::exchange(place->came, true)) ++joined_;
  place->stage = Stage::Joined;
  look_for_missed();
  return {};
}

Result<void> Machine::on(const Finalized& m) {
  Stage* stage = stage_of(m.rank);
  if (stage != nullptr && *stage == Stage::Joined) *stage = Stage::Left;
  answer(m.id, kSuccess);
  return {};
}

Result<void> Machine::on(const Abort& m) {
  answer(m.id, kSuccess);
  if (stage_of(m.rank) == nullptr) return {};
  deeds_.failures.push_back({m.rank, wire::FaultKind::Aborted, code_of(m.status),
                             "aborted the job (MPI_Abort or an error in MPI, code " + std::to_string(m.status) + ")"});
  return {};
}

Result<void> Machine::on(const Log& m) {
  answer(m.id, m.to_stdout.empty() && m.to_stderr.empty() ? kNotSupported : kSuccess);
  if (stage_of(m.rank) == nullptr) return {};
  if (!m.to_stdout.empty()) deeds_.words.push_back({m.rank, Stream::Stdout, m.to_stdout});
  if (!m.to_stderr.empty()) deeds_.words.push_back({m.rank, Stream::Stderr, m.to_stderr});
  return {};
}

// Ascending, none for all. nullopt: the upcall has been answered.
std::optional<std::vector<Rank>> Machine::known(std::uint32_t id, const std::vector<std::uint32_t>& ranks) {
  std::vector<Rank> out;
  if (std::find(ranks.begin(), ranks.end(), kEveryRank) != ranks.end()) return out;
  for (const std::uint32_t rank : ranks) {
    if (rank >= world_size_) {  // some other kind of group
      answer(id, kBadParameter);
      return std::nullopt;
    }
    out.emplace_back(rank);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void Machine::begin(OpenFence fence) {
  if (fence.bytes.size() > kMaxFence) return answer(fence.id, kOutOfResource);
  const bool is_first = open_fence(fence.name) == fences_.end();
  fences_.push_back(std::move(fence));
  if (is_first) send_fence(fences_.back());
}

Result<void> Machine::on(const Fence& m) {
  const std::optional<std::vector<Rank>> ranks = known(m.id, m.ranks);
  if (ranks) begin({name_of(*ranks), m.id, *ranks, m.bytes});
  return {};
}

Result<void> Machine::on(const Group& m) {
  const std::optional<std::vector<Rank>> ranks = known(m.id, m.ranks);
  if (!ranks) return {};
  const std::uint64_t context = m.wants_context == 0 ? 0 : context_of_group(*ranks);
  begin({name_of(m, *ranks), m.id, *ranks, encode(GroupPart{context, m.bytes}), Gathering::Group});
  return {};
}

// The number of the host's first rank makes the context unique among hosts; MPI uses small numbers itself.
std::uint64_t Machine::context_of_group(const std::vector<Rank>& ranks) {
  const Rank first = ranks.empty() ? Rank(0) : ranks.front();
  if (stage_of(first) == nullptr) return 0;
  return ++contexts_ << 32 | ranks_.front().rank.value();
}

std::vector<Machine::OpenFence>::iterator Machine::open_fence(const std::string& name) {
  return std::find_if(fences_.begin(), fences_.end(), [&](const OpenFence& fence) { return fence.name == name; });
}

void Machine::send_fence(OpenFence& fence) {
  wire::FenceData out{};
  out.attempt = attempt_;
  out.service = wire::WireUp::Pmix;
  out.fence = fence.name;
  out.ranks = fence.ranks;
  std::string_view left = fence.bytes;
  do {
    out.bytes = left.substr(0, wire::kMaxPiece);
    left.remove_prefix(out.bytes.size());
    out.piece = left.empty() ? wire::Piece::Last : wire::Piece::More;
    deeds_.launcher.emplace_back(out);
  } while (!left.empty());
  fence.bytes.clear();
}

Result<void> Machine::on(const AskModex& m) {
  if (m.rank.value() >= world_size_ || stage_of(m.rank) != nullptr) {
    answer(m.id, kNotFound);
    return {};
  }
  asking_.push_back(m.id);
  relay(m.rank, encode(HostWord{Word::Ask, m.id}));
  return {};
}

Result<void> Machine::on(const ModexData& m) {
  const auto asked = std::find_if(asked_.begin(), asked_.end(), [&m](const Asked& one) { return one.id == m.id; });
  if (asked == asked_.end()) return Error(ErrorKind::Protocol, "gave data for which nobody had asked");
  const bool fits = m.bytes.size() <= kMaxModex;
  relay(asked->from, encode(HostWord{Word::Data, asked->their_id, fits ? m.status : kOutOfResource,
                                     fits ? m.bytes : std::string()}));
  asked_.erase(asked);
  return {};
}

// ---- names

Result<void> Machine::on(const Publish& m) {
  ask_names(m.id, {NameRequest::Verb::Publish, m.rank, m.key, m.value, m.once});
  return {};
}

Result<void> Machine::on(const LookUp& m) {
  ask_names(m.id, {NameRequest::Verb::LookUp, {}, m.key, {}, m.waits});
  return {};
}

Result<void> Machine::on(const Unpublish& m) {
  ask_names(m.id, {NameRequest::Verb::Unpublish, {}, m.key});
  return {};
}

void Machine::ask_names(std::uint32_t id, const NameRequest& request) {
  if (request.key.size() > Names::kLongest || request.value.size() > Names::kLongest) return answer(id, kOutOfResource);
  asking_.push_back(id);
  if (stage_of(kKeeper) != nullptr) return keep_names({ranks_.front().rank, id}, request);
  relay(kKeeper, encode(HostWord{Word::Name, id, kSuccess, encode(request)}));
}

void Machine::keep_names(const Names::Asker& asker, const NameRequest& request) {
  for (Names::Reply& reply : names_.ask(asker, request)) {
    if (stage_of(reply.to.rank) != nullptr) {
      answered(reply.to.id, reply.status, std::move(reply.bytes));
    } else {
      relay(reply.to.rank, encode(HostWord{Word::Data, reply.to.id, reply.status, std::move(reply.bytes)}));
    }
  }
}

void Machine::answered(std::uint32_t id, std::int32_t status, std::string bytes) {
  const auto asking = std::find(asking_.begin(), asking_.end(), id);
  if (asking == asking_.end()) return;
  asking_.erase(asking);
  answer(id, status, std::move(bytes));
}

// ---- spawning

// Warns once for each key that it has no effect.
std::string Machine::heed_infos(Rank rank, const std::vector<SpawnInfo>& infos, plan::SpawnProgram& program) {
  HeededInfos heeded = heed(program, infos);
  for (const std::string& key : heeded.unheeded) {
    if (!unheeded_.insert(key).second) continue;
    deeds_.warnings.push_back("rank " + std::to_string(rank.value()) + ": MPI_Comm_spawn: the info key " + key +
                              " has no effect: new ranks go where slots are free, host by host");
  }
  return heeded.refusal;
}

// Does not pass on variables of the requesting rank that describe its own place: they do not fit the new ranks.
Result<void> Machine::on(const AskSpawn& m) {
  wire::SpawnRequest request{.attempt = attempt_,
                             .service = wire::WireUp::Pmix,
                             .from = m.rank,
                             .call = std::to_string(m.id),
                             .programs = {},
                             .keys = {{std::string(kParent), std::to_string(m.rank.value())}}};
  std::size_t size = 0;
  std::string refusal;
  const Stage* stage = stage_of(m.rank);
  bool good = stage != nullptr && *stage == Stage::Joined && !m.apps.empty();
  for (const SpawnedApp& app : m.apps) {
    plan::SpawnProgram program{.command = app.command, .count = app.count, .working_directory = app.working_directory};
    for (const std::string_view name : split(app.hosts, ',')) {
      if (!name.empty()) program.hosts.emplace_back(name);
    }
    for (const std::string& word : app.command) size += word.size() + 1;
    good = good && !app.command.empty() && app.count > 0 && app.count <= plan::kMaxWorldSize;
    for (const std::string& entry : app.environment) {
      if (plan::set_by_a_launcher(plan::name_of(entry))) continue;
      size += entry.size();
      request.keys.push_back({std::to_string(request.programs.size()), entry});
    }
    size += app.hosts.size() + app.working_directory.size();
    for (const SpawnInfo& info : app.infos) size += info.key.size() + info.value.size();
    if (good && refusal.empty()) refusal = heed_infos(m.rank, app.infos, program);
    request.programs.push_back(std::move(program));
  }
  if (!refusal.empty()) {
    deeds_.warnings.push_back("rank " + std::to_string(m.rank.value()) + ": MPI_Comm_spawn starts nothing: it " +
                              refusal);
  }
  if (!good || size > kMaxSpawn || !refusal.empty()) {
    answer(m.id, good ? kOutOfResource : kBadParameter);
    return {};
  }
  spawning_.push_back(m.id);
  deeds_.launcher.emplace_back(std::move(request));
  return {};
}

void Machine::add_world(const std::vector<Rank>& here, std::uint32_t ranks, std::string name_space) {
  ++worlds_;
  for (const Rank rank : here) ranks_.push_back({rank, worlds_});
  world_size_ = std::max(world_size_, ranks);
  last_world_ = std::move(name_space);
}

// add_world() was called just before, so last_world_ is the namespace of the new ranks.
void Machine::take(const wire::SpawnAnswer& m) {
  if (m.service != wire::WireUp::Pmix || m.attempt != attempt_) return;
  const auto call =
      std::find_if(spawning_.begin(), spawning_.end(), [&m](std::uint32_t id) { return std::to_string(id) == m.call; });
  if (call == spawning_.end()) return;
  const std::uint32_t id = *call;
  spawning_.erase(call);
  if (m.why.empty()) return answer(id, kSuccess, last_world_);
  answer(id, kOutOfResource);
}

// ---- other hosts

void Machine::take(const wire::Fenced& m) {
  const auto over = open_fence(m.fence);
  if (m.service != wire::WireUp::Pmix || m.attempt != attempt_ || over == fences_.end()) return;
  std::string bytes;
  for (const std::string& part : m.parts) bytes += part;
  if (over->kind == Gathering::Fence) {
    answer(over->id, kSuccess, std::move(bytes));
  } else {
    std::optional<std::string> group = join_group(bytes);
    answer(over->id, group ? kSuccess : kError, std::move(group).value_or(""));
  }
  fences_.erase(over);
  if (const auto next = open_fence(m.fence); next != fences_.end()) send_fence(*next);
}

void Machine::take(const wire::Relay& m) {
  if (m.service != wire::WireUp::Pmix || m.attempt != attempt_) return;
  std::optional<HostWord> word = decode(m.bytes);
  if (!word) return;
  if (word->word == Word::Data) return answered(word->id, word->status, std::move(word->bytes));
  if (word->word == Word::Name) {
    const std::optional<NameRequest> request = decode_name(word->bytes);
    if (request && stage_of(kKeeper) != nullptr) keep_names({m.from, word->id}, *request);
    return;
  }
  const Stage* stage = stage_of(m.to);
  if (stage == nullptr || *stage == Stage::Ended || asked_.size() >= kMostAsked) {
    return relay(m.from, encode(HostWord{Word::Data, word->id, kNotFound}));
  }
  asked_.push_back({next_asked_, m.from, word->id});
  deeds_.helper.emplace_back(GiveModex{next_asked_++, m.to});
}

}  // namespace sml::agent::pmix
