"""Every server that bench/run compares: the ladder of the project, the peers, and the control, which lies."""

import dataclasses
import os
import sys

from . import loads, provenance
from .process import Refused

FAULTY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "faulty_server.py")
CONTROL = "control"


@dataclasses.dataclass
class Subject:
    """One server. `command(load)` takes `--port N`; `counted(load)` is the same program as callgrind is to see it, or None."""

    id: str
    title: str
    kind: str  # as in rig/artifact.py
    settings: str
    command: object = None
    counted: object = None
    version: str = ""
    dates: bool = True
    skipped: str | None = None
    skipped_loads: dict = dataclasses.field(default_factory=dict)  # reason by load
    connections_max: int | None = None  # None: as many as there are descriptors
    application: bool = False
    plaintext: bool = True
    programs: tuple = ()  # whose build is judged
    start_seconds: float = 20

    def serves(self, load):
        return self.application if load.application else self.plaintext

    @property
    def pipelines(self):
        return "d16" not in self.skipped_loads

    def description(self):
        return {"title": self.title, "kind": self.kind, "version": self.version, "settings": self.settings, "dates": self.dates,
                "skipped": self.skipped, "skipped_loads": self.skipped_loads}

    def skips(self, load):
        """Why it is not measured under a load, or None."""
        return self.skipped or self.skipped_loads.get(load)


LADDER = {
    "floor": ("the blind floor", "floor", "one recv and one send of prepared answers; it never looks at the bytes"),
    "floor-search": ("the searching floor", "floor", "the floor, and it looks for the blank line of each request"),
    "render": ("render", "martlet", "the searching floor, and it builds each answer; it checks nothing"),
    "hello": ("Martlet", "martlet", "router and one text route, every check, limit and timeout on; one thread"),
    "rows": ("Martlet's application rows", "martlet", "a route for each row, every check, limit and timeout on; one thread"),
}


def ladder(release, profile, commit, folder):
    """The project's own servers, from the folders of two builds; what the floors send is kept in `folder`."""
    found = {}
    for name, (title, kind, settings) in LADDER.items():
        program, counted = os.path.join(release, f"bench-{name}"), os.path.join(profile, f"bench-{name}")
        subject = Subject(name, title, kind, settings, version=commit[:12], programs=(program,))
        if name == "floor":
            subject.command = lambda load, floor=program: loads.floor_command(load, floor, os.path.join(release, "bench-rows"), folder)
            subject.counted = lambda load, floor=counted: loads.floor_command(load, floor, os.path.join(release, "bench-rows"), folder)
        else:
            subject.command, subject.counted = lambda load, program=program: [program], lambda load, program=counted: [program]
        subject.application, subject.plaintext = name in loads.APPLICATION_SERVERS, name != "rows"
        if not os.access(program, os.X_OK):
            subject.skipped = f"bench-{name} is not built"
        if not os.access(counted, os.X_OK):
            subject.counted = None
        found[name] = subject
    return found


def control(lie="lies"):
    """Right while it is checked, wrong under load: a run that believes it is void."""
    command = ["env", f"BENCH_FAULT={lie}", sys.executable, FAULTY]
    return Subject(CONTROL, "the control, which lies", "control", "gives a wrong answer of the right length once 100 were right",
                   lambda load: command, version="none")


def peers(progress, wanted=None):
    """The peers that rig/peers.py knows, built; one that cannot be built is there with its reason. `wanted(name)` says whether to build it."""
    try:
        from .peers import PEERS
    except ImportError:
        return {}
    found = {}
    for name, peer in PEERS.items():
        subject = Subject(name, peer.title, "peer", peer.settings, dates=getattr(peer, "dates", True), version="unknown")
        subject.skipped_loads = dict(getattr(peer, "skipped_loads", None) or {})
        subject.connections_max = peer.connections_max
        found[name] = subject
        if wanted is not None and not wanted(name):
            subject.skipped = "not asked for"
            continue
        try:
            built = peer.build(progress)
        except (Refused, OSError) as reason:
            subject.skipped = str(reason)
            progress(f"{name} is skipped: {reason}")
            continue
        subject.version = built.version
        subject.command = lambda load, command=tuple(built.command): list(command)
        subject.counted = subject.command if built.callgrind else None
    return found


def builds(subjects, generator):
    """How the project's own programs among `subjects` and the generator were built; peers are built by their one command."""
    programs = dict.fromkeys(program for subject in subjects if not subject.skipped for program in subject.programs)
    return [provenance.build_facts(program) for program in (*programs, generator)]
