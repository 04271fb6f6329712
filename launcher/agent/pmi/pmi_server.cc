#include "launcher/agent/pmi/pmi_server.h"

#include <algorithm>

#include "common/core/text.h"

namespace sml::agent {

namespace {

constexpr std::size_t kLongestWords = 300;
constexpr std::size_t kJobName = 256;
constexpr std::string_view kMapping = "PMI_process_mapping";
const Rank kKeeper(0);  // its host keeps the names

std::string number(std::int64_t value) { return std::to_string(value); }

bool says_yes(std::string_view value) { return value == "TRUE" || value == "true" || value == "1"; }

PmiNameVerb name_verb(PmiVerb verb) {
  if (verb == PmiVerb::Publish) return PmiNameVerb::Publish;
  return verb == PmiVerb::Unpublish ? PmiNameVerb::Unpublish : PmiNameVerb::LookUp;
}

// The exit status that exit() would make of the code, but never 0.
int status_of(std::int64_t code) {
  const auto low = static_cast<int>(code & 0xff);
  return low == 0 ? 1 : low;
}

std::string version_name(std::int64_t version) {
  return version == 1 || version == 2 ? "PMI-" + number(version) : "version " + number(version) + " of PMI";
}

}  // namespace

PmiServer::PmiServer(PmiWorld world) : world_(std::move(world)) {
  for (const PmiRank& rank : world_.ranks) clients_.try_emplace(rank.rank, rank.app_number);
  space_.begin_with(world_.keys);
}

PmiClient* PmiServer::find(Rank rank) {
  const auto found = clients_.find(rank);
  return found == clients_.end() ? nullptr : &found->second;
}

bool PmiServer::has_joined(Rank rank) const {
  const auto found = clients_.find(rank);
  return found != clients_.end() && found->second.has_joined();
}

bool PmiServer::has_ever_joined(Rank rank) const {
  const auto found = clients_.find(rank);
  return found != clients_.end() && found->second.ever_joined();
}

std::size_t PmiServer::ever_joined() const {
  return static_cast<std::size_t>(
      std::count_if(clients_.begin(), clients_.end(), [](const auto& client) { return client.second.ever_joined(); }));
}

void PmiServer::received(Rank rank, std::string_view bytes) {
  PmiClient* client = find(rank);
  if (client == nullptr || client->over()) return;
  client->feed(bytes);
  while (!client->over()) {
    Result<std::optional<wire::PmiMessage>> next = client->next();
    if (!next) return give_up(rank, *client, next.error().message());
    if (!next->has_value()) return;
    perform(rank, *client, **next);
  }
}

void PmiServer::perform(Rank rank, PmiClient& client, const wire::PmiMessage& message) {
  const PmiRow* row = find_pmi_row(client.dialect(), message.name);
  if (row == nullptr) {
    return give_up(rank, client, "sent the message \"" + show(message.name, 40) + "\", which PMI does not have");
  }
  if (Result<void> good = check_pmi(*row, message); !good) return give_up(rank, client, good.error().message());
  if (Result<void> now = client.may_come(*row, message); !now) return give_up(rank, client, now.error().message());
  const Request r{rank, client, *row, message};
  switch (row->verb) {
    case PmiVerb::Init: return begin(r);
    case PmiVerb::FullInit: return full_init(r);
    case PmiVerb::Finalize: return finalize(r);
    case PmiVerb::Abort: return abort(r);
    case PmiVerb::Maxes: return tell_limits(r);
    case PmiVerb::Universe: return tell_universe(r);
    case PmiVerb::AppNumber: return answer(r, good(r).add("appnum", client.app_number()));
    case PmiVerb::KeySpace:
      return answer(r, good(r).add(client.dialect() == wire::PmiDialect::One ? "kvsname" : "jobid", world_.job));
    case PmiVerb::Put: return put(r);
    case PmiVerb::Get: return get(r);
    case PmiVerb::Fence: return come_to_fence(r);
    case PmiVerb::JobAttribute: return job_attribute(r);
    case PmiVerb::PutNode: return put_node(r);
    case PmiVerb::GetNode: return get_node(r);
    case PmiVerb::Publish:
    case PmiVerb::Unpublish:
    case PmiVerb::LookUp: return name(r);
    case PmiVerb::Spawn: return spawn(r);
  }
}

// ---- joining and leaving

void PmiServer::begin(const Request& r) {
  const std::int64_t version = pmi_number(r.message, "pmi_version", 0);
  const bool one = version == 1 && world_.dialects != PmiDialects::OnlyTwo;
  const bool two = version == 2 && world_.dialects != PmiDialects::OnlyOne;
  if (!one && !two) {
    const char* only = world_.dialects == PmiDialects::OnlyOne   ? "PMI-1 is asked for (--mpi)"
                       : world_.dialects == PmiDialects::OnlyTwo ? "PMI-2 is asked for (--mpi)"
                                                                 : "sml-run serves PMI-1 and PMI-2";
    return give_up(r.rank, r.client, "uses " + version_name(version) + ", and " + only);
  }
  // Replies with subversion 1 whatever the client requests: then it uses nothing of 1.2.
  wire::PmiWriter words(wire::PmiDialect::One, r.row.answer);
  send(r.rank, words.add("pmi_version", version).add("pmi_subversion", one ? 1 : 0).add("rc", "0"), {});
  r.client.greet(one ? wire::PmiDialect::One : wire::PmiDialect::Two);
}

void PmiServer::full_init(const Request& r) {
  const std::int64_t own = std::int64_t{r.rank.value()} - world_.first.value();
  if (const std::int64_t claimed = pmi_number(r.message, "pmirank", own); claimed != own) {
    return give_up(r.rank, r.client, "claims to be rank " + number(claimed) + " by PMI");
  }
  r.client.join();
  wire::PmiWriter words = good(r);
  words.add("pmi-version", "2").add("pmi-subversion", "0").add("rank", own).add("size", world_.size);
  words.add("appnum", r.client.app_number()).add("debugged", "FALSE").add("pmiverbose", "FALSE");
  if (!world_.spawner.empty()) words.add("spawner-jobid", world_.spawner);
  answer(r, std::move(words));
}

void PmiServer::tell_limits(const Request& r) {
  wire::PmiWriter words = good(r);
  answer(r, words.add("kvsname_max", kJobName).add("keylen_max", wire::kPmiKey).add("vallen_max", wire::kPmiValue));
}

void PmiServer::tell_universe(const Request& r) {
  constexpr std::int64_t kUnknown = -1;
  answer(r, good(r).add("size", world_.universe > 0 ? std::int64_t{world_.universe} : kUnknown));
}

void PmiServer::finalize(const Request& r) {
  answer(r);
  r.client.leave();
}

void PmiServer::abort(const Request& r) {
  const std::int64_t code = pmi_number(r.message, "exitcode", 1);
  std::string_view words = pmi_text(r.message, "message");
  if (words.empty()) words = pmi_text(r.message, "msg");
  r.client.end();
  std::string why = "aborted the job (MPI_Abort or an error in MPI, code " + number(code) + ")";
  if (!words.empty() && words != "abort") why += ", saying \"" + show(words, kLongestWords) + "\",";
  actions_.emplace_back(PmiAborted{r.rank, status_of(code), std::move(why)});
}

void PmiServer::ended(Rank rank, bool succeeded) {
  PmiClient* client = find(rank);
  if (client == nullptr || client->over()) return;
  if (client->must_leave() && succeeded) {
    return give_up(rank, *client, "exited with status 0 without MPI_Finalize");
  }
  client->end();
}

void PmiServer::give_up(Rank rank, PmiClient& client, std::string why) {
  client.give_up();
  actions_.emplace_back(PmiBroken{rank, std::move(why)});
}

// ---- keys

void PmiServer::put(const Request& r) {
  const std::string_view space = pmi_text(r.message, "kvsname");
  if (!space.empty() && space != world_.job) return refuse(r, "unknown_kvsname");
  const Result<void> done = space_.put(r.rank, pmi_text(r.message, "key"), pmi_text(r.message, "value"));
  if (!done) return give_up(r.rank, r.client, done.error().message());
  answer(r);
}

void PmiServer::get(const Request& r) {
  const std::string_view key = pmi_text(r.message, "key");
  const std::string_view space = pmi_text(r.message, r.client.dialect() == wire::PmiDialect::One ? "kvsname" : "jobid");
  const bool ours = space.empty() || space == world_.job;
  const std::string* value = ours ? space_.get(key) : nullptr;
  if (ours && key == kMapping && !world_.mapping.empty()) value = &world_.mapping;
  if (r.client.dialect() == wire::PmiDialect::Two) return answer_found(r, value);
  if (value != nullptr) return answer(r, good(r).add("value", *value));
  wire::PmiWriter words(wire::PmiDialect::One, r.row.answer);
  send(r.rank, words.add("rc", "-1").add("msg", "key_" + std::string(key) + "_not_found").add("value", "unknown"), {});
}

void PmiServer::job_attribute(const Request& r) {
  const std::string_view key = pmi_text(r.message, "key");
  std::string value;
  if (key == kMapping) value = world_.mapping;
  if (key == "universeSize" && world_.universe > 0) value = number(world_.universe);
  if (key == "hasNameServ") value = "TRUE";
  const auto given = [&key](const wire::SpawnKey& one) { return one.key == key; };
  if (const auto one = std::find_if(world_.keys.begin(), world_.keys.end(), given); one != world_.keys.end()) {
    value = one->value;
  }
  answer_found(r, value.empty() ? nullptr : &value);
}

void PmiServer::put_node(const Request& r) {
  const std::string key(pmi_text(r.message, "key"));
  const std::string value(pmi_text(r.message, "value"));
  if (Result<void> done = space_.put_node(key, value); !done) return give_up(r.rank, r.client, done.error().message());
  answer(r);
  for (auto& [rank, client] : clients_) {
    for (const PmiClient::Call& call : client.take(PmiVerb::GetNode, key)) {
      wire::PmiWriter words(client.dialect(), call.row->answer);
      send(rank, words.add("rc", "0").add("found", "TRUE").add("value", value), call.thread);
    }
  }
}

// A waiting GetNode is answered when some rank has put the key: after an early "no" each rank would create the value
// itself.
void PmiServer::get_node(const Request& r) {
  const std::string_view key = pmi_text(r.message, "key");
  const std::string* value = space_.get_node(key);
  if (value == nullptr && says_yes(pmi_text(r.message, "wait"))) {
    return r.client.wait(r.row, r.message, key);
  }
  answer_found(r, value);
}

// ---- fences

void PmiServer::come_to_fence(const Request& r) {
  r.client.wait(r.row, r.message);
  const bool all_wait = std::all_of(clients_.begin(), clients_.end(),
                                    [](const auto& client) { return client.second.waits(PmiVerb::Fence); });
  if (awaits_news_ || !all_wait) return;
  ++fences_;
  std::string news = space_.take_news();
  if (world_.hosts == 1) return complete_fence();  // there are no other hosts
  awaits_news_ = true;
  actions_.emplace_back(PmiFence{fences_, std::move(news)});
}

Result<void> PmiServer::fenced(std::uint64_t fence, std::span<const std::string> news) {
  if (!awaits_news_ || fence != fences_) return Error(ErrorKind::Protocol, "received a fence that it does not await");
  awaits_news_ = false;
  if (Result<void> merged = space_.merge(news); !merged) return merged;
  complete_fence();
  return {};
}

void PmiServer::complete_fence() {
  for (auto& [rank, client] : clients_) {
    for (const PmiClient::Call& call : client.take(PmiVerb::Fence)) {
      wire::PmiWriter words(client.dialect(), call.row->answer);
      if (client.dialect() == wire::PmiDialect::Two) words.add("rc", "0");
      send(rank, std::move(words), call.thread);
    }
  }
}

// ---- names

void PmiServer::name(const Request& r) {
  const char* const key = r.client.dialect() == wire::PmiDialect::One ? "service" : "name";
  const PmiNameQuestion question{.verb = name_verb(r.row.verb),
                                 .thread = pmi_thread(r.message),
                                 .name = std::string(pmi_text(r.message, key)),
                                 .port = std::string(pmi_text(r.message, "port"))};
  r.client.wait(r.row, r.message);
  if (clients_.contains(kKeeper)) return named(r.rank, names_.answer(question));
  actions_.emplace_back(PmiRelay{r.rank, kKeeper, write(question)});
}

void PmiServer::on_relayed(Rank from, Rank to, std::string_view bytes) {
  if (const auto question = read_name_question(bytes); question && to == kKeeper && clients_.contains(kKeeper)) {
    actions_.emplace_back(PmiRelay{to, from, write(names_.answer(*question))});
  } else if (const auto found = read_name_answer(bytes); found && from == kKeeper) {
    named(to, *found);
  }
}

void PmiServer::named(Rank rank, const PmiNameAnswer& found) {
  PmiClient* client = find(rank);
  if (client == nullptr) return;
  const PmiClient::Call* call = client->call_of(found.thread);
  if (call == nullptr) return;
  const PmiRow& row = *call->row;
  const bool names = row.verb == PmiVerb::Publish || row.verb == PmiVerb::Unpublish || row.verb == PmiVerb::LookUp;
  if (!names || !wire::has_pmi_form(found.port)) return;
  wire::PmiWriter words(client->dialect(), row.answer);
  const bool one = client->dialect() == wire::PmiDialect::One;
  if (one) words.add("info", found.good ? "ok" : "failed");
  words.add("rc", found.good ? "0" : "1");
  if (one || !found.good) words.add(one ? "msg" : "errmsg", found.good ? "success" : "no_such_name");
  if (found.good && row.verb == PmiVerb::LookUp) {
    words.add("port", found.port);
    if (!one) words.add("value", found.port);  // the field that Slurm's library reads
  }
  send(rank, std::move(words), found.thread);
  client->answered(found.thread);
}

// ---- spawning

void PmiServer::spawn(const Request& r) {
  const Result<bool> complete = r.client.spawns().add(r.client.dialect(), r.message);
  if (!complete) return give_up(r.rank, r.client, complete.error().message());
  if (!*complete) return;
  PmiSpawnRequest request = r.client.spawns().take();
  r.client.wait(r.row, r.message);
  actions_.emplace_back(PmiSpawn{r.rank, pmi_thread(r.message), std::move(request)});
}

void PmiServer::spawned(Rank rank, const std::string& thread, const std::string& why) {
  PmiClient* client = find(rank);
  if (client == nullptr) return;
  const PmiClient::Call* call = client->call_of(thread);
  if (call == nullptr || call->row->verb != PmiVerb::Spawn) return;
  wire::PmiWriter words(client->dialect(), call->row->answer);
  const bool one = client->dialect() == wire::PmiDialect::One;
  words.add("rc", why.empty() ? "0" : one ? "-1" : "1");
  if (!why.empty()) words.add(one ? "msg" : "errmsg", "not_started,_see_what_sml-run_said");
  send(rank, std::move(words), thread);
  client->answered(thread);
}

// ---- answers

wire::PmiWriter PmiServer::good(const Request& r) {
  wire::PmiWriter out(r.client.dialect(), r.row.answer);
  const bool one = r.client.dialect() == wire::PmiDialect::One;
  // In PMI-1 no other replies have these fields.
  const bool tells = r.row.verb == PmiVerb::Put || r.row.verb == PmiVerb::Get;
  if (!one || tells) out.add("rc", "0");
  if (one && tells) out.add("msg", "success");
  return out;
}

void PmiServer::answer_found(const Request& r, const std::string* value) {
  const bool found = value != nullptr;
  answer(r, good(r).add("found", found ? "TRUE" : "FALSE").add("value", found ? *value : "unknown"));
}

void PmiServer::refuse(const Request& r, const char* why) {
  const bool one = r.client.dialect() == wire::PmiDialect::One;
  wire::PmiWriter words(r.client.dialect(), r.row.answer);
  answer(r, words.add("rc", one ? "-1" : "1").add(one ? "msg" : "errmsg", why));
}

void PmiServer::send(Rank rank, wire::PmiWriter words, const std::string& thread) {
  if (words.dialect() == wire::PmiDialect::Two && !thread.empty()) words.add("thrid", thread);
  actions_.emplace_back(PmiAnswer{rank, words.take()});
}

}  // namespace sml::agent
