// message_seeds FOLDER: writes the seeds of fuzz targets that take messages made of fields() into FOLDER/TARGET: each
// message as it is by default and with every field set, and all of them in one stream. The build runs it.
#include <filesystem>
#include <fstream>
#include <string>

#include "common/wire/codec.h"
#include "launcher/dialin/messages.h"
#include "tests/support/message_samples.h"

namespace {

template <class Message>
void write_seeds(const std::filesystem::path& folder, const std::string& prefix) {
  std::filesystem::create_directories(folder);
  std::string all;
  std::size_t number = 0;
  for (const Message& message : sml::testing::message_samples<Message>("text\n")) {
    const std::string bytes = encode(message);
    std::ofstream(folder / (prefix + std::to_string(number++)), std::ios::binary) << bytes;
    all += bytes;
  }
  std::ofstream(folder / (prefix + "all"), std::ios::binary) << all;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const std::filesystem::path seeds = words[1];
  write_seeds<sml::wire::ToAgent>(seeds / "codec_to_agent_fuzz", "message_");
  write_seeds<sml::wire::ToLauncher>(seeds / "codec_to_launcher_fuzz", "message_");
  write_seeds<sml::dialin::ToCoordinator>(seeds / "dial_in_fuzz", "to_head_");
  write_seeds<sml::dialin::ToPeer>(seeds / "dial_in_fuzz", "to_host_");
  return 0;
}
