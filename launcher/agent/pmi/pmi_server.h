// A server of PMI-1.1 and PMI-2 for the ranks of one host: takes the bytes of each rank, returns bytes for each. Pure.
// Fences, and messages to the host that keeps the published names, are actions for the caller, which passes in the
// results.
//
// A rank that breaks the protocol has failed (Broken) and is ignored from then on; the others are not affected. Memory
// is bounded whatever ranks send: the values that a rank may put, incomplete messages, and unsent replies, since no
// input is taken from a rank that has replies to read.
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
#include "common/wire/pmi_wire.h"
#include "launcher/agent/pmi/pmi_client.h"
#include "launcher/agent/pmi/pmi_names.h"
#include "launcher/agent/pmi/pmi_space.h"
#include "launcher/agent/pmi/pmi_spawn.h"
#include "launcher/agent/pmi/pmi_table.h"

namespace sml::agent {

// The dialects that clients may request.
enum class PmiDialects : std::uint8_t { Both, OnlyOne, OnlyTwo };

struct PmiRank {
  Rank rank;                     // in the job
  std::uint32_t app_number = 0;  // index of its program in the job
};

// The parameters of the job that are sent to clients, and the ranks of this host.
struct PmiWorld {
  std::string job;  // its name as key space: has_pmi_form(), at most 200 bytes
  std::uint32_t size = 0;
  std::uint32_t universe = 0;  // ranks that there is room for; 0: nobody knows
  std::string mapping;         // plan::process_mapping(); empty: clients find out who shares a host
  std::uint32_t hosts = 1;
  std::vector<PmiRank> ranks;  // of this host
  PmiDialects dialects = PmiDialects::Both;
  Rank first{};                        // rank in the job of this world's rank 0
  std::string spawner{};               // key space of the world that spawned this one; empty: none did
  std::vector<wire::SpawnKey> keys{};  // keys that exist from the beginning
};

// Actions for the caller. Strings are bytes.
struct PmiAnswer {
  Rank rank;
  std::string bytes;
};
struct PmiFence {  // all ranks here have entered it; the data of the other hosts is awaited, see fenced()
  std::uint64_t number = 0;
  std::string news;
};
struct PmiWord {  // to be passed to heard() of the server that has the rank `to`
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
struct PmiSpawn {  // the call waits, see spawned()
  Rank rank;
  std::string thread;
  PmiSpawnRequest request;
};
using PmiAction = std::variant<PmiAnswer, PmiFence, PmiWord, PmiBroken, PmiAborted, PmiSpawn>;

class PmiServer {
 public:
  explicit PmiServer(PmiWorld world);

  // Ranks of other hosts, and ranks that are over, are ignored.
  void received(Rank rank, std::string_view bytes);
  // The rank's process has ended; `succeeded`: with status 0. A rank that joined and did not finalize has failed even
  // if it succeeded.
  void ended(Rank rank, bool succeeded);
  // The data of all hosts for a fence. Error (Protocol): this fence is not awaited, or the data is invalid.
  Result<void> fenced(std::uint64_t number, std::span<const std::string> news);
  void heard(Rank from, Rank to, std::string_view bytes);
  // The result of a PmiSpawn; `why` is a clause, empty if the ranks start. Does nothing if no call waits for it.
  void spawned(Rank rank, const std::string& thread, const std::string& why);

  // True if the rank has asked for its place in the world. Also true once its process has ended, whether it had joined
  // or not.
  bool has_joined(Rank rank) const;
  bool has_ever_joined(Rank rank) const;
  std::size_t ever_joined() const;  // ranks
  std::vector<PmiAction> take_actions() { return std::exchange(actions_, {}); }

 private:
  struct Request {
    Rank rank;
    PmiClient& client;
    const PmiRow& row;
    const wire::PmiMessage& message;
  };

  void perform(Rank rank, PmiClient& client, const wire::PmiMessage& message);
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

  // A reply that begins with the success fields; to be sent by send().
  static wire::PmiWriter good(const Request& r);
  void answer(const Request& r) { send(r.rank, good(r), pmi_thread(r.message)); }
  void answer(const Request& r, wire::PmiWriter words) { send(r.rank, std::move(words), pmi_thread(r.message)); }
  void answer_found(const Request& r, const std::string* value);
  void refuse(const Request& r, const char* why);
  void send(Rank rank, wire::PmiWriter words, const std::string& thread);
  void named(Rank rank, const PmiNameAnswer& found);
  void give_up(Rank rank, PmiClient& client, std::string why);
  PmiClient* find(Rank rank);

  PmiWorld world_;
  std::map<Rank, PmiClient> clients_;
  PmiSpace space_;
  PmiNames names_;
  std::uint64_t fences_ = 0;  // number begun
  bool awaits_news_ = false;  // for the last fence
  std::vector<PmiAction> actions_;
};

}  // namespace sml::agent
