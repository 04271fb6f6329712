"""--pipe-fanout: channels of the platform's FIFOs, which are dealt out to ranks, epoch after epoch."""
import contextlib
import os
import pathlib
import random
import re
import signal
import struct
import threading

from harness import PYTHON, HostsCase, TestCase, gate, own_processes, sml_run, sml_run_popen, wait_until, watchdog
from jobs import TROUBLE, assert_says

WORKER = pathlib.Path(__file__).with_name("pipe_worker.py")
MAGIC = 0xCED7230A


def frame(payload, flag=0):
    return struct.pack("<II", MAGIC, flag << 29 | len(payload)) + payload + b"\0" * (-len(payload) % 4)


def mixed_records(count, seed):
    """Whole records and records of several parts, as their bytes on the wire."""
    draw = random.Random(seed)
    noise = draw.randbytes(1000)
    sizes = draw.choices(range(150), k=997)
    kinds = draw.choices((1, 2, 3, 4), (12, 1, 1, 1), k=991)
    out = []
    for number in range(count):
        parts = kinds[number % len(kinds)]
        payloads = [noise[number % 800:][:sizes[(number + part) % len(sizes)]] + b"%d" % number for part in range(parts)]
        flags = [0] if parts == 1 else [1] + [2] * (parts - 2) + [3]
        out.append(b"".join(map(frame, payloads, flags)))
    return out


class Platform:
    """Writes FIFOs as SageMaker does: the next one is there before one ends."""

    def __init__(self, folder, channel, epochs):
        self._base, self._epochs = f"{folder}/{channel}_", epochs
        os.mkfifo(f"{self._base}0")
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self):
        for number, data in enumerate(self._epochs):
            with open(f"{self._base}{number}", "wb", buffering=0) as fifo:
                if number + 1 < len(self._epochs):
                    os.mkfifo(f"{self._base}{number + 1}")
                try:
                    view = memoryview(data)
                    while view:
                        view = view[fifo.write(view):]
                except BrokenPipeError:
                    pass

    def join(self):
        self._thread.join(watchdog())
        return not self._thread.is_alive()


class Pipes(TestCase):
    def setUp(self):
        self.top = self.temporary_directory()
        self.out, self.tmp = self.top / "out", self.top / "tmp"
        self.base = self.top / "base"
        self.fifos = self.base / "opt/ml/input/data"
        for folder in (self.out, self.tmp):
            folder.mkdir()
        self.addCleanup(lambda: self.assertEqual(list(self.tmp.iterdir()), []))  # where scratch folders are

    def environment(self):
        return {"TMPDIR": str(self.tmp), "SAGEMAKER_BASE_DIR": str(self.base)}

    def job(self, np, options, *channels, **kw):
        return sml_run("-q", "-np", str(np), *options, PYTHON, WORKER, self.out, *channels, env=self.environment(), **kw)

    def got(self, rank, channel, epoch):
        return (self.out / f"{rank}.{channel}.{epoch}").read_bytes()

    def platform(self, *epochs, channel="train"):
        self.fifos.mkdir(parents=True, exist_ok=True)
        return Platform(self.fifos, channel, epochs)


# Tells when it is asked to end, and reads on to the end of its data.
READER = """
import os, signal, sys
signal.signal(getattr(signal, "SIG" + sys.argv[1]), lambda signo, frame: os.write(1, b"asked\\n"))
with open(os.environ["SM_CHANNEL_T"] + "_0") as fifo:
    for line in fifo:
        os.write(1, b"read " + line.encode())
os.write(1, b"all read\\n")
"""


class FanOut(Pipes):
    def test_100000_records_reach_4_ranks_byte_for_byte(self):
        epochs = [mixed_records(100_000, 1), mixed_records(10, 2)]
        platform = self.platform(*map(b"".join, epochs))
        self.assert_status(self.job(4, ["--pipe-fanout", "train"], "train:2"), 0)
        self.assertTrue(platform.join())
        for epoch, records in enumerate(epochs):
            for rank in range(4):
                self.assertTrue(self.got(rank, "train", epoch) == b"".join(records[rank::4]), (epoch, rank))

    @gate
    def test_groups_of_equal_number(self):
        platform = self.platform(b"".join(frame(b"%d" % n) for n in range(23)))
        options = ["--pipe-fanout", "train:records,group=2,equalize=drop"]
        self.assert_status(self.job(3, options, "train:1"), 0)
        self.assertTrue(platform.join())
        for rank in range(3):
            mine = [n for n in range(18) if n // 2 % 3 == rank]
            self.assertEqual(self.got(rank, "train", 0), b"".join(frame(b"%d" % n) for n in mine))

    def test_lines_and_pieces(self):
        platforms = [self.platform(b"1\n22\n\n4\n5", channel=channel) for channel in "lb"]
        options = ["--pipe-fanout", "l:lines", "--pipe-fanout", "b:bytes,group=4"]
        self.assert_status(self.job(2, options, "l:1", "b:1"), 0)
        self.assertTrue(all(platform.join() for platform in platforms))
        self.assertEqual([self.got(rank, "l", 0) for rank in (0, 1)], [b"1\n\n5", b"22\n4\n"])
        self.assertEqual([self.got(rank, "b", 0) for rank in (0, 1)], [b"1\n225", b"\n\n4\n"])

    def test_what_cannot_be_dealt_out_is_refused_before_the_start(self):
        for options, words in ((["--pipe-fanout", "t"], "there is no folder"),
                               (["--pipe-fanout", "t-x", "--channel", f"t.x={self.out}"], "cannot be a folder too"),
                               (["--pipe-epochs", "2"], "requires --pipe-fanout")):  # unit tests have the others
            done = sml_run("-q", *options, "echo", "started", env=self.environment())
            self.assert_status(done, 2)
            self.assertEqual(done.stdout, "")
            self.assertIn(words, done.stderr)

    def test_a_stream_that_is_no_recordio_ends_the_job_at_its_byte(self):
        good = frame(b"x" * 99)
        for broken, words in ((good * 2 + b"garbage!" * 9,
                               "byte 216: no RecordIO record begins there: found 67 61 72 62, expected 0a 23 d7 ce"),
                              (good * 2 + good[:50],
                               "byte 266: the stream ends in the middle of a RecordIO record, which began at byte 216")):
            platform = self.platform(broken)
            done = self.job(2, ["--pipe-fanout", "train"], "train:1")
            self.assert_status(done, 125)
            assert_says(self, done, f"^localhost: channel train, epoch 0, {re.escape(words)}$", never=TROUBLE)
            self.assertEqual(done.stdout, "")  # nobody has seen an end
            self.assertTrue(platform.join())
            (self.fifos / "train_0").unlink()
            self.fifos.rmdir()
            for folder in (self.fifos.parent, self.fifos.parent.parent):
                folder.rmdir()

    def test_a_rank_that_closes_early_loses_its_share_of_that_epoch_only(self):
        records = [frame(b"%d" % n * 1000) for n in range(3000)]  # more than pipes and buffers hold
        platform = self.platform(b"".join(records), b"".join(records))
        self.assert_status(self.job(3, ["--pipe-fanout", "train"], "train:2:close1"), 0)
        self.assertTrue(platform.join())
        for epoch in (0, 1):
            for rank in range(3):
                wanted = b"".join(records[rank::3])
                self.assertTrue(self.got(rank, "train", epoch) == (wanted[:10] if (rank, epoch) == (1, 0) else wanted))

    def test_a_rank_that_has_ended_holds_up_nobody(self):
        records = [frame(b"%d" % n * 1000) for n in range(3000)]
        platform = self.platform(b"".join(records), b"".join(records))
        self.assert_status(self.job(4, ["--pipe-fanout", "train"], "train:2:exit2"), 0)
        self.assertTrue(platform.join())
        for epoch in (0, 1):
            for rank in (0, 1, 3):
                self.assertTrue(self.got(rank, "train", epoch) == b"".join(records[rank::4]), (rank, epoch))
        self.assertFalse((self.out / "2.train.0").exists())

    @gate
    def test_who_is_asked_to_end_by_whichever_signal_reads_on(self):
        self.fifos.mkdir(parents=True)
        place = self.fifos / "t_0"
        os.mkfifo(place)
        for word in ("USR1", "USR2", "ABRT", "ALRM", "PWR", "XCPU"):
            line = ("-q", "-np", "1", "--grace", "1h", "--stop-signal", word, "--pipe-fanout", "t:lines", PYTHON, "-c", READER, word)
            # Opened for both, so that it waits for no feeder.
            with self.subTest(word), open(place, "r+b", buffering=0) as fifo, sml_run_popen(*line, env=self.environment()) as job:
                fifo.write(b"one\n")
                job.read_until("read one\n")
                job.send_signal(signal.SIGTERM)
                job.read_until("asked\n")
                fifo.write(b"two\n")
                job.read_until("read two\n")
                fifo.close()
                done = job.finish()
                self.assert_status(done, 143)
                self.assertIn("all read\n", done.stdout)
                self.assertNotIn("feeds the pipes", done.stderr)

    @gate
    def test_a_feeder_that_is_killed_ends_the_job(self):
        self.platform(b"1\n2\n", channel="t")
        with sml_run_popen("-q", "-np", "2", "--pipe-fanout", "t:lines", "sh", "-c",
                           'cat "${SM_CHANNEL_T}_0"; echo read; sleep 100', env=self.environment()) as job:
            job.read_until("read")

            def feeder():
                for pid, _ in own_processes():
                    with contextlib.suppress(OSError):  # a `cat` of a rank may end just now
                        if pathlib.Path(f"/proc/{pid}/comm").read_text() == "sml-run-pipes\n":
                            return pid
                return None

            os.kill(wait_until(feeder), signal.SIGKILL)
            done = job.finish()
        self.assert_status(done, 125)
        self.assertIn("the process that feeds the pipes", done.stderr)


class TwoHosts(HostsCase):
    hosts = 2

    @gate
    def test_each_host_deals_its_own_channel_to_its_own_ranks(self):
        fill = ('mkdir -p "$1"; cd "$1"; mkfifo t_0 t_1; echo made; '
                'for i in 0 1; do for n in 0 1 2 3 4; do echo "$2 $n"; done > t_$i; done')
        folder = "/home/root/base/opt/ml/input/data"
        with contextlib.ExitStack() as stack:
            for host in self.bed.names():
                self.addCleanup(self.bed.exec, host, ["rm", "-r", "/home/root/base"])
                platform = stack.enter_context(self.bed.popen(host, ["sh", "-c", fill, "sh", folder, host]))
                platform.read_until("made\n")
            done = self.bed.sml_run("algo-1", "-q", "-H", self.bed.hosts(2), "--tag", "{rank} ", "--pipe-fanout", "t:lines",
                                    "-x", "SAGEMAKER_BASE_DIR=/home/root/base", "sh", "-c",
                                    'cat "${SM_CHANNEL_T}_0" "${SM_CHANNEL_T}_1"')
        self.assert_status(done, 0)
        wanted = [f"{rank} algo-{1 + rank // 2} {n}" for rank in range(4) for _ in (0, 1) for n in range(rank % 2, 5, 2)]
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(wanted))
