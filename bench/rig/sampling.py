"""One measurement each: fresh servers, a warm-up that is thrown away, and the facts. Nothing is judged here, see rig/rules.py."""

import contextlib
import time

from . import connections, cpu, kernel, instructions, loads, machine, traffic
from .martlet_load import Generator
from .process import Broken, Refused, Server
from .quiet import Watch

STRACED_REQUESTS = 2000
COUNTED_BATCHES = {1: 1000}  # batches under callgrind by depth; others as many as the bar has


class Bench:
    """What every measurement needs: programs, processors, durations."""

    def __init__(self, subjects, generator, cores, times):
        self.subjects, self.generator, self.cores, self.times = subjects, generator, cores, times

    def server(self, name, load):
        subject = self.subjects[name]
        return Server(subject.command(load), cpu=self.cores["server"], name=name, start_seconds=subject.start_seconds)

    def load(self, load, server, seconds, **more):
        return Generator(self.generator, load, server.port, self.cores["clients"], seconds, **more)

    def warm(self, load, server, stack):
        """Faults of a warm-up that is thrown away otherwise."""
        generator = self.load(load, server, self.times.warm)
        stack.callback(generator.kill)
        return generator.result()["faults"]


def merged(*faults):
    total = {}
    for some in faults:
        for name, count in some.items():
            total[name] = total.get(name, 0) + count
    return total


def equal(bench, row, load):
    """Whether a server gives the right answer, once, several pipelined and a second later; and the bytes of it."""
    subject = bench.subjects[row.server]
    with bench.server(row.server, load) as server:
        loads.check_server(load, server, dated=subject.dates, pipelines=subject.pipelines)
        with traffic.Client(server.port) as client:
            client.socket.sendall(load.request(server.port))
            size = len(client.raw_answer())
        server.stop_cleanly()
    return {"answer_bytes": size, "dates": subject.dates}


def side(result, cpu_ns, seconds, processors):
    requests = max(1, result["requests"])
    return {"ns": cpu_ns / requests, "requests": result["requests"], "server_busy": cpu_ns / 1e9 / seconds,
            "client_busy": result["client_seconds"] / seconds / processors}


def with_both(bench, row, load, measure):
    """Two fresh warmed servers, the second row of an odd round first; `measure(stack, servers)` gives their sides and more facts."""
    names = [row.server, row.against]
    if row.round % 2:
        names.reverse()
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(bench.server(name, load)) for name in names]
        warm_faults = [bench.warm(load, server, stack) for server in servers]
        watch = Watch()
        before = [server.cpu_ns() for server in servers]
        results, seconds = measure(stack, servers)
        spent = [server.cpu_ns() - start for server, start in zip(servers, before)]
        noise = watch.facts(sum(spent) / 1e9 + sum(result["client_seconds"] for result in results))
        for server in servers:
            server.stop_cleanly()
    processors = len(bench.cores["clients"])
    sides = {name: side(result, ns, ran, processors) for name, result, ns, ran in zip(names, results, spent, seconds)}
    return {"sides": sides, "faults": merged(*warm_faults, *(result["faults"] for result in results)), **noise}


def pair(bench, row, load):
    """Two servers in turns of a tenth of a second, as rig/cpu.py does it; the generator that does not run is stopped."""
    def measure(stack, servers):
        seconds = bench.times.claim if row.claim else bench.times.pair
        held = []
        for server in servers:
            held.append(bench.load(load, server, seconds))
            stack.callback(held[-1].kill)
        for generator in held:
            generator.hold()
        ran = cpu.take_turns(held, seconds - 0.2)
        results = []
        for index, generator in enumerate(held):
            since = time.monotonic()
            generator.go_on()
            results.append(generator.result())
            ran[index] += time.monotonic() - since
        return results, ran

    return with_both(bench, row, load, measure)


def fixed(bench, row, load):
    """Two servers that are offered the same rate, one after the other in the order ABBA."""
    def measure(stack, servers):
        results, ran = [None, None], [0.0, 0.0]
        for index in (0, 1, 1, 0):
            generator = bench.load(load, servers[index], bench.times.fixed, rate=row.parameter)
            stack.callback(generator.kill)
            since = time.monotonic()
            result = generator.result()
            ran[index] += time.monotonic() - since
            earlier = results[index]
            if earlier:
                result["requests"] += earlier["requests"]
                result["client_seconds"] += earlier["client_seconds"]
                result["faults"] = merged(earlier["faults"], result["faults"])
                result["fell_behind"] |= earlier["fell_behind"]
                result["rate"] = min(earlier["rate"], result["rate"])
            results[index] = result
        kept.update(rate=min(result["rate"] for result in results), fell_behind=any(result["fell_behind"] for result in results))
        return results, ran

    kept = {"offered": row.parameter}
    return {**with_both(bench, row, load, measure), **kept}


def alone(bench, row, load, seconds, rate=None, connections=None):
    """One fresh server under one generator, which is warm first."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(bench.server(row.server, load))
        watch, before, began = Watch(), server.cpu_ns(), time.monotonic()
        generator = bench.load(load, server, seconds, rate=rate, warmup_seconds=bench.times.warm, connections=connections)
        stack.callback(generator.kill)
        result = generator.result()
        spent, wall = (server.cpu_ns() - before) / 1e9, time.monotonic() - began
        noise = watch.facts(spent + result["client_seconds"])
        peak = server.peak_bytes()
        server.stop_cleanly()
    return {**result, "server_busy": spent / wall, "memory_peak": peak, **noise}


def rung(bench, row, load):
    """The rate of a closed loop with so many connections."""
    machine.raise_descriptor_limit(row.parameter + 200)
    return alone(bench, row, load, bench.times.rung, connections=row.parameter)


def latency(bench, row, load):
    """Latency from the intended moment at a fixed rate, which the plan has set."""
    facts = alone(bench, row, load, bench.times.latency, rate=row.rate)
    return {**facts, "offered": row.rate}


def idle(bench, row, load):
    """Bytes for each of so many connections that made one request and stay, beyond the first two hundred."""
    wanted = connections.IDLE_FIRST + row.parameter + 200
    most = bench.subjects[row.server].connections_max
    if most is not None and wanted > most:
        raise Refused(f"it serves no more than {most} connections at a time")
    if machine.raise_descriptor_limit(wanted) < wanted:
        raise Refused(f"needs {wanted} descriptors: raise the hard limit (ulimit -Hn)")
    clients = []
    with bench.server(row.server, load) as server:
        try:
            clients += connections.open_idle(server, connections.IDLE_FIRST, 0)
            few, descriptors = server.settle(), server.descriptors()
            clients += connections.open_idle(server, row.parameter, connections.IDLE_FIRST)
            many = server.settle()
            open_still = server.descriptors() - descriptors
        finally:
            for client in clients:
                client.close()
        if open_still < row.parameter:
            raise Broken(f"{open_still} of {row.parameter} connections stayed open")
    return {"value": (many["own"] - few["own"]) / row.parameter}


def counted_instructions(bench, row, load):
    instructions.need_valgrind()
    counted = bench.subjects[row.server].counted
    if counted is None:
        raise Refused("callgrind cannot count it")
    return {"value": instructions.per_request(counted(load), load, COUNTED_BATCHES.get(load.depth, instructions.BATCHES))}


def system_calls(bench, row, load):
    """All but those that wait, a request."""
    calls, empty, requests = kernel.trace(bench.subjects[row.server].command(load), load, STRACED_REQUESTS, kernel.CONNECTIONS)
    count = sum(times for name, times in calls.items() if name not in kernel.WAITS)
    return {"value": count / requests, "calls": dict(calls), "empty_reads": empty}


MEASURE = {"equal": equal, "pair": pair, "fixed": fixed, "rung": rung, "latency": latency, "idle": idle, "instructions": counted_instructions,
           "system_calls": system_calls}
