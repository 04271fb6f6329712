// The names under which ranks of a job publish ports for each other (MPI_Publish_name), kept on the host of rank 0, and
// the messages with which the other hosts publish, delete and query them. Pure and bounded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sml::agent {

enum class PmiNameVerb : std::uint8_t { Publish, Unpublish, LookUp };

struct PmiNameQuestion {
  PmiNameVerb verb = PmiNameVerb::LookUp;
  std::string thread;  // the caller's name for its thread; returned in the reply
  std::string name;
  std::string port;  // for a Publish
};
struct PmiNameAnswer {
  bool good = false;  // the question succeeded, see PmiNames::answer()
  std::string thread;
  std::string port;  // for a LookUp
};

std::string write(const PmiNameQuestion& question);
std::string write(const PmiNameAnswer& answer);
// Returns nullopt if the bytes are no such message. A question never looks like an answer.
std::optional<PmiNameQuestion> read_name_question(std::string_view bytes);
std::optional<PmiNameAnswer> read_name_answer(std::string_view bytes);

class PmiNames {
 public:
  static constexpr std::size_t kMost = 4096;  // names at a time

  // Publishing fails if the name is taken or there are kMost names; unpublishing and looking up fail if the name does
  // not exist.
  PmiNameAnswer answer(const PmiNameQuestion& question);

 private:
  std::map<std::string, std::string> ports_;  // by name
};

}  // namespace sml::agent
