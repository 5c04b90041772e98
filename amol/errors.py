"""What stops a study from outside its code."""


class StudyError(RuntimeError):
    """A study can't go on; the message is one line that tells its user why.

    What it had stored is kept, and the same call goes on from there.
    """
