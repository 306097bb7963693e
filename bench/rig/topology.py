"""Which processors server and generator run on, from /sys: never one for both, and siblings of one core only where there is nothing else."""

import os
import re

from . import machine
from .process import Refused


def parse_list(text):
    """The numbers of a list such as '0-2,5'."""
    found = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def siblings(cpu, root="/sys/devices/system/cpu"):
    """The processors that share a core with `cpu`, itself among them."""
    for name in ("core_cpus_list", "thread_siblings_list"):
        text = machine.read(os.path.join(root, f"cpu{cpu}", "topology", name), "")
        if re.fullmatch(r"[\d,-]+", text):
            return parse_list(text)
    return {cpu}


def choose(present, of_core, clients_max=4):
    """Server and generator processors of those `present`; of_core(cpu) gives those of its core.

    One thread of each core, the first core for the server. With a single core its two threads are taken, and `shared_core` says so.
    """
    if len(present) < 2:
        raise Refused(f"needs two processors, one for the server and one for the generator; present: {sorted(present)}")
    firsts = sorted({min(of_core(cpu) & set(present)) for cpu in present})
    if len(firsts) == 1:
        server, client = sorted(present)[:2]
        return {"server": server, "clients": [client], "shared_core": True}
    return {"server": firsts[0], "clients": firsts[1:][-clients_max:], "shared_core": False}


def here(present=None):
    return choose(present or machine.cpus(), siblings)
