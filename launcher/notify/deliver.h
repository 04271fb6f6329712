// Delivers a notification: runs a command, or posts to a URL. Blocks; any thread.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "launcher/notify/url.h"

namespace sml::notify {

// For the whole of it; a name look-up may take longer.
inline constexpr Duration kDeliveryLimit = std::chrono::seconds(10);

// Starts the command without a shell, as this user, with `body` at its standard input, and waits for its end. Its
// output is discarded. What it leaves running is killed, as it is itself after `limit`, or when this process goes.
// Error: a clause with its status and the last line of its stderr.
Result<void> run_command(const std::vector<std::string>& command, std::string_view body, Duration limit);
// Whether such a program is there and may be run. Error (Usage): a clause.
Result<void> check_command(const std::vector<std::string>& command);

// The certificates by which servers are verified, kept for the next letter, as they take long to read. Those of a
// letter's own file are read again when the file has changed; those of the system are read once. One post at a time.
class ReadAuthorities;
std::shared_ptr<ReadAuthorities> keep_authorities();

// A body to be posted, and the terms on which a server takes it.
struct Letter {
  std::string body;                         // JSON
  std::string bearer{};                     // a token that permits it, as bearer_in() has found it; empty: none
  std::string authorities{};                // a file of certificates; empty: those of the system
  std::shared_ptr<ReadAuthorities> kept{};  // null: they are read for this letter alone
};
// Redirections are not followed. With https the server's certificate must be signed by one of the letter's authorities,
// else by one of the system's (SSL_CERT_FILE and SSL_CERT_DIR name others), and be one for the URL's host.
Result<void> post(const Url& url, const Letter& letter, Duration limit);

}  // namespace sml::notify
