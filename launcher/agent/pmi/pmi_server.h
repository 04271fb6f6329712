// A server of PMI-1.1 and PMI-2 for the ranks of one world on one host: takes the bytes that each rank sends, and
// returns the bytes to send to each. Pure. For fences, spawn requests, and messages to the host that keeps the
// published names, it returns actions; the caller carries them out and passes in the results.
//
// A rank that breaks the protocol has failed (PmiBroken) and is ignored from then on; the others are not affected.
// Memory is bounded whatever ranks send: there are limits on the values that a rank may put and on incomplete messages,
// and the caller must take no input from a rank that has not read its replies.
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
  std::uint32_t universe = 0;  // number of ranks for which there is room; 0: unknown
  std::string mapping;         // plan::process_mapping(); empty: clients find out themselves which ranks share a host
  std::uint32_t hosts = 1;     // number of hosts of this world
  std::vector<PmiRank> ranks;  // of this host
  PmiDialects dialects = PmiDialects::Both;
  Rank first{};                        // rank in the job of this world's rank 0
  std::string spawner{};               // key space of the world that spawned this one; empty: none did
  std::vector<wire::SpawnKey> keys{};  // keys that exist from the beginning
};

// Actions for the caller, which carries them out in the order of take_actions().

// Bytes to send to the rank.
struct PmiAnswer {
  Rank rank;
  std::string bytes;
};
// All ranks here have entered the fence; fenced() takes the data of all hosts.
struct PmiFence {
  std::uint64_t number = 0;  // counted from 1; the same on all hosts
  std::string news;          // PmiSpace::take_news() of this host
};
// A message to pass to on_relayed() of the server on the host of the rank `to`.
struct PmiRelay {
  Rank from;
  Rank to;
  std::string bytes;
};
// The rank has broken the protocol and has failed.
struct PmiBroken {
  Rank rank;
  std::string why;  // a part of a sentence that follows "rank 3 on algo-1"
};
// The rank has called MPI_Abort.
struct PmiAborted {
  Rank rank;
  int code = 1;     // 1 to 255
  std::string why;  // as in PmiBroken
};
// The rank requests more ranks, and waits for spawned().
struct PmiSpawn {
  Rank rank;
  std::string thread;  // identifies the call of the rank
  PmiSpawnRequest request;
};
using PmiAction = std::variant<PmiAnswer, PmiFence, PmiRelay, PmiBroken, PmiAborted, PmiSpawn>;

class PmiServer {
 public:
  explicit PmiServer(PmiWorld world);

  // Takes bytes that the rank has sent, in pieces of any size. Ignores ranks of other hosts, and ranks that have ended
  // or failed.
  void received(Rank rank, std::string_view bytes);
  // The rank's process has ended; `succeeded`: with status 0. Even then, a rank that has greeted and has not finalized
  // has failed (PmiBroken).
  void ended(Rank rank, bool succeeded);
  // Takes the data of all hosts for a fence, and lets the waiting ranks go on. Error (Protocol): this fence is not
  // awaited, or the data is invalid or too much.
  Result<void> fenced(std::uint64_t number, std::span<const std::string> news);
  // Takes a PmiRelay of another host; ignores invalid ones.
  void on_relayed(Rank from, Rank to, std::string_view bytes);
  // The result of a PmiSpawn. `why`: empty if the ranks start; any other text lets the call fail, and is not sent to
  // the rank. Does nothing if no call waits for it.
  void spawned(Rank rank, const std::string& thread, const std::string& why);

  // True if the rank has asked for its place in the world. Also true once its process has ended, whether it had joined
  // or not.
  bool has_joined(Rank rank) const;
  bool has_ever_joined(Rank rank) const;
  std::size_t ever_joined() const;  // ranks
  std::vector<PmiAction> take_actions() { return std::exchange(actions_, {}); }

 private:
  struct Request {  // a message that has been checked
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

  // A reply that begins with the fields for success; to be completed and sent by send().
  static wire::PmiWriter good(const Request& r);
  void answer(const Request& r) { send(r.rank, good(r), pmi_thread(r.message)); }
  void answer(const Request& r, wire::PmiWriter words) { send(r.rank, std::move(words), pmi_thread(r.message)); }
  void answer_found(const Request& r, const std::string* value);  // null: not found
  void refuse(const Request& r, const char* why);
  void send(Rank rank, wire::PmiWriter words, const std::string& thread);
  void named(Rank rank, const PmiNameAnswer& found);  // completes a waiting call about a name
  void give_up(Rank rank, PmiClient& client, std::string why);
  PmiClient* find(Rank rank);  // null: no rank of this world on this host

  PmiWorld world_;
  std::map<Rank, PmiClient> clients_;
  PmiSpace space_;
  PmiNames names_;            // used on the host of rank 0 of the job
  std::uint64_t fences_ = 0;  // number of fences that all ranks here have entered
  bool awaits_news_ = false;  // the last of these waits for fenced()
  std::vector<PmiAction> actions_;
};

}  // namespace sml::agent
