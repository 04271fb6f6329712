// Kubernetes: a program in a pod. Source: kubectl-exec(1). A connection that breaks may look like the end of the
// program, even with status 0; the program goes on then.
#include <array>

#include "launcher/starters/starters.h"

namespace sml::starters {

namespace {

Result<std::vector<std::string>> kubectl_arguments(const Target& target) {
  return without_shell({"exec", "-i", target.host, "--"}, target.script);
}

std::string kubectl_account(std::string_view errors) {
  static constexpr std::array kKnown{
      KnownWords{"(NotFound)", "there is no pod of that name"},
      KnownWords{"(Forbidden)", "kubectl exec is forbidden there: the account needs the right to create pods/exec"},
      KnownWords{"connection to the server", "the API server of Kubernetes does not answer kubectl"}};
  return clause_for(kKnown, errors);
}

}  // namespace

const Starter& kubectl() {
  static constexpr Starter starter{.name = "kubectl",
                                   .system = "Kubernetes",
                                   .tool = "kubectl",
                                   .arguments = kubectl_arguments,
                                   .end = EndOfTool::OfConnection,
                                   .account = kubectl_account};
  return starter;
}

}  // namespace sml::starters
