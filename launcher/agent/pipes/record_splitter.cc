#include "launcher/agent/pipes/record_splitter.h"

#include <algorithm>
#include <cstring>

namespace sml::agent {

namespace {

enum Flag : std::uint32_t { kWhole, kFirst, kMiddle, kLast };
constexpr unsigned kFlagShift = 29;
constexpr std::array<unsigned char, 4> kMagicBytes{0x0A, 0x23, 0xD7, 0xCE};

std::uint32_t little_endian(const unsigned char* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

std::string hex(const unsigned char* bytes, std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) out += ' ';
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 0xF];
  }
  return out;
}

// The size of the record at the front if it is undivided and complete, which is the usual case; otherwise 0.
std::size_t undivided_record(std::string_view bytes) {
  if (bytes.size() < kRecordHeader) return 0;
  if (std::memcmp(bytes.data(), kMagicBytes.data(), kMagicBytes.size()) != 0) return 0;
  const std::uint32_t word = little_endian(reinterpret_cast<const unsigned char*>(bytes.data()) + kMagicBytes.size());
  if (word >> kFlagShift != kWhole) return 0;
  const std::size_t size = kRecordHeader + word + record_padding(word);
  return size <= bytes.size() ? size : 0;
}

}  // namespace

RecordSplitter::Cut RecordSplitter::next(std::string_view bytes) {
  switch (framing_) {
    case plan::FifoFraming::Records: return next_record(bytes);
    case plan::FifoFraming::Lines: return next_line(bytes);
    case plan::FifoFraming::Bytes: return next_piece(bytes);
  }
  return cut(bytes.size(), Ends::No);
}

RecordSplitter::Cut RecordSplitter::cut(std::size_t size, Ends ends) {
  offset_ += size;
  if (ends == Ends::Yes) record_begin_ = offset_;
  return {size, ends};
}

RecordSplitter::Cut RecordSplitter::next_line(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  return end == std::string_view::npos ? cut(bytes.size(), Ends::No) : cut(end + 1, Ends::Yes);
}

RecordSplitter::Cut RecordSplitter::next_piece(std::string_view bytes) {
  const std::uint64_t left = piece_ - (offset_ - record_begin_);
  const bool whole = bytes.size() >= left;
  return cut(whole ? static_cast<std::size_t>(left) : bytes.size(), whole ? Ends::Yes : Ends::No);
}

RecordSplitter::Cut RecordSplitter::next_record(std::string_view bytes) {
  if (header_size_ == 0 && !in_parts_) {
    if (const std::size_t size = undivided_record(bytes); size > 0) return cut(size, Ends::Yes);
  }
  for (std::size_t at = 0;;) {
    if (header_size_ < kRecordHeader) {
      if (!take_header(bytes, at)) return refuse(at, "");
      if (header_size_ < kRecordHeader) return cut(at, Ends::No);
      if (!begin_frame(at)) return {0, Ends::No};
    }
    const std::size_t taken = std::min<std::size_t>(left_, bytes.size() - at);
    at += taken;
    left_ -= static_cast<std::uint32_t>(taken);
    if (left_ > 0) return cut(at, Ends::No);
    header_size_ = 0;
    in_parts_ = flag_ == kFirst || flag_ == kMiddle;
    if (!in_parts_) return cut(at, Ends::Yes);
    if (at == bytes.size()) return cut(at, Ends::No);
  }
}

// Returns false if the bytes cannot be the magic number.
bool RecordSplitter::take_header(std::string_view bytes, std::size_t& at) {
  const std::size_t size = std::min(kRecordHeader - header_size_, bytes.size() - at);
  std::memcpy(header_.data() + header_size_, bytes.data() + at, size);
  header_size_ += size;
  at += size;
  return std::memcmp(header_.data(), kMagicBytes.data(), std::min(header_size_, kMagicBytes.size())) == 0;
}

// Called when the header is complete; returns false if it is not permitted here.
bool RecordSplitter::begin_frame(std::size_t at) {
  const std::uint32_t word = little_endian(header_.data() + 4);
  const std::uint32_t length = word & static_cast<std::uint32_t>(kLongestPayload);
  flag_ = word >> kFlagShift;
  left_ = length + record_padding(length);
  const bool continues = flag_ == kMiddle || flag_ == kLast;
  if (flag_ <= kLast && continues == in_parts_) return true;
  const std::string flag = std::to_string(flag_);
  if (flag_ > kLast) {
    refuse(at, "the RecordIO header there has the unknown flag " + flag);
  } else if (continues) {
    refuse(at, "a later part of a RecordIO record (flag " + flag + ") stands there without its first part");
  } else {
    refuse(at, "a RecordIO record (flag " + flag + ") begins there before the last part of the one before");
  }
  return false;
}

RecordSplitter::Cut RecordSplitter::refuse(std::size_t at, std::string why) {
  fault_at_ = offset_ + at - header_size_;
  if (why.empty()) {
    why = "no RecordIO record begins there: found " + hex(header_.data(), std::min(header_size_, kMagicBytes.size())) +
          ", expected " + hex(kMagicBytes.data(), kMagicBytes.size());
  }
  fault_ = Error(ErrorKind::Io, std::move(why));
  return {0, Ends::No};
}

Result<void> RecordSplitter::end() const {
  if (framing_ != plan::FifoFraming::Records || !inside()) return {};
  return Error(ErrorKind::Io, "the stream ends in the middle of a RecordIO record, which began at byte " +
                                  std::to_string(record_begin_));
}

}  // namespace sml::agent
