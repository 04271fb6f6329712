// The names under which ranks of a job publish ports for each other (MPI_Publish_name), as the host of rank 0 keeps
// them, and the words by which the other hosts ask for them. Pure and bounded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sml::rendezvous {

enum class PmiNameVerb : std::uint8_t { Publish, Unpublish, LookUp };

struct PmiNameQuestion {
  PmiNameVerb verb = PmiNameVerb::LookUp;
  std::string thread;  // of the asker, as it calls it; comes back
  std::string name;
  std::string port;
};
struct PmiNameAnswer {
  bool good = false;
  std::string thread;
  std::string port;  // of a LookUp
};

std::string write(const PmiNameQuestion& question);
std::string write(const PmiNameAnswer& answer);
// Nothing: it is none. The two never look alike.
std::optional<PmiNameQuestion> read_name_question(std::string_view bytes);
std::optional<PmiNameAnswer> read_name_answer(std::string_view bytes);

class PmiNames {
 public:
  static constexpr std::size_t kMost = 4096;

  // A name that is taken cannot be published, one that is not there neither be unpublished nor looked up.
  PmiNameAnswer answer(const PmiNameQuestion& question);

 private:
  std::map<std::string, std::string> ports_;  // by name
};

}  // namespace sml::rendezvous
