"""ParameterServerStrategy, as TensorFlow's tutorial has it: one chief, workers and parameter servers."""
import os
import sys

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
role, index = resolver.task_type, resolver.task_id
if role in ("worker", "ps"):
    if role == os.environ.get("FAILS"):
        sys.exit(7)
    server = tf.distribute.Server(resolver.cluster_spec(), job_name=role, task_index=index, protocol="grpc", start=True)
    print(f"serving as {role} {index}", flush=True)
    server.join()

strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    weights = tf.Variable(tf.zeros((4, 1)))
    steps = tf.Variable(0, dtype=tf.int64)


@tf.function
def step():
    x = tf.random.normal((16, 4))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ weights - tf.reduce_sum(x, 1, keepdims=True)) ** 2)
    weights.assign_sub(0.05 * tape.gradient(loss, weights))
    steps.assign_add(1)
    return loss


losses = [coordinator.schedule(step) for _ in range(20)]
coordinator.join()
assert steps.numpy() == 20, steps
values = [float(loss.fetch()) for loss in losses]
assert values[-1] < values[0], values
print(f"coordinated by {role} {index}: {int(steps.numpy())} steps", flush=True)
