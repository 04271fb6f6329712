#include "launcher/agent/machines/rank_messages.h"

#include <bit>
#include <chrono>
#include <cmath>
#include <utility>

#include "common/core/pickle.h"

namespace sml::agent {

namespace {

using std::string_view;
using Value = Pickle::Value;
using Kind = Pickle::Kind;

constexpr char kModule[] = "nvidia_resiliency_ext.fault_tolerance.data";
constexpr string_view kOf[] = {
    "nvidia_resiliency_ext.fault_tolerance.data AuthkeyMsg",
    "nvidia_resiliency_ext.fault_tolerance.data InitMsg",
    "nvidia_resiliency_ext.fault_tolerance.data RankInfo",
    "nvidia_resiliency_ext.fault_tolerance.data HeartbeatMsg",
    "nvidia_resiliency_ext.fault_tolerance.data SectionMsg",
    "nvidia_resiliency_ext.fault_tolerance.data SectionAction",
    "nvidia_resiliency_ext.fault_tolerance.data UpdateConfigMsg",
    "nvidia_resiliency_ext.fault_tolerance.data HeartbeatTimeouts",
    "nvidia_resiliency_ext.fault_tolerance.data SectionTimeouts",
    "builtins getattr",  // of SectionAction: some versions of Python name its members by this
};
constexpr double kLongestSeconds = 365.0 * 24 * 3600;

bool is_object(const Value& value, string_view name) {
  return value.kind == Kind::Object && value.text.substr(value.text.rfind(' ') + 1) == name;
}

// Reads fields of a message into the given variables, and keeps the first fault.
class MessageReader {
 public:
  explicit MessageReader(const Pickle& pickle) : pickle_(pickle) {}

  const char* fault() const { return fault_; }

  SectionChange section() {
    SectionChange out;
    const Value* action = attribute("action");
    if (!kind_of(action, out.kind)) fail("it does neither open nor close a section");
    if (out.kind != SectionChange::Kind::CloseAll) name(attribute("section"), out.name);
    return out;
  }

  NewLimits limits() {
    NewLimits out;
    if (const Value* heartbeats = attribute("hb_timeouts")) {
      out.heartbeats.emplace();
      limit(pickle_.attribute(*heartbeats, "initial"), out.heartbeats->first);
      limit(pickle_.attribute(*heartbeats, "subsequent"), out.heartbeats->next);
    }
    if (const Value* all = attribute("section_timeouts")) sections(*all, out.sections.emplace());
    return out;
  }

 private:
  void fail(const char* why) {
    if (fault_ == nullptr) fault_ = why;
  }

  // An attribute of the message; nullptr if it is missing or None.
  const Value* attribute(string_view name) const {
    const Value* value = pickle_.attribute(pickle_.root(), name);
    return value == nullptr || value->kind == Kind::None ? nullptr : value;
  }

  // Seconds; None or a missing value means no limit.
  void limit(const Value* value, Duration& out) {
    if (value == nullptr || value->kind == Kind::None) return;
    if (value->kind != Kind::Float && value->kind != Kind::Int) return fail("it has a time limit that is no number");
    const double seconds = value->kind == Kind::Int ? static_cast<double>(value->number) : value->real;
    if (!(seconds > 0 && seconds <= kLongestSeconds)) {
      return fail("it has a time limit that is not between 0 and a year");
    }
    out = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
  }

  void name(const Value* value, std::string& out) {
    const bool fits = value != nullptr && value->kind == Kind::Text && value->text.size() <= kMaxSectionName;
    if (!fits) return fail("it has a section whose name is none");
    out = value->text;
  }

  // The action is 1, 2, 3 or its name, depending on the version of Python.
  bool kind_of(const Value* action, SectionChange::Kind& out) const {
    constexpr string_view names[] = {"OPEN", "CLOSE", "CLOSE_ALL"};
    if (action == nullptr || action->kind != Kind::Object || action->items.empty()) return false;
    const Value& last = pickle_.at(action->items.back());
    for (int i = 0; i < 3; ++i) {
      const bool by_number = is_object(*action, "SectionAction") && last.kind == Kind::Int && last.number == i + 1;
      const bool by_name = is_object(*action, "getattr") && last.kind == Kind::Text && last.text == names[i];
      out = static_cast<SectionChange::Kind>(i);
      if (by_number || by_name) return true;
    }
    return false;
  }

  void sections(const Value& limits, SectionLimits& out) {
    limit(pickle_.attribute(limits, "out_of_section"), out.outside);
    const Value* named = pickle_.attribute(limits, "section");
    if (named == nullptr || named->kind != Kind::Dict) return fail("it has sections that are no dict");
    if (named->items.size() / 2 > kMaxSections) return fail("it has too many sections");
    for (std::size_t i = 0; i + 1 < named->items.size(); i += 2) {
      Duration most{};
      plan::SectionLimit& section = out.named.emplace_back();
      name(&pickle_.at(named->items[i]), section.name);
      limit(&pickle_.at(named->items[i + 1]), most);
      section.limit_ms =
          static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(most).count());
    }
  }

  const Pickle& pickle_;
  const char* fault_ = nullptr;
};

// ---- replies: operations of protocol 2, in a pickle that is marked as protocol 4

void put_big(std::string& out, std::uint64_t number, std::size_t size) {
  for (std::size_t i = size; i > 0; --i) out.push_back(static_cast<char>(number >> ((i - 1) * 8) & 0xFF));
}

void put_text(std::string& out, string_view text) {
  out += 'X';
  for (std::size_t i = 0; i < 4; ++i) out.push_back(static_cast<char>(text.size() >> (i * 8) & 0xFF));
  out += text;
}

void put_limit(std::string& out, std::uint64_t limit_ms) {
  if (limit_ms == 0) {
    out += 'N';
    return;
  }
  out += 'G';
  put_big(out, std::bit_cast<std::uint64_t>(static_cast<double>(limit_ms) / 1000), 8);
}

void put_named_limit(std::string& out, string_view name, std::uint64_t limit_ms) {
  put_text(out, name);
  put_limit(out, limit_ms);
}

// An object of this class, before its attributes are set.
void put_object(std::string& out, string_view module, string_view name) {
  out.append("c").append(module).append("\n").append(name).append("\n)\x81");
}

std::string framed(const std::string& body) {
  const std::string pickle = "\x80\x04" + body + ".";
  std::string out;
  put_big(out, pickle.size(), kLengthSize);
  return out + pickle;
}

}  // namespace

Result<RankMessage> read_rank_message(string_view bytes) {
  const Result<Pickle> pickle = Pickle::read(bytes, kOf);
  if (!pickle) return pickle.error();
  const Value& root = pickle->root();
  MessageReader reader(*pickle);
  RankMessage out;
  if (is_object(root, "HeartbeatMsg")) {
    out = Heartbeat();
  } else if (is_object(root, "SectionMsg")) {
    out = reader.section();
  } else if (is_object(root, "UpdateConfigMsg")) {
    out = reader.limits();
  } else if (is_object(root, "InitMsg")) {
    out = Begin();
  } else if (!is_object(root, "AuthkeyMsg")) {
    return Error(ErrorKind::Protocol, "it is no message");
  }
  if (reader.fault() != nullptr) return Error(ErrorKind::Protocol, reader.fault());
  return out;
}

std::string ok_answer() {
  std::string out;
  put_object(out, kModule, "OkMsg");
  return framed(out);
}

// Attributes that are left out keep the defaults of the class.
std::string ok_answer(const plan::RankMonitor& limits) {
  std::string out;
  put_object(out, kModule, "OkMsg");
  out += "}(";
  put_text(out, "cfg");
  put_object(out, "nvidia_resiliency_ext.fault_tolerance.config", "FaultToleranceConfig");
  out += "}(";
  put_named_limit(out, "initial_rank_heartbeat_timeout", limits.first_ms);
  put_named_limit(out, "rank_heartbeat_timeout", limits.heartbeat_ms);
  put_named_limit(out, "rank_out_of_section_timeout", limits.outside_ms);
  put_text(out, "rank_section_timeouts");
  out += "}(";
  for (const plan::SectionLimit& section : limits.sections) put_named_limit(out, section.name, section.limit_ms);
  out += "u";
  put_text(out, "skip_section_response");
  out += "\x89";
  out += "ub";  // of the configuration
  out += "ub";
  return framed(out);
}

std::string error_answer(string_view cause) {
  std::string out;
  put_object(out, kModule, "ErrorMsg");
  out += "}(";
  put_text(out, "cause");
  put_text(out, cause);
  out += "ub";
  return framed(out);
}

}  // namespace sml::agent
