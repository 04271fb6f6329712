"""MultiWorkerMirroredStrategy with a training loop of one's own, as TensorFlow's tutorial has it; TF_CONFIG tells the rest."""
import json
import os
import sys

import tensorflow as tf

config = json.loads(os.environ["TF_CONFIG"])
task, workers = config["task"], len(config["cluster"]["worker"])
strategy = tf.distribute.MultiWorkerMirroredStrategy()
assert strategy.num_replicas_in_sync == workers, strategy.num_replicas_in_sync
if task["index"] == int(os.environ.get("FAILS", -1)):
    sys.exit(7)
with strategy.scope():
    weights = tf.Variable(tf.zeros((4, 1)))


def batches(context):
    x = tf.random.stateless_normal((96, 4), seed=(1, 2))
    data = tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, 1, keepdims=True))).repeat()
    return data.shard(context.num_input_pipelines, context.input_pipeline_id).batch(8)


@tf.function
def step(iterator):
    def replica_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weights - y) ** 2)
        gradient = tape.gradient(loss, weights)
        context = tf.distribute.get_replica_context()
        weights.assign_sub(0.05 * context.all_reduce(tf.distribute.ReduceOp.MEAN, gradient))
        return loss

    losses = strategy.run(replica_step, args=next(iterator))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


iterator = iter(strategy.distribute_datasets_from_function(batches))
losses = [float(step(iterator)) for _ in range(15)]
assert losses[-1] < losses[0] / 2, losses
print(f"mirrored by {task['type']} {task['index']} of {workers}: {weights.numpy().sum():.6f}", flush=True)
