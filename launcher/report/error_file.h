// What a Python worker says of its own failure in TORCHELASTIC_ERROR_FILE. Pure.
// Source: torch.distributed.elastic.multiprocessing.errors.error_handler (torch 1.13 to 2.14): one JSON object,
// {"message": {"message": "RuntimeError: ...", "extraInfo": {"py_callstack": "...", "timestamp": "..."}}}; older
// writers put the text into "message" itself.
#pragma once
#include <string>
#include <string_view>

namespace sml::report {

struct WorkerError {
  std::string message;    // first line says class and text of the exception
  std::string callstack;  // may be empty
};

// Anything that does not have that form gives its own text as message: it was meant for people. Empty for no text.
WorkerError parse_error_file(std::string_view text);

}  // namespace sml::report
