#include "launcher/run/worker_streams.h"

#include "launcher/attempt/session_plans.h"
#include "launcher/run/worker_tags.h"

namespace sml::run {

WorkerStreams::WorkerStreams(const boost::asio::any_io_executor& loop, Deps deps) : deps_(deps), stdin_(loop, *this) {}

void WorkerStreams::give_input() {
  for (const plan::RankAssignment& rank : deps_.job.plan().map.ranks) {
    if (!attempt::wants_stdin(deps_.options, rank.rank)) continue;
    stdin_.add_reader(rank.rank);
    deps_.console.set_prompts(rank.rank, output::Chain::Prompts::AreShown);
  }
}

void WorkerStreams::take_input_back() {
  for (const plan::RankAssignment& rank : deps_.job.plan().map.ranks) {
    stdin_.remove_reader(rank.rank);
    deps_.console.set_prompts(rank.rank, output::Chain::Prompts::Wait);
  }
}

void WorkerStreams::add_workers(const plan::LaunchPlan& plan, Rank first) {
  deps_.console.grow(tag_subjects(plan.map), first, deps_.options.output);
  deps_.records.logs().begin(deps_.options.output, plan, first);
}

void WorkerStreams::worker_output(Rank rank, Stream stream, std::string_view bytes, TimePoint read_at) {
  if (deps_.options.logs.copy == CopyToOutput::Yes) deps_.console.worker_output(rank, stream, bytes, read_at);
  deps_.records.logs().write(rank, stream, bytes, read_at);
  deps_.events.publish(report::RankOutput{rank, stream, bytes.size()});
  deps_.progress.output(rank, stream, bytes);
  deps_.control.output(rank, stream, bytes);
  deps_.console.flush();
}

void WorkerStreams::worker_results(Rank rank, std::string_view bytes) {
  deps_.records.results().write(deps_.job.plan().job.attempt + 1, rank, bytes);
}

void WorkerStreams::worker_drained(Rank rank) {
  deps_.console.worker_done(rank);
  deps_.records.logs().rank_done(rank);
  deps_.console.flush();
}

void WorkerStreams::send_input(Rank rank, const std::string& bytes) {
  if (bytes.ends_with('\n')) deps_.console.line_typed();
  send_to(rank, wire::StdinData{rank, bytes});
}

void WorkerStreams::end_input(Rank rank) {
  deps_.console.set_prompts(rank, output::Chain::Prompts::Wait);
  send_to(rank, wire::StdinEof{rank});
}

void WorkerStreams::send_to(Rank rank, const wire::ToAgent& message) {
  deps_.fleet.send(deps_.job.plan().map.ranks[rank.value()].host, message);
}

}  // namespace sml::run
