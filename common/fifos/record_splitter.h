// Where records end in a stream that comes in pieces of any size. Pure; keeps none of the bytes.
//
// RecordIO is that of MXNet: little-endian magic 0xCED7230A, then (flag << 29 | length), the payload, and zero bytes up
// to a multiple of four. Flag 0 is a whole record; 1, 2 and 3 are the first, the middle and the last part of one that
// has been split. Readers differ in how they join parts, so a record is passed on as it is.
// Source: dmlc-core, recordio.h.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/error.h"
#include "common/plan/fifos.h"

namespace sml::fifos {

inline constexpr std::uint32_t kRecordMagic = 0xCED7230A;
inline constexpr std::size_t kRecordHeader = 8;
inline constexpr std::uint64_t kLongestPayload = (std::uint64_t{1} << 29) - 1;

// The header of a whole record.
std::array<char, kRecordHeader> record_header(std::uint32_t length);
// Zero bytes behind a payload.
constexpr std::uint32_t record_padding(std::uint64_t length) {
  return static_cast<std::uint32_t>((4 - length % 4) % 4);
}

class RecordSplitter {
 public:
  // `piece`: bytes in a piece, for FifoFraming::Bytes.
  RecordSplitter(plan::FifoFraming framing, std::uint32_t piece) : framing_(framing), piece_(piece) {}

  enum class Ends : std::size_t { No, Yes };  // a Cut has no padding then, and travels in registers
  struct Cut {
    std::size_t size;  // bytes of the record at hand; 0: see fault()
    Ends ends;
  };
  // Of `bytes`, which are not empty, those at the front that belong to the record at hand.
  Cut next(std::string_view bytes);

  // The stream has ended. Error: in the middle of a RecordIO record.
  Result<void> end() const;
  // A record has begun and not ended.
  bool inside() const { return offset_ > record_begin_; }
  // Why next() took nothing, kind Io; the place is in offset().
  Error fault() const { return *fault_; }
  std::uint64_t offset() const { return fault_ ? fault_at_ : offset_; }

 private:
  Cut next_record(std::string_view bytes);
  Cut next_line(std::string_view bytes);
  Cut next_piece(std::string_view bytes);
  bool take_header(std::string_view bytes, std::size_t& at);
  bool begin_frame(std::size_t at);
  Cut refuse(std::size_t at, std::string why);
  Cut cut(std::size_t size, Ends ends);

  plan::FifoFraming framing_;
  std::uint32_t piece_;
  std::uint64_t offset_ = 0;        // bytes taken
  std::uint64_t record_begin_ = 0;  // of the record at hand
  std::array<unsigned char, kRecordHeader> header_{};
  std::size_t header_size_ = 0;  // bytes of a header that are there; kRecordHeader: in a frame
  std::uint32_t left_ = 0;       // of the frame
  std::uint32_t flag_ = 0;       // of the frame
  bool in_parts_ = false;        // a first part has come, and no last one
  std::optional<Error> fault_;
  std::uint64_t fault_at_ = 0;
};

}  // namespace sml::fifos
