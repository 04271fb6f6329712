"""Horovod's elastic training for torch: steps that are committed one by one, until a file STOP is there; each worker says
when it begins, or goes on with others, and at the end."""
import os
import sys
import time

import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())


@hvd.elastic.run
def train(state):
    print(f"rank {hvd.rank()} of {hvd.size()} begins, step {'0' if state.step == 0 else 'later'}", flush=True)
    stop = 0
    while not stop:
        if os.environ.get("FAILS") == os.environ["SML_HOST"] and state.step == 20:
            os._exit(7)
        x = torch.randn(16, 4)
        loss = torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        state.step += 1
        stop = hvd.allreduce(torch.tensor([float(os.path.exists(sys.argv[1]))]), op=hvd.Sum).item()
        time.sleep(0.02)
        state.commit()
    print(f"rank {hvd.rank()} of {hvd.size()} ends", flush=True)


train(hvd.elastic.TorchState(model=model, optimizer=optimizer, step=0))
