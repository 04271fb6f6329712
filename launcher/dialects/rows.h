// From which the tables of dialects are made.
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
using Translate = std::function<Result<Meaning>(std::string_view written, Values values)>;

// The values go to our option.
Row as_option(std::string_view names, std::string_view option);
// So many on every host, which has as many slots where none are named.
Row as_per_host(std::string_view names);
// A flag is an option of ours, with or without a value.
Row as_fixed(std::string_view names, std::vector<Given> options);
// Workers find the value in a variable; a flag sets it to what is named here.
Row as_variable(std::string_view names, std::string_view variable);
Row as_variable_set(std::string_view names, std::string_view assignment);
// Changes nothing, since it is so anyway; or since it means nothing here, which is noted.
Row as_is(std::string_view names, std::size_t values);
Row noted(std::string_view names, std::size_t values);
// Would change the result, and cannot be had.
Row refused(std::string_view names, std::size_t values, std::string_view why);
Row computed(std::string_view names, std::size_t values, Translate translate);
// Takes a value after "=" too.
Row optional(Row flag);
// What the word after the options is.
Row as_program(std::string_view names, Program kind);
// The value is of the meeting of hosts.
Row as_said(std::string_view names, std::optional<Said> Meeting::*member);
// torchrun's --redirects and --tee, of which 0 means none; its --rdzv-conf; and where its log files lie.
Row as_streams(std::string_view names, std::string_view option);
Result<Meaning> torch_meeting_settings(std::string_view written, Values values);
void add_torch_log_defaults(const Told& told, std::vector<Given>& out);
// One of several, by the name of their choice, which exclude each other on a command line.
Row one_of(std::string_view choice, Row row);

Meaning one(std::string option, std::string value);
// "-mca plm_base_verbose": an option without effect, with the values that tell it from others.
Meaning note_of(std::string_view written, std::string_view detail = "");
Error bad_value(std::string_view value, std::string_view expected);

bool is_given(std::span<const Given> given, std::initializer_list<std::string_view> names);
// The value of the last one; empty: there is none.
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
