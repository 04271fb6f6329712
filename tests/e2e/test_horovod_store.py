"""Horovod's store as Horovod's own client uses it; see horovod_worker.py."""
import contextlib
import itertools
import pathlib
import re
import socket

from harness import PYTHON, TestCase, Testbed, gate, sml_run, sml_run_popen, wait_until, watchdog
from jobs import TROUBLE, assert_says, by_rank

WORKER = [PYTHON, pathlib.Path(__file__).parent / "horovod_worker.py"]


class OneHost(TestCase):
    watchdog_times = 3

    def test_start_and_shutdown_twenty_times(self):
        done = sml_run("-np", "3", *WORKER, "20")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {r: ["met"] for r in range(3)})
        assert_says(self, done, never=TROUBLE)

    @gate
    def test_one_alone_and_a_straggler(self):
        done = sml_run("-np", "1", *WORKER, "3")
        self.assertEqual((done.returncode, done.stdout), (0, "met\n"), done)
        done = sml_run("-np", "4", *WORKER, "1", "2")
        self.assertEqual(by_rank(done.stdout), {r: ["met"] for r in range(4)}, done)
        assert_says(self, done, never=TROUBLE)

    def test_256_wait_for_one(self):
        """Who has waited for half a second is told 404; that is all of them where the value comes later. Another is waited
        for then."""
        with sml_run_popen("-np", "1", "--stdin", "all", "sh", "-c",
                           "echo $HOROVOD_GLOO_RENDEZVOUS_PORT; read line", stdin=-1) as job:
            port = int(job.read_until("\n"))
            value = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n\0\1\xff\n"
            numbers = itertools.count()
            wait_until(lambda: value in self.answers(port, next(numbers), value))
            self.assert_status(job.finish(input="\n"), 0)

    def answers(self, port, number, value):
        """What those are told who wait for it."""
        ask = f"GET /global/{number} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode()
        with contextlib.ExitStack() as held:
            waiting = [held.enter_context(socket.create_connection(("127.0.0.1", port), watchdog())) for _ in range(256)]
            for s in waiting:
                s.sendall(ask)
            with socket.create_connection(("127.0.0.1", port), watchdog()) as s:
                s.sendall(f"PUT /global/{number} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n".encode() + b"\0\1\xff\n")
                self.assertTrue(s.recv(100).startswith(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"))
            answers = {re.sub(rb"404.*", b"404", s.makefile("rb").read(), flags=re.S) for s in waiting}
        self.assertLessEqual(answers, {value, b"HTTP/1.1 404"})  # who came much earlier
        return answers


class ThreeHosts(TestCase):
    watchdog_times = 3

    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(3)

    @gate
    def test_unequal_hosts_meet_by_their_names(self):
        for start in ("algo-1", "head"):
            done = self.bed.sml_run(start, "-H", "algo-1:1,algo-2:3,algo-3:2", *WORKER, "3")
            self.assert_status(done, 0)
            self.assertEqual(by_rank(done.stdout), {r: ["met"] for r in range(6)})
