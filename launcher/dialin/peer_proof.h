// A proof beyond the key, for jobs whose key others may know: each side of a connection shows a credential, which an
// authority on its host has signed for exactly this connection and this side.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::dialin {

inline constexpr std::size_t kMaxCredential = 4096;

class PeerProof {
 public:
  virtual ~PeerProof() = default;
  // Both calls block, for 10 s at most, and may be made from several threads at once.
  //
  // Makes a credential for `claim`: a text without blanks that differs for each connection and side. Error (Auth): the
  // authority gives none.
  virtual Result<std::string> make(std::string_view claim) = 0;
  // Succeeds if a process of this user, on a host of the job, has made the credential for that claim, and it has not
  // been checked before. Error (Auth): the rest of a sentence that begins with "the credential".
  virtual Result<void> check(std::string_view credential, std::string_view claim) = 0;
};

}  // namespace sml::dialin
