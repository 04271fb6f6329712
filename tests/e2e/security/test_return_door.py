"""The door at which an agent takes its launcher back when their connection has broken: nobody else comes in by it, and nobody
who has its name is told anything."""
from harness import BUILD, PYTHON, REPO, gate, wait_until, watchdog
from jobs import sh
from on_hosts import OnHosts
from knock import wish

KNOCK = [PYTHON, "-B", REPO / "tests/e2e/security/knock.py"]
HOST = "algo-2"
WAIT = r"""
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect("\0" + sys.argv[1])
print("in", flush=True)
s.recv(1)
"""


class Doors(OnHosts):
    def door(self, host=HOST):
        return sh(self.bed, host, "grep -o 'sml-run-agent-[0-9a-f]*' /proc/net/unix | sort -u").strip()

    def knock(self, user, patience):
        """{way: what is heard}. `patience`: seconds in which somebody who says nothing is not hung up on."""
        done = self.bed.exec(HOST, [*KNOCK, self.door(), str(patience)], user=user)
        self.assert_status(done, 0)
        return dict(line.split(": ") for line in done.stdout.splitlines())

    def reset(self, job):
        """The connection breaks, and is made again."""
        sh(self.bed, HOST, "pkill -KILL -f '^sshd: root'")
        wait_until(lambda: b"made again" in job.errors_so_far())

    @gate
    def test_another_user_is_not_heard(self):
        with self.running("-H", f"algo-1,{HOST}") as job:
            heard = self.knock("tester", watchdog())
            self.assertEqual((len(heard), set(heard.values())), (11, {""}))
            self.reset(job)

    def test_a_process_of_the_same_user_does_not_know_the_secret(self):
        with self.running("-H", f"algo-1,{HOST}") as job:
            heard = self.knock("root", 1)
            self.assertEqual(heard.pop("silence"), "waits")
            self.assertEqual((len(heard), set(heard.values())), (10, {""}))
            with self.bed.popen(HOST, [PYTHON, "-c", WAIT, self.door()]) as waiting:
                waiting.read_until("in\n")
                self.reset(job)
                self.assertEqual(waiting.finish().returncode, 0)  # it has given way

    @gate
    def test_who_has_the_name_of_an_agent_that_has_gone_is_told_nothing(self):
        """Neither another user, nor another process of the same one. The last shows that it would be seen."""
        nothing, wishes = "heard 0 bytes and 0 descriptors\n", "heard 75 bytes and 1 descriptors\n"
        for user, is_it, said in (("tester", True, nothing), ("root", False, nothing), ("root", True, wishes)):
            with self.subTest(user=user, is_it=is_it), self.bed.popen(HOST, [*KNOCK, "--keep", "name"], user=user) as keeper:
                pid = int(keeper.read_until("\n")) + (not is_it)
                done = self.bed.exec(HOST, [BUILD / "sml-run-agent", "--mark", "sml0", "--return"], binary=True,
                                     input=wish(b"name", pid=pid))
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"sml0 GONE its agent", done.stdout)
                self.assertEqual(keeper.finish().stdout, said)
