"""sml-run for the third version of SageMaker's Python SDK: a class for ModelTrainer(distributed=...).

    from sml_run.sagemaker import SmlRun
    ModelTrainer(..., source_code=SourceCode(source_dir="src", entry_script="train.py"),
                 distributed=SmlRun(process_count_per_node=8, max_restarts=2))

Any image with Python runs it: the program travels with the job. sagemaker-train is imported with the class.
"""

__all__ = ["SmlRun"]


def __getattr__(name):
    if name != "SmlRun":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from ._config import SmlRun
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("sagemaker", "pydantic"):
            raise ImportError("sml_run.sagemaker.SmlRun needs the third version of SageMaker's SDK: pip install sagemaker-train") from error
        raise
    return SmlRun
