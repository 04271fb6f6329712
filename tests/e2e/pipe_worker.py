"""A worker that reads channels from FIFOs: pipe_worker.py FOLDER CHANNEL:EPOCHS[:ACT]...

Each epoch's bytes go to FOLDER/RANK.CHANNEL.EPOCH. ACT, for one rank: close1 closes epoch 0 of rank 1 after 10 bytes,
exit2 leaves instead of reading epoch 0 as rank 2.
"""
import os
import sys
import threading
import time

RANK = os.environ["RANK"]


def open_fifo(path):
    """The next one may not be there yet."""
    while True:
        try:
            return open(path, "rb", buffering=0)
        except FileNotFoundError:
            time.sleep(0.01)


def read(folder, channel, epochs, act):
    base = os.environ["SM_CHANNEL_" + channel.upper()]
    for epoch in range(epochs):
        if act == "exit2" and RANK == "2":
            os._exit(0)
        with open_fifo(f"{base}_{epoch}") as fifo, open(f"{folder}/{RANK}.{channel}.{epoch}", "wb") as out:
            if act == "close1" and RANK == "1" and epoch == 0:
                out.write(fifo.read(10))
                continue
            while chunk := fifo.read(1 << 16):
                out.write(chunk)
        print(f"rank {RANK}: {channel}_{epoch} ended", flush=True)


def main():
    threads = []
    for word in sys.argv[2:]:
        channel, epochs, act = [*word.split(":"), ""][:3]
        threads.append(threading.Thread(target=read, args=(sys.argv[1], channel, int(epochs), act)))
        threads[-1].start()
    for thread in threads:
        thread.join()


main()
