// The information about running workers that other parts of the launcher request from the agents.
#pragma once
#include <tuple>
#include <utility>

#include "launcher/attempt/hosts/host_query.h"
#include "launcher/attempt/hosts/record_query.h"
#include "launcher/attempt/hosts/stack_query.h"

namespace sml::attempt {

class HostQueries {
 private:
  using SingleReplies = HostQuerySet<decltype(std::tuple_cat(std::tuple<wire::WorkersUse>(), wire::StatusReplies()))>;

 public:
  // The fleet outlives this.
  HostQueries(const boost::asio::any_io_executor& loop, fleet::Fleet& fleet)
      : traces_(loop, fleet), records_(loop, fleet), single_(loop, fleet) {}

  // Gets the current stacks of the workers; none if no workers run.
  void look_for_workers(TraceTools tools, StackQuery::Done done) { traces_.ask(tools, std::move(done)); }
  // Gets what torch's flight recorders hold. Call only in an attempt for which torch was asked to record.
  void fetch_records(RecordQuery::Done done) { records_.ask(std::move(done)); }
  // Gets one `Reply` of each host; none if no workers run.
  template <class Reply>
  void ask(typename HostQuery<Reply>::Done done) {
    single_.of<Reply>().ask(std::move(done));
  }
  // No more replies will come: concludes all requests.
  void end() {
    traces_.end();
    records_.end();
    single_.end();
  }

  void handle(const fleet::Host& host, const wire::Trace& m) { traces_.handle(host, m); }
  void handle(const fleet::Host& host, const wire::Traced& m) { traces_.handle(host, m); }
  void handle(const fleet::Host&, const wire::Recorded& m) { records_.handle(m); }
  void handle(const fleet::Host& host, const wire::RecordedAll& m) { records_.handle(host, m); }
  template <class Reply>
  requires requires(SingleReplies& all) { all.of<Reply>(); }
  void handle(const fleet::Host& host, const Reply& m) { single_.of<Reply>().handle(host, m); }

 private:
  StackQuery traces_;
  RecordQuery records_;
  SingleReplies single_;
};

}  // namespace sml::attempt
