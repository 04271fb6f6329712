#include "launcher/hosts/host_list.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::hosts;
using namespace sml::plan;

namespace {
// "user@name:slots" of each, "?" for slots that are not named.
std::string flat(const std::vector<Host>& hosts) {
  std::string out;
  for (const Host& h : hosts) {
    out += (out.empty() ? "" : " ") + (h.user.empty() ? "" : h.user + "@") + h.name + "/" +
           (h.slots ? std::to_string(*h.slots) : "?") + (h.port ? " port " + std::to_string(*h.port) : "");
  }
  return out;
}
}  // namespace

TEST_CASE("host lists are read") {
  struct Row {
    const char* text;
    const char* expected;
  };
  const Row rows[] = {
      {"a", "a/?"},
      {"a:1,b:2", "a/1 b/2"},
      {" a:1 , b:2 ", "a/1 b/2"},
      {"a:0", "a/0"},
      {"a:65536", "a/65536"},
      {"a:007", "a/7"},
      {"root@a:2,b", "root@a/2 b/?"},
      {"DOM\\joe@a", "DOM\\joe@a/?"},
      {"algo-[1-3]:8", "algo-1/8 algo-2/8 algo-3/8"},
      {"algo-[1-2,5]", "algo-1/? algo-2/? algo-5/?"},
      {"algo-[ 1 , 3 ]", "algo-1/? algo-3/?"},
      {"n[09-11]", "n09/? n10/? n11/?"},
      {"n[9-11]", "n9/? n10/? n11/?"},
      {"n[1-02]", "n1/? n2/?"},
      {"n[01-2]", "n01/? n02/?"},
      {"n[1-2].local:3", "n1.local/3 n2.local/3"},
      {"r[1-2]n[1-2]", "r1n1/? r1n2/? r2n1/? r2n2/?"},
      {"me@n[1-2]", "me@n1/? me@n2/?"},
      {"10.0.0.[1-2]:4", "10.0.0.1/4 10.0.0.2/4"},
      {"[1-2]", "1/? 2/?"},
      {"[::1]", "::1/?"},
      {"[2001:db8::1]:2,me@[fe80::1%eth0]:1", "2001:db8::1/2 me@fe80::1%eth0/1"},
      {"a:2,b:1,a:3", "a/5 b/1"},
      {"a,b,a", "a/2 b/1"},
      {"a,a,a", "a/3"},
      {"a:1,joe@a:1", "joe@a/2"},
      {"n[1-3,2]:1", "n1/1 n2/2 n3/1"},
      {"a:0,a:0", "a/0"},
      {"Node1:1,node1:2", "Node1/3"},
      {"[2001:db8::1]:1,[2001:DB8:0::1]:1", "2001:db8::1/2"},
      {"n[001-003,7]-ib[0-1]:8", "n001-ib0/8 n001-ib1/8 n002-ib0/8 n002-ib1/8 n003-ib0/8 n003-ib1/8 n7-ib0/8 n7-ib1/8"},
      {"r[1-2]c[1-2]n[1-2]", "r1c1n1/? r1c1n2/? r1c2n1/? r1c2n2/? r2c1n1/? r2c1n2/? r2c2n1/? r2c2n2/?"},
      {"joe@a:2222/4", "joe@a/4 port 2222"},
      {"a:2222/", "a/? port 2222"},
      {"a/4", "a/4"},
      {"ssh://joe@a:2222/4", "joe@a/4 port 2222"},
      {"ssh://a:2222", "a/? port 2222"},
      {"ssh://a", "a/?"},
      {"ssh://a/", "a/?"},
      {"ssh://a/0", "a/0"},
      {"[2001:db8::1]:2222/4", "2001:db8::1/4 port 2222"},
      {"ssh://me@n[1-2]:2222/4", "me@n1/4 port 2222 me@n2/4 port 2222"},
      {"a:2222/1,a:1", "a/2 port 2222"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto hosts = parse_host_list(row.text);
    REQUIRE(hosts.has_value());
    CHECK(flat(*hosts) == row.expected);
  }
}

TEST_CASE("a malformed host list is refused with one sentence") {
  const std::string slots = "expected a whole number of slots from 0 to 65536";
  const std::string name =
      "is no host name; expected letters, digits, \".\", \"_\" and \"-\", not first \"-\" or \".\"";
  const std::string brackets = "has brackets that do not match; expected a range such as algo-[1-4]";
  struct Row {
    std::string text;
    std::string item;  // the part that is quoted
    std::string complaint;
  };
  const Row rows[] = {
      {"a,h:", "h:", "has no number after \":\"; " + slots},
      {"algo-{1,2}", "algo-{1", "is no host name; write a range as algo-[1-2]"},
      {"h:-1,a", "h:-1", "has \"-1\" after \":\"; " + slots},
      {"h:+1", "h:+1", "has \"+1\" after \":\"; " + slots},
      {"h:x", "h:x", "has \"x\" after \":\"; " + slots},
      {"h:1 2", "h:1 2", "has \"1 2\" after \":\"; " + slots},
      {"h:1.5", "h:1.5", "has \"1.5\" after \":\"; " + slots},
      {"h:65537", "h:65537", "has too many slots; " + slots},
      {"h:4294967297", "h:4294967297", "has too many slots; " + slots},
      {"h:99999999999999999999999", "h:99999999999999999999999", "has too many slots; " + slots},
      {"a,,b", "a,,b", "has an empty item; remove a comma"},
      {",a", ",a", "has an empty item; remove a comma"},
      {"a, ,b", "a, ,b", "has an empty item; remove a comma"},
      {"a,", "a,", "ends with a comma; remove it (a list has no blanks: algo-1:2,algo-2:2)"},
      {"a:1, ", "a:1, ", "ends with a comma; remove it (a list has no blanks: algo-1:2,algo-2:2)"},
      {":2", ":2", "has no host name; expected NAME or NAME:SLOTS"},
      {"joe@", "joe@", "has no host name; expected NAME or NAME:SLOTS"},
      {"@a", "@a", "has no valid user name before \"@\""},
      {"-oProxyCommand=x@a", "-oProxyCommand=x@a", "has no valid user name before \"@\""},
      {"joe:x@a:2", "joe:x@a:2", "has no valid user name before \"@\""},
      {"joe/x@a", "joe/x@a", "has no valid user name before \"@\""},
      {"n[1-2]@a", "n[1-2]@a", "has no valid user name before \"@\""},
      {"-oProxyCommand", "-oProxyCommand", name},
      {".hidden", ".hidden", name},
      {"a b", "a b", name},
      {"a/b", "a/b", "has \"b\" after \"/\"; " + slots},
      {"a/", "a/", "has no number after \"/\"; " + slots},
      {"a/1:2", "a/1:2", "has \"/\" before \":\"; write HOST:PORT/SLOTS"},
      {"a:1/2/3", "a:1/2/3", "has \"2/3\" after \"/\"; " + slots},
      {"a:0/2", "a:0/2", "has port 0; expected a port from 1 to 65535"},
      {"a:65536/2", "a:65536/2", "has too large a port; expected a port from 1 to 65535"},
      {"a:x/2", "a:x/2", "has \"x\" after \":\"; expected a port from 1 to 65535"},
      {"ssh://a:/2", "ssh://a:/2", "has no number after \":\"; expected a port from 1 to 65535"},
      {"ssh://", "ssh://", "has no host name; expected NAME or NAME:SLOTS"},
      {"ssh://a/b", "ssh://a/b", "has \"b\" after \"/\"; " + slots},
      {"http://a", "http://a", "has no number after \":\"; expected a port from 1 to 65535"},
      {"a:1/1,a:2/1", "a:2/1",
       "names a again with another port than 1; give each server behind one address a name of its own in the ssh "
       "config "
       "(Host, with HostName and Port)"},
      {"a;reboot", "a;reboot", name},
      {"$(id)", "$(id)", name},
      {"a%h", "a%h", name},
      {"a,new\nline", "new\\nline", name},
      {"a\x1b[1mb", "a\\x1b[1mb", brackets},
      {"h\xc3\xb6st", "h\xc3\xb6st", name},
      {"::1:2", "::1:2", "has more than one \":\"; write an IPv6 address in brackets, as in [::1]:2"},
      {"a:1:2", "a:1:2", "has more than one \":\"; write an IPv6 address in brackets, as in [::1]:2"},
      {"[::1", "[::1", brackets},
      {"[::g]", "[::g]", "has a bad IPv6 address in its brackets"},
      {"[::1%]", "[::1%]", "has a bad IPv6 address in its brackets"},
      {"a[1-2", "a[1-2", brackets},
      {"a1-2]", "a1-2]", brackets},
      {"a[1[2]]", "a[1[2]]", brackets},
      {"a[3-1]", "a[3-1]", "has a range that runs backwards; write [1-3]"},
      {"a[]", "a[]", "has the bad range \"\"; expected numbers such as [1-4,7]"},
      {"a[1,]", "a[1,]", "has the bad range \"\"; expected numbers such as [1-4,7]"},
      {"a[x-y]", "a[x-y]", "has the bad range \"x-y\"; expected numbers such as [1-4,7]"},
      {"a[-1]", "a[-1]", "has the bad range \"-1\"; expected numbers such as [1-4,7]"},
      {"a[1--2]", "a[1--2]", "has the bad range \"1--2\"; expected numbers such as [1-4,7]"},
      {"a[1-2-3]", "a[1-2-3]", "has the bad range \"1-2-3\"; expected numbers such as [1-4,7]"},
      {"a[1-99999999]", "a[1-99999999]", "names 99999999 hosts; a job has at most 100000"},
      {"a[0-999999999999999999]", "a[0-999999999999999999]",
       "names 1000000000000000000 hosts; a job has at most 100000"},
      {"a[1-1000]b[1-1000]", "a[1-1000]b[1-1000]", "names too many hosts; a job has at most 100000"},
      {"a[1-60000],b[1-60000]", "b[1-60000]", "names too many hosts; a job has at most 100000"},
      {"a:1,a", "a", "names a again, once with and once without slots; give slots each time"},
      {"a,a,a:1", "a:1", "names a again, once with and once without slots; give slots each time"},
      {"a:40000,a:40000", "a:40000", "brings a to 80000 slots; a host has at most 65536"},
      {"x@a:1,y@a:1", "y@a:1", "names a again with another user than x"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto hosts = parse_host_list(row.text);
    REQUIRE(hosts.has_error());
    CHECK(hosts.error().kind() == ErrorKind::Usage);
    CHECK(hosts.error().message() == "\"" + row.item + "\" " + row.complaint);
  }
  for (const char* blank : {"", "  "}) {
    CHECK(parse_host_list(blank).error().message() == "the host list is empty; expected NAME[:SLOTS],...");
  }
}

TEST_CASE("as many hosts as a job may have are read") {
  const auto hosts = parse_host_list("n[1-100000]:1");
  REQUIRE(hosts.has_value());
  CHECK(hosts->size() == kMaxHosts);
  CHECK(hosts->back().name == "n100000");
}

TEST_CASE("host names are those that ssh and file names can bear") {
  for (const char* good : {"a", "A-1", "algo-1.example.org", "_x", "10.0.0.1", "::1", "fe80::1%eth0", "1"}) {
    CAPTURE(good);
    CHECK(valid_host_name(good));
  }
  for (const char* bad :
       {"", "-a", ".a", "a b", "a@b", "a:1", "[::1]", "a/b", "..", "a\n", "fe80::1%", "fe80::1%a/b", "a%b"}) {
    CAPTURE(bad);
    CHECK_FALSE(valid_host_name(bad));
  }
  CHECK(valid_host_name(std::string(255, 'a')));
  CHECK_FALSE(valid_host_name(std::string(256, 'a')));
  CHECK_FALSE(valid_host_name(std::string("a\0b", 3)));
  CHECK_FALSE(valid_host_name(std::string("::1\0x", 5)));
}
