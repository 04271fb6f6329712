// The text that a failed job leaves for the platform to show: /opt/ml/output/failure of a training job (its first 1024
// characters become FailureReason) and /opt/ml/output/message of a processing job (its first KB becomes ExitMessage).
// Pure.
// Sources: "How Amazon SageMaker Signals Algorithm Success and Failure", "Build Your Own Processing Container"
// (developer guide).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "launcher/report/outcome/job_outcome.h"

namespace sml::sagemaker {

struct TextLimit {
  std::size_t characters;
  std::size_t bytes;
};
inline constexpr TextLimit kFailureLimit{.characters = 1024, .bytes = 4096};
inline constexpr TextLimit kMessageLimit{.characters = 1024, .bytes = 1024};

// The text about a failed attempt; empty for a job that succeeded. The most useful parts come first, as the text is cut
// at the end: the exception or last line of the worker that is the root cause, where and how it ended, the number of
// other failures, its last lines. Valid UTF-8, whole characters, within the limit. Values that look like secrets are
// shown as ***.
std::string failure_text(const report::AttemptFacts& facts, const report::JobOutcome& verdict, TextLimit limit);

// The text about an error before any worker has started: one sentence.
std::string failure_text(const Error& error, TextLimit limit);

// `text` with the values of NAME=VALUE, NAME: VALUE and --NAME VALUE hidden if the name is that of a secret (KEY,
// TOKEN, SECRET, PASSWORD, PRIVATE, CREDENTIAL).
std::string without_secrets(std::string_view text);

}  // namespace sml::sagemaker
