"""Results of bars, and the statistics that decide them."""

import dataclasses
import random
import statistics

PASS, FAIL, INCONCLUSIVE, WITHHELD, INFORMATION = "pass", "fail", "inconclusive", "withheld", "information"


@dataclasses.dataclass
class Result:
    """One row of the final table."""

    name: str
    status: str
    figure: str
    bar: str
    notes: list = dataclasses.field(default_factory=list)
    detail: dict = dataclasses.field(default_factory=dict)


def at_most(name, figure, limit, text, bar, **more):
    """A row that passes when `figure` is at most `limit`."""
    return Result(name, PASS if figure <= limit else FAIL, text, bar, **more)


def median_interval(samples, level=0.95, rounds=4000, seed=1):
    """Median of `samples` with its bootstrapped percentile interval."""
    generator = random.Random(seed)
    medians = sorted(statistics.median(generator.choices(samples, k=len(samples))) for _ in range(rounds))
    tail = (1 - level) / 2
    return statistics.median(samples), medians[int(tail * rounds)], medians[int((1 - tail) * rounds) - 1]


def half_width(interval):
    """Half the interval's width as a share of its median."""
    median, low, high = interval
    return (high - low) / 2 / median


def judge_ratio(interval, limit, half_width_max):
    """pass when the median meets the bar, fail when the lower end exceeds it, inconclusive otherwise.

    An interval that stayed wide passes only whole: its median says little.
    """
    median, low, high = interval
    if low > limit:
        return FAIL
    deciding = median if half_width(interval) < half_width_max else high
    return PASS if deciding <= limit else INCONCLUSIVE
