"""What the figures were taken on: processor, kernel, tools, load by others, limits of this process."""

import os
import resource
import subprocess


def first_line(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "missing"
    lines = done.stdout.strip().splitlines()
    return lines[0] if lines else "unknown"


def read(path, default="unknown"):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return default


def processor():
    for line in read("/proc/cpuinfo", "").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def cpus():
    return sorted(os.sched_getaffinity(0))


def load_average():
    return os.getloadavg()[0]


def describe():
    name = os.uname()
    return {
        "processor": processor(),
        "cpus": len(cpus()),
        "kernel": f"{name.release} {name.version}",
        "congestion_control": read("/proc/sys/net/ipv4/tcp_congestion_control"),
        "loopback_mtu": read("/sys/class/net/lo/mtu"),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "not shown"),
        "compiler": first_line(["g++", "--version"]),
        "wrk": first_line(["wrk", "-v"]).split(" [")[0],
        "valgrind": first_line(["valgrind", "--version"]),
        "strace": first_line(["strace", "--version"]),
        "load_average": round(load_average(), 2),
    }


def busy_seconds():
    """Seconds that all processors together were busy since boot, by the kernel's ticks."""
    fields = read("/proc/stat").splitlines()[0].split()[1:]
    idle = int(fields[3]) + int(fields[4])
    return (sum(int(field) for field in fields[:8]) - idle) / os.sysconf("SC_CLK_TCK")


def raise_descriptor_limit(wanted):
    """Raises the soft limit on descriptors, and the hard one where that is allowed; returns what stands."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= wanted:
        return soft
    for limits in ((wanted, max(wanted, hard)), (min(wanted, hard), hard)):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            break
        except (ValueError, OSError):
            continue
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
