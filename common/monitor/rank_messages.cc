#include "common/monitor/rank_messages.h"

#include <bit>
#include <chrono>
#include <cmath>
#include <utility>

#include "common/monitor/pickle.h"

namespace sml::monitor {

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
    "builtins getattr",  // of SectionAction, as some versions of Python name a member
};
constexpr double kLongestSeconds = 365.0 * 24 * 3600;

Error wrong(const char* what) { return Error(ErrorKind::Protocol, what); }

bool is_object(const Value& value, string_view name) {
  return value.kind == Kind::Object && value.text.substr(value.text.rfind(' ') + 1) == name;
}

// Seconds; None, and what is not there: no limit.
Result<Duration> limit_of(const Value* value) {
  if (value == nullptr || value->kind == Kind::None) return Duration::zero();
  if (value->kind != Kind::Float && value->kind != Kind::Int) return wrong("it has a time limit that is no number");
  const double seconds = value->kind == Kind::Int ? static_cast<double>(value->number) : value->real;
  if (!(seconds > 0 && seconds <= kLongestSeconds))
    return wrong("it has a time limit that is not between 0 and a year");
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

Result<std::string> section_name(const Value* value) {
  const bool fits = value != nullptr && value->kind == Kind::Text && value->text.size() <= kMaxSectionName;
  if (!fits) return wrong("it has a section whose name is none");
  return std::string(value->text);
}

// 1, 2, 3 or the name, whichever Python has written.
std::optional<SectionChange::Kind> kind_of(const Pickle& pickle, const Value* action) {
  constexpr string_view names[] = {"OPEN", "CLOSE", "CLOSE_ALL"};
  if (action == nullptr || action->kind != Kind::Object || action->items.empty()) return std::nullopt;
  const Value& last = pickle.at(action->items.back());
  for (int i = 0; i < 3; ++i) {
    const bool by_number = is_object(*action, "SectionAction") && last.kind == Kind::Int && last.number == i + 1;
    const bool by_name = is_object(*action, "getattr") && last.kind == Kind::Text && last.text == names[i];
    if (by_number || by_name) return static_cast<SectionChange::Kind>(i);
  }
  return std::nullopt;
}

Result<RankMessage> read_section(const Pickle& pickle) {
  const std::optional<SectionChange::Kind> kind = kind_of(pickle, pickle.attribute(pickle.root(), "action"));
  if (!kind) return wrong("it does neither open nor close a section");
  SectionChange out{.kind = *kind};
  if (*kind == SectionChange::Kind::CloseAll) return RankMessage(std::move(out));
  Result<std::string> name = section_name(pickle.attribute(pickle.root(), "section"));
  if (!name) return name.error();
  out.name = std::move(*name);
  return RankMessage(std::move(out));
}

Result<NewLimits::Heartbeats> read_heartbeats(const Pickle& pickle, const Value& limits) {
  const Result<Duration> first = limit_of(pickle.attribute(limits, "initial"));
  const Result<Duration> next = limit_of(pickle.attribute(limits, "subsequent"));
  if (!first) return first.error();
  if (!next) return next.error();
  return NewLimits::Heartbeats{*first, *next};
}

std::uint64_t milliseconds(Duration limit) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(limit).count());
}

Result<NewLimits::Sections> read_sections(const Pickle& pickle, const Value& limits) {
  NewLimits::Sections out;
  const Result<Duration> outside = limit_of(pickle.attribute(limits, "out_of_section"));
  if (!outside) return outside.error();
  out.outside = *outside;
  const Value* named = pickle.attribute(limits, "section");
  if (named == nullptr || named->kind != Kind::Dict) return wrong("it has sections that are no dict");
  if (named->items.size() / 2 > kMaxSections) return wrong("it has too many sections");
  for (std::size_t i = 0; i + 1 < named->items.size(); i += 2) {
    Result<std::string> name = section_name(&pickle.at(named->items[i]));
    const Result<Duration> limit = limit_of(&pickle.at(named->items[i + 1]));
    if (!name) return name.error();
    if (!limit) return limit.error();
    out.named.push_back({std::move(*name), milliseconds(*limit)});
  }
  return out;
}

Result<RankMessage> read_limits(const Pickle& pickle) {
  NewLimits out;
  const Value* heartbeats = pickle.attribute(pickle.root(), "hb_timeouts");
  if (heartbeats != nullptr && heartbeats->kind != Kind::None) {
    Result<NewLimits::Heartbeats> read = read_heartbeats(pickle, *heartbeats);
    if (!read) return read.error();
    out.heartbeats = *read;
  }
  const Value* sections = pickle.attribute(pickle.root(), "section_timeouts");
  if (sections != nullptr && sections->kind != Kind::None) {
    Result<NewLimits::Sections> read = read_sections(pickle, *sections);
    if (!read) return read.error();
    out.sections = std::move(*read);
  }
  return RankMessage(std::move(out));
}

// ---- answers: the operations of protocol 2, but for text, which has that of 4

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

// An object of that class, as it is before it has attributes.
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
  if (is_object(root, "HeartbeatMsg")) return RankMessage(Heartbeat());
  if (is_object(root, "SectionMsg")) return read_section(*pickle);
  if (is_object(root, "UpdateConfigMsg")) return read_limits(*pickle);
  if (is_object(root, "InitMsg")) return RankMessage(Begin());
  if (is_object(root, "AuthkeyMsg")) return RankMessage(Greeting());
  return wrong("it is no message");
}

std::string ok_answer() {
  std::string out;
  put_object(out, kModule, "OkMsg");
  return framed(out);
}

// What is left out is as the class has it.
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

}  // namespace sml::monitor
