"""Lightning's Trainer with the fault tolerance callback of NVIDIA's package."""
import os
import time

import lightning
import torch
from nvidia_resiliency_ext.ptl_resiliency import FaultToleranceCallback

RESTARTS = int(os.environ["TORCHELASTIC_RESTART_COUNT"])


class Line(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        if RESTARTS == 0 and index == 3 and self.global_rank == int(os.environ.get("HANGS_ONCE", -1)):
            time.sleep(600)
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


x = torch.randn(64, 4)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
callback = FaultToleranceCallback(autoresume=False, calculate_timeouts=False, exp_dir=".")
trainer = lightning.Trainer(accelerator="cpu", strategy="ddp", devices=int(os.environ["LOCAL_WORLD_SIZE"]), max_epochs=1,
                            logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                            callbacks=[callback])
trainer.fit(Line(), data)
print(f"fitted by rank {trainer.global_rank} of {trainer.world_size}, after {RESTARTS} restarts", flush=True)
os._exit(0)  # README: torch 2.13 may abort at Python's own exit
