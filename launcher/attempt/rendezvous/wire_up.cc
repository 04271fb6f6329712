#include "launcher/attempt/rendezvous/wire_up.h"

#include <algorithm>

#include "common/wire/limits.h"

namespace sml::attempt {

FenceTable::Fence FenceTable::begin(std::vector<Rank> ranks) const {
  Fence out;
  const auto takes_part = [&](Rank rank) { out.hosts.try_emplace(map_.ranks[rank.value()].host); };
  for (const Rank rank : ranks) takes_part(rank);
  for (std::uint32_t r = 0; ranks.empty() && r < map_.members(); ++r) takes_part(Rank(r));
  out.to_come = out.hosts.size();
  out.ranks = std::move(ranks);
  return out;
}

Result<std::optional<FenceTable::Complete>> FenceTable::add(HostIndex from, wire::FenceData data) {
  const auto beyond = [this](Rank rank) { return rank.value() >= map_.world_size(); };
  if (std::any_of(data.ranks.begin(), data.ranks.end(), beyond)) {
    return Error(ErrorKind::Protocol, "named ranks of a fence that do not exist");
  }
  const std::pair key(data.service, data.fence);
  auto found = fences_.find(key);
  if (found == fences_.end()) found = fences_.emplace(key, begin(data.ranks)).first;
  Fence& fence = found->second;
  const auto host = fence.hosts.find(from);
  if (fence.ranks != data.ranks) return Error(ErrorKind::Protocol, "named other ranks of a fence than another host");
  if (host == fence.hosts.end()) return Error(ErrorKind::Protocol, "sent a message of a fence in which it has no part");
  if (host->second.done) return Error(ErrorKind::Protocol, "sent more of a fence that it had completed");
  fence.size += data.bytes.size();
  if (fence.size > wire::kMaxFence) {
    return Error(ErrorKind::Io, "the ranks hand over more than " + std::to_string(wire::kMaxFence >> 20) +
                                    " MiB before one of MPI's barriers")
        .with_hint("are there more ranks than its library is made for?");
  }
  host->second.bytes += data.bytes;
  if (data.piece == wire::Piece::More) return std::optional<Complete>();
  host->second.done = true;
  if (--fence.to_come > 0) return std::optional<Complete>();
  Complete out{{}, {.service = data.service, .fence = std::move(data.fence), .parts = {}}};
  out.message.attempt = data.attempt;
  for (auto& [index, of_host] : fence.hosts) {
    out.hosts.push_back(index);
    out.message.parts.push_back(std::move(of_host.bytes));
  }
  fences_.erase(found);
  return std::optional(std::move(out));
}

Result<void> WireUp::take(const fleet::Host& host, wire::FenceData data) {
  Result<std::optional<FenceTable::Complete>> complete = fences_.add(host.index, std::move(data));
  if (!complete) return complete.error();
  if (!complete->has_value()) return {};
  const wire::ToAgent message = std::move((*complete)->message);
  for (const HostIndex index : (*complete)->hosts) fleet_.send(index, message);
  return {};
}

}  // namespace sml::attempt
