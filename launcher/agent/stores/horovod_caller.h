// Delivers the launcher's notices that hosts have come or gone to workers of hvd.elastic, at their ports on this host,
// and sends the launcher their answers, or an empty one if a worker gives none in time. It interprets neither. Without
// calls it holds no resources.
#pragma once
#include <cstddef>
#include <memory>
#include <set>

#include "launcher/agent/core/host_service.h"
#include "launcher/agent/core/lifetime.h"

namespace sml::agent {

class HorovodCaller final : public HostService {
 public:
  static constexpr std::size_t kMost = 16;  // concurrent calls; the answer to further ones is empty

  // The context outlives this.
  explicit HorovodCaller(const ServiceContext& context) : context_(context) {}
  ~HorovodCaller() override;

  Result<void> check(wire::Prepared&) override { return {}; }
  void handle(const wire::ToAgent& message) override;

 private:
  struct Call;
  void ask(const std::shared_ptr<Call>& call);
  void listen(const std::shared_ptr<Call>& call);
  void answer(const std::shared_ptr<Call>& call);

  const ServiceContext& context_;
  std::set<std::shared_ptr<Call>> calls_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
