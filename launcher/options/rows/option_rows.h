// The rows of the option table, by the files that hold them, and helpers that these share.
#pragma once
#include <string_view>
#include <vector>

#include "launcher/options/option_table.h"

namespace sml {

// Marks a row as having no effect unless one of the options `needed` is given.
inline OptionRow needing(std::string_view needed, OptionRow row) {
  row.needs = needed;
  return row;
}

// Marks a row as allowed for each of several programs.
inline OptionRow of_program(OptionRow row) {
  row.holds_for = HoldsFor::Program;
  return row;
}

// Sets the fixed words of a row whose `value` is only a name for them.
inline OptionRow of_these(std::string_view values, OptionRow row) {
  row.fixed_values = values;
  return row;
}

// Marks a row as rarely needed, such as the negation of an option, or an option for tests.
inline OptionRow rare(OptionRow row) {
  row.listed = Listed::AsRare;
  return row;
}

// Marks a row to which only lines of other launchers lead.
inline OptionRow under_other_names(OptionRow row) {
  row.listed = Listed::UnderOtherNames;
  return row;
}

// Appends rows to a group.
inline OptionGroup with(OptionGroup group, const std::vector<OptionRow>& more) {
  group.rows.insert(group.rows.end(), more.begin(), more.end());
  return group;
}

// job_rows.cc
OptionGroup options_of_workers();
OptionGroup options_of_hosts();
OptionGroup options_of_worker_environment();
std::vector<OptionGroup> options_of_the_run();
OptionGroup options_of_restarts();
OptionGroup options_of_programs();
OptionGroup options_of_the_records();

// platform_rows.cc
OptionGroup options_of_placement();
OptionGroup options_of_shares();
OptionGroup options_of_arrays();
OptionGroup options_of_data();
OptionGroup options_of_dial_in();
OptionGroup options_of_sagemaker();
OptionGroup options_of_fifos();

// output_rows.cc
OptionGroup options_of_the_output();

// launcher_rows.cc
OptionGroup options_of_limits();
OptionGroup options_of_ssh();
OptionGroup options_of_information();

// progress_rows.cc
OptionGroup options_of_the_progress();

}  // namespace sml
