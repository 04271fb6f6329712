"""--trace: how the start of a job went."""
import contextlib
import json
import os
import unittest

from harness import PYTHON, HostsCase, gate, scaled, sml_run, stays, wait_until
from test_mpi import compiled


def spans_of(events, process):
    """By name, of the process of that name: (begin, end) in whole nanoseconds, as sums of seconds are not exact."""
    pid = next(e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name" and e["args"]["name"] == process)
    spans = {e["name"]: (round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in events if e["ph"] == "X" and e["pid"] == pid}
    return {name: (begin, begin + length) for name, (begin, length) in spans.items()}


class Trace(HostsCase):
    hosts = 2

    def states(self, program):
        """Those of the ranks of algo-1 that run their program; one that has no processor is no sleeper."""
        found = []
        for stat in self.bed.path("algo-1", "/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                words = (stat.parent / "cmdline").read_bytes().split(b"\0")
                if words[:2] == [os.fsencode(program), b"ring"]:
                    found.append(stat.read_text().rsplit(")", 1)[1].split()[0])
        return found

    @gate
    def test_each_host_has_its_steps_in_order(self):
        self.addCleanup(self.bed.exec, "head", ["rm", "-f", "/tmp/start.json"])
        done = self.bed.sml_run("head", "--trace", "/tmp/start.json", "-H", self.bed.hosts(2), "sh", "-c", "echo up")
        self.assert_status(done, 0)
        events = json.loads(self.bed.path("head", "/tmp/start.json").read_text())["traceEvents"]
        names = {e["args"]["name"]: e["pid"] for e in events if e["name"] == "process_name"}
        self.assertEqual(set(names), {"sml-run", "algo-1", "algo-2"})
        for host, pid in names.items():
            spans = [e for e in events if e["ph"] == "X" and e["pid"] == pid]
            with self.subTest(host=host, spans=spans):
                self.assertEqual([e["ts"] for e in spans], sorted(e["ts"] for e in spans))
                self.assertFalse([e for e in spans if e["dur"] < 0 or "args" in e])
                if host == "sml-run":
                    self.assertEqual([e["name"] for e in spans], ["plan", "hosts"])
                    continue
                kinds = [e["cat"] for e in spans]
                self.assertEqual([kind for i, kind in enumerate(kinds) if kind != "wait" and kind not in kinds[:i]],
                                 ["connect", "agent", "prepare", "probe", "start", "output"])

    @gate
    def test_a_host_whose_ranks_come_late_to_the_first_barrier_is_seen(self):
        self.addCleanup(self.bed.exec, "algo-1", ["rm", "-f", "/tmp/start.json"])
        self.addCleanup(self.bed.exec, "algo-2", ["rm", "-f", "/run/go"])
        program = compiled(type(self))
        late = 'echo up; [ "$SML_HOST" = algo-1 ] || until [ -e /run/go ]; do sleep 0.05; done; exec "$0" ring'
        with self.bed.sml_run_popen("algo-1", "--grace", "0.5s", "-x", "UCX_TLS=tcp,self,sm", "--trace", "/tmp/start.json", "-np", "4",
                                    "-H", self.bed.hosts(2), "sh", "-c", late, program) as job:
            said = ""
            while said.count("up") < 4:
                said += job.read_until("\n").decode()
            wait_until(lambda: stays(lambda: self.states(program) == ["S", "S"], looks=75))  # for more than a second: they wait
            self.bed.put("algo-2", "/run/go", "")
            while said.count("got") < 4:
                said += job.read_until("\n").decode()
            job.terminate()  # as MPICH may hang in its end, see test_mpi.py
            job.finish()
        events = json.loads(self.bed.path("algo-1", "/tmp/start.json").read_text())["traceEvents"]
        early, late, job = (spans_of(events, name) for name in ("algo-1", "algo-2", "sml-run"))
        self.assertEqual(early["waits for ranks"], (early["join"][1], late["join"][1]))
        self.assertNotIn("waits for ranks", late)
        self.assertGreater(late["join"][1] - late["join"][0], 10**9)
        self.assertEqual(job["join"][1], late["join"][1])
        self.assertLess(early["first output"][1], early["waits for ranks"][1])

    def test_the_store_of_torch_tells_when_all_have_joined(self):
        trace = self.temporary_directory() / "start.json"
        # The launcher asks the store every second or so: the ranks stay until it has.
        code = ("import time, torch.distributed as d; d.init_process_group('gloo'); print('in', flush=True); d.barrier(); "
                f"time.sleep({scaled(3)})")
        done = sml_run("--torch-store", "--trace", trace, "-np", "2", PYTHON, "-c", code)
        self.assert_status(done, 0)
        events = json.loads(trace.read_text())["traceEvents"]
        host, job = spans_of(events, "localhost"), spans_of(events, "sml-run")
        self.assertEqual(job["join"][0], host["start"][1])
        self.assertGreater(job["join"][1], job["join"][0])
        self.assertNotIn("join", host)

    @gate
    def test_a_file_that_cannot_be_is_refused_before_the_start(self):
        done = sml_run("--trace", self.temporary_directory() / "no" / "start.json", "sh", "-c", "echo started")
        self.assert_status(done, 2)
        self.assertIn("--trace: ", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
