#include "launcher/attempt/lone_mpi.h"

#include "common/core/text.h"

namespace sml::attempt {

namespace {

constexpr std::size_t kLongest = 200;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "rank 3 on algo-1 runs alone, as rank 0 of 1: hello (pid 4711) uses ..."
std::string sentence(std::string_view does, const wire::MpiUse& use, const std::string& host) {
  const std::string where = host.empty() ? std::string() : " on " + host;
  const std::string pid = use.pid == 0 ? std::string() : " (pid " + std::to_string(use.pid) + ")";
  return "rank " + std::to_string(use.rank.value()) + where + std::string(does) +
         " alone, as rank 0 of 1: " + show(use.program, kLongest) + pid + " uses the MPI library " +
         show(file_name(use.library), kLongest) + ", and sml-run does not bring ranks of MPI together (PMI, PMIx)";
}

}  // namespace

std::string lone_mpi_warning(const wire::MpiUse& use, const std::string& host) { return sentence(" runs", use, host); }

Error lone_mpi_refusal(const wire::MpiUse& use, const std::string& host) {
  return Error(ErrorKind::Spawn, sentence(use.pid == 0 ? " would run" : " runs", use, host))
      .with_hint(
          "the launcher of its MPI library brings them together; sml-run under its own name starts each of them alone");
}

}  // namespace sml::attempt
