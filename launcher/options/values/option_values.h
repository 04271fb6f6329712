// Functions that parse the text of an option's value and store it in a field of Options. Error messages continue after
// "--option: ". A value that is stored as it stands needs no function of its own: see value_binders.h.
#pragma once
#include <cstdint>
#include <string_view>

#include "common/core/error.h"
#include "launcher/options/options.h"

namespace sml {

enum class ForwardSignals : std::uint8_t { Default, Given };  // whether --forward-signals was given

Result<void> set_np(Options& o, std::string_view value);
Result<void> set_nproc_per_node(Options& o, std::string_view value);
Result<void> set_map_by(Options& o, std::string_view value);
Result<void> set_rank_by(Options& o, std::string_view value);
Result<void> set_bind_to(Options& o, std::string_view value);
Result<void> set_cpu_set(Options& o, std::string_view value);
Result<void> set_cpus_per_rank(Options& o, std::string_view value);
Result<void> set_gpus_per_rank(Options& o, std::string_view value);
Result<void> set_nnodes(Options& o, std::string_view value);
Result<void> set_host_source(Options& o, std::string_view value);
Result<void> add_export_word(Options& o, std::string_view value);
Result<void> add_env_file(Options& o, std::string_view value);
Result<void> set_max_restarts(Options& o, std::string_view value);
Result<void> add_give_up(Options& o, std::string_view value);
Result<void> set_exclude_after(Options& o, std::string_view value);
Result<void> set_exclude_for(Options& o, std::string_view value);
Result<void> set_forward_signals(Options& o, std::string_view value);
Result<void> set_stop_signal(Options& o, std::string_view value);
Result<void> set_checkpoint_signal(Options& o, std::string_view value);
Result<void> set_stdin(Options& o, std::string_view value);
Result<void> set_results_limit(Options& o, std::string_view value);
Result<void> set_master_address(Options& o, std::string_view value);
Result<void> set_preset(Options& o, std::string_view value);
Result<void> set_role(Options& o, std::string_view value);
Result<void> set_mpi(Options& o, std::string_view value);
Result<void> set_pmix(Options& o, std::string_view value);
Result<void> set_torch_store(Options& o, std::string_view);
Result<void> set_no_torch_store(Options& o, std::string_view);
Result<void> add_timeline(Options& o, std::string_view value);
Result<void> set_show_local_ranks(Options& o, std::string_view value);
Result<void> set_run_id(Options& o, std::string_view value);
Result<void> set_output_filename(Options& o, std::string_view value);
Result<void> set_log_layout(Options& o, std::string_view value);
Result<void> set_log_match_layout(Options& o, std::string_view value);
Result<void> set_log_match_stdout(Options& o, std::string_view value);
Result<void> set_log_match_stderr(Options& o, std::string_view value);
Result<void> set_log_max_size(Options& o, std::string_view value);
Result<void> set_channel(Options& o, std::string_view value);
Result<void> set_start_timeout(Options& o, std::string_view value);
Result<void> set_heartbeat_timeout(Options& o, std::string_view value);
Result<void> set_ssh_user(Options& o, std::string_view value);
Result<void> set_ssh_command(Options& o, std::string_view value);
Result<void> set_start_by(Options& o, std::string_view value);
Result<void> set_tag(Options& o, std::string_view value);
Result<void> set_no_tag(Options& o, std::string_view);
Result<void> set_show_ranks(Options& o, std::string_view value);
Result<void> set_quiet_workers(Options& o, std::string_view);
Result<void> set_all_lines(Options& o, std::string_view);
Result<void> set_status_signal(Options& o, std::string_view value);
Result<void> set_warn_silent(Options& o, std::string_view value);
Result<void> set_metrics(Options& o, std::string_view value);
Result<void> add_notify(Options& o, std::string_view value);
Result<void> set_notify_on(Options& o, std::string_view value);
Result<void> set_watch(Options& o, std::string_view value);
Result<void> set_first_heartbeat(Options& o, std::string_view value);
Result<void> set_rank_heartbeat(Options& o, std::string_view value);
Result<void> set_rank_sections(Options& o, std::string_view value);
Result<void> set_rank_outside(Options& o, std::string_view value);
// settle_...() check and complete combinations of options that are valid one by one, but perhaps not together.
Result<void> settle_watch(const Options& o);
Result<void> settle_status_signal(Options& o, ForwardSignals given);
Result<void> set_failure_file(Options& o, std::string_view value);
Result<void> set_no_failure_file(Options& o, std::string_view);
Result<void> add_pipe_fanout(Options& o, std::string_view value);

}  // namespace sml
