// The program of a starter on this machine, such as srun, and the words of its calls.
#pragma once
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/os/trust.h"
#include "launcher/starters/starter.h"

namespace sml::transport {

// Finds the starter's tool: the first program of that name that may be run, see os::find_trusted_program(); else
// Starter::other_tool. Links of that name to this program itself, as --install-links makes them, do not count. The
// result's `file` is empty if there is none.
os::TrustedProgram find_tool(const starters::Starter& starter, std::span<const std::string> environment);

// Thread-safe: used on threads of the pool. The first call runs the tool with Starter::question, if there is one, and
// keeps the answer for all calls.
class StarterTool {
 public:
  // `starter` is static; `environment` is that of this process.
  StarterTool(const starters::Starter& starter, std::string file, std::vector<std::string> environment)
      : starter_(starter), file_(std::move(file)), environment_(std::move(environment)) {}

  // The words of a call that gives a pipe to one host, or of one that starts a program on several; the first word is
  // the file of the tool. Both block while the tool answers the question. Error: there can be no such call.
  Result<std::vector<std::string>> words_for(const std::string& host, const std::string& script);
  Result<std::vector<std::string>> words_for_step(std::span<const std::string> hosts,
                                                  const std::vector<std::string>& program);

 private:
  const std::string& answer();  // empty: there is no question, or no answer
  Result<std::vector<std::string>> with_file(Result<std::vector<std::string>> arguments) const;

  const starters::Starter& starter_;
  const std::string file_;
  const std::vector<std::string> environment_;
  std::once_flag asked_;
  std::string answer_;
};

}  // namespace sml::transport
