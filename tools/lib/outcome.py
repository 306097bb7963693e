"""What one case of a test run came to."""

from dataclasses import dataclass

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"


@dataclass
class Outcome:
    """`name` is program/suite.test for a unit test, part/case for everything else."""

    name: str
    result: str
    detail: str = ""


def passed(name):
    return Outcome(name, PASSED)


def failed(name, detail=""):
    return Outcome(name, FAILED, detail)


def skipped(name, reason):
    return Outcome(name, SKIPPED, reason)
