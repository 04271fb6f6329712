#include "launcher/transport/starter_tool.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "common/os/spawn.h"
#include "launcher/os/this_program.h"
#include "launcher/os/tool_output.h"

namespace sml::transport {

os::TrustedProgram find_tool(const starters::Starter& starter, std::span<const std::string> environment) {
  std::vector<std::string> candidates;
  if (starter.places != nullptr) candidates = starter.places(environment);
  for (const std::string_view tool : {starter.tool, starter.other_tool}) {
    if (tool.empty()) continue;
    std::ranges::move(os::program_candidates(std::string(tool), environment), std::back_inserter(candidates));
  }
  std::erase_if(candidates, os::is_this_program);
  return os::find_trusted_program(candidates);
}

Result<std::vector<std::string>> StarterTool::words_for(const std::string& host, const std::string& script) {
  return with_file(starter_.arguments({host, script, environment_, answer()}));
}

Result<std::vector<std::string>> StarterTool::words_for_step(std::span<const std::string> hosts,
                                                             const std::vector<std::string>& program) {
  return with_file(starter_.step.arguments({hosts, program, environment_, answer(), file_}));
}

Result<std::vector<std::string>> StarterTool::with_file(Result<std::vector<std::string>> arguments) const {
  if (arguments) arguments->insert(arguments->begin(), file_);
  return arguments;
}

const std::string& StarterTool::answer() {
  std::call_once(asked_, [this] {
    if (starter_.question.empty()) return;
    std::vector<std::string> words{file_};
    words.insert(words.end(), starter_.question.begin(), starter_.question.end());
    answer_ = os::output_of_tool(words, environment_).text;
  });
  return answer_;
}

}  // namespace sml::transport
