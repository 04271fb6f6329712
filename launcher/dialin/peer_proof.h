// A proof beyond the key, where others may know the key: each side of a connection shows a credential that an authority
// on its host has signed for exactly this connection and this side.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::dialin {

inline constexpr std::size_t kMaxCredential = 4096;

class PeerProof {
 public:
  virtual ~PeerProof() = default;
  // Both block, for 10 s at most, and may be called from several threads at once.
  //
  // A credential for `claim`, a text without blanks that no other side of any connection has. Error (Auth): the
  // authority gives none.
  virtual Result<std::string> make(std::string_view claim) = 0;
  // Whether a process of this user, on a host of the job, has made the credential for that claim, and nobody has shown
  // it before. Error (Auth): a clause that follows "the credential".
  virtual Result<void> check(std::string_view credential, std::string_view claim) = 0;
};

}  // namespace sml::dialin
