// Finds the ends of records in a stream that comes in pieces of any size. Pure; keeps none of the bytes except an
// incomplete header.
//
// RecordIO is the format of MXNet: little-endian magic 0xCED7230A, then (flag << 29 | length), the payload, and zero
// bytes up to a multiple of four. Flag 0 is a whole record; 1, 2 and 3 are the first, a middle and the last part of a
// record that was split. Readers differ in how they join parts, so a record is passed on unchanged.
// Source: dmlc-core, recordio.h.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/core/error.h"
#include "common/plan/fifos.h"

namespace sml::agent {

inline constexpr std::uint32_t kRecordMagic = 0xCED7230A;
inline constexpr std::size_t kRecordHeader = 8;
inline constexpr std::uint64_t kLongestPayload = (std::uint64_t{1} << 29) - 1;

// The number of zero bytes after a payload.
constexpr std::uint32_t record_padding(std::uint64_t length) {
  return static_cast<std::uint32_t>((4 - length % 4) % 4);
}

class RecordSplitter {
 public:
  // `piece`: the bytes in a piece, for FifoFraming::Bytes.
  RecordSplitter(plan::FifoFraming framing, std::uint32_t piece) : framing_(framing), piece_(piece) {}

  enum class Ends : std::size_t { No, Yes };  // size_t: a Cut has no padding and is returned in registers
  struct Cut {
    std::size_t size;  // bytes of the current record; 0: an error, see fault()
    Ends ends;         // Yes: the record ends with these bytes
  };
  // Returns the bytes at the front of `bytes` that belong to the current record. `bytes` must not be empty.
  Cut next(std::string_view bytes);

  // To be called at the end of the stream. Error (Io): in the middle of a RecordIO record.
  Result<void> end() const;
  // True if some bytes of a record have been taken, but not its last.
  bool inside() const { return offset_ > record_begin_; }
  // The error (Io) for which next() returned size 0; only to be called after that. offset() is its position.
  Error fault() const { return *fault_; }
  // The number of bytes that next() has returned, or the position of the error.
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
  std::uint64_t offset_ = 0;        // bytes consumed
  std::uint64_t record_begin_ = 0;  // offset of the current record
  std::array<unsigned char, kRecordHeader> header_{};
  std::size_t header_size_ = 0;  // bytes of the header so far; kRecordHeader: inside a frame
  std::uint32_t left_ = 0;       // bytes left of the frame
  std::uint32_t flag_ = 0;       // of the frame
  bool in_parts_ = false;        // the first part of a record has come, but not the last
  std::optional<Error> fault_;
  std::uint64_t fault_at_ = 0;
};

}  // namespace sml::agent
