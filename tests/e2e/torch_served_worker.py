"""Rank 1 hangs, the others wait. What torch does for a hang report is done here by its protocols: torch_served_worker.py PARTS

PARTS: "server" serves the handlers of torch's worker server, "stuck" a server that never answers, "recorder" the pipe that
NCCL's flight recorder has, "slow" one that first takes its time. tests/frameworks has the real server.
"""
import faulthandler
import http.server
import os
import socketserver
import sys
import tempfile
import threading
import time

RANK = os.environ["RANK"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stuck = False

    def do_POST(self):
        if self.stuck:
            time.sleep(600)
        with tempfile.TemporaryFile() as file:
            faulthandler.dump_traceback(file)
            file.seek(0)
            said = {"/handler/dump_traceback": file.read(), "/handler/fr_trace_json": b'{"entries":[{"rank":%s}]}' % RANK.encode()}
        body = said[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "a socket"

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def record():
    pipe = os.environ["TORCH_NCCL_DEBUG_INFO_PIPE_FILE"] + RANK + ".pipe"
    os.mkfifo(pipe)
    print("records", flush=True)
    with open(pipe, "rb") as commands:
        commands.read(1)
    if "slow" in sys.argv[1]:
        time.sleep(4)
    with open(os.environ["TORCH_FR_DUMP_TEMP_FILE"] + RANK, "wb") as dump:
        dump.write(b"\x80\x02recorded by rank " + RANK.encode())
    with open(pipe, "rb"):
        time.sleep(600)


def hold_up():
    time.sleep(600)


def wait_for_others():
    time.sleep(600)


def main():
    parts = sys.argv[1].split(",")
    Handler.stuck = "stuck" in parts
    if "server" in parts or "stuck" in parts:
        server = Server(os.environ["TORCH_WORKER_SERVER_SOCKET"], Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    if "recorder" in parts or "slow" in parts:
        threading.Thread(target=record, daemon=True).start()
    print("step", flush=True)
    hold_up() if RANK == "1" else wait_for_others()


main()
