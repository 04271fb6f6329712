"""The class SmlRun. Source: sagemaker-train 1.27, distributed.py (DistributedConfig) and model_trainer.py."""
import gzip
import pathlib
import shutil
import struct
import tempfile
import weakref
from typing import Any, Dict, List, Optional

from pydantic import PrivateAttr, field_validator
from sagemaker.train.distributed import DistributedConfig

from .. import path

_HERE = pathlib.Path(__file__).resolve().parent
_DRIVER = "sml_driver.py"
_MACHINES = {62: "x86_64", 183: "aarch64"}


def _machine_of(program):
    """The processor that a program is for, by the head of its file."""
    with open(program, "rb") as file:
        head = file.read(20)
    if head[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{program} is no program of Linux")
    number, = struct.unpack_from("<H", head, 18)
    if number not in _MACHINES:
        raise ValueError(f"{program} is for a processor that SageMaker has none of (ELF machine {number})")
    return _MACHINES[number]


def _pack(program, folder):
    with open(program, "rb") as source, gzip.GzipFile(folder / f"sml-run-{_machine_of(program)}.gz", "wb", 6, mtime=0) as packed:
        shutil.copyfileobj(source, packed)


def _carried(text):
    """Text without the quote that ends a value in the SDK's sm_training.env; the driver turns it back."""
    return text.replace("%", "%25").replace("'", "%27")


class SmlRun(DistributedConfig):
    """Starts the entry script by sml-run: one job over all hosts, without SSH, MPI or anything installed in the image.

    Parameters:
        process_count_per_node (Optional[int]): Ranks of each host. Default: its GPUs or Neuron cores, else one.
        preset (Optional[str]): What a framework asks for (--preset), such as "tf" or "jax"; torch needs none.
        binding (Optional[str]): Processors of each rank (--bind-to), "core", "numa" or "none".
        max_restarts (int): When a rank fails, all begin anew, so often (--max-restarts).
        spares (int): Hosts that wait to take the place of a lost one (--spares).
        min_hosts (Optional[int]): When hosts are lost and no spare is left, go on with so many (--min-hosts).
        options (List[str]): Further words of the command line, each as it is.
        environment (Dict[str, str]): Further variables of the ranks.
        programs (List[str]): Files of sml-run for further processors, where the image has another than this machine.
    """

    process_count_per_node: Optional[int] = None
    preset: Optional[str] = None
    binding: Optional[str] = None
    max_restarts: int = 0
    spares: int = 0
    min_hosts: Optional[int] = None
    options: List[str] = []
    environment: Dict[str, str] = {}
    programs: List[str] = []
    _folder: Any = PrivateAttr(default=None)

    @field_validator("process_count_per_node", "min_hosts")
    @classmethod
    def _at_least_one(cls, value):
        if value is not None and value < 1:
            raise ValueError("is at least 1")
        return value

    @field_validator("max_restarts", "spares")
    @classmethod
    def _not_negative(cls, value):
        if value < 0:
            raise ValueError("is at least 0")
        return value

    @field_validator("options")
    @classmethod
    def _are_options(cls, value):
        if value and not value[0].startswith("-") or "--" in value:
            raise ValueError("are options of sml-run and their values; the program is the entry script of the source code")
        return value

    @property
    def driver_dir(self) -> str:
        """A folder with the driver and the packed programs, made anew at the first use and removed with this object."""
        if self._folder is None:
            folder = pathlib.Path(tempfile.mkdtemp(prefix="sml-run-driver-"))
            weakref.finalize(self, shutil.rmtree, folder, True)
            shutil.copy(_HERE / "driver" / _DRIVER, folder / _DRIVER)
            for packed in sorted((_HERE / "driver").glob("sml-run-*.gz")):
                shutil.copy(packed, folder / packed.name)
            for program in (path(), *self.programs):
                _pack(program, folder)
            self._folder = folder
        return str(self._folder)

    @property
    def driver_script(self) -> str:
        return _DRIVER

    def model_dump(self, **how: Any) -> Dict[str, Any]:
        """What the SDK writes to distributed.json, and into a line of shell: no text has a quote in it. Where the programs
        lie on this machine is nobody's business there."""
        values = super().model_dump(**how)
        values.pop("programs", None)
        if "options" in values:
            values["options"] = [_carried(word) for word in values["options"]]
        if "environment" in values:
            values["environment"] = {_carried(name): _carried(value) for name, value in values["environment"].items()}
        for name in ("preset", "binding"):
            if values.get(name):
                values[name] = _carried(values[name])
        return values
