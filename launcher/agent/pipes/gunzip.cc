#include "launcher/agent/pipes/gunzip.h"

#include <algorithm>
#include <limits>

#include <zlib.h>

namespace sml::agent {

namespace {
constexpr int kGzipOnly = 16 + MAX_WBITS;

uInt count(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}
}  // namespace

struct Gunzip::State {
  z_stream stream{};
  bool ready = false;
  bool ended = false;
};

Gunzip::Gunzip() : state_(std::make_unique<State>()) {
  state_->ready = ::inflateInit2(&state_->stream, kGzipOnly) == Z_OK;
}

Gunzip::~Gunzip() {
  if (state_->ready) ::inflateEnd(&state_->stream);
}

Result<std::size_t> Gunzip::inflate(std::string_view& in, std::span<char> out) {
  z_stream& stream = state_->stream;
  if (!state_->ready) return Error(ErrorKind::Io, "not enough memory to undo gzip");
  if (state_->ended && !in.empty()) {
    ::inflateReset(&stream);
    state_->ended = false;
  }
  if (state_->ended) return std::size_t{0};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = count(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = count(out.size());
  const int status = ::inflate(&stream, Z_NO_FLUSH);
  in.remove_prefix(count(in.size()) - stream.avail_in);
  if (status == Z_STREAM_END) state_->ended = true;
  if (status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR) return count(out.size()) - stream.avail_out;
  return Error(ErrorKind::Io, stream.msg != nullptr ? "no valid gzip: " + std::string(stream.msg) : "no valid gzip");
}

bool Gunzip::at_end() const { return state_->ended; }

}  // namespace sml::agent
