#include "launcher/agent/diagnosis/torch_places.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>

#include "common/plan/program/preload.h"

namespace sml::agent {

namespace {

// Returns the value of the first of these names that is set; if none is, sets all of them to `ours`.
std::string settle(TorchPlaces& places, std::initializer_list<const char*> names, const plan::Environment& theirs,
                   const std::string& ours) {
  for (const char* name : names) {
    const std::string* set = plan::find_variable(theirs, name);
    if (set != nullptr) return std::string(plan::value_of(*set));
  }
  for (const char* name : names) places.variables.push_back(std::string(name) + "=" + ours);
  return ours;
}

constexpr std::size_t kLongestSocket = 107;
constexpr const char* kServer = "TORCH_WORKER_SERVER_SOCKET";
constexpr std::string_view kLaunchers[] = {"torch.distributed.", "accelerate", "deepspeed", "nvidia_resiliency_ext"};

}  // namespace

ServerOffer server_offer(std::span<const std::string> command) {
  const std::optional<plan::PythonLine> line = plan::python_line(command);
  if (!line || line->words.empty()) return ServerOffer::No;
  const std::string& what = line->words.front();
  if (line->runs == plan::PythonRuns::Script) return what.ends_with(".py") ? ServerOffer::Yes : ServerOffer::No;
  const bool launches = std::any_of(std::begin(kLaunchers), std::end(kLaunchers),
                                    [&what](std::string_view name) { return what.starts_with(name); });
  return launches ? ServerOffer::No : ServerOffer::Yes;
}

TorchPlaces torch_places(const std::string& folder, Rank rank, const plan::Environment& theirs, ServerOffer server) {
  TorchPlaces out;
  const std::string number = std::to_string(rank.value());
  const std::string socket = folder + "/torch-" + number;
  const bool offered = server == ServerOffer::Yes && socket.size() <= kLongestSocket;
  if (offered || plan::find_variable(theirs, kServer) != nullptr) out.socket = settle(out, {kServer}, theirs, socket);
  out.pipe = settle(out, {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE"}, theirs, folder + "/recorder-") + number + ".pipe";
  out.dump =
      settle(out, {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"}, theirs, folder + "/recorded-") +
      number;
  settle(out, {"TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"}, theirs, "2000");
  return out;
}

}  // namespace sml::agent
