#include "launcher/agent/mpi/pmi_service.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "common/wire/limits.h"
#include "launcher/agent/core/waits.h"

namespace sml::agent {

namespace {

constexpr std::size_t kPmiRead = 16 << 10;  // the size of one read; then the other sockets get their turn
constexpr int kLastReads = 8;

std::map<Rank, std::uint32_t> places_of(const std::vector<PmiRank>& ranks) {
  std::map<Rank, std::uint32_t> out;
  for (const PmiRank& rank : ranks) out.emplace(rank.rank, static_cast<std::uint32_t>(out.size()));
  return out;
}

std::vector<Rank> leaders_of(const plan::JobShape& shape, Rank first) {
  std::vector<Rank> out;
  std::set<std::uint32_t> seen;
  std::uint32_t rank = first.value();
  for (const plan::RankRun& run : shape.runs()) {
    if (seen.insert(run.host).second) out.emplace_back(rank);
    rank += run.count;
  }
  return out;
}

// The fence's number alone for the job's initial world, with the first rank before it for any other.
std::string name_of_fence(Rank first, std::uint64_t number) {
  const std::string out = std::to_string(number);
  return first == Rank(0) ? out : std::to_string(first.value()) + "." + out;
}

}  // namespace

PmiService::World::World(PmiWorld world)
    : first(world.first),
      size(world.size),
      job(world.job),
      places(places_of(world.ranks)),
      spawned(!world.spawner.empty()),
      left(world.ranks.size()),
      server(std::move(world)) {}

PmiService::PmiService(const ServiceContext& context, PmiWorld world, std::vector<Rank> speakers,
                       plan::Environment more)
    : context_(context),
      speakers_(speakers.begin(), speakers.end()),
      more_(std::move(more)),
      job_(world.job),
      dialects_(world.dialects) {
  add(std::move(world));
}

PmiService::World& PmiService::add(PmiWorld world) {
  const Rank first = world.first;
  remove(first);
  World& out = *(worlds_[first] = std::make_unique<World>(std::move(world)));
  for (const auto& [rank, place] : out.places) world_of_[rank] = &out;
  return out;
}

void PmiService::remove(Rank first) {
  const auto found = worlds_.find(first);
  if (found == worlds_.end()) return;
  for (const auto& [rank, place] : found->second->places) {
    if (found->second->server.has_ever_joined(rank)) joined_before_.insert(rank);
    world_of_.erase(rank);
    if (found->second->spawned) speakers_.erase(rank);
  }
  worlds_.erase(found);
}

PmiService::World* PmiService::find(Rank rank) const {
  const auto found = world_of_.find(rank);
  return found == world_of_.end() ? nullptr : found->second;
}

// Serves the new ranks whatever they run, as MPI itself has asked for them.
bool PmiService::add_world(const wire::AddWorkers& m, std::span<const ResourceAssignment>, const WorldReady& ready) {
  constexpr std::size_t kLongestMapping = 900;
  if (m.service != wire::WireUp::Pmi) return false;
  PmiWorld world{.job = job_ + "." + std::to_string(m.first.value()),
                 .size = m.shape.size(),
                 .universe = m.shape.universe,
                 .mapping = plan::process_mapping(m.shape, kLongestMapping),
                 .hosts = static_cast<std::uint32_t>(m.shape.hosts.size()),
                 .ranks = {},
                 .dialects = dialects_,
                 .first = m.first,
                 .spawner = job_,
                 .keys = m.keys};
  for (const wire::Worker& worker : m.workers) {
    const auto run = m.shape.run_of(Rank(worker.rank.value() - m.first.value()));
    if (run) world.ranks.push_back({worker.rank, run->program});
  }
  for (const PmiRank& rank : world.ranks) speakers_.insert(rank.rank);
  add(std::move(world)).leaders = leaders_of(m.shape, m.first);
  ready({});
  return true;
}

bool PmiService::has_joined(Rank rank) const {
  const World* world = find(rank);
  return world != nullptr && world->server.has_joined(rank);
}

bool PmiService::has_ever_joined(Rank rank) const {
  const World* world = find(rank);
  return world != nullptr ? world->server.has_ever_joined(rank) : joined_before_.contains(rank);
}

std::size_t PmiService::ever_joined() const {
  std::size_t out = 0;
  for (const auto& [first, world] : worlds_) out += world->spawned ? 0 : world->server.ever_joined();
  return out;
}

plan::Environment PmiService::variables(Rank rank) const {
  const World* world = find(rank);
  if (world == nullptr) return {};
  plan::Environment out{"PMI_RANK=" + std::to_string(rank.value() - world->first.value()),
                        "PMI_SIZE=" + std::to_string(world->size), "PMI_JOBID=" + world->job,
                        "MPI_LOCALRANKID=" + std::to_string(world->places.at(rank)),
                        "MPI_LOCALNRANKS=" + std::to_string(world->places.size())};
  if (world->spawned) out.emplace_back("PMI_SPAWNED=1");
  out.insert(out.end(), more_.begin(), more_.end());
  return out;
}

Result<std::vector<HostService::OwnDescriptor>> PmiService::descriptors(Rank rank) {
  std::vector<OwnDescriptor> out;
  if (!speakers_.contains(rank)) return out;
  Result<std::array<os::UniqueFd, 2>> ends = os::make_socketpair();
  if (!ends) return ends.error();
  os::set_nonblocking((*ends)[0].get());
  auto client = std::make_unique<Client>(context_.system.loop);
  client->socket.assign((*ends)[0].release());
  await(rank, *client);
  clients_[rank] = std::move(client);
  out.push_back({"PMI_FD", std::move((*ends)[1])});
  return out;
}

// Waits for bytes, or, while the rank has not taken its answers, for room: no further request is read until then.
void PmiService::await(Rank rank, Client& client) {
  if (std::exchange(client.waiting, true)) return;
  const auto wait = client.done() ? when_readable : when_writable;
  wait(client.socket, lifetime_.guard([this, rank] { ready(rank); }));
}

void PmiService::ready(Rank rank) {
  const auto found = clients_.find(rank);
  if (found == clients_.end()) return;
  Client& client = *found->second;
  client.waiting = false;
  if (client.done()) return read(rank, client);
  write(client);
  await(rank, client);
}

void PmiService::read(Rank rank, Client& client) {
  std::array<char, kPmiRead> buffer;
  const ssize_t n = ::read(client.socket.native_handle(), buffer.data(), buffer.size());
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return close(rank);
  World* world = find(rank);
  if (n > 0 && world != nullptr) {
    world->server.received(rank, std::string_view(buffer.data(), static_cast<std::size_t>(n)));
  }
  settle();
  const auto still = clients_.find(rank);
  if (still != clients_.end()) await(rank, *still->second);
}

void PmiService::write(Client& client) {
  while (!client.done()) {
    const ssize_t n = ::send(client.socket.native_handle(), client.pending.data() + client.taken,
                             client.pending.size() - client.taken, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) break;  // the peer is gone; the end of its process has the reason
    client.taken += static_cast<std::size_t>(n);
  }
  client.pending.clear();
  client.taken = 0;
}

// Closes the socket without a report: the process's next steps, or its end, show the reason.
void PmiService::close(Rank rank) { clients_.erase(rank); }

void PmiService::worker_ended(Rank rank, const ExitStatus& status) {
  World* world = find(rank);
  if (world == nullptr) return;
  // The worker's last requests may be read after its end was reported.
  if (const auto client = clients_.find(rank); client != clients_.end()) {
    std::array<char, kPmiRead> buffer;
    for (int turn = 0; turn < kLastReads; ++turn) {  // a process that it has left behind may go on writing
      const ssize_t n = ::read(client->second->socket.native_handle(), buffer.data(), buffer.size());
      if (n <= 0) break;
      world->server.received(rank, std::string_view(buffer.data(), static_cast<std::size_t>(n)));
    }
    close(rank);
  }
  world->server.ended(rank, succeeded(status));
  settle();
  if (--world->left == 0 && world->spawned) remove(world->first);
}

void PmiService::end() { clients_.clear(); }

void PmiService::handle(const wire::ToAgent& message) {
  if (const auto* fenced = std::get_if<wire::Fenced>(&message)) {
    if (fenced->attempt != context_.attempt || fenced->service != wire::WireUp::Pmi) return;
    const std::size_t dot = fenced->fence.find('.');
    const auto first =
        static_cast<std::uint32_t>(dot == std::string::npos ? 0 : std::strtoul(fenced->fence.c_str(), nullptr, 10));
    const auto world = worlds_.find(Rank(first));
    if (world == worlds_.end()) return;  // its ranks on this host have ended
    const char* number = fenced->fence.c_str() + (dot == std::string::npos ? 0 : dot + 1);
    const Result<void> known = world->second->server.fenced(std::strtoull(number, nullptr, 10), fenced->parts);
    if (!known) context_.warn("PMI " + known.error().message());
  } else if (const auto* word = std::get_if<wire::Relay>(&message)) {
    if (word->attempt != context_.attempt || word->service != wire::WireUp::Pmi) return;
    if (World* world = find(word->to)) world->server.on_relayed(word->from, word->to, word->bytes);
  } else if (const auto* answer = std::get_if<wire::SpawnAnswer>(&message)) {
    if (answer->attempt != context_.attempt || answer->service != wire::WireUp::Pmi) return;
    if (World* world = find(answer->to)) world->server.spawned(answer->to, answer->call, answer->why);
  } else if (const auto* added = std::get_if<wire::StartAdded>(&message)) {
    if (added->attempt == context_.attempt && added->go == wire::Go::No) remove(added->first);
  }
  settle();
}

// ---- actions of the servers

// Returns false if there was no action.
bool PmiService::act_for(World& world) {
  const std::vector<PmiAction> actions = world.server.take_actions();
  for (const PmiAction& action : actions) {
    std::visit([this, &world](const auto& one) { apply(world, one); }, action);
  }
  return !actions.empty();
}

void PmiService::settle() {
  for (bool more = true; more;) {
    more = false;
    for (const auto& [first, world] : worlds_) more = act_for(*world) || more;
  }
}

void PmiService::apply(const World&, const PmiAnswer& answer) {
  const auto client = clients_.find(answer.rank);
  if (client == clients_.end()) return;
  client->second->pending += answer.bytes;
  write(*client->second);
}

void PmiService::apply(const World& world, const PmiFence& fence) const {
  wire::FenceData data{.attempt = context_.attempt,
                       .fence = name_of_fence(world.first, fence.number),
                       .ranks = world.leaders,
                       .bytes = {}};
  std::string_view rest = fence.news;
  do {
    data.bytes = rest.substr(0, wire::kMaxPiece);
    rest.remove_prefix(data.bytes.size());
    data.piece = rest.empty() ? wire::Piece::Last : wire::Piece::More;
    context_.send(data);
  } while (!rest.empty());
}

void PmiService::apply(const World&, const PmiRelay& word) const {
  context_.send(wire::Relay{context_.attempt, wire::WireUp::Pmi, word.from, word.to, word.bytes});
}

void PmiService::apply(const World&, const PmiBroken& broken) {
  context_.owner.fail_rank(broken.rank, wire::FaultKind::Broken, 1, broken.why);
  close(broken.rank);
}

void PmiService::apply(const World&, const PmiAborted& aborted) const {
  context_.owner.fail_rank(aborted.rank, wire::FaultKind::Aborted, aborted.code, aborted.why);
}

void PmiService::apply(World& world, const PmiSpawn& spawn) const {
  if (!spawn.request.refusal.empty()) {
    context_.warn("rank " + std::to_string(spawn.rank.value()) + ": MPI_Comm_spawn starts nothing: it " +
                  spawn.request.refusal);
    return world.server.spawned(spawn.rank, spawn.thread, spawn.request.refusal);
  }
  context_.send(wire::SpawnRequest{.attempt = context_.attempt,
                                   .service = wire::WireUp::Pmi,
                                   .from = spawn.rank,
                                   .call = spawn.thread,
                                   .programs = spawn.request.programs,
                                   .keys = spawn.request.keys});
}

}  // namespace sml::agent
