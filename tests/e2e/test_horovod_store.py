"""Horovod's store as Horovod's own client uses it; see horovod_worker.py."""
import pathlib
import re
import socket

from harness import PYTHON, TestCase, Testbed, gate, sml_run, sml_run_popen, watchdog
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
        with sml_run_popen("-np", "1", "--stdin", "all", "sh", "-c",
                           "echo $HOROVOD_GLOO_RENDEZVOUS_PORT; read line", stdin=-1) as job:
            port = int(job.read_until("\n"))
            ask = b"GET /global/7 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
            waiting = [self.enterContext(socket.create_connection(("127.0.0.1", port), watchdog())) for _ in range(256)]
            for s in waiting:
                s.sendall(ask)
            with socket.create_connection(("127.0.0.1", port), watchdog()) as s:
                s.sendall(b"PUT /global/7 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n\0\1\xff\n")
                self.assertTrue(s.recv(100).startswith(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"))
            answers = {re.sub(rb"404.*", b"404", s.makefile("rb").read(), flags=re.S) for s in waiting}
            self.assertIn(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n\0\1\xff\n", answers)
            self.assertLessEqual(answers, {b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n\0\1\xff\n",
                                           b"HTTP/1.1 404"})  # who came much earlier
            self.assert_status(job.finish(input="\n"), 0)


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
