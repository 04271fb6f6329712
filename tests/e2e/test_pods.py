"""Containers that a platform starts alike: the files of packaging/kubernetes as they stand, in pods that are simulated, and
SageMaker's training containers without `train`. A pod has the image's program and variables, the operator's variables, no
working directory but /, and its own name and those of the others in /etc/hosts."""
import re
import shlex

from harness import PYTHON, REPO, SML_RUN, TRAIN_DDP, gate
from jobs import assert_says, edit_file, sh
from test_dial_in import PATH, SECRET, NoSsh
from test_stops import WORKER, Place

KUBERNETES = REPO / "packaging/kubernetes"
DOCKERFILE = (REPO / "packaging/sagemaker/Dockerfile.training").read_text()
RESOURCE_CONFIG = "/opt/ml/input/config/resourceconfig.json"


def image():
    """The variables of the image, and where it has its program."""
    env = dict(word.split("=", 1) for word in shlex.split(re.search(r"^ENV (.*)$", DOCKERFILE, re.M)[1]))
    return env, re.search(r"^COPY packaging/examples/train_ddp.py (\S+)$", DOCKERFILE, re.M)[1]


def documents(file):
    import yaml
    return list(yaml.safe_load_all((KUBERNETES / file).read_text()))


def pod_of(spec):
    """The words and the secrets of its one container, which has what every training container needs."""
    container, = spec["containers"]
    assert spec["terminationGracePeriodSeconds"] > 30
    assert container["resources"]["limits"]
    assert {"name": "shm", "mountPath": "/dev/shm"} in container["volumeMounts"]
    assert [v["emptyDir"]["medium"] for v in spec["volumes"] if v["name"] == "shm"] == ["Memory"]
    env = {e["name"]: SECRET for e in container.get("env", []) if "secretKeyRef" in e["valueFrom"]}
    return container["command"], env


class Pods(NoSsh):
    hosts = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in cls.bed.names():
            sh(cls.bed, name, f"rm {RESOURCE_CONFIG}; mkdir -p /run/bin && ln -s {SML_RUN} /run/bin/sml-run")
            cls.bed.put(name, image()[1], TRAIN_DDP)

    def know(self, names, hosts=None):
        """As the cluster's DNS does."""
        lines = "".join(f"{self.bed.address(host)} {name}\n" for host, name in zip(self.bed.names(), names))
        for host in hosts or self.bed.names():
            edit_file(self, self.bed, host, "/etc/hosts", lambda old: old + lines)

    def start_pod(self, host, words, *envs):
        env = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "PATH": f"/run/bin:{PATH}", "HOME": "/root", **image()[0]}
        for more in envs:
            env.update(more)
        return self.enterContext(self.bed.popen(host, words, env=env, cwd="/"))

    def assert_trained(self, pods):
        done = self.ends(pods, 0)
        self.assertRegex(done[0].stdout, r"\[0\] trained: loss .* equal parameters on 4 ranks")
        return done

    @gate
    def test_an_indexed_job(self):
        _, job = documents("indexed-job.yaml")
        words, env = pod_of(job["spec"]["template"]["spec"])
        self.know(["my-job-0.my-job", "my-job-1.my-job"])
        self.assert_trained([self.start_pod(f"algo-{index + 1}", words, env, {"JOB_COMPLETION_INDEX": str(index)})
                             for index in range(2)])

    def test_a_pytorchjob(self):
        job, = documents("pytorchjob.yaml")
        replicas = job["spec"]["pytorchReplicaSpecs"]
        names = ["my-job-master-0", "my-job-worker-0"]
        self.know(names)
        pods = []
        for index, kind in enumerate(("Master", "Worker")):
            words, env = pod_of(replicas[kind]["template"]["spec"])
            pods.append(self.start_pod(f"algo-{index + 1}", words, env, {
                "MASTER_ADDR": names[0], "MASTER_PORT": "23456", "WORLD_SIZE": "2", "RANK": str(index), "PET_NNODES": "2",
                "PET_NPROC_PER_NODE": job["spec"]["nprocPerNode"], "PET_NODE_RANK": str(index), "HOSTNAME": names[index]}))
        self.assert_trained(pods)

    def test_an_elastic_pytorchjob(self):
        job, = documents("pytorchjob-elastic.yaml")
        policy = job["spec"]["elasticPolicy"]
        words, env = pod_of(job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"])
        names = ["my-job-worker-0", "my-job-worker-1"]
        self.know(names)
        # Both pods that there are have come: others need not be waited for.
        words = [words[0], "--last-call", "1s", *words[1:]]
        self.assert_trained([self.start_pod(f"algo-{index + 1}", words, env, {
            "PET_NNODES": f"{policy['minReplicas']}:{policy['maxReplicas']}", "PET_RDZV_BACKEND": "c10d",
            "PET_RDZV_ENDPOINT": f"{names[0]}:23456", "PET_NPROC_PER_NODE": str(policy["nProcPerNode"]),
            "PET_MAX_RESTARTS": str(policy["maxRestarts"]), "HOSTNAME": names[index]}) for index in range(2)])

    def start_mpijob(self, *program):
        """The launcher's pod and those of the workers, which have an SSH server whose key nobody knows, and the operator's key;
        `program` in place of the file's."""
        job, = documents("mpijob.yaml")
        replicas = job["spec"]["mpiReplicaSpecs"]
        words, env = pod_of(replicas["Launcher"]["template"]["spec"])
        server, _ = pod_of(replicas["Worker"]["template"]["spec"])
        self.assertEqual(server[:2], ["/bin/sh", "-c"])
        self.assertIn("openssh-server", (KUBERNETES / "mpijob.yaml").read_text())
        names = ["my-job-worker-0.my-job", "my-job-worker-1.my-job"]
        self.know(names, ["head"])
        first = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", *server[:2],
                 server[2].replace("/usr/sbin/sshd -De", "/usr/sbin/sshd -f /run/sshd/sshd_config -De")]
        self.assertNotEqual(first[-1], server[2])
        workers = [self.start_pod(host, first) for host in self.bed.names()]
        slots = job["spec"]["slotsPerWorker"]
        self.bed.put("head", "/etc/mpi/hostfile", "".join(f"{name} slots={slots}\n" for name in names))
        self.addCleanup(sh, self.bed, "head", "rm -r /etc/mpi; rm -f /home/root/.ssh/known_hosts")
        edit_file(self, self.bed, "head", "/home/root/.ssh/known_hosts", lambda _: "")
        sh(self.bed, "head", f"mkdir -p /run/bin && ln -sf {SML_RUN} /run/bin/sml-run")
        self.assertEqual(words[-2:], ["python3", image()[1]])
        words = [*words[:-2], *(program or words[-2:])]
        return self.start_pod("head", words, env, {"OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile"}), workers

    def test_an_mpijob(self):
        done = self.start_mpijob()[0].finish()
        self.assert_status(done, 0)
        self.assertRegex(done.stdout, r"\[0\] trained: loss .* equal parameters on 4 ranks")

    @gate
    def test_an_mpijob_that_is_deleted(self):
        """The first process of each pod is told, and the kernel kills all others of a pod when that has ended."""
        place = Place([self.bed.path(name, "/run/pod") for name in self.bed.names()], range(4))
        for host in self.bed.names():
            sh(self.bed, host, "mkdir /run/pod")
            self.addCleanup(sh, self.bed, host, "rm -r /run/pod")
        launcher, workers = self.start_mpijob(PYTHON, "-c", WORKER, "/run/pod")
        place.wait("ready")
        for host in self.bed.names():
            sh(self.bed, host, "pkill -TERM -P $(pgrep -x unshare)")
        launcher.terminate()
        place.wait("saving")
        self.assertEqual(place.told("saved"), set())
        place.make("go")
        self.assert_status(launcher.finish(), 143)
        self.assertEqual(place.told("saved"), set(place.ranks))
        self.ends(workers, 0)


class Sagemaker(NoSsh):
    hosts = 2

    def start_containers(self, *words):
        env = {"TRAINING_JOB_NAME": "job-1", "PATH": PATH}
        return [self.enterContext(self.bed.sml_run_popen(name, *words, env=env)) for name in self.bed.names()]

    @gate
    def test_containers_call_each_other_without_train(self):
        first, second = self.ends(self.start_containers("--nproc-per-node", "2", "sh", "-c", "echo $RANK $(hostname)"), 0)
        self.assertEqual(sorted(first.stdout.splitlines()),
                         ["[0] 0 algo-1", "[1] 1 algo-1", "[2] 2 algo-2", "[3] 3 algo-2"])
        assert_says(self, second, never="refused")

    def test_the_status_is_that_of_all(self):
        self.ends(self.start_containers(PYTHON, "-c", "import os; os._exit(int(os.environ['RANK']) * 7)"), 7)
