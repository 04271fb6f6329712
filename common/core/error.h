// Expected failures: the cause, where it occurred, and what the user can do. Returned in Result<T>, never thrown.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <boost/system/result.hpp>

namespace sml {

// The kind of a failure. Determines the exit code (see exit_code_of()) and how reports group hosts.
enum class ErrorKind : std::uint8_t {
  Usage,          // command line                                       → 2
  Config,         // files and environment that describe the job        → 2
  Resolve,        // a host name has no address                         → 125
  Connect,        // no TCP connection, or it ended before the login    → 125
  HostKey,        // unknown or changed host key                        → 125
  Auth,           // the host refused the login                         → 125
  Deploy,         // the agent could not be copied or started there     → 125
  Protocol,       // the other side does not follow the protocol        → 125
  Spawn,          // a worker could not be started (limits, directory)  → 125
  NotExecutable,  // the program exists but cannot be executed          → 126
  NotFound,       // the program does not exist                         → 127
  Io,             // reading or writing failed                          → 125
  Timeout,        // a deadline of the launcher passed                  → 125
  Lost,           // a host or agent was lost                           → 125
  Internal,       // a bug                                              → 125
};

std::string_view name(ErrorKind kind);
int exit_code_of(ErrorKind kind);

// One failure. `message` is a part of a sentence, without host, capital letter or full stop ("connection refused"), so
// that several hosts with the same message can be reported in one line. Value type. (The default constructor exists
// because boost::system::result in Boost 1.81 needs one.)
class Error {
 public:
  Error() = default;
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}

  // Sets a sentence with advice for the user; shown once per group of hosts. "{hosts}" in it stands for their names.
  Error&& with_hint(std::string hint) && {
    hint_ = std::move(hint);
    return std::move(*this);
  }
  // Sets what differs between hosts with the same message, such as the fingerprint of a key.
  Error&& with_detail(std::string detail) && {
    detail_ = std::move(detail);
    return std::move(*this);
  }
  // Puts "context: " before the message.
  Error&& in(std::string_view context) && {
    message_.insert(0, std::string(context) + ": ");
    return std::move(*this);
  }

  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }
  const std::string& detail() const { return detail_; }
  // The message and the detail, for one host alone.
  std::string text() const { return detail_.empty() ? message_ : message_ + ": " + detail_; }
  // Whether several hosts can be reported together; the details do not count.
  bool operator==(const Error& other) const {
    return kind_ == other.kind_ && message_ == other.message_ && hint_ == other.hint_;
  }

 private:
  ErrorKind kind_ = ErrorKind::Internal;
  std::string message_;
  std::string hint_;
  std::string detail_;
};

template <class T>
using Result = boost::system::result<T, Error>;

// "permission denied": the system's description of an errno, lower case, without trailing text. Thread-safe.
std::string errno_text(int sys_errno);

// The hint of the error, with "{hosts}" replaced by these names; empty if the error has none.
std::string hint_for(const Error& error, std::span<const std::string> hosts);

// An Error whose message is "what: <errno text>".
Error sys_error(ErrorKind kind, std::string_view what, int sys_errno);

}  // namespace sml
