// Offers the user's certificates of keys that only the ssh agent has, as OpenSSH does; libssh 0.10 offers what the
// agent itself lists, and nothing else. So a thread here stands between libssh and the agent, and edits their messages.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "common/os/fd.h"

namespace sml::ssh {

// Changes the messages of the ssh agent's protocol, which come without their length. Pure.
class AgentCertificates {
 public:
  explicit AgentCertificates(std::set<std::string> certificates);  // in the wire format

  // The agent's list of keys gets the certificates of each key before that key; any other answer stays as it is.
  std::string extended(std::string_view answer);
  // A request to sign with one of these certificates becomes one to sign with its key, which gives the same signature.
  std::string for_agent(std::string_view request) const;
  // Whether the agent has listed the key of this certificate.
  bool has_key_of(const std::string& certificate) const { return keys_.contains(certificate); }

 private:
  std::set<std::string> certificates_;
  std::map<std::string, std::string> keys_;  // those in the agent, by their certificates
};

// A socket that answers as the agent does, with the certificates. A thread serves it, until this is destroyed or either
// connection ends.
class CertifiedAgent {
 public:
  // `agent_fd`: connected to the ssh agent; outlives this. With no certificates, or if the system refuses a thread,
  // fd() is `agent_fd` itself.
  CertifiedAgent(int agent_fd, const std::set<std::string>& certificates);
  ~CertifiedAgent() { end(); }
  CertifiedAgent(const CertifiedAgent&) = delete;
  CertifiedAgent& operator=(const CertifiedAgent&) = delete;

  int fd() const { return ours_ ? ours_.get() : agent_fd_; }  // for libssh
  // Ends the service, and with it the connection to the agent; then certificates() are final.
  void end();
  const AgentCertificates& certificates() const { return certificates_; }

 private:
  void serve();

  int agent_fd_;
  AgentCertificates certificates_;
  os::UniqueFd ours_;    // libssh's end
  os::UniqueFd theirs_;  // the thread's end
  std::thread thread_;
};

}  // namespace sml::ssh
