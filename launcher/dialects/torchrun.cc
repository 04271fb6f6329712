// torchrun, which is torch.distributed.run, of torch 2.
#include <fmt/format.h>

#include "common/core/text.h"
#include "launcher/dialects/rows.h"

namespace sml::dialects {

namespace {

using std::string_view;

Result<Meaning> hosts_count(string_view written, Values values) {
  const std::string& text = values[0];
  if (text == "1" || text == "1:1") return Meaning();
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos && text.substr(0, colon) != text.substr(colon + 1)) {
    return bad_value(text, "one number; the hosts of a job are fixed");
  }
  Meaning out;
  out.needs_hosts = fmt::format(
      "{} {}: sml-run is called once and starts the workers of all hosts; name them with -H "
      "HOST:SLOTS,... or --hostfile",
      written, show(text, 40));
  return out;
}

Result<Meaning> host_rank(string_view written, Values values) {
  if (values[0] == "0") return note_of(written);
  return bad_value(values[0], "0; sml-run is called once, on one host, and starts the workers of all");
}

Result<Meaning> workers_per_host(string_view, Values values) {
  if (values[0] == "xpu") return bad_value(values[0], "a number, auto, gpu or cpu");
  return one("--nproc-per-node", values[0]);
}

Result<Meaning> restarts(string_view, Values values) {
  if (values[0] == "0") return Meaning();
  return bad_value(values[0], "0; sml-run restarts no worker");
}

// torchrun accepts a name; it is of the host on which it runs, where rank 0 will be.
Result<Meaning> master_address(string_view written, Values values) {
  const bool numeric =
      values[0].find_first_not_of("0123456789.") == std::string::npos || values[0].find(':') != std::string::npos;
  return numeric && values[0] != "127.0.0.1" ? one("--master-addr", values[0]) : note_of(written);
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

constexpr string_view kNoFunctions = "sml-run starts programs only; write the script alone";

}  // namespace

std::vector<Row> torchrun_rows() {
  return {
      computed("nnodes", 1, hosts_count),
      computed("node-rank", 1, host_rank),
      computed("nproc-per-node", 1, workers_per_host),
      computed("max-restarts", 1, restarts),
      computed("master-addr", 1, master_address),
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
      noted("master-port rdzv-backend rdzv-endpoint rdzv-id rdzv-conf local-addr signals-to-handle", 1),
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
