"""A script with NVRx's fault tolerance, as far as its monitor sees: nvrx_worker.py RANK LAST ACTION...

RANK, in attempts up to LAST, does these ACTIONs; others, and later attempts, come to the monitor, send heartbeats and leave.
The client is made here after nvidia_resiliency_ext/fault_tolerance of 0.4.1: the same names, pickled by Python itself.
tests/frameworks has the real one.
"""
import enum
import os
import pickle
import socket
import sys
import time
import types

DATA, CONFIG = (types.ModuleType(f"nvidia_resiliency_ext.fault_tolerance.{name}") for name in ("data", "config"))
sys.modules |= {"nvidia_resiliency_ext": types.ModuleType("nvidia_resiliency_ext"),
                "nvidia_resiliency_ext.fault_tolerance": types.ModuleType("nvidia_resiliency_ext.fault_tolerance"),
                DATA.__name__: DATA, CONFIG.__name__: CONFIG}
for name in ("AuthkeyMsg", "InitMsg", "RankInfo", "HeartbeatMsg", "SectionMsg", "UpdateConfigMsg", "HeartbeatTimeouts",
             "SectionTimeouts", "OkMsg", "ErrorMsg"):
    setattr(DATA, name, type(name, (), {"__module__": DATA.__name__}))
DATA.SectionAction = enum.Enum("SectionAction", "OPEN CLOSE CLOSE_ALL", module=DATA.__name__)
CONFIG.FaultToleranceConfig = type("FaultToleranceConfig", (), {"__module__": CONFIG.__name__})
RANK = int(os.environ["RANK"])


def message(kind, **attributes):
    out = getattr(DATA, kind)()
    out.__dict__.update(attributes)
    return out


class Client:
    def come(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.environ["FT_RANK_MONITOR_IPC_SOCKET"])
        self.say(message("AuthkeyMsg", authkey=b"key"))
        rank = message("RankInfo", global_rank=str(RANK), local_rank=0, host=socket.gethostname(), pid=os.getpid())
        return self.say(message("InitMsg", rank_info=rank)).cfg

    def take(self, size):
        data = b""
        while len(data) < size:
            data += self.socket.recv(size - len(data)) or sys.exit("the monitor has hung up")
        return data

    def say_bytes(self, data):
        self.socket.sendall(len(data).to_bytes(4, "big") + data)
        return pickle.loads(self.take(int.from_bytes(self.take(4), "big")))

    def say(self, what):
        answer = self.say_bytes(pickle.dumps(what))
        if type(answer).__name__ == "ErrorMsg":
            print(f"refused: {answer.cause}", flush=True)
        return answer

    def section(self, action, name=None):
        return self.say(message("SectionMsg", rank=RANK, section=name, action=DATA.SectionAction[action]))


def hang():
    time.sleep(600)


def act(client, action):
    word, _, value = action.partition(":")
    if word == "come":
        print("config", sorted(client.come().__dict__.items()), flush=True)
    elif word == "beat":
        client.say(message("HeartbeatMsg", rank=str(RANK), state={}))
    elif word in ("open", "close"):
        client.section(word.upper(), value)
    elif word == "close_all":
        client.section("CLOSE_ALL")
    elif word == "limits":
        limits = message("HeartbeatTimeouts", initial=None, subsequent=float(value), were_calculated=True)
        client.say(message("UpdateConfigMsg", hb_timeouts=limits, section_timeouts=None))
    elif word == "bytes":
        print("answer", client.say_bytes(bytes.fromhex(value)).cause, flush=True)
    elif word == "leave":
        client.socket.shutdown(socket.SHUT_RDWR)
        client.socket.close()
    elif word == "sleep":
        time.sleep(float(value))
    elif word == "fill":  # what no reader takes stops it here
        print((99 * "x" + "\n") * int(value), flush=True)
    elif word == "hang":
        print("hangs", flush=True)
        hang()
    else:
        sys.exit(f"no action: {action}")


def main():
    victim, last, actions = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    if RANK != victim or int(os.environ["SML_ATTEMPT"]) > last:
        actions = ["come", "beat", "open:step", "close:step", "beat", "leave"]
    client = Client()
    for action in actions:
        act(client, action)
    print("done", flush=True)


main()
