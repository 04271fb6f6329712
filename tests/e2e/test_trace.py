"""--trace: how the start of a job went."""
import json
import unittest

from harness import HostsCase, gate, sml_run


class Trace(HostsCase):
    hosts = 2

    @gate
    def test_each_host_has_its_steps_in_order(self):
        self.addCleanup(self.bed.exec, "head", ["rm", "-f", "/tmp/start.json"])
        done = self.bed.sml_run("head", "--trace", "/tmp/start.json", "-H", self.bed.hosts(2), "sh", "-c", "echo up")
        self.assert_status(done, 0)
        events = json.loads(self.bed.path("head", "/tmp/start.json").read_text())["traceEvents"]
        names = {e["args"]["name"]: e["pid"] for e in events if e["ph"] == "M"}
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
                                 ["connect", "agent", "prepare", "probe", "start", "join"])

    @gate
    def test_a_file_that_cannot_be_is_refused_before_the_start(self):
        done = sml_run("--trace", self.temporary_directory() / "no" / "start.json", "sh", "-c", "echo started")
        self.assert_status(done, 2)
        self.assertIn("--trace: ", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
