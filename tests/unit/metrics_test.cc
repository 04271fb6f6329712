// --metrics: the text that is served, and which requests are.
#include "launcher/metrics/http_exchange.h"
#include "launcher/metrics/job_metrics.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::metrics;
using namespace sml::report;
using namespace std::chrono_literals;

namespace {

const TimePoint kMetricsStart = TimePoint(1000h);

struct Observed {
  explicit Observed(std::uint32_t slots = 2, const std::string& first = "a") {
    plan::HostList hosts;
    hosts.hosts = {{first, "", slots}, {"b", "", 1}};
    plan.map = *plan::map_job(hosts, std::nullopt, plan::Oversubscribe::No);
    plan.job.job_id = "job-1";
    tell(JobBegins{&plan, 1'700'000'000.5}, 0s);
  }
  void tell(const EventPayload& what, Duration at) {
    progress.on_event({kMetricsStart + at, what});
    metrics.on_event({kMetricsStart + at, what});
  }
  std::string text(Duration at, const LiveUses& uses = {}, Format format = Format::Text) const {
    return metrics.text(format, kMetricsStart + at, uses);
  }

  plan::LaunchPlan plan;
  JobProgress progress;
  JobMetrics metrics{progress};
};

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

Format format_of(const std::string& request) {
  const auto read = read_request(request);
  REQUIRE(read);
  REQUIRE(std::holds_alternative<Format>(*read));
  return std::get<Format>(*read);
}

std::string refusal_of(const std::string& request) {
  const auto read = read_request(request);
  REQUIRE(read);
  REQUIRE(std::holds_alternative<Refusal>(*read));
  return std::get<Refusal>(*read).response;
}

}  // namespace

TEST_CASE("metrics tell states, silence, output and usage") {
  Observed job;
  job.tell(WorkersStart{"a", 1}, 1s);
  for (const std::uint32_t rank : {0U, 1U, 2U}) job.tell(RankStarted{Rank(rank), 10}, 1s);
  job.tell(RankOutput{Rank(1), Stream::Stdout, 100}, 3s);
  job.tell(RankOutput{Rank(1), Stream::Stderr, 7}, 4s);
  job.tell(RankExited{Rank(2), Exited{0}, Ending::ByItself}, 5s);
  job.tell(HostInUse{HostId(1), {40, 100, {{"card0", 87, 1, 2}}}}, 5s);
  const std::string text = job.text(6s, {.ranks = {{Rank(1), {std::nullopt, 1500, 4096, 1}}}});
  CHECK(has_line(text, "sml_run_info{job_id=\"job-1\",version=\"" SML_VERSION "\"} 1"));
  CHECK(has_line(text, "sml_run_start_timestamp_seconds 1700000000.5"));
  CHECK(has_line(text, "sml_run_phase{phase=\"running\"} 1"));
  CHECK(has_line(text, "sml_run_ranks{state=\"running\"} 2"));
  CHECK(has_line(text, "sml_run_ranks{state=\"finished\"} 1"));
  CHECK(has_line(text, "sml_run_hosts{state=\"waiting\"} 2"));
  CHECK(has_line(text, "sml_run_attempts_total 1"));
  CHECK(has_line(text, "sml_run_output_bytes_total{stream=\"stderr\"} 7"));
  CHECK(has_line(text, "sml_run_rank_silence_seconds{rank=\"0\",host=\"a\"} 5"));
  CHECK(has_line(text, "sml_run_rank_silence_seconds{rank=\"1\",host=\"a\"} 2"));
  CHECK(text.find("silence_seconds{rank=\"2\"") == std::string::npos);
  CHECK(has_line(text, "sml_run_rank_output_bytes_total{rank=\"1\",host=\"a\"} 107"));
  CHECK(has_line(text, "sml_run_rank_cpu_seconds_total{rank=\"1\",host=\"a\"} 1.5"));
  CHECK(has_line(text, "sml_run_rank_memory_bytes{rank=\"1\",host=\"a\"} 4096"));
  CHECK(has_line(text, "sml_run_host_memory_used_bytes{host=\"b\"} 40"));
  CHECK(has_line(text, "sml_run_accelerator_busy_ratio{host=\"b\",accelerator=\"card0\"} 0.87"));
}

TEST_CASE("metrics of a job that goes on in another attempt and ends") {
  Observed job;
  job.tell(RankStarted{Rank(0), 10}, 1s);
  job.tell(RankOutput{Rank(0), Stream::Stdout, 5}, 2s);
  job.tell(AttemptBegins{2, &job.plan}, 3s);
  job.tell(RankStarted{Rank(0), 11}, 4s);
  job.tell(RankOutput{Rank(0), Stream::Stdout, 5}, 4s);
  CHECK(has_line(job.text(5s), "sml_run_attempts_total 2"));
  CHECK(has_line(job.text(5s), "sml_run_output_bytes_total{stream=\"stdout\"} 10"));
  CHECK(has_line(job.text(5s), "sml_run_rank_output_bytes_total{rank=\"0\",host=\"a\"} 5"));
  CHECK(job.text(5s).find("sml_run_exit_status") == std::string::npos);
  job.tell(JobEnds{3, "rank 0 failed", Rank(0)}, 6s);
  CHECK(has_line(job.text(6s), "sml_run_exit_status 3"));
  CHECK(has_line(job.text(6s), "sml_run_phase{phase=\"ended\"} 1"));
}

TEST_CASE("each format of metrics has its own names of counters and its own end") {
  const Observed job;
  const std::string text = job.text(1s);
  CHECK(has_line(text, "# TYPE sml_run_attempts_total counter"));
  CHECK(has_line(text, "# TYPE sml_run_info gauge"));
  CHECK(text.find("# EOF") == std::string::npos);
  const std::string open = job.text(1s, {}, Format::OpenMetrics);
  CHECK(has_line(open, "# TYPE sml_run_attempts counter"));
  CHECK(has_line(open, "sml_run_attempts_total 1"));
  CHECK(has_line(open, "# TYPE sml_run info"));
  CHECK(has_line(open, "# UNIT sml_run_output_bytes bytes"));
  CHECK(open.ends_with("\n# EOF\n"));
}

TEST_CASE("there are series of each rank for up to 1,024 ranks") {
  CHECK(Observed(1023).text(1s).find("sml_run_rank_running{") != std::string::npos);
  const std::string many = Observed(1024).text(1s);
  CHECK(many.find("sml_run_rank_running") == std::string::npos);
  CHECK(has_line(many, "sml_run_ranks{state=\"waiting\"} 1025"));
}

TEST_CASE("names in labels are escaped") {
  const Observed job(2, "a\"\\\n\xff");
  CHECK(has_line(job.text(1s), R"(sml_run_rank_running{rank="0",host="a\"\\\\n\\xff"} 0)"));
}

TEST_CASE("only GET /metrics is served, in the format that is asked for") {
  CHECK(format_of("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n") == Format::Text);
  CHECK(format_of("GET /metrics?a=b HTTP/1.0\n\n") == Format::Text);
  CHECK(format_of(
            "GET /metrics HTTP/1.1\r\naCCept: text/plain;q=0.1, application/openmetrics-text;version=1.0.0\r\n\r\n") ==
        Format::OpenMetrics);
  CHECK(refusal_of("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
  CHECK(refusal_of("GET /metricsx HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
  CHECK(refusal_of("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
  CHECK(refusal_of("hello\r\n\r\n").starts_with("HTTP/1.1 400 "));
  CHECK(refusal_of("GET /metrics HTTP/1.1\r\nX: " + std::string(9000, 'x')).starts_with("HTTP/1.1 431 "));
  CHECK_FALSE(read_request("GET /metrics HTTP/1.1\r\nHost: x\r\n"));
}
