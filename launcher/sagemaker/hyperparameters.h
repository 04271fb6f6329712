// hyperparameters.json of a SageMaker training job, and the arguments that a program gets from it. Pure.
// Sources: "How Amazon SageMaker Provides Training Information" (developer guide); sagemaker-training-toolkit 5.1,
// mapping.py (to_cmd_args) and environment.py (read_hyperparameters); SageMaker Python SDK v3, the container drivers'
// hyperparameters_to_cli_args.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "launcher/sagemaker/python_value.h"

namespace sml::sagemaker {

struct Hyperparameter {
  std::string name;
  Value written;  // as the file has it: a string, on the real service
  Value value;    // what that string says as JSON; the string itself where it says nothing
};
using Hyperparameters = std::vector<Hyperparameter>;  // in the order of the file

// `path` is used in messages only. Errors (Config): not JSON, not an object, larger than 4 MiB.
Result<Hyperparameters> parse_hyperparameters(std::string_view text, std::string_view path);

const Value* find(const Hyperparameters& all, std::string_view name);

// The user's: all but the platform's own ("sagemaker_*" and a few more names).
Hyperparameters of_user(const Hyperparameters& all);
// The framework's: "sagemaker_*", less those that the toolkit itself uses up.
Object of_framework(const Hyperparameters& all);

enum class ArgumentStyle : std::uint8_t {
  Toolkit,  // sorted; Python's spelling; only the user's
  V3,       // in the order of the file; JSON; all
};
std::vector<std::string> arguments_of(const Hyperparameters& all, ArgumentStyle style);

}  // namespace sml::sagemaker
