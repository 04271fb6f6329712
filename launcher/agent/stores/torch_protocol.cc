#include "launcher/agent/stores/torch_protocol.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sml::agent::torch {

namespace {

enum class Field : std::uint8_t { None, Key, Value, Number, Word, Keys, Pairs };
using F = Field;

constexpr int kNone = -1;

struct OpRow {
  Op op;
  std::string_view name;
  int old_code;
  int new_code;
  std::array<Field, 3> fields;
};

// Watching was dropped in 2.1. Append and the operations after it came with 2.0; CancelWait had the number 12 in
// versions between the two numberings.
constexpr std::array kOps{
    OpRow{Op::Validate, "VALIDATE", kNone, 0, {F::Word}},
    OpRow{Op::Set, "SET", 0, 1, {F::Key, F::Value}},
    OpRow{Op::CompareSet, "COMPARE_SET", 1, 2, {F::Key, F::Value, F::Value}},
    OpRow{Op::Get, "GET", 2, 3, {F::Key}},
    OpRow{Op::Add, "ADD", 3, 4, {F::Key, F::Number}},
    OpRow{Op::Check, "CHECK", 4, 5, {F::Keys}},
    OpRow{Op::Wait, "WAIT", 5, 6, {F::Keys}},
    OpRow{Op::NumKeys, "GETNUMKEYS", 6, 7, {}},
    OpRow{Op::WatchKey, "WATCH_KEY", 7, kNone, {F::Key}},
    OpRow{Op::DeleteKey, "DELETE_KEY", 8, 8, {F::Key}},
    OpRow{Op::Append, "APPEND", 9, 9, {F::Key, F::Value}},
    OpRow{Op::MultiGet, "MULTI_GET", 10, 10, {F::Keys}},
    OpRow{Op::MultiSet, "MULTI_SET", 11, 11, {F::Pairs}},
    OpRow{Op::CancelWait, "CANCEL_WAIT", 12, 12, {}},
    OpRow{Op::Ping, "PING", kNone, 13, {F::Word}},
    OpRow{Op::QueuePush, "QUEUE_PUSH", kNone, 14, {F::Key, F::Value}},
    OpRow{Op::QueuePop, "QUEUE_POP", kNone, 15, {F::Key}},
    OpRow{Op::QueueLen, "QUEUE_LEN", kNone, 16, {F::Key}},
    OpRow{Op::ListKeys, "LIST_KEYS", kNone, 17, {}},
    OpRow{Op::Barrier, "BARRIER", kNone, 18, {F::Key, F::Number}},
};

const OpRow* find_row(Dialect dialect, unsigned char code) {
  const auto found = std::find_if(kOps.begin(), kOps.end(), [&](const OpRow& row) {
    return (dialect == Dialect::New ? row.new_code : row.old_code) == static_cast<int>(code);
  });
  return found == kOps.end() ? nullptr : &*found;
}

// Takes fields off the front. After the first incomplete field, wanted() is the number of bytes that are needed at
// least; after the first that breaks a limit, fault() names the limit.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}

  template <class T>
  T number() {
    T value{};
    const std::string_view taken = take(sizeof value);
    if (ok()) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  std::string_view bytes(std::size_t limit, const char* fault) {
    const auto length = number<std::uint64_t>();
    if (ok() && length > limit) fault_ = fault;
    return ok() ? take(static_cast<std::size_t>(length)) : std::string_view();
  }
  std::string_view key() { return bytes(kMaxKey, "a key is longer than 8 KiB"); }
  std::string_view value() { return bytes(kMaxValue, "a value is longer than 8 MiB"); }
  std::uint64_t count() {
    const auto count = number<std::uint64_t>();
    if (ok() && count > kMaxKeys) fault_ = "a request names more than 131072 keys";
    return ok() ? count : 0;
  }

  bool ok() const { return fault_ == nullptr && wanted_ == 0; }
  const char* fault() const { return fault_; }
  std::size_t wanted() const { return wanted_; }
  std::size_t read() const { return at_; }

 private:
  std::string_view take(std::size_t n) {
    if (!ok()) return {};
    if (at_ + n > kMaxRequest) {
      fault_ = "a request is longer than 64 MiB";
      return {};
    }
    if (n > bytes_.size() - at_) {
      wanted_ = at_ + n;
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, n);
    at_ += n;
    return taken;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t wanted_ = 0;
  const char* fault_ = nullptr;
};

void read_field(FieldReader& reader, Field field, Request& request) {
  switch (field) {
    case Field::None: return;
    case Field::Key: request.keys.push_back(reader.key()); return;
    case Field::Value: request.values.push_back(reader.value()); return;
    case Field::Number: request.number = reader.number<std::int64_t>(); return;
    case Field::Word: request.word = reader.number<std::uint32_t>(); return;
    case Field::Keys:
      for (std::uint64_t left = reader.count(); left > 0 && reader.ok(); --left) request.keys.push_back(reader.key());
      return;
    case Field::Pairs:
      for (std::uint64_t left = reader.count(); left > 0 && reader.ok(); --left) {
        request.keys.push_back(reader.key());
        request.values.push_back(reader.value());
      }
      return;
  }
}

void skip_one(FieldReader& reader, Field field) {
  switch (field) {
    case Field::Key: reader.key(); return;
    case Field::Value: reader.value(); return;
    case Field::Number: reader.number<std::int64_t>(); return;
    case Field::Word: reader.number<std::uint32_t>(); return;
    default: return;
  }
}

// Continues with a list; returns false if it is incomplete.
bool skim_list(FieldReader& reader, Field field, Scan& scan) {
  if (!scan.counted) {
    scan.left = reader.count() * (field == Field::Pairs ? 2 : 1);
    if (!reader.ok()) return false;
    scan.counted = true;
    scan.at = reader.read();
  }
  for (; scan.left > 0; --scan.left) {
    const bool value = field == Field::Pairs && scan.left % 2 == 1;
    skip_one(reader, value ? Field::Value : Field::Key);
    if (!reader.ok()) return false;
    scan.at = reader.read();
  }
  scan.counted = false;
  return true;
}

// Continues over the fields until one is incomplete or invalid.
void skim(FieldReader& reader, const OpRow& row, Scan& scan) {
  for (; scan.field < row.fields.size(); ++scan.field) {
    const Field field = row.fields[scan.field];
    if (field == Field::Keys || field == Field::Pairs) {
      if (!skim_list(reader, field, scan)) return;
    } else {
      skip_one(reader, field);
      if (!reader.ok()) return;
      scan.at = reader.read();
    }
  }
}

Parsed incomplete(std::size_t wanted) {
  Parsed out;
  out.size = wanted;
  return out;
}

Parsed bad(std::string fault) {
  Parsed out;
  out.state = Parsed::State::Bad;
  out.fault = std::move(fault);
  return out;
}

// Operation 0 is Validate or an old Set, whose key cannot be as long as the magic number.
bool tell_dialect(Dialect& dialect, std::string_view bytes) {
  if (dialect != Dialect::Unknown) return true;
  if (bytes.empty()) return false;
  if (bytes[0] == 0 && bytes.size() < 1 + sizeof kMagic) return false;
  std::uint32_t word = 0;
  if (bytes[0] == 0) std::memcpy(&word, bytes.data() + 1, sizeof word);
  dialect = word == kMagic ? Dialect::New : Dialect::Old;
  return true;
}

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

}  // namespace

std::string_view name(Op op) { return kOps[static_cast<std::size_t>(op)].name; }

int code_of(Op op, Dialect dialect) {
  const OpRow& row = kOps[static_cast<std::size_t>(op)];
  return dialect == Dialect::New ? row.new_code : row.old_code;
}

Parsed parse(Dialect& dialect, std::string_view bytes, Scan& scan) {
  if (!tell_dialect(dialect, bytes)) return incomplete(bytes.empty() ? 1 : 1 + sizeof kMagic);
  if (bytes.empty()) return incomplete(1);
  const auto code = static_cast<unsigned char>(bytes[0]);
  const OpRow* row = find_row(dialect, code);
  if (row == nullptr) return bad("there is no operation " + std::to_string(code));
  if (scan.begun) {
    FieldReader rest(bytes.substr(1), scan.at);
    skim(rest, *row, scan);
    if (rest.fault() != nullptr) return bad(std::string(row->name) + ": " + rest.fault());
    if (rest.wanted() != 0) return incomplete(1 + rest.wanted());
  }
  scan.begun = true;
  Parsed out;
  out.request.op = row->op;
  FieldReader reader(bytes.substr(1));
  for (const Field field : row->fields) read_field(reader, field, out.request);
  if (reader.fault() != nullptr) return bad(std::string(row->name) + ": " + reader.fault());
  if (reader.wanted() != 0) return incomplete(1 + reader.wanted());
  if (row->op == Op::Validate && out.request.word != kMagic) return bad("VALIDATE: the magic number is wrong");
  out.state = Parsed::State::Complete;
  out.size = 1 + reader.read();
  return out;
}

void put_number(std::string& out, std::int64_t value) { put(out, value); }
void put_word(std::string& out, std::uint32_t value) { put(out, value); }
void put_bytes(std::string& out, std::string_view bytes) {
  put(out, static_cast<std::uint64_t>(bytes.size()));
  out.append(bytes);
}

}  // namespace sml::agent::torch
