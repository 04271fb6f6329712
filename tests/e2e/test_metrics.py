"""--metrics and --metrics-file: read by curl, judged by promtool, scraped by Prometheus."""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import stat
import unittest
import urllib.error
import urllib.request

from harness import HostsCase, TestCase, gate, popen, run, sml_run, sml_run_popen, wait_until
from jobs import heartbeat

SLEEPS = "echo ready $RANK; exec sleep 600"


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


class Metrics(TestCase):
    @contextlib.contextmanager
    def job(self, *words, address="auto"):
        """A job that runs, and where its metrics are."""
        with sml_run_popen("--metrics", address, *words) as job:
            said = bytearray()

            def url():
                said.extend(job.errors_so_far())
                return re.search(rb"metrics are at (\S+)\n", said)

            yield job, wait_until(url).group(1).decode()
            job.send_signal(signal.SIGINT)
            self.assert_status(job.finish(), 130)

    @gate
    def test_a_job_tells_its_ranks_and_hosts(self):
        with self.job("-np", "2", "sh", "-c", SLEEPS) as (_, url):
            self.assertRegex(url, r"^http://127\.0\.0\.1:\d+/metrics$")
            for part in ('sml_run_output_bytes_total{stream="stdout"} 16\n', "sml_run_rank_memory_bytes{"):
                wait_until(lambda part=part: part in get(url)[1])
            kind, text = get(url)
            self.assertEqual(kind, "text/plain; version=0.0.4; charset=utf-8")
            for line in ('sml_run_ranks{state="running"} 2', 'sml_run_hosts{state="ready"} 1', "sml_run_attempts_total 1",
                         'sml_run_phase{phase="running"} 1', 'sml_run_rank_running{rank="1",host="localhost"} 1'):
                self.assertIn(line + "\n", text)
            for name in ("rank_silence_seconds", "rank_cpu_seconds_total", "rank_memory_bytes"):
                self.assertRegex(text, rf'(?m)^sml_run_{name}{{rank="1",host="localhost"}} [\d.e-]+$')
            kind, text = get(url, Accept="application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
            self.assertEqual(kind, "application/openmetrics-text; version=1.0.0; charset=utf-8")
            self.assertTrue(text.endswith("\n# EOF\n"))
            for path in ("/", "/metrics/x"):
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    get(url.replace("/metrics", path))
                self.assertEqual(refused.exception.code, 404)
                refused.exception.close()

    @gate
    def test_promtool_finds_nothing_to_complain_about(self):
        if not shutil.which("promtool"):
            raise unittest.SkipTest("needs promtool (tests/run installs it)")
        with self.job("-np", "2", "sh", "-c", SLEEPS) as (_, url):
            wait_until(lambda: "sml_run_rank_memory_bytes{" in get(url)[1] and "sml_run_host_memory_used_bytes{" in get(url)[1])
            done = run(["promtool", "check", "metrics"], input=get(url)[1])
            self.assert_status(done, 0)
            self.assertEqual(done.stdout + done.stderr, "")

    @gate
    def test_a_client_that_never_reads_and_a_flood_of_others_hold_nobody(self):
        with self.job("-np", "512", "--no-tag", "sh", "-c", "exec sleep 600") as (job, url):
            host, port = re.search(r"//(.*):(\d+)/", url).groups()
            wait_until(lambda: 'sml_run_ranks{state="running"} 512\n' in get(url)[1])
            with contextlib.ExitStack() as held:
                deaf = held.enter_context(socket.create_connection((host, int(port))))
                deaf.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
                for _ in range(300):
                    held.enter_context(socket.create_connection((host, int(port))))
                self.assertIn('sml_run_ranks{state="running"} 512\n', get(url)[1])
                open_here = [fd for fd in os.listdir(f"/proc/{job.pid}/fd") if self.is_tcp(job.pid, fd, int(port))]
                self.assertLessEqual(len(open_here), 9)  # the listener and eight connections

    def is_tcp(self, pid, fd, port):
        with contextlib.suppress(OSError):
            link = os.readlink(f"/proc/{pid}/fd/{fd}")
            inode = re.fullmatch(r"socket:\[(\d+)\]", link)
            if not inode:
                return False
            rows = [line.split() for line in open(f"/proc/{pid}/net/tcp").readlines()[1:]]
            return any(row[9] == inode.group(1) and row[1].endswith(f":{port:04X}") for row in rows)
        return False

    @gate
    def test_a_unix_socket_is_served_and_goes_with_the_job(self):
        path = self.temporary_directory() / "job.sock"
        with self.job("-np", "1", "sh", "-c", SLEEPS, address=f"unix:{path}") as (_, url):
            self.assertEqual(url, f"unix:{path}")
            self.assertTrue(stat.S_ISSOCK(path.stat().st_mode))
            done = run(["curl", "-sS", "--unix-socket", path, "http://job/metrics"])
            self.assertIn('sml_run_ranks{state="', done.stdout)
        self.assertFalse(path.exists())
        with socket.socket(socket.AF_UNIX) as left:  # by a job that was killed
            left.bind(str(path))
        self.assert_status(sml_run("--metrics", f"unix:{path}", "true"), 0)

    @gate
    def test_a_place_that_cannot_be_had_is_refused_before_the_start(self):
        folder = self.temporary_directory()
        (folder / "file").write_text("mine")
        with socket.create_server(("127.0.0.1", 0)) as busy:
            for words, said in {("--metrics", str(busy.getsockname()[1])): r"--metrics: 127\.0\.0\.1:\d+: cannot listen there: address already in use",
                                ("--metrics", f"unix:{folder}/file"): "a file of that name that is no socket",
                                ("--metrics-file", f"{folder}/no/file"): "--metrics-file: .*no such file or directory",
                                ("--metrics-file", str(folder)): "--metrics-file: .*is no regular file"}.items():
                done = sml_run(*words, "sh", "-c", "echo started")
                self.assert_status(done, 2)
                self.assertRegex(done.stderr, said)
                self.assertEqual(done.stdout, "")
        self.assertEqual((folder / "file").read_text(), "mine")

    @gate
    def test_the_file_has_the_last_state_of_the_job(self):
        folder = self.temporary_directory()
        (folder / "job.prom").write_text("old")
        self.assert_status(sml_run("--metrics-file", folder / "job.prom", "-np", "2", "sh", "-c", "exit 3"), 3)
        text = (folder / "job.prom").read_text()
        self.assertIn("sml_run_exit_status 3\n", text)
        self.assertIn('sml_run_phase{phase="ended"} 1\n', text)
        self.assertEqual(os.listdir(folder), ["job.prom"])


CONFIG = """
global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}
scrape_configs: [{{job_name: sml, static_configs: [{{targets: ["{target}"]}}]}}]
"""


class Scraped(HostsCase):
    hosts = 4

    def test_prometheus_sees_a_restart_and_a_lost_host(self):
        if not shutil.which("prometheus"):
            raise unittest.SkipTest("needs prometheus (tests/run installs it)")
        top = self.temporary_directory()
        self.bed.put("head", "/tmp/prometheus.yml", CONFIG.format(target="127.0.0.1:9400").encode())
        self.addCleanup(self.bed.exec, "head", ["rm", "-rf", "/tmp/prometheus.yml", "/tmp/tsdb"])
        program = 'echo up; if [ $SML_ATTEMPT = 1 ]; then while [ ! -e /tmp/fail ]; do sleep 0.05; done; exit 5; fi; exec sleep 600'
        self.addCleanup(self.bed.exec, "algo-2", ["rm", "-f", "/tmp/fail"])
        with contextlib.ExitStack() as running:
            job = running.enter_context(self.bed.sml_run_popen(
                "head", "--metrics", "9400", "--max-restarts", "1", "--restart-delay", "0", "--max-fruitless", "0",
                *heartbeat(2)[0], "-H", self.bed.hosts(1), "sh", "-c", program))
            server = running.enter_context(self.bed.popen("head", [
                "prometheus", "--config.file=/tmp/prometheus.yml", "--storage.tsdb.path=/tmp/tsdb", "--web.listen-address=127.0.0.1:9490"]))
            def ask(query):
                done = self.bed.exec("head", ["curl", "-sS", "-G", "--data-urlencode", f"query={query}", "http://127.0.0.1:9490/api/v1/query"])
                with contextlib.suppress(ValueError, KeyError):
                    return [float(one["value"][1]) for one in json.loads(done.stdout)["data"]["result"]]
                return done

            wait_until(lambda: ask('sml_run_ranks{state="running"}') == [4.0], lambda: ask("up"))
            wait_until(lambda: ask("sml_run_attempts_total") == [1.0])
            wait_until(lambda: ask('sml_run_output_bytes_total{stream="stdout"}') == [12.0])  # all have printed
            self.bed.put("algo-2", "/tmp/fail", b"")
            wait_until(lambda: ask("sml_run_attempts_total") == [2.0], lambda: ask("sml_run_attempts_total"))
            wait_until(lambda: ask('sml_run_ranks{state="running"}') == [4.0])
            wait_until(lambda: ask('sml_run_output_bytes_total{stream="stdout"}') == [24.0])
            self.assertEqual(ask("max_over_time(sml_run_attempts_total[1h]) - min_over_time(sml_run_attempts_total[1h])"), [1.0])
            self.bed.cut("algo-4")
            self.addCleanup(self.bed.heal, "algo-4")
            self.assert_status(job.finish(), 125)
            server.terminate()
            server.finish()


if __name__ == "__main__":
    unittest.main()
