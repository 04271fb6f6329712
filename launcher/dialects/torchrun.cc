// torchrun, which is torch.distributed.run, of torch 2.
#include <fmt/format.h>

#include "common/core/text.h"
#include "launcher/dialects/rows.h"

namespace sml::dialects {

namespace {

using std::string_view;

Result<Meaning> hosts_count(string_view written, Values values) {
  Result<std::string> count = fixed_count(values[0]);
  if (!count) return count.error();
  Meaning out;
  out.meeting.hosts = {std::string(written), std::move(*count)};
  return out;
}

// For each option of a meeting.
Row as_said(string_view names, std::optional<Said> Meeting::*member) {
  return computed(names, 1, [member](string_view written, Values values) -> Result<Meaning> {
    Meaning out;
    out.meeting.*member = {std::string(written), values[0]};
    return out;
  });
}

Result<Meaning> workers_per_host(string_view, Values values) {
  if (values[0] == "xpu") return bad_value(values[0], "a number, auto, gpu or cpu");
  return one("--nproc-per-node", values[0]);
}

Result<Meaning> restarts(string_view, Values values) {
  if (values[0] == "0") return Meaning();
  return bad_value(values[0], "0; sml-run restarts no worker");
}

Result<Meaning> tee(string_view written, Values values) {
  if (values[0] == "0") return Meaning();
  Meaning out = one("--tag", "[default{local_rank}]:");
  if (values[0] != "3") out.note = fmt::format("{} {}", written, show(values[0], 40));
  return out;
}

Result<Meaning> redirects(string_view, Values values) {
  if (values[0] == "0") return Meaning();
  if (values[0] == "3") return one("--quiet-workers", "");
  return bad_value(values[0], "0 or 3; both streams go to --log-dir, or none");
}

Result<Meaning> numa_binding(string_view, Values values) {
  if (values[0] == "node") return one("--bind-to", "numa");
  if (values[0] == "socket") return one("--bind-to", "socket");
  return bad_value(values[0], "node or socket");
}

Meaning program(Program kind) {
  Meaning out;
  out.program = kind;
  return out;
}

Row as_program(string_view names, Program kind) {
  return computed(names, 0, [kind](string_view, Values) { return program(kind); });
}

// torchrun accepts a name; it is of the host on which it runs, where rank 0 will be.
bool is_address(string_view text) {
  const bool numeric =
      text.find_first_not_of("0123456789.") == string_view::npos || text.find(':') != string_view::npos;
  return numeric && text != "127.0.0.1";
}

Result<Settled> started_once(const Meeting& m) {
  Settled out;
  if (m.place && m.place->value != "0") {
    return bad_value(m.place->value, "0; sml-run is called once, on one host, and starts the workers of all")
        .in(m.place->written);
  }
  if (m.hosts) out.options.push_back({"--host-count", m.hosts->value});
  const bool address = m.address && is_address(m.address->value);
  if (address) out.options.push_back({"--master-addr", m.address->value});
  for (const auto& said : {m.place, address ? std::nullopt : m.address, m.port, m.endpoint}) {
    if (said) out.notes.push_back(said->written);
  }
  return out;
}

// One host that nobody names is this one, also in a batch job of several.
Result<Settled> on_this_machine(Meeting m) {
  m.hosts.reset();
  Result<Settled> out = started_once(m);
  if (out) out->options.push_back({"--host-source", "local"});
  return out;
}

std::string head_of(const Meeting& m) {
  if (!m.address) return m.endpoint ? m.endpoint->value : "";
  const std::string& address = m.address->value;
  if (!m.port) return address;
  const bool v6 = address.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(v6 ? "[{}]:{}" : "{}:{}"), address, m.port->value);
}

constexpr string_view kNoFunctions = "sml-run starts programs only; write the script alone";

}  // namespace

Result<std::string> fixed_count(string_view text) {
  const std::size_t colon = text.find(':');
  const bool varies = colon != string_view::npos && text.substr(0, colon) != text.substr(colon + 1);
  if (varies) return bad_value(text, "one number; the hosts of a job are fixed");
  return std::string(text.substr(0, colon));
}

void merge(Meeting& all, const Meeting& more) {
  for (const auto member : {&Meeting::hosts, &Meeting::place, &Meeting::address, &Meeting::port, &Meeting::endpoint}) {
    if (more.*member) all.*member = more.*member;
  }
}

Result<Settled> settle(const Meeting& meeting, HostsNamed named) {
  if (named == HostsNamed::Yes || !meeting.hosts) return started_once(meeting);
  if (meeting.hosts->value == "1") return on_this_machine(meeting);
  if (!meeting.place) {
    return Error(
        ErrorKind::Usage,
        fmt::format("{} {}: name the hosts with -H HOST:SLOTS,... or --hostfile, and start this once; or start "
                    "it on each of them, with --node-rank I and --master-addr ADDR",
                    meeting.hosts->written, show(meeting.hosts->value, 40)));
  }
  Settled out;
  out.options = {
      {"--host-source", "nnodes"}, {"--nnodes", meeting.hosts->value}, {"--node-rank", meeting.place->value}};
  if (std::string head = head_of(meeting); !head.empty()) out.options.push_back({"--head", std::move(head)});
  if (meeting.address && meeting.endpoint) out.notes.push_back(meeting.endpoint->written);
  return out;
}

std::vector<Row> torchrun_rows() {
  return {
      computed("nnodes", 1, hosts_count),
      as_said("node-rank", &Meeting::place),
      computed("nproc-per-node", 1, workers_per_host),
      computed("max-restarts", 1, restarts),
      as_said("master-addr", &Meeting::address),
      as_said("master-port", &Meeting::port),
      as_said("rdzv-endpoint", &Meeting::endpoint),
      computed("t tee", 1, tee),
      computed("r redirects", 1, redirects),
      as_fixed("standalone", {{"--host-source", "local"}}),
      as_option("log-dir", "--log-dir"),
      as_option("role", "--role"),
      as_option("shutdown-timeout", "--grace"),
      as_program("m module", Program::Module),
      as_program("no-python", Program::Executable),
      as_is("use-env", 0),
      noted("monitor-interval start-method event-log-handler logs-specs", 1),
      noted("rdzv-backend rdzv-id rdzv-conf local-addr signals-to-handle", 1),
      refused("run-path", 0, kNoFunctions),
      refused("local-ranks-filter", 1, "it counts on each host anew; name ranks of the whole job for --show-ranks"),
      refused("log-line-prefix-template", 1, "write it for --tag, with {rank}, {local_rank} and {host}"),
      refused("duplicate-stdout-filters duplicate-stderr-filters", 1,
              "sml-run does not filter lines by what they hold"),
      refused("virtual-local-rank", 0, "write --visible-devices per-rank; LOCAL_RANK stays what it is"),
      computed("numa-binding", 1, numa_binding),
  };
}

}  // namespace sml::dialects
