#include "launcher/hosts/hostfile.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::hosts;

namespace {
// "user@name:port/slots" of each, "?" for slots that are not named.
std::string flat(const std::vector<plan::Host>& hosts) {
  std::string out;
  for (const plan::Host& h : hosts) {
    out += (out.empty() ? "" : " ") + (h.user.empty() ? "" : h.user + "@") + h.name +
           (h.port ? ":" + std::to_string(*h.port) : "") + "/" + (h.slots ? std::to_string(*h.slots) : "?");
  }
  return out;
}
}  // namespace

TEST_CASE("host files of every dialect are read") {
  struct Row {
    const char* dialect;
    const char* text;
    const char* expected;
  };
  const Row rows[] = {
      {"Open MPI", "# two nodes\naa slots=2\nbb slots=4 max_slots=4\n\ncc max-slots=3 # three\n", "aa/2 bb/4 cc/3"},
      {"Open MPI, other words", "joe@a cpu=2\nb username=ann count=3 port=2222\nc slots = 4\n",
       "joe@a/2 ann@b:2222/3 c/4"},
      {"Open MPI, topology", "a sockets=2 cores=8 slots=16\n", "a/16"},
      {"Open MPI, no slots", "a\nb\n", "a/? b/?"},
      {"MPICH", "host1\nhost2:2\nhost3:4 binding=user:0,1 user=joe\n# host4:1\n", "host1/? host2/2 joe@host3/4"},
      {"DeepSpeed", "worker-1 slots=4\nworker-2\tslots=4\n", "worker-1/4 worker-2/4"},
      {"Horovod", "aa slots=2\r\nbb slots=2\r\n", "aa/2 bb/2"},
      {"MPI operator", "pi-worker-0.pi.default.svc slots=1\npi-worker-1.pi.default.svc:1\n",
       "pi-worker-0.pi.default.svc/1 pi-worker-1.pi.default.svc/1"},
      {"PBS", "n1\nn1\nn2\nn1\n", "n1/3 n2/1"},
      {"the same host on several lines", "a slots=2\nb:1\nA:3\n", "a/5 b/1"},
      {"ranges", "n[01-02]-ib[0-1]:8\nm[1-2] slots=2 user=joe\n",
       "n01-ib0/8 n01-ib1/8 n02-ib0/8 n02-ib1/8 joe@m1/2 joe@m2/2"},
      {"ports", "ssh://joe@a:2222/4\nb:2223/2\nc/1\n", "joe@a:2222/4 b:2223/2 c/1"},
      {"IPv6", "[2001:db8::1]:4\n[::1] slots=2\n", "2001:db8::1/4 ::1/2"},
      {"of an editor elsewhere",
       "\xEF\xBB\xBF"
       "a:1 \r\n\t\r\n  b:2\t\r\n",
       "a/1 b/2"},
      {"no newline at the end", "a:1", "a/1"},
      {"a comment right after", "a:1#x\nb SLOTS=2#y\n", "a/1 b/2"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.dialect);
    const auto hosts = parse_hostfile(row.text, "f");
    if (hosts.has_error()) FAIL(hosts.error().message());
    CHECK(flat(*hosts) == row.expected);
  }
}

TEST_CASE("a malformed host file is refused with file, line and column") {
  const std::string slots = "expected a whole number of slots from 0 to 65536";
  struct Row {
    std::string text;
    std::string message;
  };
  const Row rows[] = {
      {"", "nodes.txt: names no host; expected one host a line, as in \"algo-1 slots=8\""},
      {"\n# a\n \r\n", "nodes.txt: names no host; expected one host a line, as in \"algo-1 slots=8\""},
      {"a:1\nb:\n", "nodes.txt:2:1: \"b:\" has no number after \":\"; " + slots},
      {"a:1\n  b slots=x\n", "nodes.txt:2:5: \"slots=x\" has \"x\" after \"slots=\"; " + slots},
      {"b slots=\n", "nodes.txt:1:3: \"slots=\" has no number after \"slots=\"; " + slots},
      {"b slots=-1\n", "nodes.txt:1:3: \"slots=-1\" has \"-1\" after \"slots=\"; " + slots},
      {"b slots=65537\n", "nodes.txt:1:3: \"slots=65537\" has too many slots; " + slots},
      {"b slots = x y\n", "nodes.txt:1:3: \"slots = x\" has \"x\" after \"slots = \"; " + slots},
      {"b slots=1 slots=2\n", "nodes.txt:1:11: \"slots=2\" names the slots of this host twice"},
      {"b:1 slots=2\n", "nodes.txt:1:5: \"slots=2\" names the slots of this host twice"},
      {"b slots=4 max_slots=2\n", "nodes.txt:1:1: \"b\" has 4 slots, more than its max_slots=2"},
      {"b slot=4\n", "nodes.txt:1:3: \"slot=4\" is no setting of a host; did you mean slots=?"},
      {"b colour=4\n",
       "nodes.txt:1:3: \"colour=4\" is no setting of a host; expected slots=N, max_slots=N, user=NAME or port=N"},
      {"a b\n", "nodes.txt:1:3: \"b\" follows a host; expected settings such as slots=4, and one host a line"},
      {"a =4\n", "nodes.txt:1:3: \"=\" follows a host; expected settings such as slots=4, and one host a line"},
      {"a,b\n", "nodes.txt:1:1: \"a,b\" has a comma; write one host a line"},
      {"a:1\n^b\n", "nodes.txt:2:1: \"^b\" excludes a host; leave it out of the file instead"},
      {"rank 0=a slot=1\n",
       "nodes.txt:1:1: \"rank\" begins a line of a rankfile; expected a host, as in \"algo-1 slots=8\""},
      {"a user=-x\n", "nodes.txt:1:3: \"user=-x\" names no valid user"},
      {"x@a user=y\n", "nodes.txt:1:5: \"user=y\" names the user of this host twice"},
      {"a port=0\n", "nodes.txt:1:3: \"port=0\" has port 0; expected a port from 1 to 65535"},
      {"a port=x\n", "nodes.txt:1:3: \"port=x\" has \"x\" after \"port=\"; expected a port from 1 to 65535"},
      {"a:2/1 port=2\n", "nodes.txt:1:7: \"port=2\" names the port of this host twice"},
      {"a:1\na\n", "nodes.txt:2:1: \"a\" names a again, once with and once without slots; give slots each time"},
      {"n[1-99999999]\n", "nodes.txt:1:1: \"n[1-99999999]\" names 99999999 hosts; a job has at most 100000"},
      {"-oProxyCommand=x\n",
       "nodes.txt:1:1: \"-oProxyCommand=x\" is no host name; expected letters, digits, \".\", \"_\" and \"-\", not "
       "first \"-\" or \".\""},
      {std::string("a\0b", 3),
       "nodes.txt:1:1: \"a\\x00b\" is no host name; expected letters, digits, \".\", \"_\" and \"-\", not first \"-\" "
       "or \".\""},
      {std::string((16 << 20) + 1, '\n'), "nodes.txt: is larger than 16 MiB"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text.substr(0, 100));
    const auto hosts = parse_hostfile(row.text, "nodes.txt");
    REQUIRE(hosts.has_error());
    CHECK(hosts.error().kind() == ErrorKind::Config);
    CHECK(hosts.error().message() == row.message);
  }
}

TEST_CASE("as many lines as a job may have hosts are read, and one more is refused") {
  std::string text;
  for (std::size_t i = 0; i < plan::kMaxHosts; ++i) text += "algo-" + std::to_string(i) + " slots=8\n";
  const auto hosts = parse_hostfile(text, "nodes.txt");
  REQUIRE(hosts.has_value());
  CHECK(hosts->size() == plan::kMaxHosts);
  CHECK(parse_hostfile(text + "z\n", "nodes.txt").error().message() ==
        "nodes.txt:100001:1: \"z\" names too many hosts; a job has at most 100000");
}
