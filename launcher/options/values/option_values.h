// Functions that parse the texts of values with a grammar of their own. For all other values see value_binders.h.
#pragma once
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "launcher/options/options.h"

namespace sml {

// Parses the text of a value and stores it in its field of `options`. Error messages continue after "--option: ".
using Setter = Result<void> (*)(Options& options, std::string_view value);

enum class ForwardSignals : std::uint8_t { Default, Given };  // whether --forward-signals was given

// The signals that --stop-signal and --checkpoint-signal accept: a program can handle them, and they have no other
// meaning to the launcher or to it.
inline constexpr int kSignalsForWorkers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGABRT, SIGUSR1,
                                             SIGUSR2, SIGALRM, SIGTERM, SIGPWR,  SIGXCPU};

// These return the value.
Result<std::string> log_layout(std::string_view value);
// The words of "a,b"; two commas stand for one that belongs to a word.
Result<std::vector<std::string>> words_between_commas(std::string_view value);
Result<output::TagTemplate> tag_template(std::string_view value);
Result<std::vector<std::string>> command_words(std::string_view value);
Result<std::uint64_t> heartbeat_limit(std::string_view value);  // in milliseconds; "none": 0
Result<std::vector<plan::SectionLimit>> section_limits(std::string_view value);
Result<std::uint8_t> notify_events(std::string_view value);  // the bits of NotifyOn
bool is_numeric_address(std::string_view text);              // of IPv4 or IPv6

// These are setters.
Result<void> set_nproc_per_node(Options& o, std::string_view value);
Result<void> set_map_by(Options& o, std::string_view value);
Result<void> set_bind_to(Options& o, std::string_view value);
Result<void> set_cpu_set(Options& o, std::string_view value);
Result<void> set_cpus_per_rank(Options& o, std::string_view value);
Result<void> set_nnodes(Options& o, std::string_view value);
Result<void> set_host_source(Options& o, std::string_view value);
Result<void> add_export_word(Options& o, std::string_view value);
Result<void> set_forward_signals(Options& o, std::string_view value);
Result<void> set_checkpoint_signal(Options& o, std::string_view value);
Result<void> set_stdin(Options& o, std::string_view value);
Result<void> set_mpi(Options& o, std::string_view value);
Result<void> set_output_filename(Options& o, std::string_view value);
Result<void> set_channel(Options& o, std::string_view value);
Result<void> add_pipe_fanout(Options& o, std::string_view value);
Result<void> set_start_by(Options& o, std::string_view value);
Result<void> set_metrics(Options& o, std::string_view value);
Result<void> add_notify(Options& o, std::string_view value);

// settle_...() check and complete combinations of options that are valid one by one, but perhaps not together.
Result<void> settle_watch(const Options& o);
Result<void> settle_status_signal(Options& o, ForwardSignals given);

}  // namespace sml
