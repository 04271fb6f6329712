#include "launcher/agent/mpi/pmix_names.h"

#include <utility>

#include "common/wire/bytes.h"

namespace sml::agent::pmix {

namespace {

std::string published(Rank rank, const std::string& value) {
  std::string out;
  wire::Writer writer(out);
  writer(rank);
  return out + value;
}

}  // namespace

std::vector<Names::Reply> Names::ask(const Asker& asker, const NameRequest& request) {
  if (request.key.size() > kLongest || request.value.size() > kLongest) return {{asker, kOutOfResource}};
  if (request.verb == NameRequest::Verb::Publish) return publish(asker, request);
  const auto found = texts_.find(request.key);
  if (found != texts_.end()) {
    Reply reply{asker, kSuccess, {}};
    if (request.verb == NameRequest::Verb::LookUp) reply.bytes = found->second.bytes;
    if (request.verb == NameRequest::Verb::Unpublish || found->second.once) texts_.erase(found);
    return {std::move(reply)};
  }
  if (request.verb == NameRequest::Verb::Unpublish || request.flag == 0) return {{asker, kNotFound}};
  if (waiting_.size() == kMost) return {{asker, kOutOfResource}};
  waiting_.push_back({asker, request.key});
  return {};
}

std::vector<Names::Reply> Names::publish(const Asker& asker, const NameRequest& request) {
  if (texts_.find(request.key) != texts_.end()) return {{asker, kDuplicateKey}};
  if (texts_.size() == kMost) return {{asker, kOutOfResource}};
  const std::string bytes = published(request.rank, request.value);
  const bool once = request.flag != 0;
  std::vector<Reply> out{{asker, kSuccess}};
  std::vector<Waiting> still;
  for (Waiting& one : waiting_) {
    const bool gone = once && out.size() > 1;  // another look-up has taken it
    if (one.key != request.key || gone) {
      still.push_back(std::move(one));
    } else {
      out.push_back({one.asker, kSuccess, bytes});
    }
  }
  waiting_ = std::move(still);
  if (!once || out.size() == 1) texts_.emplace(request.key, Text{bytes, once});
  return out;
}

}  // namespace sml::agent::pmix
