"""Progress that is told to Kubeflow's status server, and in lines for SageMaker's algorithm metrics."""
import datetime
import http.server
import json
import os
import re
import ssl
import threading
import unittest

from harness import TestCase, gate, run, sml_run, sml_run_popen, wait_until

WATCH = ("--watch", "step (\\d+) of (\\d+);every=1h")


class StatusServer(http.server.ThreadingHTTPServer):
    """As the controller of Kubeflow Trainer has it: TLS, and one token that is good. `status` None: never answers."""

    def __init__(self, folder, status=200):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        self.socket = self.context.wrap_socket(self.socket, server_side=True)
        self.token, self.status, self.got, self.over = folder / "token", status, [], threading.Event()

    def handle_error(self, request, address):
        pass

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            good = self.headers["Authorization"] == "Bearer " + self.server.token.read_text().strip()
            status = self.server.status if good else 401
            self.server.got.append((self.path, self.headers["Authorization"], status, body["trainerStatus"]))
            if status is None:
                self.server.over.wait()
                return
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass


class ToKubeflow(TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.temporary_directory()
        self.certificate("cert.pem")
        self.renew_token("first")

    def certificate(self, name):
        made = run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost", "-keyout", self.folder / name.replace("cert", "key"), "-out", self.folder / name])
        self.assert_status(made, 0)

    def renew_token(self, text):
        """As the kubelet does it: a link to another folder."""
        data = self.folder / f"of-{text}"
        data.mkdir()
        (data / "token").write_text(text + "\n")
        (self.folder / "new").symlink_to(data)
        os.replace(self.folder / "new", self.folder / "data")
        if not (self.folder / "token").exists():
            (self.folder / "token").symlink_to("data/token")

    def server(self, status=200):
        server = StatusServer(self.folder, status)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.over.set)
        return server

    def env(self, server, **others):
        port = server.server_address[1]
        env = {"SERVER_URL": f"https://localhost:{port}/apis/trainjobs/one/status", "SERVER_CA_CERT": str(self.folder / "cert.pem"),
               "SERVER_TOKEN": str(self.folder / "token"), **others}
        return {"KUBEFLOW_TRAINER_" + name: value for name, value in env.items()}

    def steps(self, status=0):
        """Makes steps until the test says that it is enough."""
        return ("sh", "-c", f'n=0; while [ ! -e {self.folder}/enough ]; do n=$((n + 1)); echo "step $n of 100000"; sleep 0.1; done; exit {status}')

    def test_certificates_that_are_renewed_are_read_again(self):
        server = self.server()
        with sml_run_popen(*WATCH, "-np", "1", *self.steps(), env=self.env(server)) as job:
            wait_until(lambda: server.got)
            self.certificate("cert2.pem")
            server.context.load_cert_chain(self.folder / "cert2.pem", self.folder / "key2.pem")
            os.replace(self.folder / "cert2.pem", self.folder / "cert.pem")
            before = len(server.got)
            wait_until(lambda: len(server.got) > before)
            (self.folder / "enough").write_text("")
            done = job.finish()
        self.assert_status(done, 0)
        self.assertNotIn("Kubeflow", done.stderr)

    def metrics(self, status):
        return {one["name"]: one["value"] for one in status["metrics"]}

    def test_the_server_follows_a_job_whose_token_changes(self):
        server = self.server()
        with sml_run_popen(*WATCH, "-np", "2", *self.steps(), env=self.env(server)) as job:
            wait_until(lambda: server.got)
            self.renew_token("second")
            wait_until(lambda: server.got[-1][1] == "Bearer second")
            (self.folder / "enough").write_text("")
            done = job.finish()
        self.assert_status(done, 0)
        self.assertNotIn("Kubeflow", done.stderr)
        self.assertEqual({(path, code) for path, _, code, _ in server.got}, {("/apis/trainjobs/one/status", 200)})
        self.assertEqual(server.got[0][1], "Bearer first")
        told = [status for _, _, _, status in server.got]
        numbers = [int(self.metrics(status)["step"]) for status in told]
        self.assertEqual(numbers, sorted(numbers))
        times = [datetime.datetime.fromisoformat(status["lastUpdatedTime"].rstrip("Z")) for status in told]
        for before, after in zip(times, times[1:-1]):  # the last comes at the end
            self.assertGreater((after - before).total_seconds(), 10, times)  # 15, or more on a slow machine
        self.assertEqual([status.get("progressPercentage") for status in told], [0] * (len(told) - 1) + [100])
        self.assertEqual(told[-1]["estimatedRemainingSeconds"], 0)
        self.assertGreater(told[-2]["estimatedRemainingSeconds"], 100)
        self.assertEqual(self.metrics(told[-1])["total_steps"], "100000")
        self.assertEqual(self.metrics(told[-1])["attempt"], "1")
        for status in told:
            self.assertRegex(status["lastUpdatedTime"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_a_server_that_refuses_is_told_of_once_and_changes_nothing(self):
        server = self.server(403)
        with sml_run_popen(*WATCH, "-np", "1", *self.steps(3), env=self.env(server)) as job:
            wait_until(lambda: len(server.got) == 2)  # it is tried again
            (self.folder / "enough").write_text("")
            done = job.finish()
        self.assert_status(done, 3)
        self.assertEqual(done.stderr.count("Kubeflow"), 1, done.stderr)
        self.assertRegex(done.stderr, r"progress cannot be sent to Kubeflow's status server at https://localhost:\d+/apis/trainjobs/one/"
                                      r"status: answers 403 Forbidden; the job goes on")
        self.assertEqual(len(server.got), 2)  # not at the end, which it would only delay

    @gate
    def test_a_server_that_never_answers_holds_nobody_up(self):
        server = self.server(None)
        with sml_run_popen(*WATCH, "-np", "1", *self.steps(), env=self.env(server)) as job:
            wait_until(lambda: server.got)
            seen = re.findall(r"step (\d+) of", job.read_until("of 100000\n").decode())
            job.read_until(f"step {int(seen[-1]) + 10} of")  # the job goes on
            (self.folder / "enough").write_text("")
            done = job.finish()
        self.assert_status(done, 0)
        self.assertEqual(done.stderr.count("Kubeflow"), 1, done.stderr)

    @gate
    def test_nothing_is_sent_to_whom_the_authorities_do_not_vouch_for(self):
        server = self.server()
        self.certificate("other-cert.pem")
        (self.folder / "open").write_text("token")
        (self.folder / "open").chmod(0o666)
        (self.folder / "open-cert.pem").write_bytes((self.folder / "cert.pem").read_bytes())
        (self.folder / "open-cert.pem").chmod(0o666)
        (self.folder / "two").write_text("two words")
        said = {"self-signed certificate": {"SERVER_CA_CERT": str(self.folder / "other-cert.pem")},
                "is no https:// URL": {"SERVER_URL": f"http://localhost:{server.server_address[1]}/"},
                "no such file": {"SERVER_TOKEN": str(self.folder / "none")},
                "can be written by every user": {"SERVER_TOKEN": str(self.folder / "open")},
                "open-cert.pem can be written by every user": {"SERVER_CA_CERT": str(self.folder / "open-cert.pem")},
                "two holds no token": {"SERVER_TOKEN": str(self.folder / "two")},
                "holds no certificates": {"SERVER_CA_CERT": str(self.folder / "two")}}
        for words, wrong in said.items():
            with self.subTest(words):
                done = sml_run(*WATCH, "-np", "1", "echo", "step 1 of 2", env=self.env(server, **wrong))
                self.assert_status(done, 0)
                self.assertRegex(done.stderr, f"Kubeflow's status server at .*{words}.*; the job goes on")
                self.assertEqual(server.got, [])

    @gate
    def test_it_is_asked_for_by_progress_and_can_be_forbidden(self):
        server = self.server()
        for words in (WATCH + ("--no-progress-push",), ()):
            self.assert_status(sml_run(*words, "-np", "1", "echo", "step 1 of 2", env=self.env(server)), 0)
        self.assertEqual(server.got, [])
        self.assert_status(sml_run(*WATCH, "-np", "1", "echo", "step 1 of 2", env=self.env(server)), 0)
        self.assertEqual(self.metrics(server.got[-1][3])["step"], "1")


class ForSageMaker(TestCase):
    METRIC = re.compile(r"sml_run_progress_step=([0-9.]+)")  # as a metric definition of the job has it

    def train(self, *args):
        folder = self.temporary_directory()
        (folder / "input/config").mkdir(parents=True)
        (folder / "input/config/resourceconfig.json").write_text(json.dumps({"current_host": "algo-1", "hosts": ["algo-1"]}))
        env = {"SAGEMAKER_BASE_DIR": str(folder), "TRAINING_JOB_NAME": "job-1"}
        return sml_run(*args, "-H", "localhost:1", "echo", "step 120 of 1000", env=env)

    @gate
    def test_the_output_has_lines_that_a_metric_definition_finds(self):
        done = self.train(*WATCH)
        self.assert_status(done, 0)
        self.assertEqual(set(self.METRIC.findall(done.stderr)), {"120"}, done)
        self.assertRegex(done.stderr, r"(?m)^sml-run: progress: sml_run_progress_step=120; sml_run_progress_percent=100; "
                                      r"sml_run_goodput_ratio=[01]\.\d{3}; sml_run_attempts=1;$")
        self.assertNotIn("sml_run", done.stdout)

    @gate
    def test_not_without_steps_and_not_where_it_is_forbidden(self):
        for words in ((), WATCH + ("--no-progress-push",), WATCH + ("--quiet",)):
            done = self.train(*words)
            self.assert_status(done, 0)
            self.assertNotIn("sml_run_", done.stderr)
        self.assertNotIn("sml_run_", sml_run(*WATCH, "echo", "step 1 of 2").stderr)


if __name__ == "__main__":
    unittest.main()
