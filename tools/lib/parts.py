"""What each part of ./test does. A part returns a list of outcomes."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import gtest
from .outcome import FAILED, PASSED, SKIPPED, failed, passed, skipped  # noqa: F401
from .process import indented, run, show

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
CORES = os.cpu_count() or 1

SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:detect_leaks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
    "ASAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
    "TSAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
}


class BuildFailed(Exception):
    pass


def build(preset, *targets):
    # Its progress goes straight to the terminal.
    status = os.spawnl(os.P_WAIT, str(ROOT / "tools/build"), "tools/build", preset, *targets)
    if status != 0:
        raise BuildFailed(f"preset {preset} does not build")


def programs(preset, kind):
    """(name, source) of each program that the preset has of a kind."""
    rows = [line.split() for line in (BUILD / preset / "programs.txt").read_text().splitlines()]
    return [(row[1], row[2] if len(row) > 2 else "") for row in rows if row and row[0] == kind]


# --- checks ---


def tool(part, name, *command, timeout=600):
    """A check of tools/: passes with status 0."""
    finished = run([ROOT / command[0], *command[1:]], timeout=timeout, title=name)
    if finished.ok:
        print(f"  {name} ({finished.seconds:.1f} s)", flush=True)
        return passed(f"{part}/{name}")
    show(finished.output, 25)
    return failed(f"{part}/{name}", finished.reason())


def checks():
    configure("dev")
    outcomes = [tool("checks", name, f"tools/check_{name}") for name in ("format", "layers", "headers", "await", "limits", "guide")]
    outcomes.append(tool("checks", "promises", "tools/check_promises", "--names"))
    outcomes.append(tool("checks", "benchmarks", "bench/render", "--check"))
    # Each check against what it must find, one case a line.
    outcomes += script_cases("checks", "selftest", ["tools/selftest"])
    outcomes += script_cases("checks", "report", ["bench/report_test.py"])
    return outcomes


def script_cases(part, title, command, timeout=600):
    """A script that says 'passed NAME', 'failed NAME: why' or 'skipped NAME: why', one case a line, and exits with 0 when none failed."""
    finished = run([ROOT / command[0], *command[1:]], timeout=timeout, title=title, cwd=ROOT)
    outcomes = []
    for line in finished.output.splitlines():
        word, _, text = line.partition(" ")
        name, _, why = text.partition(": ")
        if word == PASSED:
            outcomes.append(passed(f"{part}/{text}"))
        elif word == FAILED:
            outcomes.append(failed(f"{part}/{name}", why))
        elif word == SKIPPED:
            outcomes.append(skipped(f"{part}/{name}", why))
    bad = any(outcome.result == FAILED for outcome in outcomes)
    if not finished.ok or not outcomes:
        show(finished.output)
        if not bad:
            outcomes.append(failed(f"{part}/{title}", finished.reason() if not finished.ok else "it ran no case"))
    else:
        print(f"  {title}: {len(outcomes)} cases ({finished.seconds:.1f} s)", flush=True)
    return outcomes


def configure(preset):
    """For what reads a compile database only. Without a build directory nothing is compiled."""
    if not (BUILD / preset / "build.ninja").exists():
        finished = run(["cmake", "--preset", preset], cwd=ROOT)
        if not finished.ok:
            show(finished.output)
            raise BuildFailed(f"preset {preset} cannot be configured")


# --- unit tests ---


def unit(preset, kinds, environment=None, timeout=600):
    build(preset, *(f"martlet-{kind}" for kind in kinds))
    names = [name for kind in kinds for name, _ in programs(preset, kind)]
    if not names:
        return [failed(f"{preset}/programs", "there is no test program")]
    # Several at a time: none may mind a busy machine.
    with ThreadPoolExecutor(CORES) as pool:
        of_programs = list(pool.map(lambda name: unit_program(BUILD / preset / "bin" / name, environment, timeout), names))
    return [outcome for outcomes in of_programs for outcome in outcomes]


def unit_program(program, environment, timeout):
    name = program.name
    finished = run([program, "--gtest_color=no"], timeout=timeout, environment=environment, title=name, cwd=ROOT)
    outcomes = gtest.outcomes(name, finished)
    bad = sum(outcome.result == FAILED for outcome in outcomes)
    good = sum(outcome.result == PASSED for outcome in outcomes)
    text = f"  {name}: {good} passed{f', {bad} FAILED' if bad else ''} ({finished.seconds:.1f} s)"
    if bad:
        text += "\n" + indented(gtest.failing_output(finished.output), 120)
    print(text, flush=True)
    return outcomes


def unit_release():
    return unit("release", ["tests", "threadtests"])


def unit_asan_gcc():
    return unit("asan-gcc", ["tests", "threadtests"], SANITIZER_ENVIRONMENT)


def unit_asan_clang():
    return unit("asan-clang", ["tests", "threadtests"], SANITIZER_ENVIRONMENT)


def threads_tsan():
    return unit("tsan", ["threadtests"], SANITIZER_ENVIRONMENT)


# --- fuzzing ---

FUZZ_SECONDS = FUZZ_SECONDS_USUAL = 10


def fuzz():
    """docs/fuzzing.md says what each program holds and how long it ran."""
    build("fuzz", "martlet-fuzzers")
    found = programs("fuzz", "fuzzers")
    if not found:
        return [failed("fuzz/programs", "there is no fuzz program")]
    print(f"  {len(found)} programs, {FUZZ_SECONDS} s each, {CORES} at a time", flush=True)
    with ThreadPoolExecutor(CORES) as pool:
        return list(pool.map(fuzz_one, found))


def fuzz_corpora(name, source):
    """What a program has found so far, and the inputs in thing_corpus/ beside thing_fuzz.cpp or thing_simfuzz.cpp."""
    grown = BUILD / "fuzz" / "corpus" / name
    grown.mkdir(parents=True, exist_ok=True)
    seeds = Path(source).with_name(re.sub("_(sim)?fuzz$", "", Path(source).stem) + "_corpus")
    return [grown, seeds] if seeds.is_dir() else [grown]


def fuzz_one(program):
    name, source = program
    source = Path(source)
    # The short run is drawn alike each time, so that what it says is about the change; longer ones look elsewhere each time.
    drawn = 1 if FUZZ_SECONDS == FUZZ_SECONDS_USUAL else 0
    command = [BUILD / "fuzz" / "bin" / name, f"-seed={drawn}", f"-max_total_time={FUZZ_SECONDS}", "-timeout=10", "-rss_limit_mb=2048"]
    command += [f"-artifact_prefix={BUILD / 'fuzz'}/{name}-", "-print_final_stats=1", *fuzz_corpora(name, source)]
    words = source.with_suffix(".dict")
    if words.is_file():
        command.append(f"-dict={words}")
    finished = run(command, timeout=FUZZ_SECONDS * 6 + 60, environment=SANITIZER_ENVIRONMENT, title=name)
    if finished.ok:
        runs = next((line.split()[-1] for line in finished.output.splitlines() if "number_of_executed_units" in line), "?")
        print(f"  {name}: {runs} inputs", flush=True)
        return passed(f"fuzz/{name}")
    show(finished.output)
    kept = re.search(r"Test unit written to (\S+)", finished.output)
    if kept is None:
        return failed(f"fuzz/{name}", f"{finished.reason()}; no input was kept")
    again = f"build/fuzz/bin/{name} {Path(kept[1]).relative_to(ROOT)}"
    return failed(f"fuzz/{name}", f"{finished.reason()}; once more: {again}")


# --- servers and clients of the library among others ---


def conformance():
    build("release", "martlet-servers")
    outcomes = script_cases("conformance", "over_sockets", ["tests/conformance/over_sockets", BUILD / "release/bin"])
    outcomes += script_cases("conformance", "client_over_sockets", ["tests/conformance/client_over_sockets", BUILD / "release/bin"])
    # What becomes of connections that are cut, held and shredded on their way.
    return outcomes + script_cases("conformance", "chaos", ["tests/chaos/through_the_gate", BUILD / "release/bin"])


def oracles():
    build("release", "martlet-servers")
    return script_cases("oracles", "differences", ["tests/oracles/differences", BUILD / "release/bin"])


def load():
    build("release", "martlet")
    return script_cases("load", "generator", ["tests/load/generator", BUILD / "release/bin"])


def gate():
    """What a request costs, counted; bench/README.md says how to record another figure."""
    build("profile", "bench-hello", "bench-rows", "bench-floor")
    outcomes = script_cases("gate", "figures", ["bench/gate"])
    return outcomes + script_cases("gate", "planted", ["bench/gate_test.py"])


def rig():
    """The rig of the benchmarks; the benchmarks themselves are run by bench/run and bench/bars."""
    build("release", "martlet", "bench-floor", "bench-hello", "bench-churn")
    outcomes = script_cases("rig", "run", ["bench/run_test.py"]) + script_cases("rig", "peers", ["bench/peers_test.py"])
    return outcomes + script_cases("rig", "bars", ["bench/rig_test.py"])


def attacks():
    build("release", "martlet-servers")
    return script_cases("attacks", "drills", ["tests/attacks/drills", BUILD / "release/bin"], timeout=1800)


# --- examples, package, promises ---


def examples():
    """Each example has a script tests/examples/NAME.py that is given the program and asks it; it exits with 0 when all is well."""
    build("release", "martlet-examples")
    outcomes = []
    for name, _ in programs("release", "examples"):
        # The programs of a folder share its script: guide-form and guide-live are asked by guide.py.
        script = ROOT / "tests/examples" / f"{name.split('-')[0]}.py"
        if not script.exists():
            outcomes.append(failed(f"examples/{name}", f"there is no {script.relative_to(ROOT)}"))
            continue
        outcomes.append(script_case(f"examples/{name}", [script, BUILD / "release/bin" / name]))
    if not outcomes:
        outcomes.append(failed("examples/programs", "there is no example"))
    outcomes.append(script_case("examples/run", [ROOT / "tests/examples/run_command.py"]))
    return outcomes


def browser():
    """Leaves its pictures in build/results/board/."""
    build("release", "board")
    return [script_case("browser/board", [ROOT / "tests/browser/board.py", BUILD / "release/bin/board"])]


def script_case(name, command, timeout=300):
    finished = run(["python3", "-B", *command], timeout=timeout, title=name, cwd=ROOT)
    if finished.ok:
        print(f"  {name} ({finished.seconds:.1f} s)", flush=True)
        return passed(name)
    show(finished.output)
    return failed(name, finished.reason())


def package():
    build("release", "martlet-libraries")
    outcomes = []
    for case in ("install", "find_package_gcc", "find_package_clang", "missing_component", "add_subdirectory"):
        outcomes.append(script_case(f"package/{case}", [ROOT / "tests/packaging/consume.py", case], timeout=600))
        if case == "install" and outcomes[-1].result == FAILED:
            break
    return outcomes


def promises():
    return [tool("promises", "shown", "tools/check_promises", "--results")]
