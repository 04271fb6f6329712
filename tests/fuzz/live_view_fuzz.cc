// Any bytes as a request for metrics, as the answer of a webhook, as its URL, and as a job's status that top shows.
#include <cstdint>
#include <string_view>

#include "launcher/metrics/http_exchange.h"
#include "launcher/notify/url.h"
#include "launcher/top/screen.h"
#include "tests/fuzz/require.h"

using namespace sml;
using sml::fuzz::require;

namespace {

void ask_for_metrics(std::string_view bytes) {
  const auto request = metrics::read_request(bytes);
  if (!request) return require(bytes.size() <= metrics::kMostRequest);
  const auto* refused = std::get_if<metrics::Refusal>(&*request);
  require(refused == nullptr || refused->response.starts_with("HTTP/1.1 4"));
}

void post(std::string_view bytes) {
  (void)notify::read_response(bytes);
  const Result<notify::Url> url = notify::Url::parse(bytes);
  if (!url) return require(!url.error().message().empty());
  require(!url->host.empty() && url->port > 0 && url->target.starts_with('/'));
}

void show(std::string_view bytes) {
  Result<top::Snapshot> job = top::read_snapshot(bytes);
  if (!job) return;
  top::Screen screen;
  screen.take(std::move(*job), std::chrono::seconds(1));
  for (const char letter : {'f', 'c', '?', 'q'}) {
    for (const top::Line& line : screen.draw(80, 24)) {
      require(line.text.size() <= 80);
      for (const char c : line.text) require(c >= ' ' && c <= '~');
    }
    screen.on_key(top::Key::Other, letter);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ask_for_metrics(bytes);
  post(bytes);
  show(bytes);
  return 0;
}
