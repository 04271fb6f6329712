// Building blocks for the tables of dialects. `names` and `values` are everywhere those of Row.
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

// The value becomes that of an option of sml-run.
Row as_option(std::string_view names, std::string_view option);
// The value is the number of workers on every host, and also a host's number of slots if its source gives none.
Row as_per_host(std::string_view names);
// A flag stands for fixed options of sml-run.
Row as_fixed(std::string_view names, std::vector<SetOption> options);
// as_variable(): the workers get the value in a variable. as_variable_set(): a flag, for which the workers get the
// variable "NAME=VALUE".
Row as_variable(std::string_view names, std::string_view variable);
Row as_variable_set(std::string_view names, std::string_view assignment);
// Options without effect. as_is(): sml-run behaves like this anyway. noted(): the option does not apply to sml-run, and
// a note explains that.
Row as_is(std::string_view names, std::size_t values);
Row noted(std::string_view names, std::size_t values);
// The option is rejected, with the error text `why`, since it would change the result and is not supported.
Row refused(std::string_view names, std::size_t values, std::string_view why);
// `translate` makes the translation from the values.
Row computed(std::string_view names, std::size_t values, Translate translate);
// Makes the value of a flag optional: "--nice" or "--nice=N".
Row optional(Row flag);
// A flag that sets OptionTranslation::program.
Row as_program(std::string_view names, Program kind);
// The value goes, with the option as written, into a member of the rendezvous options.
Row as_rendezvous_option(std::string_view names, std::optional<WrittenOption> RendezvousOptions::*member);
// torchrun's --redirects and --tee, for which 0 means that no stream is meant.
Row as_streams(std::string_view names, std::string_view option);
// torchrun's --rdzv-conf.
Result<OptionTranslation> torch_rendezvous_settings(std::string_view written, Values values);
// torchrun's --rdzv-backend. Refuses etcd.
Result<OptionTranslation> torch_rendezvous_backend(std::string_view written, Values values);
// Appends torchrun's default streams and paths of log files, and the tag of lines that --tee shows, as options of
// sml-run.
void add_torch_log_defaults(const DialectInput& input, std::vector<SetOption>& out);
// Adds a row to the group `choice`, whose rows exclude each other on a command line.
Row one_of(std::string_view choice, Row row);

// The group of torchrun's options that define what the word after the options is.
inline constexpr std::string_view kHowToRun = "how the script is run";

// Translates arguments for the ssh or srun that a launcher would start, such as "-p 2222 -i key -l user". Supports -p,
// -i, -l, and an -o that makes ssh wait for hosts. Ignores --external-launcher, which Slurm asks for and sml-run passes
// to srun anyway. All others are noted.
Result<OptionTranslation> starter_arguments(std::string_view written, std::string_view text);

// A translation to one option of sml-run.
OptionTranslation one(std::string option, std::string value);
// "-mca plm_base_verbose": an option without effect, with the part of its value that identifies it.
OptionTranslation note_of(std::string_view written, std::string_view detail = "");

// Whether any of these options of sml-run is given.
bool is_given(std::span<const SetOption> given, std::initializer_list<std::string_view> names);
// The value of the option's last occurrence; empty if there is none.
std::string_view last_given(std::span<const SetOption> given, std::string_view option);

// See defaults_of() and config_files().
std::vector<SetOption> defaults_of_torchrun(const DialectInput& input);
std::vector<SetOption> defaults_of_deepspeed(const DialectInput& input);
std::vector<SetOption> defaults_of_horovodrun(std::span<const SetOption> given);
std::vector<SetOption> defaults_of_accelerate(const DialectInput& input);
std::vector<std::string> config_files_of_accelerate(const DialectInput& input);

std::vector<Row> mpirun_rows();
std::vector<Row> hydra_rows();
std::vector<Row> horovodrun_rows();
std::vector<Row> torchrun_rows();
std::vector<Row> srun_rows();
std::vector<Row> deepspeed_rows();
std::vector<Row> accelerate_rows();

}  // namespace sml::dialects
