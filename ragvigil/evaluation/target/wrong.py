"""The error of a target that cannot be asked at all."""


class BadTarget(ValueError):
    """There is no such target; `str(error)` names it and says what is wrong."""
