// Parses the failure that a Python worker reports in TORCHELASTIC_ERROR_FILE. Pure.
// Source: torch.distributed.elastic.multiprocessing.errors.error_handler (torch 1.13 to 2.14): one JSON object,
// {"message": {"message": "RuntimeError: ...", "extraInfo": {"py_callstack": "...", "timestamp": "..."}}}; older
// writers put the text into "message" itself.
#pragma once
#include <string>
#include <string_view>

#include "common/core/exit_status.h"

namespace sml::report {

struct WorkerError {
  std::string message;    // the first line has the class and text of the exception
  std::string callstack;  // may be empty
  std::string json{};     // the whole text of the file; empty if it does not have that form
};

// Text without that form is returned as the message, since it was written for people. An empty text gives an empty
// result.
WorkerError parse_error_file(std::string_view text);

// The text for --error-file, as torchrun writes it to the TORCHELASTIC_ERROR_FILE of its own environment: the JSON of
// the worker that is the root cause, with its exit code added, negative for a signal; older forms of that JSON stay as
// they are. Empty if the worker has written none.
std::string error_file_for_parent(const WorkerError& error, const ExitStatus& status);

}  // namespace sml::report
