// PMI for the workers of one host: a socket for each of them, and the exchange of data with other hosts through the
// launcher.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "launcher/agent/core/host_service.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/pmi/pmi_server.h"

namespace sml::agent {

// Offers PMI to workers by variables and a socket, and answers their requests. One PmiServer for each world holds the
// protocol and the data; this class does the I/O.
class PmiService final : public HostService {
 public:
  // `speakers`: the ranks whose programs may use PMI; only these get a socket. All ranks of `world` on this host get
  // the variables of PMI and those of `more`.
  PmiService(const ServiceContext& context, PmiWorld world, std::vector<Rank> speakers, plan::Environment more);

  Result<void> check(wire::Prepared&) override { return {}; }
  plan::Environment variables(Rank rank) const override;
  Result<std::vector<OwnDescriptor>> descriptors(Rank rank) override;
  bool has_joined(Rank rank) const override;
  bool has_ever_joined(Rank rank) const override;
  std::size_t ever_joined() const override;
  void worker_ended(Rank rank, const ExitStatus& status) override;
  void end() override;
  void handle(const wire::ToAgent& message) override;
  bool add_world(const wire::AddWorkers& m, std::span<const ResourceAssignment> shares,
                 const WorldReady& ready) override;

 private:
  // The ranks that share an MPI_COMM_WORLD: those of the job's start, or those of one spawn request.
  struct World {
    explicit World(PmiWorld world);
    Rank first;  // its rank 0, as a rank of the job
    std::uint32_t size;
    std::string job;                       // its name as key space
    std::map<Rank, std::uint32_t> places;  // its ranks on this host, and their local ranks
    std::vector<Rank> leaders{};           // its first rank on each of its hosts; empty: all hosts of the job
    bool spawned = false;                  // not the world of the job's start
    std::size_t left;                      // the number of its ranks on this host that have not ended
    PmiServer server;
  };
  // The agent's end of the socket of a rank.
  struct Client {
    explicit Client(boost::asio::io_context& loop) : socket(loop) {}
    boost::asio::posix::stream_descriptor socket;
    std::string pending;  // replies, of which `taken` bytes have been sent
    std::size_t taken = 0;
    bool waiting = false;  // a wait for the socket to become readable or writable has begun
    bool done() const { return taken == pending.size(); }
  };

  void await(Rank rank, Client& client);
  void ready(Rank rank);
  void read(Rank rank, Client& client);
  void write(Client& client);
  void close(Rank rank);
  void apply(const World&, const PmiAnswer& answer);
  void apply(const World& world, const PmiFence& fence) const;
  void apply(const World&, const PmiRelay& word) const;
  void apply(const World&, const PmiBroken& broken);
  void apply(const World&, const PmiAborted& aborted) const;
  void apply(World& world, const PmiSpawn& spawn) const;
  void settle();  // carries out the actions of all servers until none is left
  bool act_for(World& world);
  World* find(Rank rank) const;
  World& add(PmiWorld world);
  void remove(Rank first);

  const ServiceContext& context_;
  std::set<Rank> speakers_;
  std::set<Rank> joined_before_;  // ranks of ended worlds that had joined
  plan::Environment more_;
  std::string job_;  // key space of the first world
  PmiDialects dialects_;
  std::map<Rank, std::unique_ptr<World>> worlds_;  // by first rank
  std::map<Rank, World*> world_of_;                // by rank on this host
  std::map<Rank, std::unique_ptr<Client>> clients_;
  Lifetime lifetime_;
};

}  // namespace sml::agent
