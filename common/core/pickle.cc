#include "common/core/pickle.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace sml {

namespace {

constexpr int kMaxProtocol = 5;
constexpr Pickle::Place kMark = ~Pickle::Place{0};  // only on the stack

std::uint64_t little(std::string_view bytes) {
  std::uint64_t out = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) out = out << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return out;
}

std::uint64_t big(std::string_view bytes) {
  std::uint64_t out = 0;
  for (const char c : bytes) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

// Two's complement of 0 to 8 bytes.
std::int64_t signed_little(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const unsigned unused = 64 - static_cast<unsigned>(bytes.size()) * 8;
  return static_cast<std::int64_t>(little(bytes) << unused) >> unused;
}

}  // namespace

// The pickle machine: a stack of places, and a memo. Each step creates at most one value, so that the size of the input
// bounds the memory.
class PickleReader {
 public:
  PickleReader(std::string_view bytes, std::span<const std::string_view> classes) : in_(bytes), classes_(classes) {
    out_.values_.emplace_back();
  }

  Result<Pickle> read() {
    while (!over_ && fault_ == nullptr) step();
    if (stack_.size() != 1 || stack_.back() == kMark) fail("it ends with other than one value");
    if (fault_ != nullptr) return Error(ErrorKind::Protocol, fault_);
    out_.root_ = stack_.back();
    return std::move(out_);
  }

 private:
  using Kind = Pickle::Kind;
  using Place = Pickle::Place;
  using Value = Pickle::Value;

  void step();
  bool step_of_data(unsigned char operation);
  bool step_of_collections(unsigned char operation);
  void step_of_classes(unsigned char operation);

  void fail(const char* why) {
    if (fault_ == nullptr) fault_ = why;
  }
  std::string_view take(std::uint64_t size) {
    if (size > in_.size()) fail("it ends early");
    if (fault_ != nullptr) return {};
    const std::string_view taken = in_.substr(0, size);
    in_.remove_prefix(size);
    return taken;
  }
  std::string_view take_line() {
    const std::size_t end = in_.find('\n');
    const std::string_view line = take(end == in_.npos ? in_.size() + 1 : end + 1);
    return line.substr(0, line.empty() ? 0 : line.size() - 1);
  }
  std::string_view take_counted(std::size_t width) { return take(little(take(width))); }

  void push(Value value) {
    if (out_.values_.size() >= Pickle::kMaxValues) return fail("it has too many values");
    stack_.push_back(static_cast<Place>(out_.values_.size()));
    out_.values_.push_back(std::move(value));
  }
  void push_number(Kind kind, std::int64_t number) { push({.kind = kind, .number = number}); }
  void push_text(Kind kind, std::string_view text) { push({.kind = kind, .text = text}); }
  Place pop() {
    if (stack_.empty() || stack_.back() == kMark) fail("it takes what is not there");
    if (fault_ != nullptr) return 0;
    const Place place = stack_.back();
    stack_.pop_back();
    return place;
  }
  // Removes the last mark and returns the places above it.
  std::vector<Place> pop_to_mark() {
    const auto mark = std::find(stack_.rbegin(), stack_.rend(), kMark);
    if (mark == stack_.rend()) fail("it takes what is not there");
    if (fault_ != nullptr) return {};
    std::vector<Place> out(mark.base(), stack_.end());
    stack_.erase(mark.base() - 1, stack_.end());
    return out;
  }
  void push_tuple(std::size_t size) {
    std::vector<Place> items(size);
    for (std::size_t i = size; i > 0; --i) items[i - 1] = pop();
    push({.kind = Kind::List, .items = std::move(items)});
  }
  // Adds the items to the value on top of the stack.
  void add(Kind kind, const std::vector<Place>& items) {
    const Place place = stack_.empty() ? kMark : stack_.back();
    if (place == kMark || out_.values_[place].kind != kind) return fail("it adds to what cannot be added to");
    if (kind == Kind::Dict && items.size() % 2 != 0) return fail("it has a key without a value");
    added_ += items.size();  // `push` does not count them: they are places of existing values
    if (added_ > Pickle::kMaxValues) return fail("it has too many values");
    std::vector<Place>& all = out_.values_[place].items;
    all.insert(all.end(), items.begin(), items.end());
  }
  void add_one(Kind kind, std::size_t places) {
    std::vector<Place> items(places);
    for (std::size_t i = places; i > 0; --i) items[i - 1] = pop();
    if (fault_ == nullptr) add(kind, items);
  }
  void remember(std::uint64_t index) {
    if (stack_.empty() || stack_.back() == kMark) return fail("it takes what is not there");
    if (index >= Pickle::kMaxValues) return fail("it has too many values");
    if (memo_.size() <= index) memo_.resize(index + 1, kMark);
    memo_[index] = stack_.back();
  }
  void recall(std::uint64_t index) {
    if (index >= memo_.size() || memo_[index] == kMark) return fail("it recalls what it has not kept");
    if (stack_.size() >= Pickle::kMaxValues) return fail("it has too many values");
    stack_.push_back(memo_[index]);
  }
  void push_class(std::string_view module, std::string_view name) {
    for (const std::string_view known : classes_) {
      const std::size_t end = module.size();
      if (known.size() != end + 1 + name.size() || known[end] != ' ') continue;
      if (known.starts_with(module) && known.ends_with(name)) return push_text(Kind::Class, known);
    }
    fail("it names a class that no message has");
  }
  void push_object() {
    const Place arguments = pop();
    const Place of = pop();
    if (fault_ != nullptr) return;
    const Value& list = out_.values_[arguments];
    const Value& made_of = out_.values_[of];
    if (made_of.kind != Kind::Class || list.kind != Kind::List) return fail("it makes something of what is no class");
    added_ += list.items.size();
    if (added_ > Pickle::kMaxValues) return fail("it has too many values");
    push({.kind = Kind::Object, .text = made_of.text, .items = list.items});
  }
  void set_state() {
    const Place state = pop();
    const Place object = pop();
    if (fault_ != nullptr) return;
    if (out_.values_[object].kind != Kind::Object) return fail("it gives attributes to what is no object");
    out_.values_[object].state = state;
    stack_.push_back(object);
  }

  std::string_view in_;
  std::span<const std::string_view> classes_;
  Pickle out_;
  std::vector<Place> stack_;
  std::vector<Place> memo_;
  std::size_t added_ = 0;
  const char* fault_ = nullptr;  // the first fault
  bool over_ = false;
};

void PickleReader::step() {
  const std::string_view taken = take(1);
  if (taken.empty()) return;
  const auto operation = static_cast<unsigned char>(taken.front());
  if (stack_.size() > Pickle::kMaxValues) return fail("it has too many values");
  if (!step_of_data(operation) && !step_of_collections(operation)) step_of_classes(operation);
}

bool PickleReader::step_of_data(unsigned char operation) {
  switch (operation) {
    case 0x80:  // PROTO
      if (little(take(1)) > kMaxProtocol) fail("it is of a later Python");
      return true;
    case 0x95: (void)take(8); return true;  // FRAME
    case '.': over_ = true; return true;
    case 'N': push({}); return true;
    case 0x88: push_number(Kind::Bool, 1); return true;
    case 0x89: push_number(Kind::Bool, 0); return true;
    case 'J': push_number(Kind::Int, signed_little(take(4))); return true;
    case 'K': push_number(Kind::Int, static_cast<std::int64_t>(little(take(1)))); return true;
    case 'M': push_number(Kind::Int, static_cast<std::int64_t>(little(take(2)))); return true;
    case 0x8a: {  // LONG1
      const std::string_view bytes = take_counted(1);
      if (bytes.size() > 8) fail("it has too large a number");
      if (fault_ == nullptr) push_number(Kind::Int, signed_little(bytes));
      return true;
    }
    case 'G': push({.kind = Kind::Float, .real = std::bit_cast<double>(big(take(8)))}); return true;
    case 0x8c: push_text(Kind::Text, take_counted(1)); return true;
    case 'X': push_text(Kind::Text, take_counted(4)); return true;
    case 'C': push_text(Kind::Bytes, take_counted(1)); return true;
    case 'B': push_text(Kind::Bytes, take_counted(4)); return true;
    default: return false;
  }
}

bool PickleReader::step_of_collections(unsigned char operation) {
  switch (operation) {
    case '(': stack_.push_back(kMark); return true;
    case '0': (void)pop(); return true;
    case ')': push({.kind = Kind::List}); return true;
    case 0x85: push_tuple(1); return true;
    case 0x86: push_tuple(2); return true;
    case 0x87: push_tuple(3); return true;
    case 't': push({.kind = Kind::List, .items = pop_to_mark()}); return true;
    case ']':
    case 0x8f: push({.kind = Kind::List}); return true;
    case 'a': add_one(Kind::List, 1); return true;
    case 'e':
    case 0x90: add(Kind::List, pop_to_mark()); return true;
    case '}': push({.kind = Kind::Dict}); return true;
    case 's': add_one(Kind::Dict, 2); return true;
    case 'u': add(Kind::Dict, pop_to_mark()); return true;
    case 0x94: remember(memo_.size()); return true;
    case 'q': remember(little(take(1))); return true;
    case 'r': remember(little(take(4))); return true;
    case 'h': recall(little(take(1))); return true;
    case 'j': recall(little(take(4))); return true;
    default: return false;
  }
}

void PickleReader::step_of_classes(unsigned char operation) {
  switch (operation) {
    case 'c': {
      const std::string_view module = take_line();
      const std::string_view name = take_line();
      if (fault_ == nullptr) push_class(module, name);
      return;
    }
    case 0x93: {  // STACK_GLOBAL
      const Value& name = out_.values_[pop()];
      const Value& module = out_.values_[pop()];
      if (name.kind != Kind::Text || module.kind != Kind::Text) return fail("it names a class by what is no text");
      return push_class(module.text, name.text);
    }
    case 0x81:  // NEWOBJ
    case 'R': return push_object();
    case 'b': return set_state();
    default: return fail("it has an operation that no message needs");
  }
}

Result<Pickle> Pickle::read(std::string_view bytes, std::span<const std::string_view> classes) {
  if (bytes.size() > kMaxSize) return Error(ErrorKind::Protocol, "it is too long");
  return PickleReader(bytes, classes).read();
}

// As in Python, the last of several equal keys counts.
const Pickle::Value* Pickle::find(const Value& dict, std::string_view key) const {
  if (dict.kind != Kind::Dict) return nullptr;
  const Value* found = nullptr;
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const Value& name = values_[dict.items[i]];
    if (name.kind == Kind::Text && name.text == key) found = &values_[dict.items[i + 1]];
  }
  return found;
}

const Pickle::Value* Pickle::attribute(const Value& object, std::string_view name) const {
  return object.kind == Kind::Object ? find(values_[object.state], name) : nullptr;
}

}  // namespace sml
