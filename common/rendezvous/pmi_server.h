// PMI-1.1 and PMI-2 for the ranks of one host: bytes of each in, bytes for each out. Pure. What concerns other hosts is
// asked for and told: fences, and words to the host that keeps the published names.
//
// A rank that does not keep to the protocol has failed (Broken) and is not heard again; the others do not notice.
// Memory is bounded whatever ranks send: what one may put down, of what is not understood yet, and of what it has not
// taken, since it is not heard while it has answers to take.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/rendezvous/pmi_client.h"
#include "common/rendezvous/pmi_names.h"
#include "common/rendezvous/pmi_space.h"
#include "common/rendezvous/pmi_spawn.h"
#include "common/rendezvous/pmi_table.h"
#include "common/rendezvous/pmi_wire.h"

namespace sml::rendezvous {

// Which of them clients may ask for.
enum class PmiDialects : std::uint8_t { Both, OnlyOne, OnlyTwo };

struct PmiRank {
  Rank rank;                     // in the job
  std::uint32_t app_number = 0;  // which of the job's programs it runs
};

// What clients are told of the job, and who they are.
struct PmiWorld {
  std::string job;  // its name as key space: has_pmi_form(), at most 200 bytes
  std::uint32_t size = 0;
  std::uint32_t universe = 0;  // ranks that there is room for; 0: nobody knows
  std::string mapping;         // plan::process_mapping(); empty: clients find out who shares a host
  std::uint32_t hosts = 1;
  std::vector<PmiRank> ranks;  // of this host
  PmiDialects dialects = PmiDialects::Both;
  Rank first{};                        // of the job, that is rank 0 of this world
  std::string spawner{};               // the key space of those who asked for this world; empty: nobody did
  std::vector<wire::SpawnKey> keys{};  // that it is to have from the beginning
};

// What is to be done. Strings are bytes.
struct PmiAnswer {
  Rank rank;
  std::string bytes;
};
struct PmiFence {  // all ranks here have come to it: the others' news is awaited, see fenced()
  std::uint64_t number = 0;
  std::string news;
};
struct PmiWord {  // for heard() of the server that has the rank `to`
  Rank from;
  Rank to;
  std::string bytes;
};
struct PmiBroken {
  Rank rank;
  std::string why;  // a clause that follows "rank 3 on algo-1"
};
struct PmiAborted {
  Rank rank;
  int code = 1;  // 1 to 255
  std::string why;
};
struct PmiSpawn {  // it waits, see spawned()
  Rank rank;
  std::string thread;
  PmiSpawnRequest request;
};
using PmiAction = std::variant<PmiAnswer, PmiFence, PmiWord, PmiBroken, PmiAborted, PmiSpawn>;

class PmiServer {
 public:
  explicit PmiServer(PmiWorld world);

  // Ranks that are not this host's, or are not heard any more, are ignored.
  void received(Rank rank, std::string_view bytes);
  // Its process has ended, by itself with status 0 or otherwise. Who joined and did not take leave has failed even
  // then.
  void ended(Rank rank, bool succeeded);
  // Error (Protocol): it is not awaited, or no news of hosts.
  Result<void> fenced(std::uint64_t number, std::span<const std::string> news);
  void heard(Rank from, Rank to, std::string_view bytes);
  // What became of a PmiSpawn; `why` is a clause, empty where the ranks start. Nothing where nobody waits for it.
  void spawned(Rank rank, const std::string& thread, const std::string& why);

  // It has asked for its place in the world.
  bool has_joined(Rank rank) const;
  bool has_ever_joined(Rank rank) const;
  std::size_t ever_joined() const;  // ranks
  std::vector<PmiAction> take_actions() { return std::exchange(actions_, {}); }

 private:
  struct Request {
    Rank rank;
    PmiClient& client;
    const PmiRow& row;
    const PmiMessage& message;
  };

  void perform(Rank rank, PmiClient& client, const PmiMessage& message);
  void begin(const Request& r);
  void full_init(const Request& r);
  void tell_limits(const Request& r);
  void tell_universe(const Request& r);
  void put(const Request& r);
  void get(const Request& r);
  void job_attribute(const Request& r);
  void put_node(const Request& r);
  void get_node(const Request& r);
  void come_to_fence(const Request& r);
  void complete_fence();
  void name(const Request& r);
  void finalize(const Request& r);
  void abort(const Request& r);
  void spawn(const Request& r);

  // Begins with what says that all went well; said by send().
  static PmiWriter good(const Request& r);
  void answer(const Request& r) { send(r.rank, good(r), pmi_thread(r.message)); }
  void answer(const Request& r, PmiWriter words) { send(r.rank, std::move(words), pmi_thread(r.message)); }
  void answer_found(const Request& r, const std::string* value);
  void refuse(const Request& r, const char* why);
  void send(Rank rank, PmiWriter words, const std::string& thread);
  void named(Rank rank, const PmiNameAnswer& found);
  void give_up(Rank rank, PmiClient& client, std::string why);
  PmiClient* find(Rank rank);

  PmiWorld world_;
  std::map<Rank, PmiClient> clients_;
  PmiSpace space_;
  PmiNames names_;
  std::uint64_t fences_ = 0;  // begun
  bool awaits_news_ = false;  // of the last
  std::vector<PmiAction> actions_;
};

}  // namespace sml::rendezvous
