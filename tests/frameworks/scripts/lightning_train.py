"""Lightning's Trainer with strategy "ddp", as its documentation has it under torchrun."""
import os

import lightning
import torch

HOSTS, LOCAL = int(os.environ.get("HOSTS", 1)), int(os.environ.get("LOCAL", 1))


class Line(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        if self.global_rank == int(os.environ.get("FAILS", -1)):
            os._exit(7)
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


x = torch.randn(64, 4)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
trainer = lightning.Trainer(accelerator="cpu", strategy="ddp", devices=LOCAL, num_nodes=HOSTS, max_epochs=1, logger=False,
                            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Line(), data)
assert trainer.world_size == HOSTS * LOCAL == int(os.environ["WORLD_SIZE"])
where = type(trainer.strategy.cluster_environment).__name__
print(f"fitted by rank {trainer.global_rank} of {trainer.world_size}, node {trainer.node_rank}, {where}", flush=True)
os._exit(0)  # README: torch 2.13 may abort at Python's own exit
