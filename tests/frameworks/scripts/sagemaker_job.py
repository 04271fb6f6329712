"""What the third version of SageMaker's Python SDK sends to the service for jobs: sagemaker_job.py SPECS OUT.

Runs in an environment that has sagemaker-train. SPECS is JSON, by name: "source_code", "distributed" (a class's name and
fields), "hyperparameters", "compute". The SDK's own code makes everything; only the two answers of AWS that it asks for are given
here: that a role is fine, and that an upload has come. OUT/NAME has a folder for each channel, and request.json."""
import json
import os
import pathlib
import shutil
import sys

os.environ.update(AWS_DEFAULT_REGION="us-west-2", AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_EC2_METADATA_DISABLED="true")

import boto3  # noqa: E402
import sagemaker.train.defaults  # noqa: E402
from sagemaker.core.helper.session_helper import Session  # noqa: E402
from sagemaker.train import ModelTrainer  # noqa: E402
from sagemaker.train.configs import Compute, SourceCode  # noqa: E402
from sagemaker.train.distributed import MPI, Torchrun  # noqa: E402
from sml_run.sagemaker import SmlRun  # noqa: E402

ROLE = "arn:aws:iam::123456789012:role/training"
CLASSES = {"SmlRun": SmlRun, "Torchrun": Torchrun, "MPI": MPI}


def make(spec, out):
    out.mkdir()

    def upload_data(path, bucket, key_prefix, **_):
        channel = out / key_prefix.rsplit("/", 1)[1]
        if os.path.isdir(path):
            shutil.copytree(path, channel, dirs_exist_ok=True)
        else:
            channel.mkdir(exist_ok=True)
            shutil.copy(path, channel)
        return f"s3://{bucket}/{key_prefix}"

    session = Session(boto_session=boto3.Session(), default_bucket="bucket")
    session._default_bucket = "bucket"
    session.upload_data = upload_data
    distributed = spec.get("distributed")
    trainer = ModelTrainer(
        sagemaker_session=session, role=ROLE, training_image="image", base_job_name="job",
        source_code=SourceCode(**spec["source_code"]), compute=Compute(**spec["compute"]),
        hyperparameters=spec.get("hyperparameters") or {},
        distributed=CLASSES[distributed["class"]](**distributed.get("fields", {})) if distributed else None)
    request = trainer._create_training_job_args(boto3=True)
    (out / "request.json").write_text(json.dumps(request, default=str))


if __name__ == "__main__":
    sagemaker.train.defaults.resolve_and_validate_role = lambda **_: ROLE
    for name, spec in json.loads(sys.argv[1]).items():
        make(spec, pathlib.Path(sys.argv[2]) / name)
