"""Runs the tests of a script and tells of each case in a line that ./test reads."""

import sys
import unittest


class Lines(unittest.TestResult):
    @staticmethod
    def name(test):
        return test.id().removeprefix("__main__.").replace("test_", "") if "." in test.id() else test.id()

    def addSuccess(self, test):
        super().addSuccess(test)
        print(f"passed {self.name(test)}", flush=True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"skipped {self.name(test)}: {reason}", flush=True)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        print(f"failed {self.name(test)}: {' '.join(str(err[1]).split())[:300]}", flush=True)

    def addError(self, test, err):
        super().addError(test, err)
        print(f"failed {self.name(test)}: {err[0].__name__}: {' '.join(str(err[1]).split())[:300]}", flush=True)


def run(names=()):
    """Runs the tests of the script, or those named as CLASS or CLASS.test_name; returns its exit code."""
    loader, script = unittest.defaultTestLoader, sys.modules["__main__"]
    result = Lines()
    (loader.loadTestsFromNames(names, script) if names else loader.loadTestsFromModule(script)).run(result)
    return 0 if result.wasSuccessful() and result.testsRun else 1
