"""Reads what a GoogleTest program printed. The text, not its JSON: a program that crashes has written the one and not the other."""

import re

from .outcome import failed, passed, skipped

LINE = re.compile(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] (\S+?)(?:,|$| \()")
DISABLED = re.compile(r"YOU HAVE (\d+) DISABLED TEST")


def outcomes(program, finished):
    """One outcome a test case. What had begun when the program ended has failed; so has a program that says nothing."""
    results, order, running, reasons = {}, [], None, []
    for line in finished.output.splitlines():
        match = LINE.search(line)
        if not match:
            if running:
                reasons.append(line.strip())
            continue
        kind, test = match.groups()
        name = f"{program}/{test}"
        if kind == "RUN":
            running, reasons = name, []
            order.append(name)
        elif name == running:
            if kind == "OK":
                results[name] = passed(name)
            elif kind == "SKIPPED":
                results[name] = skipped(name, skip_reason(reasons))
            else:
                results[name] = failed(name)
            running = None
    for name in order:
        results.setdefault(name, failed(name, finished.reason()))
    found = [results[name] for name in dict.fromkeys(order)]
    # A leak or a sanitizer's report after the last test fails the program, though each of its tests passed.
    if not finished.ok and not any(outcome.result == "failed" for outcome in found):
        found.append(failed(f"{program}/exit", finished.reason()))
    if not found:
        found.append(failed(f"{program}/empty", "it ran no test"))
    disabled = DISABLED.search(finished.output)
    if disabled:
        found.append(skipped(f"{program}/disabled", f"{disabled.group(1)} tests are disabled by their name"))
    return found


def failing_output(output):
    """What the failing tests printed; the end of it all when the program did not come to its end."""
    shown, inside = [], []
    for line in output.splitlines():
        match = LINE.search(line)
        if match and match.group(1) == "RUN":
            inside = [line]
        elif match and inside:
            if match.group(1) == "FAILED":
                shown += [*inside, line]
            inside = []
        elif inside:
            inside.append(line)
    tail = output.splitlines()[-60:]
    return "\n".join(shown + inside if shown else tail)


def skip_reason(lines):
    """GoogleTest prints `file:line: Skipped` and then the message."""
    text = [line for line in lines if line and not line.endswith(": Skipped")]
    return " ".join(text)
