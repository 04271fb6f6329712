// The program of a starter on this machine.
#pragma once
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/os/trust.h"
#include "launcher/starters/starter.h"

namespace sml::transport {

// The starter's tool: the first program of that name that may be run, see os::find_trusted_program(); else its other
// tool. Links of that name to this program itself, as --install-links makes them, do not count.
os::TrustedProgram find_tool(const starters::Starter& starter, std::span<const std::string> environment);

// Used on threads of the pool. What the tool says of itself is asked once.
class StarterTool {
 public:
  // `starter` is static; `environment` is that of this process.
  StarterTool(const starters::Starter& starter, std::string file, std::vector<std::string> environment)
      : starter_(starter), file_(std::move(file)), environment_(std::move(environment)) {}

  // The words of a call that gives a pipe to one host, or of one that starts a program on several; the first is the
  // file of the tool. Block.
  Result<std::vector<std::string>> words_for(const std::string& host, const std::string& script);
  Result<std::vector<std::string>> words_for_step(std::span<const std::string> hosts,
                                                  const std::vector<std::string>& program);

 private:
  const std::string& answer();
  Result<std::vector<std::string>> with_file(Result<std::vector<std::string>> arguments) const;

  const starters::Starter& starter_;
  const std::string file_;
  const std::vector<std::string> environment_;
  std::once_flag asked_;
  std::string answer_;
};

}  // namespace sml::transport
