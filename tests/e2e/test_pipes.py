"""--pipe and --pipe-fanout: channels that workers read from FIFOs, epoch after epoch."""
import gzip
import json
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
        self.out, self.data, self.tmp = self.top / "out", self.top / "data", self.top / "tmp"
        self.base = self.top / "base"
        self.fifos = self.base / "opt/ml/input/data"
        for folder in (self.out, self.data, self.tmp):
            folder.mkdir()
        self.addCleanup(lambda: self.assertEqual(list(self.tmp.iterdir()), []))  # where scratch folders are

    def write(self, files):
        for name, data in files.items():
            (self.data / name).parent.mkdir(parents=True, exist_ok=True)
            (self.data / name).write_bytes(data)

    def environment(self):
        return {"TMPDIR": str(self.tmp), "SAGEMAKER_BASE_DIR": str(self.base)}

    def job(self, np, options, *channels, **kw):
        return sml_run("-q", "-np", str(np), *options, PYTHON, WORKER, self.out, *channels, env=self.environment(), **kw)

    def got(self, rank, channel, epoch):
        return (self.out / f"{rank}.{channel}.{epoch}").read_bytes()

    def platform(self, *epochs):
        self.fifos.mkdir(parents=True)
        return Platform(self.fifos, "train", epochs)


class Feeding(Pipes):
    @gate
    def test_channels_are_files_in_the_order_of_their_names_in_every_epoch(self):
        parts = {f"{name}.bin": os.urandom(size) for name, size in (("b", 300000), ("a", 5), ("B", 7), ("sub/é", 1), ("z", 0))}
        self.write(parts)
        (self.data / "m.json").write_text(json.dumps([{"prefix": "sub/"}, "é.bin", "é.bin"]))
        zipped = self.top / "zipped"
        zipped.mkdir()
        (zipped / "1.gz").write_bytes(gzip.compress(b"one") + gzip.compress(b"two"))
        (zipped / "2.gz").write_bytes(gzip.compress(parts["b.bin"]))
        many = self.top / "many"
        many.mkdir()
        for number in range(50):
            (many / f"{number:02}").write_bytes(b"%02d" % number)
        options = ["--pipe", f"plain={self.data}", "--pipe", f"listed={self.data}/m.json",
                   "--pipe", f"unzipped={zipped},gunzip,wrap=recordio", "--pipe", f"drawn={many},shuffle=7"]
        (self.data / "m.json").rename(self.top / "m.json")
        options[3] = f"listed={self.top}/m.json"
        (self.top / "m.json").write_text(json.dumps([{"prefix": "data/sub/"}, "é.bin", "é.bin"]))
        self.assert_status(self.job(1, options, "plain:2", "listed:1", "unzipped:2", "drawn:2"), 0)
        whole = b"".join(parts[name] for name in sorted(parts, key=os.fsencode))
        for epoch in (0, 1):
            self.assertTrue(self.got(0, "plain", epoch) == whole)
            self.assertTrue(self.got(0, "unzipped", epoch) == frame(b"onetwo") + frame(parts["b.bin"]))
        self.assertEqual(self.got(0, "listed", 0), parts["sub/é.bin"] * 2)
        orders = [[self.got(0, "drawn", epoch)[i:i + 2] for i in range(0, 100, 2)] for epoch in (0, 1)]
        self.assertNotEqual(orders[0], orders[1])
        self.assertEqual([sorted(order) for order in orders], [[b"%02d" % n for n in range(50)]] * 2)

    def test_fifos_are_where_the_platform_has_them_and_gone_afterwards(self):
        self.write({"a": b"x"})
        self.fifos.mkdir(parents=True)
        os.mkfifo(self.fifos / "train_7")  # of a job that was killed
        (self.fifos / "train").mkdir()
        show = 'echo $SM_CHANNEL_TRAIN $SML_PIPE_DIR; ls "$SML_PIPE_DIR"; cat "${SM_CHANNEL_TRAIN}_0"; [ ! -e "${SM_CHANNEL_TRAIN}_1" ]'
        done = sml_run("-q", "--pipe", f"train={self.data}", "--pipe-epochs", "1", "sh", "-c", show, env=self.environment())
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, f"{self.fifos}/train {self.fifos}\ntrain\ntrain_0\nx")
        self.assertEqual(os.listdir(self.fifos), ["train"])

    def test_what_cannot_be_fed_is_refused_before_the_start(self):
        self.write({"a": b"x", "bad.json": b'[{"prefix": "s3://b/"}, "a"]'})
        for options, words in ((["--pipe", f"t={self.data}/none"], "No such file"),
                               (["--pipe", f"t={self.data}/a"], "expected a manifest"),
                               (["--pipe", f"t={self.data}/bad.json"], "downloaded first"),
                               (["--pipe-fanout", "t"], "there is no folder"),
                               (["--pipe", f"t={self.data}", "--channel", f"t={self.data}"], "cannot be a folder too"),
                               (["--pipe-epochs", "2"], "requires --pipe")):  # unit tests have the others
            done = sml_run("-q", *options, "echo", "started", env=self.environment())
            self.assert_status(done, 2)
            self.assertEqual(done.stdout, "")
            self.assertIn(words.lower(), done.stderr.lower())

    @gate
    def test_a_damaged_file_ends_the_job_and_no_reader_takes_it_for_whole(self):
        self.write({"1": gzip.compress(b"x" * 1000), "2": gzip.compress(b"y" * 1000)[:-9]})
        done = self.job(1, ["--pipe", f"t={self.data},gunzip"], "t:1")
        self.assert_status(done, 125)
        assert_says(self, done, f"^localhost: channel t, epoch 0: {self.data}/2: the file ends before its gzip stream$", never=TROUBLE)
        self.assertEqual(done.stdout, "")


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
    def test_files_are_fed_and_dealt_out_in_groups_of_equal_number(self):
        self.write({f"{n:03}": b"%d" % n for n in range(23)})
        options = ["--pipe", f"t={self.data},wrap=recordio", "--pipe-fanout", "t:records,group=2,equalize=drop"]
        self.assert_status(self.job(3, options, "t:1"), 0)
        for rank in range(3):
            mine = [n for n in range(18) if n // 2 % 3 == rank]
            self.assertEqual(self.got(rank, "t", 0), b"".join(frame(b"%d" % n) for n in mine))

    def test_lines_and_pieces(self):
        self.write({"a": b"1\n22\n\n4\n5"})
        options = ["--pipe", f"l={self.data}", "--pipe-fanout", "l:lines", "--pipe", f"b={self.data}", "--pipe-fanout",
                   "b:bytes,group=4"]
        self.assert_status(self.job(2, options, "l:1", "b:1"), 0)
        self.assertEqual([self.got(rank, "l", 0) for rank in (0, 1)], [b"1\n\n5", b"22\n4\n"])
        self.assertEqual([self.got(rank, "b", 0) for rank in (0, 1)], [b"1\n225", b"\n\n4\n"])

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
        self.write({"a": b"".join(records)})
        options = ["--pipe", f"train={self.data}", "--pipe-fanout", "train"]
        self.assert_status(self.job(4, options, "train:2:exit2"), 0)
        for epoch in (0, 1):
            for rank in (0, 1, 3):
                self.assertTrue(self.got(rank, "train", epoch) == b"".join(records[rank::4]), (rank, epoch))
        self.assertFalse((self.out / "2.train.0").exists())

    @gate
    def test_a_feeder_that_is_killed_ends_the_job(self):
        self.write({"a": b"1\n"})
        with sml_run_popen("-q", "-np", "2", "--pipe", f"t={self.data}", "--pipe-fanout", "t:lines", "sh", "-c",
                           'cat "${SM_CHANNEL_T}_0"; echo read; sleep 100', env=self.environment()) as job:
            job.read_until("read")

            def feeder():
                for pid, _ in own_processes():
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
    def test_each_host_deals_its_own_files_to_its_own_ranks(self):
        for host in self.bed.names():
            self.bed.put(host, "/home/root/data/a", "".join(f"{host} {n}\n" for n in range(5)))
            self.addCleanup(self.bed.exec, host, ["rm", "-r", "/home/root/data"])
        done = self.bed.sml_run("algo-1", "-q", "-H", self.bed.hosts(2), "--tag", "{rank} ", "--pipe", "t=/home/root/data", "--pipe-fanout",
                                "t:lines", "sh", "-c", 'cat "${SM_CHANNEL_T}_0" "${SM_CHANNEL_T}_1"')
        self.assert_status(done, 0)
        wanted = [f"{rank} algo-{1 + rank // 2} {n}" for rank in range(4) for _ in (0, 1) for n in range(rank % 2, 5, 2)]
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(wanted))
