"""Pretends to be the launcher of jobs: liar.py ID HOW [COUNT]. A process named sml-run, with a socket named after the job in
its user's runtime folder, as launchers have. What it answers, by HOW:

  id      it is the job ID, which ends by stopping at once
  other   the same of a socket that is named otherwise
  shut    nothing: it closes each connection
  covered as `id`, but the process that listens has another name, and a child of it is named sml-run
  open    as `id`, in a folder that others can look into
  silent  nothing, at COUNT sockets; at its end it prints how many callers waited at once
  long    a summary of 4 MiB
  root    as `id`, but it begins as root, makes the socket in root's folder, and becomes the user 7700 then
  out     as `id`, in a root folder whose /run is a link; the runtime folder is where that leads from outside
  in      the same where it leads from inside

Prints "up" when it listens. Ends with its input.
"""
import os
import pathlib
import select
import socket
import struct
import sys

SUMMARY, TEXT, ENDED = 64, 65, 70  # the types of launcher/control/messages.h
STOP, LOGS = 2, 4  # topics


def text(words):
    return struct.pack(">I", len(words)) + words.encode()


def frame(kind, payload):
    return struct.pack(">IB", len(payload), kind) + payload


def summary(name, command="true"):
    return frame(SUMMARY, b"".join(map(text, (name, "0.1.0", command, "running", "here"))) +
                 struct.pack(">iQIIII", os.getpid(), 10**9, 1, 1, 1, 0))


def answer(name, how, topic):
    if how == "long":
        return summary(name, "x" * (4 << 20))
    if topic == 0:
        return summary(name)
    if topic in (STOP, LOGS):
        return frame(ENDED, b"\0" + text("stopped, as asked"))
    return frame(TEXT, text("all ranks are fine\n"))


def listen(folder, name):
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().replace("-", "")[:8]
    server = socket.socket(socket.AF_UNIX)
    server.bind(f"{folder}/{name}.{boot}")
    return server


def runtime_folder(how):
    name = f"sml-run-{os.geteuid()}"
    if how not in ("in", "out"):
        folder = pathlib.Path("/tmp", name)
        folder.mkdir(mode=0o755 if how == "open" else 0o700, exist_ok=True)
        return folder
    root = pathlib.Path("/tmp/root")
    folder = (root / "away" if how == "in" else pathlib.Path("/tmp/away")) / "user/7700/sml-run"
    root.mkdir()
    (root / "run").symlink_to("/away" if how == "in" else "/tmp/away")
    folder.parent.mkdir(parents=True)
    folder.mkdir(mode=0o700)
    return folder


def take_cover():
    """Leaves the name sml-run to a child, which ends with this process, as that closes `held`."""
    end, held = os.pipe()
    if os.fork() == 0:
        os.close(held)
        os.read(end, 1)
        os._exit(0)
    os.close(end)
    pathlib.Path("/proc/self/comm").write_text("other")


def is_there(caller):
    """What it has said is left unread, so its end is seen by poll alone."""
    look = select.poll()
    look.register(caller, select.POLLRDHUP)
    return not look.poll(0)


def main():
    name, how, count = sys.argv[1], sys.argv[2], int((sys.argv[3:] or ["1"])[0])
    pathlib.Path("/proc/self/comm").write_text("sml-run")
    if how == "covered":
        take_cover()
    folder = runtime_folder(how)
    names = [f"{name}-{n}" for n in range(count)] if how == "silent" else ["sml-0123456789abcdef" if how == "other" else name]
    servers = [listen(folder, one) for one in names]
    if how == "root":
        os.setgroups([])
        os.setresgid(7700, 7700, 7700)
        os.setresuid(7700, 7700, 7700)
    for server in servers:
        server.listen()
    if how in ("in", "out"):
        os.chroot("/tmp/root")
    print("up", flush=True)
    held, most = [], 0
    while True:
        ready, _, _ = select.select([sys.stdin, *servers], [], [])
        if sys.stdin in ready:
            return print(most, flush=True)
        for server in ready:
            caller = server.accept()[0]
            if how == "silent":
                held = [one for one in [*held, caller] if is_there(one)]
                most = max(most, len(held))
                continue
            with caller:
                question = caller.recv(4096)
                if how != "shut" and len(question) > 9:  # behind the length, the type and the version
                    caller.sendall(answer(name, how, question[9]))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        pass
