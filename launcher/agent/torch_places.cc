#include "launcher/agent/torch_places.h"

#include <initializer_list>
#include <string_view>

namespace sml::agent {

namespace {

// The first of these names counts that is set; where none is, all get `ours`.
std::string settle(TorchPlaces& places, std::initializer_list<const char*> names, const plan::Environment& theirs,
                   const std::string& ours) {
  for (const char* name : names) {
    const std::string* set = plan::find_variable(theirs, name);
    if (set != nullptr) return std::string(plan::value_of(*set));
  }
  for (const char* name : names) places.variables.push_back(std::string(name) + "=" + ours);
  return ours;
}

}  // namespace

TorchPlaces torch_places(const std::string& folder, Rank rank, const plan::Environment& theirs) {
  TorchPlaces out;
  const std::string number = std::to_string(rank.value());
  out.socket = settle(out, {"TORCH_WORKER_SERVER_SOCKET"}, theirs, folder + "/torch-" + number);
  out.pipe = settle(out, {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE"}, theirs, folder + "/recorder-") + number + ".pipe";
  out.dump =
      settle(out, {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"}, theirs, folder + "/recorded-") +
      number;
  settle(out, {"TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"}, theirs, "2000");
  return out;
}

}  // namespace sml::agent
