// The options of torchrun, that is torch.distributed.run, of torch 2.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/dialects/rows.h"
#include "launcher/plan/env_file.h"

namespace sml::dialects {

namespace {

using std::string_view;

// Reported later, with all else that is missing on the line.
void refuse(RendezvousOptions& rendezvous, string_view written, const Error& why) {
  rendezvous.refused.push_back(Error(why).in(written).message());
}

Result<OptionTranslation> hosts_count(string_view written, Values values) {
  OptionTranslation out;
  set_host_count(out.rendezvous, std::string(written), values[0]);
  return out;
}

Result<OptionTranslation> workers_per_host(string_view, Values values) {
  if (values[0] == "xpu") return bad_value(values[0], "a number, auto, gpu or cpu");
  return one("--nproc-per-node", values[0] == "auto" ? "gpu-or-cpu" : values[0]);
}

// The folder in which Python's tempfile creates folders.
std::string temporary_folder(std::span<const std::string> environment) {
  for (const string_view name : {"TMPDIR", "TEMP", "TMP"}) {
    const std::string* entry = plan::find_variable(environment, name);
    if (entry != nullptr && !plan::value_of(*entry).empty()) return std::string(plan::value_of(*entry));
  }
  return "/tmp";
}

// The run id as part of a folder's name, escaped for --log-layout.
std::string in_layout(string_view run_id) {
  std::string out;
  for (const char c : run_id) {
    if (c == '{' || c == '}') out += c;
    out += c == '/' ? '_' : c;
  }
  return out;
}

Result<OptionTranslation> numa_binding(string_view, Values values) {
  if (values[0] == "node") return one("--bind-to", "numa");
  if (values[0] == "socket") return one("--bind-to", "socket");
  if (values[0] == "core-complex") return one("--bind-to", "l3");
  if (values[0] != "exclusive") return bad_value(values[0], "node, socket, exclusive or core-complex");
  OptionTranslation out = one("--bind-to", "core");
  out.options.push_back({"--cpus-per-rank", "share"});
  return out;
}

bool begins_name(char c) { return is_letter(c) || c == '_'; }
bool continues_name(char c) { return is_letter_or_digit(c) || c == '_'; }

// The length of the placeholder after a '$', "name" or "{name}"; 0 if there is none.
std::size_t placeholder_size(string_view text) {
  const bool braced = text.starts_with('{');
  std::size_t end = braced ? 1 : 0;
  if (end == text.size() || !begins_name(text[end])) return 0;
  while (end < text.size() && continues_name(text[end])) ++end;
  if (!braced) return end;
  return end < text.size() && text[end] == '}' ? end + 1 : 0;
}

// The word of a tag for a placeholder of torch's template; empty for an unknown one.
string_view tag_word(string_view placeholder) {
  if (placeholder.starts_with('{')) placeholder = placeholder.substr(1, placeholder.size() - 2);
  if (placeholder == "role_name") return "{role}";
  if (placeholder == "local_rank") return "{local_rank}";
  if (placeholder == "rank") return "{rank}";
  if (placeholder == "hostname") return "{host}";
  return "";
}

// A template of Python's string.Template as a tag: as safe_substitute() does, unknown placeholders stay.
std::string tag_of_prefix(string_view text) {
  std::string tag;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const string_view rest = text.substr(at + 1);
    const std::size_t size = text[at] == '$' ? placeholder_size(rest) : 0;
    const string_view word = tag_word(rest.substr(0, size));
    if (text[at] == '$' && rest.starts_with('$')) {
      tag += '$';
      ++at;
    } else if (!word.empty()) {
      tag += word;
      at += size;
    } else {
      if (text[at] == '{' || text[at] == '}') tag += text[at];
      tag += text[at];
    }
  }
  return tag;
}

Result<OptionTranslation> line_prefix(string_view, Values values) { return one("--tee-tag", tag_of_prefix(values[0])); }

// False for a name, which torchrun accepts: it belongs to the host on which torchrun runs, where rank 0 will be.
bool is_address(string_view text) {
  const bool v4 = text.find('.') != string_view::npos && text.find_first_not_of("0123456789.") == string_view::npos;
  const bool numeric = v4 || text.find(':') != string_view::npos;
  return numeric && text != "127.0.0.1";
}

Result<Settled> started_once(const RendezvousOptions& m) {
  Settled out;
  if (m.place && m.place->value != "0") {
    return bad_value(m.place->value, "0; sml-run is called once, on one host, and starts the workers of all")
        .in(m.place->written);
  }
  if (m.least_hosts) {
    out.options.push_back({"--min-hosts", m.least_hosts->value});
    out.options.push_back({"--max-hosts", m.hosts->value});
  } else if (m.hosts) {
    out.options.push_back({"--host-count", m.hosts->value});
  }
  const bool address = m.address && is_address(m.address->value);
  if (address) out.options.push_back({"--master-addr", m.address->value});
  for (const auto& option :
       {m.place, address ? std::nullopt : m.address, m.port, m.endpoint, m.own, m.is_first, m.timeout, m.last_call}) {
    if (option && std::find(out.notes.begin(), out.notes.end(), option->written) == out.notes.end()) {
      out.notes.push_back(option->written);
    }
  }
  return out;
}

// A single unnamed host is this machine, and the first, even within a batch job of several hosts.
Result<Settled> on_this_machine(RendezvousOptions m) {
  m.hosts.reset();
  if (m.place && m.place->value == "0") m.place.reset();
  Result<Settled> out = started_once(m);
  if (out) out->options.push_back({"--host-source", "local"});
  return out;
}

std::string head_of(const RendezvousOptions& m) {
  if (!m.address) return m.endpoint ? with_torch_port(m.endpoint->value) : "";
  const std::string& address = m.address->value;
  if (!m.port) return address;
  const bool v6 = address.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(v6 ? "[{}]:{}" : "{}:{}"), address, m.port->value);
}

std::string hosts_of(const RendezvousOptions& m) {
  return m.least_hosts ? m.least_hosts->value + ":" + m.hosts->value : m.hosts->value;
}

std::string which_and_where(const RendezvousOptions& m) {
  return fmt::format(
      "{} {}: name the hosts with -H HOST:SLOTS,... or --hostfile, and start this once; or start it on "
      "each of them, with {}",
      m.hosts->written, show(hosts_of(m), 40), m.naming_option);
}

// `calling` has the other facts of a line with which hosts call; null if they do not call.
std::optional<Error> all_that_lacks(const RendezvousOptions& m, const Rest* calling) {
  std::vector<std::string> clauses = m.refused;
  if (calling != nullptr && m.least_hosts && m.place && m.place->value != "0") {
    clauses.push_back(
        fmt::format("{}: where the number of hosts may vary they have their places as they come; leave it "
                    "out",
                    m.place->written));
  }
  if (calling != nullptr && !m.place && head_of(m).empty()) clauses.push_back(which_and_where(m));
  if (clauses.empty()) return std::nullopt;  // a missing secret alone is reported later, when its file is read
  if (calling != nullptr && !calling->secret_advice.empty()) {
    clauses.push_back("the hosts share no secret by which they know each other: " + calling->secret_advice);
  }
  if (clauses.size() == 1) return Error(ErrorKind::Usage, clauses.front());
  std::string all;
  for (std::size_t i = 0; i < clauses.size(); ++i)
    all += fmt::format("{}({}) {}", i == 0 ? "" : "; ", i + 1, clauses[i]);
  return Error(ErrorKind::Usage, fmt::format("{} things are missing, or cannot be had: {}", clauses.size(), all));
}

constexpr string_view kTimeout = "600";  // join_timeout of torch's rendezvous

// Each host starts sml-run itself. Without an index of this host, the first host assigns it.
Settled calling(const RendezvousOptions& m) {
  Settled out;
  out.options = {{"--host-source", "nnodes"},
                 {"--nnodes", hosts_of(m)},
                 {"--start-timeout", m.timeout ? m.timeout->value : std::string(kTimeout)}};
  if (m.least_hosts) out.options.push_back({"--grow-after", "0s"});  // hosts that call later are added at once
  if (m.last_call) out.options.push_back({"--last-call", m.last_call->value});
  const bool first = !m.place && m.is_first && m.is_first->value == "1";
  if (m.place || first) out.options.push_back({"--node-rank", first ? "0" : m.place->value});
  if (std::string head = head_of(m); !head.empty()) out.options.push_back({"--head", std::move(head)});
  if (m.address && m.endpoint) out.notes.push_back(m.endpoint->written);
  const bool usable = m.own && is_address(m.own->value);
  if (usable) out.options.push_back({"--master-addr", m.own->value});
  if (m.own && !usable) out.notes.push_back(m.own->written);
  return out;
}

}  // namespace

// --rdzv-conf join_timeout=600,is_host=1: other settings have no effect here.
Result<OptionTranslation> torch_rendezvous_settings(string_view written, Values values) {
  OptionTranslation out;
  for (string_view rest = values[0]; !rest.empty();) {
    string_view setting = take_until(rest, ',');
    const string_view key = take_until(setting, '=');
    const std::string value(setting);
    if (key == "join_timeout" || key == "last_call_timeout") {
      if (!all_digits(value)) return bad_value(value, fmt::format("a number of seconds for {}", key));
      (key == "join_timeout" ? out.rendezvous.timeout : out.rendezvous.last_call) =
          WrittenOption{std::string(written), value};
    } else if (key == "is_host") {
      const bool yes = value == "1" || value == "true" || value == "True" || value == "t" || value == "yes";
      out.rendezvous.is_first = {std::string(written), yes ? "1" : "0"};
    } else {
      out.note = written;
    }
  }
  return out;
}

// etcd is a server beside the hosts; here a host of the job would be taken for it.
Result<OptionTranslation> torch_rendezvous_backend(string_view written, Values values) {
  if (!values[0].starts_with("etcd")) return note_of(written);
  return Error(ErrorKind::Usage,
               fmt::format("\"{}\": sml-run meets at a host of the job, not at a server of etcd; write "
                           "c10d, and the first host for --rdzv-endpoint",
                           show(values[0], 40)));
}

Row as_streams(string_view names, string_view option) {
  return computed(names, 1, [option](string_view, Values values) {
    return values[0] == "0" ? OptionTranslation() : one(std::string(option), values[0]);
  });
}

// LOG_DIR/RUNID_x/attempt_N/LOCAL_RANK/stdout.log (torch/distributed/elastic/multiprocessing/api.py); x, which is
// random in torch, is made of the job's id and the host. If hosts are started one by one, each writes its own files.
void add_torch_log_defaults(const DialectInput& input, std::vector<SetOption>& out) {
  const string_view folder = last_given(input.given, "--log-dir");
  const string_view run_id = last_given(input.given, "--run-id");
  out.push_back({"--redirects", "0"});  // a stream that is not named goes to no file
  if (folder.empty()) out.push_back({"--log-dir", temporary_folder(input.environment)});
  const std::string attempt =
      fmt::format("{}{}_{{job}}_{{host}}/attempt_{{restart}}/", folder.empty() ? "torchelastic_{job}/" : "",
                  run_id.empty() ? "none" : in_layout(run_id));
  out.push_back({"--log-layout", attempt + "{local_rank}/{stream}.log"});
  if (is_given(input.given, {"--log-match-stdout", "--log-match-stderr"})) {
    out.push_back({"--log-match-layout", attempt + "filtered_{stream}.log"});
  }
  if (input.rendezvous.place) out.push_back({"--log-on-host", ""});
  if (!is_given(input.given, {"--tee"}) || is_given(input.given, {"--tag"})) return;
  const string_view prefix = plan::variable(input.environment, "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE");
  out.push_back({"--tee-tag", prefix.empty() ? "[{role}{local_rank}]:" : tag_of_prefix(prefix)});
}

std::string with_torch_port(const std::string& endpoint) {
  const bool v6 =
      endpoint.starts_with('[') ? endpoint.ends_with(']') : std::count(endpoint.begin(), endpoint.end(), ':') > 1;
  if (!v6 && endpoint.find(':') != std::string::npos) return endpoint;
  return fmt::format(fmt::runtime(v6 && !endpoint.starts_with('[') ? "[{}]:29400" : "{}:29400"), endpoint);
}

void set_host_count(RendezvousOptions& rendezvous, const std::string& written, string_view value) {
  const std::size_t colon = value.find(':');
  const string_view least = value.substr(0, colon);
  const string_view most = colon == string_view::npos ? least : value.substr(colon + 1);
  const bool is_range = all_digits(least) && all_digits(most) &&
                        (least.size() < most.size() || (least.size() == most.size() && least < most));
  if (!is_range && least != most) {
    refuse(rendezvous, written, bad_value(value, "a number of hosts, or MIN:MAX with MIN not above MAX"));
  }
  rendezvous.hosts = {written, std::string(is_range || least == most ? most : value)};
  if (is_range) rendezvous.least_hosts = {written, std::string(least)};
}

void merge(RendezvousOptions& all, const RendezvousOptions& more) {
  for (const auto member : {&RendezvousOptions::hosts, &RendezvousOptions::place, &RendezvousOptions::address,
                            &RendezvousOptions::port, &RendezvousOptions::endpoint, &RendezvousOptions::own,
                            &RendezvousOptions::is_first, &RendezvousOptions::timeout, &RendezvousOptions::last_call,
                            &RendezvousOptions::on_each, &RendezvousOptions::one_each}) {
    if (more.*member) all.*member = more.*member;
  }
  if (more.hosts) all.least_hosts = more.least_hosts;
  if (more.hosts) all.naming_option = more.naming_option;
  for (const std::string& clause : more.refused) {
    if (std::find(all.refused.begin(), all.refused.end(), clause) == all.refused.end()) all.refused.push_back(clause);
  }
}

namespace {

// sml-run is started on each of the named hosts, which call the first.
Result<Settled> on_each_host(const RendezvousOptions& rendezvous, const Rest& rest) {
  const std::string& written = rendezvous.on_each->written;
  const bool alone = rest.named == HostsNamed::No && rendezvous.place && rendezvous.place->value == "0";
  if (alone) return on_this_machine(rendezvous);
  if (rest.named == HostsNamed::No) {
    return Error(ErrorKind::Usage, written + ": the hosts are not named; name them with --hostfile");
  }
  if (!rendezvous.place) {
    return Error(ErrorKind::Usage,
                 fmt::format("{}: the number of this host is missing; write --node_rank N, from 0", written));
  }
  Settled out;
  out.options = {{"--start-timeout", std::string(kTimeout)}, {"--node-rank", rendezvous.place->value}};
  if (std::string head = head_of(rendezvous); !head.empty()) out.options.push_back({"--head", std::move(head)});
  return out;
}

// Each host starts one process, which gets the address of the first host and no other fact about the job: so
// prepare_simple_launcher_cmd_env() of Accelerate's utils/launch.py does it.
Settled one_process_here(const RendezvousOptions& m) {
  Settled out;
  out.options = {{"--host-source", "local"}, {"--np", "1"}};
  if (m.address) out.options.push_back({"-x", "MASTER_ADDR=" + m.address->value});
  if (m.port) out.options.push_back({"-x", "MASTER_PORT=" + m.port->value});
  out.notes.push_back(fmt::format("{} {} ({} starts one process on each machine, which knows no others)",
                                  m.hosts->written, show(m.hosts->value, 40), m.one_each->written));
  return out;
}

}  // namespace

Result<Settled> settle(const RendezvousOptions& rendezvous, const Rest& rest) {
  if (rendezvous.on_each) return on_each_host(rendezvous, rest);
  const bool once = rest.named == HostsNamed::Yes || !rendezvous.hosts;
  const bool several = !once && rendezvous.hosts->value != "1";
  if (several && rendezvous.one_each) return one_process_here(rendezvous);
  if (std::optional<Error> lacks = all_that_lacks(rendezvous, several ? &rest : nullptr)) return *lacks;
  if (once) return started_once(rendezvous);
  return several ? calling(rendezvous) : on_this_machine(rendezvous);
}

std::vector<SetOption> defaults_of_torchrun(const DialectInput& input) {
  std::vector<SetOption> out{{"--no-tag", ""},
                             {"--nproc-per-node", "1"},
                             {"--host-source", "local"},
                             {"--torch-store", ""},
                             {"--max-fruitless", "0"}};
  // The process that started torchrun reads there why it failed.
  const string_view error_file = plan::variable(input.environment, "TORCHELASTIC_ERROR_FILE");
  if (!error_file.empty()) out.push_back({"--error-file", std::string(error_file)});
  if (is_given(input.given, {"--log-dir", "--redirects", "--tee", "--log-match-stdout", "--log-match-stderr"})) {
    add_torch_log_defaults(input, out);
  }
  return out;
}

std::vector<Row> torchrun_rows() {
  return {
      computed("nnodes", 1, hosts_count),
      as_rendezvous_option("node-rank", &RendezvousOptions::place),
      computed("nproc-per-node", 1, workers_per_host),
      as_option("max-restarts", "--max-restarts"),
      as_rendezvous_option("master-addr", &RendezvousOptions::address),
      as_rendezvous_option("master-port", &RendezvousOptions::port),
      as_rendezvous_option("rdzv-endpoint", &RendezvousOptions::endpoint),
      as_streams("t tee", "--tee"),
      as_streams("r redirects", "--redirects"),
      as_option("local-ranks-filter", "--show-local-ranks"),
      as_fixed("standalone", {{"--host-source", "local"}}),
      as_option("log-dir", "--log-dir"),
      as_option("role", "--role"),
      as_option("rdzv-id", "--run-id"),
      as_option("shutdown-timeout", "--grace"),
      one_of(kHowToRun, as_program("m module", Program::Module)),
      one_of(kHowToRun, as_program("no-python", Program::Executable)),
      one_of(kHowToRun, as_program("run-path", Program::Script)),
      as_is("use-env", 0),
      noted("monitor-interval start-method event-log-handler logs-specs", 1),
      as_rendezvous_option("local-addr", &RendezvousOptions::own),
      computed("rdzv-conf", 1, torch_rendezvous_settings),
      computed("rdzv-backend", 1, torch_rendezvous_backend),
      noted("signals-to-handle", 1),
      computed("log-line-prefix-template", 1, line_prefix),
      as_option("duplicate-stdout-filters", "--log-match-stdout"),
      as_option("duplicate-stderr-filters", "--log-match-stderr"),
      as_fixed("virtual-local-rank", {{"--preset", "virtual-local-rank"}, {"--visible-devices", "per-rank-if-any"}}),
      as_option("print-completion", "--completion"),
      computed("numa-binding", 1, numa_binding),
  };
}

}  // namespace sml::dialects
