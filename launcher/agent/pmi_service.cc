#include "launcher/agent/pmi_service.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "common/wire/limits.h"
#include "launcher/agent/waits.h"

namespace sml::agent {

namespace {

constexpr std::size_t kReadSize = 16 << 10;  // one read, then the others' turn
constexpr int kLastReads = 8;

std::map<Rank, std::uint32_t> places_of(const std::vector<rendezvous::PmiRank>& ranks) {
  std::map<Rank, std::uint32_t> out;
  for (const rendezvous::PmiRank& rank : ranks) out.emplace(rank.rank, static_cast<std::uint32_t>(out.size()));
  return out;
}

}  // namespace

PmiService::PmiService(const ServiceContext& context, rendezvous::PmiWorld world, std::vector<Rank> speakers,
                       plan::Environment more)
    : context_(context),
      size_(world.size),
      job_(world.job),
      local_ranks_(places_of(world.ranks)),
      speakers_(std::move(speakers)),
      more_(std::move(more)),
      server_(std::move(world)) {}

plan::Environment PmiService::variables(Rank rank) const {
  const auto place = local_ranks_.find(rank);
  if (place == local_ranks_.end()) return {};
  plan::Environment out{"PMI_RANK=" + std::to_string(rank.value()), "PMI_SIZE=" + std::to_string(size_),
                        "PMI_JOBID=" + job_, "MPI_LOCALRANKID=" + std::to_string(place->second),
                        "MPI_LOCALNRANKS=" + std::to_string(local_ranks_.size())};
  out.insert(out.end(), more_.begin(), more_.end());
  return out;
}

Result<std::vector<HostService::OwnDescriptor>> PmiService::descriptors(Rank rank) {
  std::vector<OwnDescriptor> out;
  if (std::find(speakers_.begin(), speakers_.end(), rank) == speakers_.end()) return out;
  Result<std::array<os::UniqueFd, 2>> ends = os::make_socketpair();
  if (!ends) return ends.error();
  os::set_nonblocking((*ends)[0].get());
  auto client = std::make_unique<Client>(context_.loop);
  client->socket.assign((*ends)[0].release());
  await(rank, *client);
  clients_[rank] = std::move(client);
  out.push_back({"PMI_FD", std::move((*ends)[1])});
  return out;
}

// For bytes, or for room while it has not taken its answers: then it is not heard.
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
  std::array<char, kReadSize> buffer;
  const ssize_t n = ::read(client.socket.native_handle(), buffer.data(), buffer.size());
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return close(rank);
  if (n > 0) server_.received(rank, std::string_view(buffer.data(), static_cast<std::size_t>(n)));
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
    if (n <= 0) break;  // nobody is there to have it: the end of its process tells more
    client.taken += static_cast<std::size_t>(n);
  }
  client.pending.clear();
  client.taken = 0;
}

// What its process does then, or its end, says what became of it.
void PmiService::close(Rank rank) { clients_.erase(rank); }

void PmiService::worker_ended(Rank rank, const ExitStatus& status) {
  // Its last words may be read after the news of its end.
  if (const auto client = clients_.find(rank); client != clients_.end()) {
    std::array<char, kReadSize> buffer;
    for (int turn = 0; turn < kLastReads; ++turn) {  // what it has left behind may write on
      const ssize_t n = ::read(client->second->socket.native_handle(), buffer.data(), buffer.size());
      if (n <= 0) break;
      server_.received(rank, std::string_view(buffer.data(), static_cast<std::size_t>(n)));
    }
    close(rank);
  }
  server_.ended(rank, succeeded(status));
  settle();
}

void PmiService::end() { clients_.clear(); }

void PmiService::hear(const wire::ToAgent& message) {
  if (const auto* fenced = std::get_if<wire::Fenced>(&message)) {
    if (fenced->attempt != context_.attempt || fenced->service != wire::WireUp::Pmi) return;
    const Result<void> known = server_.fenced(std::strtoull(fenced->fence.c_str(), nullptr, 10), fenced->parts);
    if (!known) context_.warn("PMI " + known.error().message());
  } else if (const auto* word = std::get_if<wire::Relay>(&message)) {
    if (word->attempt != context_.attempt || word->service != wire::WireUp::Pmi) return;
    server_.heard(word->from, word->to, word->bytes);
  }
  settle();
}

// ---- what the server wants done

void PmiService::settle() {
  for (auto actions = server_.take_actions(); !actions.empty(); actions = server_.take_actions()) {
    for (const rendezvous::PmiAction& action : actions) perform(action);
  }
}

void PmiService::perform(const rendezvous::PmiAction& action) {
  std::visit([this](const auto& one) { apply(one); }, action);
}

void PmiService::apply(const rendezvous::PmiAnswer& answer) {
  const auto client = clients_.find(answer.rank);
  if (client == clients_.end()) return;
  client->second->pending += answer.bytes;
  write(*client->second);
}

void PmiService::apply(const rendezvous::PmiFence& fence) {
  wire::FenceData data{.attempt = context_.attempt, .fence = std::to_string(fence.number), .ranks = {}, .bytes = {}};
  std::string_view rest = fence.news;
  do {
    data.bytes = rest.substr(0, wire::kMaxPiece);
    rest.remove_prefix(data.bytes.size());
    data.piece = rest.empty() ? wire::Piece::Last : wire::Piece::More;
    context_.tell(data);
  } while (!rest.empty());
}

void PmiService::apply(const rendezvous::PmiWord& word) {
  context_.tell(wire::Relay{context_.attempt, wire::WireUp::Pmi, word.from, word.to, word.bytes});
}

void PmiService::apply(const rendezvous::PmiBroken& broken) {
  context_.fail_rank(broken.rank, wire::FaultKind::Broken, 1, broken.why);
  close(broken.rank);
}

void PmiService::apply(const rendezvous::PmiAborted& aborted) {
  context_.fail_rank(aborted.rank, wire::FaultKind::Aborted, aborted.code, aborted.why);
}

}  // namespace sml::agent
