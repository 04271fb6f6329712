#include "launcher/dialin/step_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/random.h"
#include "common/plan/machine/host.h"
#include "common/wire/pmi_wire.h"
#include "launcher/dialin/port.h"
#include "launcher/transport/names/addresses.h"
#include "launcher/transport/net/tcp_connect.h"

namespace sml::dialin {

namespace {

using std::string_view;
using wire::PmiDialect;
using wire::PmiMessage;
using wire::PmiReader;
using wire::PmiWriter;

constexpr string_view kKeyName = "sml-run-head";
constexpr Duration kSayAfter = std::chrono::seconds(5);

bool is_socket(int fd) {
  struct stat info {};
  return fd > STDERR_FILENO && ::fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode);
}

// ---- the client

// One exchange with the server at a time. Blocks, until `end` at most.
class PmiCall {
 public:
  // `wait` outlives this.
  PmiCall(os::UniqueFd server, const SpaceWait& wait)
      : server_(std::move(server)), wait_(wait), end_(Clock::now() + wait.timeout), say_at_(Clock::now() + kSayAfter) {}

  // Sends the message, and returns the reply, which must have that name and no bad status.
  Result<wire::PmiMessage> ask(wire::PmiWriter message, string_view reply) {
    const std::string text = message.take();
    if (!send_all(text)) return lost("cannot be written to: " + errno_text(errno));
    return next(reply);
  }

  Result<wire::PmiMessage> next(string_view name) {
    while (true) {
      Result<std::optional<wire::PmiMessage>> message = reader_.next(wire::PmiDialect::One);
      if (!message) return message.error();
      if (*message) return checked(std::move(**message), name);
      if (Result<void> more = read_more(name); !more) return more.error();
    }
  }

 private:
  static Error lost(std::string why) { return Error(ErrorKind::Lost, std::move(why)); }

  bool send_all(string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(server_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  Result<void> read_more(string_view awaited) {
    const TimePoint next = std::min(end_, say_at_);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    pollfd event{server_.get(), POLLIN, 0};
    const int ready = left > 0 ? ::poll(&event, 1, static_cast<int>(std::min<std::int64_t>(left, 1'000'000))) : 0;
    if (ready < 0 && errno == EINTR) return {};
    if (left <= 0 && next != end_) {
      say_at_ = end_;
      wait_.print("waiting for the other hosts of the step, up to " + format_duration(wait_.timeout));
      return {};
    }
    if (left <= 0) {
      return Error(ErrorKind::Timeout, awaited == "barrier_out" ? "not all tasks of the step have come in time"
                                                                : "has not answered in time");
    }
    if (ready <= 0) return {};
    std::array<char, 4096> buffer{};
    const ssize_t count = ::recv(server_.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    if (count <= 0) return lost("was closed by its server");
    reader_.feed(string_view(buffer.data(), static_cast<std::size_t>(count)));
    return {};
  }

  static Result<wire::PmiMessage> checked(wire::PmiMessage message, string_view name) {
    const std::string* status = message.find("rc");
    if (message.name == name && (status == nullptr || *status == "0")) return message;
    return Error(ErrorKind::Protocol, fmt::format("answers {}{} where {} is expected", show(message.name, 40),
                                                  status == nullptr ? "" : " rc=" + show(*status, 20), name));
  }

  os::UniqueFd server_;
  const SpaceWait& wait_;
  TimePoint end_;
  TimePoint say_at_;
  wire::PmiReader reader_;
};

wire::PmiWriter command(string_view name) { return wire::PmiWriter(wire::PmiDialect::One, name); }

Result<os::UniqueFd> connect_to_server(const StepSpace& space, Duration timeout) {
  if (space.descriptor >= 0) {
    const int fd = space.descriptor;
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);  // it is no concern of the workers
    return os::UniqueFd(fd);
  }
  const std::size_t colon = std::min(space.server.rfind(':'), space.server.size());
  const auto port =
      parse_number<std::uint16_t>(string_view(space.server).substr(std::min(colon + 1, space.server.size())));
  if (!port) return Error(ErrorKind::Protocol, fmt::format("\"{}\" is not HOST:PORT", show(space.server, 100)));
  const Result<std::vector<names::Address>> addresses =
      names::addresses_of(space.server.substr(0, colon), *port, AF_UNSPEC);
  if (!addresses) return addresses.error();
  const net::CancelToken never;
  return net::connect_to(*addresses, timeout, never);
}

// A client that connects sends its rank; the server answers with more than is needed here.
Result<void> announce(PmiCall& call, const std::string& id) {
  Result<wire::PmiMessage> answer = call.ask(std::move(command("initack").add("pmiid", id)), "initack");
  for (int i = 0; answer && i < 3; ++i) answer = call.next("set");
  return answer ? Result<void>() : answer.error();
}

Result<SpaceWord> exchange(const StepSpace& space, std::uint32_t tasks, const std::optional<SpaceWord>& own,
                           const SpaceWait& wait) {
  Result<os::UniqueFd> server = connect_to_server(space, wait.timeout);
  if (!server) return server.error();
  PmiCall call(std::move(*server), wait);
  if (space.descriptor < 0) {
    if (Result<void> announced = announce(call, space.id); !announced) return announced.error();
  }
  const auto ask = [&call](wire::PmiWriter& message, string_view reply) { return call.ask(std::move(message), reply); };
  Result<wire::PmiMessage> answer =
      ask(command("init").add("pmi_version", 1).add("pmi_subversion", 1), "response_to_init");
  if (answer) answer = call.ask(command("get_my_kvsname"), "my_kvsname");
  if (!answer) return answer.error();
  const std::string* name = answer->find("kvsname");
  if (name == nullptr) return Error(ErrorKind::Protocol, "has no name");
  const std::string kvs = *name;
  if (own) {
    answer = ask(command("put").add("kvsname", kvs).add("key", kKeyName).add("value", to_value(*own)), "put_result");
    if (!answer) return answer.error();
  }
  answer = call.ask(command("barrier_in"), "barrier_out");
  if (answer) answer = ask(command("get").add("kvsname", kvs).add("key", kKeyName), "get_result");
  if (!answer) return answer.error();
  const std::string* value = answer->find("value");
  const std::optional<SpaceWord> word = value == nullptr ? std::nullopt : parse_word(*value);
  if (!word) {
    return Error(ErrorKind::Protocol,
                 fmt::format("has no entry of the coordinator: none of the {} tasks is it", tasks));
  }
  if (answer = call.ask(command("finalize"), "finalize_ack"); !answer) return answer.error();
  return *word;
}

// ---- where the head is

// The first that this host can look up, except as itself.
std::string reachable_of(const std::vector<std::string>& addresses) {
  for (const std::string& one : addresses) {
    const Result<std::vector<std::string>> found = addresses_of(one);
    const auto is_own = [](const std::string& address) { return address.starts_with("127.") || address == "::1"; };
    if (found && std::none_of(found->begin(), found->end(), is_own)) return one;
  }
  return addresses.front();
}

}  // namespace

std::optional<StepSpace> find_space(const plan::Environment& environment) {
  const auto descriptor = parse_number<int>(plan::variable(environment, "PMI_FD"));
  if (descriptor && is_socket(*descriptor)) return StepSpace{.descriptor = *descriptor};
  std::string server(plan::variable(environment, "PMI_PORT"));
  std::string id(plan::variable(environment, "PMI_ID"));
  if (server.empty() || id.empty() || !wire::has_pmi_form(id)) return std::nullopt;
  return StepSpace{.server = std::move(server), .id = std::move(id)};
}

std::string to_value(const SpaceWord& word) {
  std::string key;
  for (const unsigned char byte : word.key) key += fmt::format("{:02x}", byte);
  return fmt::format("1/{}/{}/{}", key, word.port, fmt::join(word.addresses, ","));
}

std::optional<SpaceWord> parse_word(string_view value) {
  const std::vector<string_view> parts = split(value, '/');
  if (parts.size() != 4 || parts[0] != "1" || parts[1].size() != 2 * kKeySize) return std::nullopt;
  SpaceWord word;
  for (std::size_t i = 0; i < kKeySize; ++i) {
    const auto byte = parse_number<unsigned char>(parts[1].substr(2 * i, 2), 16);
    if (!byte) return std::nullopt;
    word.key[i] = *byte;
  }
  const auto port = parse_number<std::uint16_t>(parts[2]);
  if (!port) return std::nullopt;
  word.port = *port;
  for (const string_view address : split(parts[3], ',')) {
    if (address.empty()) continue;
    if (!plan::valid_host_name(address) || word.addresses.size() > kMostAddresses) return std::nullopt;
    word.addresses.emplace_back(address);
  }
  return word;
}

Result<SpaceWord> exchange_in_space(const StepSpace& space, std::uint32_t tasks, const std::optional<SpaceWord>& own,
                                    const SpaceWait& wait) {
  Result<SpaceWord> word = exchange(space, tasks, own, wait);
  if (word) return word;
  const string_view variable = space.descriptor >= 0 ? "PMI_FD" : "PMI_PORT";
  return Error(word.error().kind(), fmt::format("the step's key space ({}), by which its hosts find each other, {}",
                                                variable, word.error().message()))
      .with_hint("--secret-file FILE and --head ADDR, the same on every host, do without it");
}

Result<AgreedSettings> meet_in_space(Settings settings, const std::string& host_name, const SpaceWait& wait) {
  const StepSpace space = *settings.space;
  os::UniqueFd listener;
  std::optional<SpaceWord> own;
  const bool is_head = settings.own_index == 0;
  const bool is_published = space.head == StepSpace::Head::Published;
  if (is_head) own = SpaceWord{.key = settings.key, .port = 0, .addresses = {}};
  if (is_head && is_published) {
    Result<os::UniqueFd> opened = listen_on(0);
    if (!opened) return opened.error();
    listener = std::move(*opened);
    settings.port = own_port(listener.get());
    own->port = settings.port;
    if (plan::valid_host_name(host_name)) own->addresses.push_back(host_name);
    for (std::string& address : own_addresses()) own->addresses.push_back(std::move(address));
  }
  const Result<SpaceWord> word = exchange_in_space(space, static_cast<std::uint32_t>(settings.hosts.size()), own, wait);
  if (!word) return word.error();
  settings.key = word->key;
  if (is_published && !is_head) {
    settings.port = word->port;
    if (!word->addresses.empty()) settings.head = reachable_of(word->addresses);
  }
  return AgreedSettings{std::move(settings), std::move(listener)};
}

}  // namespace sml::dialin
