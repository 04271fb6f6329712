// Building blocks for the tables of dialects.
#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/dialects/dialect.h"

namespace sml::dialects {

using Values = std::span<const std::string>;
using Translate = std::function<Result<OptionTranslation>(std::string_view written, Values values)>;

// Passes the value to an option of sml-run.
Row as_option(std::string_view names, std::string_view option);
// The value is the number of workers on every host, and of its slots if none are given.
Row as_per_host(std::string_view names);
// A flag stands for fixed options of sml-run.
Row as_fixed(std::string_view names, std::vector<Given> options);
// Passes the value to the workers in a variable; a flag sets the given assignment.
Row as_variable(std::string_view names, std::string_view variable);
Row as_variable_set(std::string_view names, std::string_view assignment);
// Without effect: as_is() since it is the behaviour anyway; noted() since it does not apply here, which is noted.
Row as_is(std::string_view names, std::size_t values);
Row noted(std::string_view names, std::size_t values);
// Rejected, since it would change the result and is not supported.
Row refused(std::string_view names, std::size_t values, std::string_view why);
Row computed(std::string_view names, std::size_t values, Translate translate);
// Accepts a value after "=", too.
Row optional(Row flag);
// Sets how the word after the options is treated.
Row as_program(std::string_view names, Program kind);
// Stores the value in a member of the rendezvous options.
Row as_said(std::string_view names, std::optional<Said> RendezvousOptions::*member);
// torchrun's --redirects and --tee, for which 0 means none; its --rdzv-conf and --rdzv-backend; and its default paths
// of log files.
Row as_streams(std::string_view names, std::string_view option);
Result<OptionTranslation> torch_meeting_settings(std::string_view written, Values values);
Result<OptionTranslation> torch_rendezvous_backend(std::string_view written, Values values);
void add_torch_log_defaults(const Told& told, std::vector<Given>& out);
// Adds a row to the group `choice`, whose rows exclude each other on a command line.
Row one_of(std::string_view choice, Row row);

// The group of torchrun's options that say what the word after the options is.
inline constexpr std::string_view kHowToRun = "how the script is run";

// "-p 2222 -i key -l user": arguments for the ssh or srun that a launcher would start. Of ssh's these three are known.
// Slurm itself asks for --external-launcher, which the starter srun gives by itself. Others are noted.
Result<OptionTranslation> starter_arguments(std::string_view written, std::string_view text);

OptionTranslation one(std::string option, std::string value);
// "-mca plm_base_verbose": an option without effect, with the part of its value that identifies it.
OptionTranslation note_of(std::string_view written, std::string_view detail = "");
Error bad_value(std::string_view value, std::string_view expected);

bool is_given(std::span<const Given> given, std::initializer_list<std::string_view> names);
// The value of the last occurrence; empty if there is none.
std::string_view last_given(std::span<const Given> given, std::string_view option);

std::vector<Given> defaults_of_torchrun(const Told& told);
std::vector<Given> defaults_of_deepspeed(const Told& told);
std::vector<Given> defaults_of_horovodrun(std::span<const Given> given);
std::vector<Given> defaults_of_accelerate(const Told& told);
std::vector<std::string> config_files_of_accelerate(const Told& told);

std::vector<Row> mpirun_rows();
std::vector<Row> hydra_rows();
std::vector<Row> horovodrun_rows();
std::vector<Row> torchrun_rows();
std::vector<Row> srun_rows();
std::vector<Row> deepspeed_rows();
std::vector<Row> accelerate_rows();

}  // namespace sml::dialects
