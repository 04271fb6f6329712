"""What nvidia-smi tells of a host's GPUs. The program is one of this test's own, fake_nvidia_smi.sh, and the driver an
empty file: no device is seen. tests/gpu/run asks a real one."""
import json
import os
import pathlib
import shutil
import unittest

import schemas
from harness import SML_RUN, TestCase, gate, popen, sml_run, stays, wait_until

HERE = pathlib.Path(__file__).resolve().parent
# A /dev of its own, with the driver's file.
WITH_DRIVER = """
mkdir -p "$1/dev" && mount --rbind /dev "$1/dev" && mount -t tmpfs -o mode=755 dev /dev && touch /dev/nvidiactl || exit 99
for name in null zero full random urandom tty; do touch /dev/$name && mount --bind "$1/dev/$name" /dev/$name || exit 99; done
ln -s /proc/self/fd /dev/fd && shift && exec "$@"
"""
# And a /usr/local with only nvidia-smi and the libraries that the driver's file is for.
OF_KUBERNETES = WITH_DRIVER.replace("&& shift", '&& mount --bind "$1/local" /usr/local && shift')
# Leaves memory behind, once.
HOLDER = 'echo "attempt $SML_ATTEMPT $([ -e $0 ] && echo held)"; if [ $SML_ATTEMPT = 1 ]; then touch $0; exit 3; fi'
# What is held when nvidia-smi first answers counts as others'.
AFTER_A_LOOK = "until [ -e $0.asked ]; do sleep 0.05; done; " + HOLDER
WORKER = 'trap "exit 0" TERM; echo ready; while :; do sleep 0.05; done'


def setUpModule():
    if os.geteuid() != 0:
        raise unittest.SkipTest("a /dev of its own needs root")


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Gpus(TestCase):
    def setUp(self):
        super().setUp()
        self.top = self.temporary_directory()
        shutil.copy(HERE / "fake_nvidia_smi.sh", self.top / "nvidia-smi")

    def job(self, *words, program=("sh", "-c", WORKER), script=WITH_DRIVER, **env):
        return popen(["unshare", "--mount", "sh", "-c", script, "sh", self.top, SML_RUN, "-np", "1", "--report", self.top / "report",
                      "--timeline", self.top / "job.html", *words, *program],
                     env={"PATH": f"{self.top}:{os.environ['PATH']}", **env})

    def status(self, job, *words):
        listed = json.loads(sml_run("ps", "--format", "json").stdout)
        name = [one["id"] for one in listed if one["pid"] == job.pid]
        return sml_run("status", *name, *words).stdout if name else ""

    def runs(self, job):
        """The processes of nvidia-smi, and those that they have started."""
        children, names = {}, {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                names[int(folder.name)], rest = (folder / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
                children.setdefault(int(rest.split()[1]), []).append(int(folder.name))
            except OSError:
                continue
        below = [job.pid]  # a child may have a smaller number than its parent: they begin again
        for one in below:
            below += children.get(one, [])
        found = [one for one in below if names.get(one) == "nvidia-smi"]
        return found + [child for one in found for child in children.get(one, [])]

    def end(self, job):
        job.terminate()
        self.assert_status(job.finish(), 143)
        return schemas.checked("report", (self.top / "report").read_text())["hosts"][0]["usage"]

    @gate
    def test_status_report_and_timeline_show_them(self):
        with self.job() as job:
            wait_until(lambda: "gpu[0,2] 87 0 %" in self.status(job), lambda: self.status(job))
            used = self.end(job)["accelerators"]
        self.assertEqual(used, [{"name": "gpu0", "peak_busy_percent": 87, "peak_memory_used_bytes": 20 << 30, "memory_bytes": 80 << 30},
                                {"name": "gpu2", "peak_busy_percent": 0, "peak_memory_used_bytes": 0, "memory_bytes": 0}])
        self.assertIn('["gpu0",87],["gpu2",0]', (self.top / "job.html").read_text())

    def test_nobody_looks_where_nobody_wants_it(self):
        held, asked = self.top / "held", self.top / "held.asked"
        with self.job("--no-usage", FAKE_SMI_HELD=str(held)) as job:
            job.read_until("ready")
            self.assertTrue(stays(lambda: not asked.exists(), 75))  # it would be asked after the first second
            self.assertIsNone(self.end(job))

    def test_one_that_hangs_or_fails_holds_up_nobody(self):
        for mode in ("hang", "lost"):
            held = self.top / mode
            asked = self.top / f"{mode}.asked"
            with self.subTest(mode=mode), self.job(FAKE_SMI=mode, FAKE_SMI_HELD=str(held)) as job:
                wait_until(lambda: "memory" in self.status(job) and asked.exists())
                runs = self.runs(job) if mode == "hang" else []
                self.assertEqual(self.end(job)["accelerators"], [])
                self.assertEqual([one for one in runs if is_alive(one)], [])

    def test_one_that_others_can_change_is_not_run(self):
        self.top.chmod(0o777)
        said = bytearray()
        with self.job() as job:
            wait_until(lambda: said.extend(job.errors_so_far()) or b"is not run" in said, lambda: bytes(said))
            self.assertEqual(self.end(job)["accelerators"], [])
        self.assertIn(f"{self.top}/nvidia-smi is not run, as {self.top} can be written by every user of this machine", said.decode())

    def test_where_kubernetes_puts_it(self):
        """With the folder of its libraries; it is run only where nobody else can put another there."""
        place = self.top / "local/nvidia/bin"
        place.mkdir(parents=True)
        (place.parent / "lib64").mkdir()
        checked = "#!/bin/sh\ncase :$LD_LIBRARY_PATH: in *:/usr/local/nvidia/lib64:*) ;; *) exit 2 ;; esac\n"
        whole = (self.top / "nvidia-smi").read_text()
        (self.top / "nvidia-smi").unlink()
        (place / "nvidia-smi").write_text(checked + whole)
        (place / "nvidia-smi").chmod(0o755)
        with self.job(script=OF_KUBERNETES) as job:
            wait_until(lambda: "gpu[0,2] 87 0 %" in self.status(job), lambda: self.status(job))
            self.end(job)
        place.chmod(0o777)
        said = bytearray()
        with self.job(script=OF_KUBERNETES) as job:
            wait_until(lambda: said.extend(job.errors_so_far()) or b"is not run" in said, lambda: bytes(said))
            self.assertEqual(self.end(job)["accelerators"], [])
        self.assertIn("nvidia-smi is not run, as /usr/local/nvidia/bin can be written by every user of this machine", said.decode())

    def restarted(self, held, *, program=HOLDER, **env):
        words = ("--max-restarts", "1", "--restart-delay", "0:0", "--no-tag", "--no-usage")
        return self.job(*words, program=("sh", "-c", program, held), FAKE_SMI_HELD=str(held), **env)

    @gate
    def test_a_restart_waits_until_they_are_free_again(self):
        held, asked = self.top / "held", self.top / "held.asked"
        with self.restarted(held, program=AFTER_A_LOOK) as job:
            self.assertEqual(job.read_until("\n").decode(), "attempt 1 \n")
            wait_until(held.exists)
            before = asked.stat().st_size
            wait_until(lambda: asked.stat().st_size >= before + 5)
            held.unlink()
            done = job.finish()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "attempt 2 \n")

    def test_what_others_hold_from_the_start_is_not_waited_for(self):
        held, asked = self.top / "held", self.top / "held.asked"
        held.touch()
        with self.restarted(held, program=AFTER_A_LOOK) as job:
            done = job.finish()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "attempt 1 held\nattempt 2 held\n")
        self.assertGreaterEqual(asked.stat().st_size, 2)

    def test_a_restart_does_not_wait_for_one_that_hangs(self):
        with self.restarted(self.top / "held", FAKE_SMI="hang") as job:
            done = job.finish()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "attempt 1 \nattempt 2 held\n")


if __name__ == "__main__":
    unittest.main()
