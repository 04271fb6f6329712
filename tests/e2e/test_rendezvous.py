"""Where workers meet: the address, the interface that leads there, and what is said when a host cannot reach it."""
import re

from harness import TestCase, Testbed, gate, sml_run, wait_until
from jobs import by_rank, own_lines, sh

SHOW = "echo $MASTER_ADDR ${GLOO_SOCKET_IFNAME-none} ${NCCL_SOCKET_IFNAME-none} ${HOROVOD_GLOO_IFACE-none}"


class OneHost(TestCase):
    @gate
    def test_one_host_meets_at_loopback_and_needs_no_interface(self):
        done = sml_run("-np", "1", "sh", "-c", SHOW)
        self.assertEqual(done.stdout, "127.0.0.1 none none none\n", done)

    def test_an_interface_by_its_name(self):
        done = sml_run("-np", "1", "--interface", "lo", "sh", "-c", SHOW)
        self.assertEqual(done.stdout, "127.0.0.1 lo lo lo\n", done)

    def test_an_address_must_be_a_number(self):
        done = sml_run("--master-addr", "algo-1", "true")
        self.assert_status(done, 2)
        self.assertIn("--master-addr: \"algo-1\" is not the numeric address", done.stderr)


class OnThreeHosts(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(3)

    def job(self, *argv, **kw):
        return self.bed.sml_run("algo-1", *argv, **kw)


class UnansweredProbes(OnThreeHosts):
    def test_who_has_not_answered_by_the_end_of_the_start_is_named(self):
        for host in ("algo-2", "algo-3"):  # what comes to algo-1 for another address is lost there
            sh(self.bed, host, f"ip route add 10.99.0.1/32 via {self.bed.address('algo-1')}")
            self.addCleanup(sh, self.bed, host, "ip route del 10.99.0.1/32")
        # The start has to end while they try, which they do for 5 s. Where it was another moment, another limit is tried.
        limit = 4

        def ends_while_they_try():
            nonlocal limit
            done = self.job("--master-addr", "10.99.0.1", "--start-timeout", f"{limit}s", "-H", self.bed.hosts(1), "echo",
                            "started")
            self.assert_status(done, 125)
            self.assertNotIn("started", done.stdout)
            lines = "\n".join(own_lines(done))
            named = re.search(rf"(?m)^2 hosts: not ready after {limit} s \(trying to reach algo-1\): algo-\[2-3\]$", lines)
            answered = "cannot reach rank 0 on algo-1 (10.99.0.1 port " in lines
            self.assertTrue(named or answered or f": not ready after {limit} s (" in lines, done)
            limit = max(4, limit - 3) if answered else limit + 4
            return named

        wait_until(ends_while_they_try)


class ThreeHosts(OnThreeHosts):
    def interface(self, host):
        rows = sh(self.bed, host, "ip -o addr show").splitlines()
        return next(row.split()[1].split("@")[0] for row in rows if f" {self.bed.address(host)}/" in row)

    @gate
    def test_the_interface_that_leads_to_rank_0(self):
        for start in ("algo-1", "head"):
            done = self.bed.sml_run(start, "-H", self.bed.hosts(1), "sh", "-c", SHOW)
            self.assert_status(done, 0)
            for rank, lines in by_rank(done.stdout).items():
                name = self.interface(f"algo-{rank + 1}")
                self.assertEqual(lines, [f"{self.bed.address('algo-1')} {name} {name} {name}"])

    def test_what_the_user_sets_stays(self):
        done = self.bed.sml_run("algo-1", "-H", self.bed.hosts(1), "-x", "NCCL_SOCKET_IFNAME=^docker", "sh", "-c",
                                SHOW)
        self.assertEqual({lines[0].split()[2] for lines in by_rank(done.stdout).values()}, {"^docker"}, done)

    def add_network(self, hosts):
        for host in hosts:
            there = f"10.98.0.{host[-1]}/24 dev {self.interface(host)}"
            sh(self.bed, host, f"ip addr add {there}")
            self.addCleanup(sh, self.bed, host, f"ip addr del {there}")

    @gate
    def test_the_interfaces_of_the_user_s(self):
        self.add_network(self.bed.names())
        names = [self.interface(host) for host in self.bed.names()]
        done = self.bed.sml_run("algo-1", "--interface", "10.98.0.0/16,lo", "-x", "HOROVOD_GLOO_IFACE=mine", "-H",
                                self.bed.hosts(1), "sh", "-c", SHOW)
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {r: [f"10.98.0.1 {n} {n},lo mine"] for r, n in enumerate(names)}, done)
        inherited = {"NCCL_SOCKET_IFNAME": "eth99"}
        done = self.bed.sml_run("algo-1", "--interface", names[0], "-H", "algo-1:1", "sh", "-c", SHOW, env=inherited)
        self.assertEqual(done.stdout, f"{self.bed.address('algo-1')} {names[0]} {names[0]} {names[0]}\n", done)

    @gate
    def test_hosts_without_such_an_interface_are_named_together(self):
        self.add_network(["algo-1"])
        done = self.bed.sml_run("algo-1", "--interface", "10.98.0.0/16", "-H", self.bed.hosts(1), "echo", "started")
        self.assert_status(done, 125)
        self.assertNotIn("started", done.stdout)
        self.assertRegex("\n".join(own_lines(done)),
                         r"2 hosts: no interface that is up and has an address matches --interface 10\.98\.0\.0/16; "
                         r"there is \S+: algo-\[2-3\]\nhint: --interface takes a list")

    def test_an_address_of_the_user_s(self):
        sh(self.bed, "algo-1", "ip addr add 10.99.0.1/32 dev lo")
        self.addCleanup(sh, self.bed, "algo-1", "ip addr del 10.99.0.1/32 dev lo")
        address = self.bed.address("algo-1")
        for host in ("algo-2", "algo-3"):
            sh(self.bed, host, f"ip route add 10.99.0.1/32 via {address}")
            self.addCleanup(sh, self.bed, host, f"ip route del 10.99.0.1/32 via {address}")
        done = self.bed.sml_run("algo-1", "--master-addr", "10.99.0.1", "-H", self.bed.hosts(1), "sh", "-c", SHOW)
        self.assert_status(done, 0)
        self.assertEqual({lines[0].split()[0] for lines in by_rank(done.stdout).values()}, {"10.99.0.1"})

    @gate
    def test_who_cannot_reach_it_is_named_with_address_port_and_reason(self):
        sh(self.bed, "algo-3", "ip route add unreachable 10.99.0.1/32")
        self.addCleanup(sh, self.bed, "algo-3", "ip route del unreachable 10.99.0.1/32")
        sh(self.bed, "algo-1", "ip addr add 10.99.0.1/32 dev lo")
        self.addCleanup(sh, self.bed, "algo-1", "ip addr del 10.99.0.1/32 dev lo")
        sh(self.bed, "algo-2", f"ip route add 10.99.0.1/32 via {self.bed.address('algo-1')}")
        self.addCleanup(sh, self.bed, "algo-2", f"ip route del 10.99.0.1/32 via {self.bed.address('algo-1')}")
        done = self.bed.sml_run("algo-1", "--master-addr", "10.99.0.1", "-H", self.bed.hosts(1), "echo", "started")
        self.assert_status(done, 125)
        self.assertNotIn("started", done.stdout)
        self.assertRegex("\n".join(own_lines(done)),
                         r"algo-3: cannot reach rank 0 on algo-1 \(10\.99\.0\.1 port \d+: no route to host\)")
        self.assertIsNone(re.search(r"algo-2: cannot", done.stderr))
