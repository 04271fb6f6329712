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

// The limit for a whole delivery; a name look-up may take longer.
inline constexpr Duration kDeliveryLimit = std::chrono::seconds(10);

// Starts the command without a shell, as this user, with `body` at its standard input, and waits for its end. Discards
// its output. Kills the command after `limit`, or when this process ends; in any case kills what the command leaves
// running in its process group. The error message is a part of a sentence: the command's exit status and the last line
// of its stderr.
Result<void> run_command(const std::vector<std::string>& command, std::string_view body, Duration limit);
// Checks that the command's program exists and that sml-run may run it. Returns why programs of its name before it in
// PATH are skipped, as os::TrustedProgram does. The error message (Usage) is a part of a sentence.
Result<std::vector<std::string>> check_command(const std::vector<std::string>& command);

// The certificates of authorities by which servers are verified. They take long to read, and are therefore kept from
// one letter to the next. A file that the letter names is read again when it has changed; those of the system are read
// once. Not thread-safe: for one post() at a time.
class ReadAuthorities;
std::shared_ptr<ReadAuthorities> keep_authorities();

// A body to be posted, and the data that the connection needs.
struct Letter {
  std::string body;                         // JSON
  std::string bearer{};                     // the access token, as bearer_in() has found it; empty: none
  std::string authorities{};                // path of a file of certificates; empty: those of the system
  std::shared_ptr<ReadAuthorities> kept{};  // null: the certificates are read for this letter alone
};
// Posts the letter's body to the URL and waits for the response, for `limit` in all. Does not follow redirections. With
// https the server's certificate must be for the URL's host and signed by one of the letter's authorities or, if the
// letter names none, of the system's (SSL_CERT_FILE and SSL_CERT_DIR name further ones). The process must ignore
// SIGPIPE. The error message is a part of a sentence.
Result<void> post(const Url& url, const Letter& letter, Duration limit);

}  // namespace sml::notify
