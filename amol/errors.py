"""What stops a study or a notebook."""


class StudyError(RuntimeError):
    """A study can't go on; the message is one line that tells its user why.

    What it had stored is kept, and the same call goes on from there.
    """


class NotebookError(Exception):
    """A notebook that failed: its name, the cell, the error, and where the partial run is."""
