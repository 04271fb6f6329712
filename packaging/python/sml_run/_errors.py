"""How a launch may fail, apart from the exceptions of the function itself."""


class LaunchError(RuntimeError):
    """The job did not end well, and no exception of the function is the reason. `status` is the exit status of sml-run, and
    `report` its report, if it has written one."""

    def __init__(self, message, status=None, report=None):
        super().__init__(message)
        self.status = status
        self.report = report


class RankFailed(LaunchError):
    """A rank ended without an exception: a signal, os._exit(), sys.exit(), or no result. `rank` and `host` name it."""

    def __init__(self, message, rank=None, host=None, status=None, report=None):
        super().__init__(message, status, report)
        self.rank = rank
        self.host = host


class RemoteError(RankFailed):
    """A rank raised an exception that cannot be sent as it is: its type and text are in the message."""


class RemoteTraceback(Exception):
    """The cause of an exception that comes from a rank: its traceback there, as text."""

    def __init__(self, text):
        super().__init__(text)
        self.text = text

    def __str__(self):
        return "\n\n" + self.text.rstrip("\n")
