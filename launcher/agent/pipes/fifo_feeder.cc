#include "launcher/agent/pipes/fifo_feeder.h"

#include <algorithm>
#include <cerrno>

#include <poll.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/core/text.h"

namespace sml::agent {

namespace {

constexpr std::size_t kFeedRead = std::size_t{256} << 10;
constexpr int kFirstLookMs = 1;
constexpr int kLastLookMs = 50;
constexpr Duration kStuck = std::chrono::seconds(60);

}  // namespace

// ---- one channel

FifoChannelFeed::FifoChannelFeed(const FifoFeed& feed)
    : feed_(feed),
      machine_(static_cast<std::uint32_t>(feed.folders.size()), feed.channel.epochs),
      distributor_(feed.channel, static_cast<std::uint32_t>(feed.folders.size())),
      source_(feed.platform_folder, feed.channel.name),
      buffer_(kFeedRead) {
  for (const std::string& folder : feed.folders) sinks_.emplace_back(folder, feed.channel.name);
}

std::string FifoChannelFeed::place() const {
  return "channel " + feed_.channel.name + ", epoch " + std::to_string(machine_.epoch());
}

void FifoChannelFeed::fail(const Error& why, std::string_view place) {
  if (!fault_) fault_ = Error(ErrorKind::Io, std::string(place) + ": " + why.message());
}

void FifoChannelFeed::begin() { perform(machine_.begin()); }

void FifoChannelFeed::reader_died(std::uint32_t reader) { perform(machine_.died(reader)); }

void FifoChannelFeed::perform(const Steps& steps) {
  for (const Step& step : steps) {
    if (!fault_) perform(step);
  }
}

void FifoChannelFeed::perform(const Step& step) {
  ++moved_;
  switch (step.act) {
    case Act::Offer: return offer(step.reader);
    case Act::OpenSource: return open_source();
    case Act::CloseSource: return close_source();
    case Act::Finish: sinks_[step.reader].finish(); return flush(step.reader);
    case Act::Discard: return sinks_[step.reader].close();
  }
}

// Makes the next epoch's FIFO before the reader can see the end of this epoch.
void FifoChannelFeed::offer(std::uint32_t reader) {
  FifoSink& sink = sinks_[reader];
  Result<void> made = sink.make(machine_.epoch());
  if (made && !machine_.last_epoch()) made = sink.make(machine_.epoch() + 1);
  if (!made) return fail(made.error(), place());
  sink.await(machine_.epoch());
}

void FifoChannelFeed::open_source() {
  source_state_ = Source::Awaited;
  distributor_ = RecordDistributor(feed_.channel, static_cast<std::uint32_t>(sinks_.size()));
}

void FifoChannelFeed::close_source() {
  source_.close();
  source_state_ = Source::Closed;
}

bool FifoChannelFeed::looking() const {
  return source_state_ == Source::Awaited ||
         std::any_of(sinks_.begin(), sinks_.end(), [](const FifoSink& sink) { return sink.awaiting(); });
}

void FifoChannelFeed::look() {
  for (std::uint32_t i = 0; i < sinks_.size() && !fault_; ++i) {
    if (!sinks_[i].awaiting()) continue;
    const Result<bool> there = sinks_[i].look();
    if (!there) return fail(there.error(), place());
    if (!*there) continue;
    ++moved_;
    perform(machine_.came(i));
    if (sinks_[i].fd() >= 0) flush(i);
  }
  if (source_state_ != Source::Awaited || fault_) return;
  const Result<FifoSource::Opened> opened = source_.open(machine_.epoch());
  if (!opened) return fail(opened.error(), place());
  if (*opened == FifoSource::Opened::Yes) source_state_ = Source::Open;
}

bool FifoChannelFeed::wants_source() const {
  if (source_state_ != Source::Open) return false;
  for (std::uint32_t i = 0; i < sinks_.size(); ++i) {
    if (machine_.takes(i) && sinks_[i].full()) return false;
  }
  return true;
}

void FifoChannelFeed::add_watches(std::vector<Watch>& out) const {
  if (wants_source()) out.push_back({source_.wait_fd(), POLLIN, kSource});
  for (std::uint32_t i = 0; i < sinks_.size(); ++i) {
    if (sinks_[i].fd() < 0) continue;
    // POLLERR, which poll() always reports, means that the FIFO has no reader left.
    out.push_back({sinks_[i].fd(), static_cast<short>(sinks_[i].pending() > 0 ? POLLOUT : 0), i});
  }
}

void FifoChannelFeed::source_ready() {
  if (!wants_source()) return;
  const Result<std::optional<std::size_t>> n = source_.read(buffer_);
  if (!n) return fail(n.error(), place());
  if (!*n) return;
  ++moved_;
  const bool ended = **n == 0;
  hand_out(ended ? distributor_.end() : distributor_.deal(std::string_view(buffer_.data(), **n)));
  if (ended && !fault_) perform(machine_.source_ended());
}

void FifoChannelFeed::hand_out(const Result<std::span<const Share>>& shares) {
  if (!shares) {
    return fail(shares.error(), place() + ", byte " + std::to_string(distributor_.offset()));
  }
  for (const Share& share : *shares) {
    if (machine_.takes(share.reader)) sinks_[share.reader].add(share.bytes);
  }
  for (std::uint32_t i = 0; i < sinks_.size() && !fault_; ++i) {
    if (sinks_[i].fd() >= 0 && sinks_[i].pending() > 0) flush(i);
  }
}

void FifoChannelFeed::flush(std::uint32_t reader) {
  FifoSink& sink = sinks_[reader];
  const std::size_t before = sink.pending();
  if (sink.fd() >= 0 && sink.write() == FifoSink::Written::NoReader) return perform(machine_.left(reader));
  if (sink.pending() != before) ++moved_;
  if (!sink.finished()) return;
  sink.close();
  perform(machine_.finished(reader));
}

void FifoChannelFeed::reader_ready(std::uint32_t reader, short events) {
  if (sinks_[reader].fd() < 0) return;
  if ((events & POLLERR) != 0) return perform(machine_.left(reader));
  if ((events & POLLOUT) != 0) flush(reader);
}

std::string FifoChannelFeed::stuck() const {
  std::string late;
  bool somebody_waits = false;
  for (std::uint32_t i = 0; i < sinks_.size(); ++i) {
    const ReaderState state = machine_.state(i);
    const bool full = sinks_[i].fd() >= 0 && sinks_[i].full();
    if (state == ReaderState::Awaited)
      late += (late.empty() ? "" : ", ") + feed_.readers[i] + " has not opened its FIFO";
    if (full) late += (late.empty() ? "" : ", ") + feed_.readers[i] + " does not read";
    somebody_waits = somebody_waits || (state == ReaderState::Reading && !full) || state == ReaderState::Done;
  }
  if (!somebody_waits) return {};
  if (!late.empty()) return late;
  return source_state_ == Source::Closed ? "" : "nothing comes from " + show(source_.place());
}

// ---- all channels

namespace {

void write_report(int report, char mark, const std::string& text) { os::write_all(report, mark + text + "\n"); }

// Warns when a channel makes no progress: once until it moves again.
class StuckWatch {
 public:
  void look(const FifoChannelFeed& channel, TimePoint now, int report) {
    if (channel.moved() != seen_) {
      seen_ = channel.moved();
      since_ = now;
      reported_ = false;
      return;
    }
    if (reported_ || now - since_ < kStuck) return;
    reported_ = true;
    const std::string who = channel.stuck();
    if (who.empty()) return;
    write_report(report, '?', channel.place() + ": nothing has moved for " + format_duration(kStuck) + ": " + who);
  }

 private:
  std::uint64_t seen_ = UINT64_MAX;
  TimePoint since_{};
  bool reported_ = false;
};

class Feeder {
 public:
  Feeder(const std::vector<FifoFeed>& feeds, int control, int report)
      : control_(control), report_(report), stuck_(feeds.size()) {
    channels_.reserve(feeds.size());
    for (const FifoFeed& feed : feeds) channels_.emplace_back(feed);
  }

  void run() {
    for (FifoChannelFeed& channel : channels_) channel.begin();
    int pause = kFirstLookMs;
    while (!failed()) {
      const bool news = turn(pause);
      if (control_ < 0) return;
      pause = news ? kFirstLookMs : std::min(pause * 2, kLastLookMs);
    }
    while (control_ >= 0) {  // keep all FIFOs open until the job has ended
      pollfd wait{.fd = control_, .events = POLLIN, .revents = 0};
      if (::poll(&wait, 1, -1) > 0) take_control();
    }
  }

 private:
  // Polls all descriptors once and serves those that are ready. Returns false if there was nothing to do.
  bool turn(int pause) {
    for (FifoChannelFeed& channel : channels_) channel.look();
    polled_.assign(1, {.fd = control_, .events = POLLIN, .revents = 0});
    watches_.clear();
    sizes_.clear();
    for (const FifoChannelFeed& channel : channels_) {
      channel.add_watches(watches_);
      sizes_.push_back(watches_.size());
    }
    for (const FifoChannelFeed::Watch& w : watches_) polled_.push_back({.fd = w.fd, .events = w.events, .revents = 0});
    const int found = ::poll(polled_.data(), polled_.size(), limit(pause));
    if (found > 0 && polled_[0].revents != 0) take_control();
    if (control_ < 0) return true;
    for (std::size_t i = 0; i < channels_.size(); ++i) serve(i);
    return found > 0;
  }

  int limit(int pause) const {
    constexpr int kStuckLookMs = 5000;
    const bool looking = std::any_of(channels_.begin(), channels_.end(), [](const auto& c) { return c.looking(); });
    return looking ? pause : kStuckLookMs;
  }

  void serve(std::size_t index) {
    FifoChannelFeed& channel = channels_[index];
    for (std::size_t i = index == 0 ? 0 : sizes_[index - 1]; i < sizes_[index]; ++i) {
      const short events = polled_[i + 1].revents;
      if (events == 0 || channel.fault()) continue;
      if (watches_[i].reader == FifoChannelFeed::kSource) {
        channel.source_ready();
      } else {
        channel.reader_ready(watches_[i].reader, events);
      }
    }
    stuck_[index].look(channel, Clock::now(), report_);
  }

  void take_control() {
    DeadReader reader = 0;
    // The agent writes it in one write(), so one read() gets it whole.
    const ssize_t n = ::read(control_, &reader, sizeof reader);
    if (n == 0) control_ = -1;
    if (n != sizeof reader) return;
    for (FifoChannelFeed& channel : channels_) channel.reader_died(reader);
  }

  bool failed() {
    for (const FifoChannelFeed& channel : channels_) {
      if (!channel.fault()) continue;
      write_report(report_, '!', channel.fault()->message());
      return true;
    }
    return false;
  }

  int control_;  // -1 after its end
  int report_;
  std::vector<FifoChannelFeed> channels_;
  std::vector<StuckWatch> stuck_;
  std::vector<FifoChannelFeed::Watch> watches_;
  std::vector<std::size_t> sizes_;  // the size of watches_ after each channel
  std::vector<pollfd> polled_;
};

}  // namespace

void feed_fifos(const std::vector<FifoFeed>& feeds, int control, int report) { Feeder(feeds, control, report).run(); }

}  // namespace sml::agent
