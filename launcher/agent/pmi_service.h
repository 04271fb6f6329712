// PMI for the workers of one host: a socket for each of them, and the news of the others' hosts.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/rendezvous/pmi_server.h"
#include "launcher/agent/host_service.h"
#include "launcher/agent/lifetime.h"

namespace sml::agent {

// Whose MPI may find the others by PMI, and is offered it.
class PmiService final : public HostService {
 public:
  // Those that are no speakers get the variables, those of `more`
  // too, but no socket: their programs cannot ask for anything.
  PmiService(const ServiceContext& context, rendezvous::PmiWorld world, std::vector<Rank> speakers,
             plan::Environment more);

  Result<void> check(wire::Prepared&) override { return {}; }
  plan::Environment variables(Rank rank) const override;
  Result<std::vector<OwnDescriptor>> descriptors(Rank rank) override;
  bool has_joined(Rank rank) const override { return server_.has_joined(rank); }
  std::size_t ever_joined() const override { return server_.ever_joined(); }
  void worker_ended(Rank rank, const ExitStatus& status) override;
  void end() override;
  void hear(const wire::ToAgent& message) override;

 private:
  struct Client {
    explicit Client(boost::asio::io_context& loop) : socket(loop) {}
    boost::asio::posix::stream_descriptor socket;
    std::string pending;  // answers, of which the system has taken
    std::size_t taken = 0;
    bool waiting = false;  // for bytes, or for room
    bool done() const { return taken == pending.size(); }
  };

  void await(Rank rank, Client& client);
  void ready(Rank rank);
  void read(Rank rank, Client& client);
  void write(Client& client);
  void close(Rank rank);
  void apply(const rendezvous::PmiAnswer& answer);
  void apply(const rendezvous::PmiFence& fence);
  void apply(const rendezvous::PmiWord& word);
  void apply(const rendezvous::PmiBroken& broken);
  void apply(const rendezvous::PmiAborted& aborted);
  void settle();
  void perform(const rendezvous::PmiAction& action);

  const ServiceContext& context_;
  std::uint32_t size_;
  std::string job_;
  std::map<Rank, std::uint32_t> local_ranks_;  // their places on this host
  std::vector<Rank> speakers_;
  plan::Environment more_;
  rendezvous::PmiServer server_;
  std::map<Rank, std::unique_ptr<Client>> clients_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
