// Parses hyperparameters.json of a SageMaker training job, and makes a program's arguments from it. Pure.
// Sources: "How Amazon SageMaker Provides Training Information" (developer guide); sagemaker-training-toolkit 5.1,
// mapping.py (to_cmd_args) and environment.py (read_hyperparameters); sagemaker-train 1.27, container_drivers
// (environment.py, hyperparameters_to_cli_args).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "launcher/sagemaker/python_value.h"

namespace sml::sagemaker {

struct Hyperparameter {
  std::string name;
  Value written;  // as in the file: a string on the real service
  Value value;    // that string parsed as JSON; the string itself if it is not JSON
};
using Hyperparameters = std::vector<Hyperparameter>;  // in the order of the file

// `path` is used in messages only. Errors (Config): not JSON, not an object, or larger than 4 MiB.
Result<Hyperparameters> parse_hyperparameters(std::string_view text, std::string_view path);

const Value* find(const Hyperparameters& all, std::string_view name);

// The user's hyperparameters: all but the platform's own ("sagemaker_*" and a few more names).
Hyperparameters of_user(const Hyperparameters& all);
// The hyperparameters for the framework: "sagemaker_*" without those that the toolkit itself consumes.
Object of_framework(const Hyperparameters& all);

// The two ways to write hyperparameters as arguments of the program.
enum class ArgumentStyle : std::uint8_t {
  Toolkit,  // only those of the user, sorted by name, in Python's notation: as the training toolkit does
  V3,       // all, in the order of the file, in JSON: as version 3 of the SDK does
};
std::vector<std::string> arguments_of(const Hyperparameters& all, ArgumentStyle style);

}  // namespace sml::sagemaker
