"""--notify: commands and webhooks that are told what happens, and that may fail, hang and lie."""
import contextlib
import http.server
import json
import os
import re
import ssl
import threading
import unittest

from harness import TestCase, gate, run, sml_run, sml_run_popen, wait_until

ONCE = ("--max-restarts", "1", "--restart-delay", "0", "--max-fruitless", "0", "-np", "2")
TWICE = '[ $SML_ATTEMPT = 2 ] || { echo broken >&2; exit 5; }'
# The second attempt goes on until there is the file that is $0: after its end sml-run waits 3 s for all notifications.
UNTIL_GO = TWICE + "; until [ -e $0 ]; do sleep 0.05; done"


class Hook(http.server.ThreadingHTTPServer):
    """A webhook; `status` None: never answers. Answers only while `open` is set."""

    def __init__(self, status=200, context=None):
        super().__init__(("127.0.0.1", 0), self.Handler)
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.status, self.got, self.over, self.open = status, [], threading.Event(), threading.Event()
        self.open.set()

    def handle_error(self, request, address):
        pass

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.got.append((self.path, self.headers["Content-Type"], json.loads(body)))
            self.server.open.wait()
            if self.server.status is None:
                self.server.over.wait()
                return
            self.send_response(self.server.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    def url(self, scheme="http", host="127.0.0.1"):
        return f"{scheme}://{host}:{self.server_address[1]}/hook?a=b"


class Notify(TestCase):
    def hook(self, *args):
        server = Hook(*args)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.over.set)
        self.addCleanup(server.open.set)
        return server

    def events(self, server):
        return [body["event"] for _, _, body in server.got]

    def run_until(self, told, *options):
        """A job of two attempts, whose second ends when that has been told of what came before."""
        go = self.temporary_directory() / "go"
        with sml_run_popen(*options, *ONCE, "sh", "-c", UNTIL_GO, go) as job:
            wait_until(told)
            go.touch()
            return job.finish()

    @gate
    def test_a_command_gets_each_event_as_json(self):
        told = self.temporary_directory() / "told"
        append = f"sh -c 'cat >> {told}; echo >> {told}'"
        done = self.run_until(lambda: told.exists() and told.read_text().count("\n") == 3, "--notify", append)
        self.assert_status(done, 0)
        self.assertNotIn("--notify", done.stderr)
        got = [json.loads(line) for line in told.read_text().splitlines()]
        self.assertEqual([one["event"] for one in got], ["start", "failure", "restart", "end"])
        self.assertEqual((got[1]["exit_code"], got[1]["attempt"], got[2]["attempt"], got[3]["exit_code"]), (5, 1, 2, 0))
        self.assertRegex(got[1]["text"], r"^attempt 1 of job sml-\w+ has failed: rank [01] on localhost exited with status 5")

    @gate
    def test_a_webhook_gets_what_is_asked_for(self):
        server = self.hook()
        done = self.run_until(lambda: self.events(server), "--notify", server.url(), "--notify-on", "restart,end")
        self.assert_status(done, 0)
        self.assertEqual(self.events(server), ["restart", "end"])
        self.assertEqual({(path, kind) for path, kind, _ in server.got}, {("/hook?a=b", "application/json")})
        done = sml_run("--notify", server.url(), "--notify-on", "failure", "-np", "2", "sh", "-c", "echo broken >&2; exit 4")
        self.assert_status(done, 4)
        self.assertEqual(server.got[-1][2]["event"], "failure")
        self.assertEqual(server.got[-1][2]["last_lines"], ["broken"])

    @gate
    def test_a_target_that_fails_is_told_once_and_changes_nothing(self):
        server = self.hook(500)
        done = self.run_until(lambda: len(server.got) == 3, "--notify", server.url(), "--notify", "sh -c 'echo no such mailbox >&2; exit 3'")
        self.assert_status(done, 0)
        self.assertEqual(len(server.got), 4)
        self.assertEqual(done.stderr.count("answers 500 Internal Server Error"), 1, done)
        self.assertEqual(done.stderr.count("exited with status 3: no such mailbox"), 1, done)

    @gate
    def test_a_webhook_that_never_answers_does_not_hold_the_workers(self):
        server = self.hook(None)
        with sml_run_popen("--notify", server.url(), *ONCE, "sh", "-c", TWICE + "; echo done") as job:
            job.read_until("[0] done")
            wait_until(lambda: self.events(server) == ["start"])  # one at a time: it holds up only its own
            done = job.finish()
        self.assert_status(done, 0)
        self.assertIn("has not taken the last notification within 3 s after the end of the job", done.stderr)
        self.assertEqual(self.events(server), ["start"])

    @gate
    def test_a_webhook_that_answers_slowly_gets_all_in_order_and_delays_nothing(self):
        server = self.hook()
        server.open.clear()
        go = self.temporary_directory() / "go"
        with sml_run_popen("--notify", server.url(), *ONCE, "sh", "-c", TWICE + f"; echo done; until [ -e {go} ]; do sleep 0.1; done") as job:
            job.read_until("[0] done")  # an attempt has failed, and the next one runs, before the first answer
            wait_until(lambda: self.events(server) == ["start"])
            server.open.set()
            wait_until(lambda: self.events(server) == ["start", "failure", "restart"])
            go.touch()
            done = job.finish()
        self.assert_status(done, 0)
        self.assertNotIn("--notify", done.stderr)
        self.assertEqual(self.events(server), ["start", "failure", "restart", "end"])

    @gate
    def test_a_command_that_hangs_ends_with_the_job(self):
        done = sml_run("--notify", "sleep 3600", "--notify-on", "end", "true")
        self.assert_status(done, 0)
        self.assertIn("it is left out", done.stderr)  # and the harness finds no process that is left

    @gate
    def test_targets_that_cannot_be_are_refused_before_the_start(self):
        script = self.temporary_directory() / "hook"
        script.write_text("#!/bin/sh\n")
        script.chmod(0o777)
        for target, said in {"/no/such/program": "there is no program", "http://u:p@x/": "a user name",
                             str(script): "can be written by every user"}.items():
            done = sml_run("--notify", target, "sh", "-c", "echo started")
            self.assert_status(done, 2)
            self.assertRegex(done.stderr, f"--notify .*: .*{said}")
            self.assertEqual(done.stdout, "")

    @gate
    def test_https_is_verified(self):
        top = self.temporary_directory()
        made = run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost", "-keyout", top / "key.pem", "-out", top / "cert.pem"])
        self.assert_status(made, 0)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(top / "cert.pem", top / "key.pem")
        server = self.hook(200, context)
        line = ("--notify-on", "end", "--notify")
        trusted = {"SSL_CERT_FILE": str(top / "cert.pem")}
        done = sml_run(*line, server.url("https", "localhost"), "true", env=trusted)
        self.assert_status(done, 0)
        self.assertEqual(self.events(server), ["end"], done)
        done = sml_run(*line, server.url("https", "localhost"), "true")
        self.assertIn("TLS fails: self-signed certificate", done.stderr)
        done = sml_run(*line, server.url("https", "127.0.0.1"), "true", env=trusted)
        self.assertRegex(done.stderr, "TLS fails: (IP address|hostname) mismatch")
        self.assertEqual(self.events(server), ["end"])


if __name__ == "__main__":
    unittest.main()
