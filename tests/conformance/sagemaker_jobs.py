"""Made-up SageMaker training jobs, the same ones each time: what the platform would put below /opt/ml, and into the
environment, of each host."""
import json
import random

COUNT = 160
SEED = 20240501

# Writes what it sees into the model's folder of its own host, and ends as the job says.
PROBE = """import json, os, sys
names = ("CURRENT_HOST", "SAGEMAKER_JOB_NAME", "SAGEMAKER_REGION", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
         "LOCAL_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_WORLD_SIZE", "ROLE_NAME", "CROSS_RANK", "CROSS_SIZE")
kinds = ("SM_", "MASTER_", "TORCHELASTIC_", "OMPI_", "PMI_", "PMIX_", "HOROVOD_")
seen = {"argv": sys.argv[1:], "cwd": os.getcwd(),
        "env": {k: v for k, v in os.environ.items() if k.startswith(kinds) or k in names}}
with open("/opt/ml/model/seen", "a") as file:
    file.write(json.dumps(seen) + "\\n")
if os.path.exists("own_failure"):
    open("/opt/ml/output/failure", "w").write("said by the program")
sys.exit(int(open("status").read()))
"""

SCALARS = ["1", "0", "-3", "0.1", "1e-5", "1E5", "1.0", "1e400", "12345678901234567890", "true", "false", "null", "",
           "text", "two words", " edges ", "'", "\"", "\"quoted\"", "\"in \\\"it\"", "$HOME `id` \\", "a=b", "--lr", "-", "NaN",
           "Infinity", "ümläut 日本 🦀", "\"\\u00e9\\ud83e\\udd80\"", "line\nbreak", "tab\there", "s3://bucket/key", "None", "0x10", "01"]
COMPOUND = ["[]", "{}", "[1, 2.5, \"a\", null, true]", "{\"b\": 1, \"a\": [1, {\"c\": \"d e\"}]}", "[[1], [\"x, y\"]]",
            "[1,]", "{\"k\": \"it's\"}", "[\"\\\\\"]", "{\"z\": 1e-7, \"é\": 1E+2}", "[\"say \\\"hi\\\"\", \"it's\"]"]
NAMES = ["lr", "learning-rate", "batch_size", "epochs", "n", "x", "model.name", "Upper", "a b", "ünï", "data", "optimizer",
         "weight_decay", "layers", "mp_parameters", "sagemaker", "hosts", "current_host"]
PLATFORM = {
    "sagemaker_container_log_level": ["20", "10", "40"],
    "sagemaker_job_name": ["\"job-7\"", "job-8"],
    "sagemaker_region": ["\"eu-west-1\"", "us-east-1"],
    "sagemaker_enable_cloudwatch_metrics": ["false"],
    "_tuning_objective_metric": ["\"loss\""],
    "sagemaker_submit_directory": ["\"/opt/ml/code\""],
    "sagemaker_instance_type": ["\"ml.c5.xlarge\""],
    "sagemaker_parameter_server_enabled": ["false"],
    "sagemaker_mpi_enabled": ["false"],
    "sagemaker_custom": ["{\"a\": [1]}", "word"],
}


def _hyperparameters(rng, program):
    pairs = {}
    for name in rng.sample(NAMES, rng.randint(0, 8)):
        pairs[name] = rng.choice(SCALARS if rng.random() < 0.7 else COMPOUND)
    for name in rng.sample(sorted(PLATFORM), rng.randint(0, 4)):
        pairs[name] = rng.choice(PLATFORM[name])
    if program:
        pairs["sagemaker_program"] = rng.choice([program, json.dumps(program)])
    items = list(pairs.items())
    rng.shuffle(items)
    return dict(items)


def _channels(rng):
    channels = {}
    for name in rng.sample(["train", "test", "validation", "my-data", "a.b"], rng.randint(0, 3)):
        channels[name] = {"TrainingInputMode": rng.choice(["File", "Pipe", "FastFile"]),
                          "S3DistributionType": rng.choice(["FullyReplicated", "ShardedByS3Key"]), "RecordWrapperType": "None"}
        if rng.random() < 0.3:
            channels[name]["ContentType"] = "text/csv; charset=\"utf-8\""
    return channels


def _resources(rng):
    """The file of each host."""
    hosts = [f"algo-{i + 1}" for i in range(rng.choice([1, 1, 1, 1, 2, 3]))]
    shared = {"hosts": hosts}
    if rng.random() < 0.8:
        shared["network_interface_name"] = rng.choice(["eth0", "eth1", "ethwe"])
    shape = rng.choice(["old", "plain", "plain", "groups"])
    if shape == "old":
        return [{"current_host": host, **shared} for host in hosts]
    groups = [{"instance_group_name": "homogeneousCluster", "instance_type": "ml.c5.xlarge", "hosts": list(reversed(hosts))}]
    if shape == "groups" and len(hosts) > 1:
        groups = [{"instance_group_name": "left", "instance_type": "ml.c5.xlarge", "hosts": hosts[:1]},
                  {"instance_group_name": "right", "instance_type": "ml.m5.large", "hosts": list(reversed(hosts[1:]))}]
    if rng.random() < 0.3:
        shared["topology"] = rng.choice([None, [{"hostName": host, "capacityUnitId": "u-1"} for host in hosts]])
    out = []
    for host in hosts:
        group = next(g for g in groups if host in g["hosts"])
        out.append({"current_host": host, **shared, "current_instance_type": group["instance_type"],
                    "current_group_name": group["instance_group_name"], "instance_groups": groups})
    return out


def _job(rng, index):
    program, kind = rng.choice([("train.py", "py"), ("train.py", "py"), ("src/deep.py", "py"), ("run.sh", "sh"), ("tool", "tool")])
    environment = {}
    if rng.random() < 0.2:
        environment["SAGEMAKER_PROGRAM"] = program
    if rng.random() < 0.5:
        environment["TRAINING_JOB_NAME"] = f"job-{index}"
    if rng.random() < 0.3:
        environment[rng.choice(["AWS_REGION", "AWS_DEFAULT_REGION"])] = "ap-northeast-1"
    if index % 10 == 3:  # the user's own
        environment.update({"MASTER_PORT": "7777", "WORLD_SIZE": "8", "HOROVOD_CYCLE_TIME": "1"})
    named = None if "SAGEMAKER_PROGRAM" in environment and rng.random() < 0.5 else program
    files = {"status": str(rng.choice([0, 0, 0, 1, 3, 200]))}
    if kind == "py":
        files[program] = PROBE
    else:
        files["probe.py"] = PROBE
        files[program] = ("#!/bin/sh\n" if kind == "tool" or rng.random() < 0.5 else "") + 'exec python3 probe.py "$@"\n'
    if rng.random() < 0.2:
        files["own_failure"] = ""
    return {"index": index, "hyperparameters": _hyperparameters(rng, named), "channels": _channels(rng),
            "resources": _resources(rng), "files": files, "environment": environment}


def jobs():
    rng = random.Random(SEED)
    return [_job(rng, index) for index in range(COUNT)]
