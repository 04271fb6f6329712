"""Shares of data: each host or worker finds its files through SM_CHANNEL_NAME."""
import json

from harness import HostsCase, gate

SHOW = ("sh", "-c", 'cd "$SM_CHANNEL_TRAIN" && echo $RANK $(find . ! -type d | LC_ALL=C sort)')
SHARDED = "train=/opt/data,mode=ShardedByS3Key"


class Channels(HostsCase):
    hosts = 2

    def data(self, *keys):
        for host in self.bed.names():
            self.bed.exec(host, ["rm", "-rf", "/opt/data"])
            self.bed.path(host, "/opt/data").mkdir()
            for key in keys:
                self.bed.put(host, f"/opt/data/{key}", f"{key} on {host}\n")

    def started(self, channel, *command, env=None, status=0):
        done = self.bed.sml_run("algo-1", "-H", self.bed.hosts(2), "--no-tag", "--channel", channel, *(command or SHOW), env=env)
        self.assert_status(done, status)
        return done

    def shown(self, channel, **kw):
        done = self.started(channel, **kw)
        return sorted(done.stdout.splitlines()), done.stderr

    @gate
    def test_hosts_share_the_files_in_the_order_of_their_bytes(self):
        self.data("b", "a/y", "a/x/1", "B", "\u00e9")
        lines, said = self.shown(SHARDED)
        self.assertEqual(lines, ["0 ./B ./a/y ./\u00e9", "1 ./B ./a/y ./\u00e9", "2 ./a/x/1 ./b", "3 ./a/x/1 ./b"])
        self.assertEqual(said.count("channel train has 5 files for 2 shares: 1 of them have 3, the others 2"), 1)
        done = self.started(SHARDED, "sh", "-c", '[ $LOCAL_RANK = 1 ] || cat "$SM_CHANNEL_TRAIN"/a/*/1 "$SM_CHANNEL_TRAIN"/B 2>/dev/null; true')
        self.assertEqual(sorted(done.stdout.splitlines()), ["B on algo-1", "a/x/1 on algo-2"])

    def test_ranks_share_them_in_turn_or_in_blocks(self):
        self.data(*"abcdefgh")
        lines, said = self.shown(SHARDED + ",by=rank")
        self.assertEqual(lines, ["0 ./a ./e", "1 ./b ./f", "2 ./c ./g", "3 ./d ./h"])
        self.assertNotIn("channel train", said)
        lines, said = self.shown(SHARDED + ",by=rank,order=block")
        self.assertEqual(lines, ["0 ./a ./b", "1 ./c ./d", "2 ./e ./f", "3 ./g ./h"])

    def test_with_fewer_files_than_hosts_some_have_none(self):
        self.data("a")
        lines, said = self.shown(SHARDED)
        self.assertEqual(lines, ["0 ./a", "1 ./a", "2", "3"])
        self.assertIn("channel train has 1 file for 2 shares: 1 of them is empty", said)

    def test_what_is_whole_is_the_folder_itself(self):
        self.data("a")
        done = self.started("my-data=/opt/data", "sh", "-c", "echo $SM_CHANNEL_MY_DATA")
        self.assertEqual(done.stdout, "/opt/data\n" * 4)

    def test_what_the_platform_has_sharded_is_not_sharded_again(self):
        config = {"train": {"TrainingInputMode": "File", "S3DistributionType": "ShardedByS3Key"}}
        self.bed.put("algo-1", "/opt/ml/input/config/inputdataconfig.json", json.dumps(config))
        self.addCleanup(self.bed.exec, "algo-1", ["rm", "/opt/ml/input/config/inputdataconfig.json"])
        for host, keys in (("algo-1", "ac"), ("algo-2", "bd")):
            for key in keys:
                self.bed.put(host, f"/opt/ml/input/data/train/{key}", key)
            self.addCleanup(self.bed.exec, host, ["rm", "-r", "/opt/ml/input/data/train"])
        channel = SHARDED.replace("/opt/data", "/opt/ml/input/data/train")
        lines, said = self.shown(channel)
        self.assertEqual(lines, ["0 ./a ./c", "1 ./a ./c", "2 ./b ./d", "3 ./b ./d"])
        self.assertIn("the platform has sharded /opt/ml/input/data/train over the hosts already", said)
        lines, said = self.shown(channel + ",by=rank")
        self.assertEqual(lines, ["0 ./a", "1 ./c", "2 ./b", "3 ./d"])

    def test_what_cannot_be_shared_starts_nothing(self):
        self.data("a")
        self.bed.exec("algo-2", ["rm", "-rf", "/opt/data"])
        done = self.started(SHARDED, "echo", "started", status=2)
        self.assertEqual(done.stdout, "")
        self.assertIn("algo-2: channel train: /opt/data: no such file or directory", done.stderr)
        for channel, said in (("train", "is not NAME=DIR"), ("train=/x,by=rank", "by= and order= are for mode=ShardedByS3Key")):
            self.assertIn(said, self.started(channel, status=2).stderr)
