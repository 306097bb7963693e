"""What the comparison must find: readers that are wrong in one place each, and tables that are wrong in one row. Nothing is run again; the
answers of a run are changed."""

import copy
import dataclasses
from collections import Counter

INPUTS_MAX = 2000


def trims_less(answer):
    """A reader that leaves the first byte of a value away."""
    for message in answer["messages"]:
        for each in message.get("fields", message.get("set", [])):
            if len(each[1]) > 1:
                each[1] = each[1][1:]
                return


def loses_content(answer):
    for message in answer["messages"]:
        if message.get("body"):
            message["body"] = message["body"][:-1]
            return


def another_target(answer):
    if answer["messages"]:
        answer["messages"][0]["target"] += "x"


def accepts_more(answer):
    """A codec that is pleased with what it refused."""
    if answer["end"] == "refused":
        message = {
            "method": "GET", "target": "/", "version": "1.1", "body": "", "fields": [], "trailers": [], "keep": True,
            "at": answer["at"] + 1,
        }
        answer["messages"].append(message)
        answer["end"] = "done"


def refuses_more(answer):
    if answer["messages"]:
        answer["messages"].pop()
        answer["end"], answer["why"] = "refused", "a reason that no row has"


def drops_the_rest(answer):
    """A reader that ends with its first message."""
    del answer["messages"][1:]
    answer["end"] = "closed"


OF_OTHERS = (trims_less, loses_content, another_target)
OF_OURS = (loses_content, another_target, accepts_more, refuses_more, drops_the_rest)


def cases(rows, named, ours, answers, versions, judge, dead_rows):
    """(name, what was not found) of each."""
    named = dict(list(named.items())[-INPUTS_MAX:])
    ours = ours[-INPUTS_MAX:]
    peer = next(iter(versions))
    theirs = answers[peer][1][-INPUTS_MAX:]

    def unexplained(rows, ours, theirs):
        return judge([dataclasses.replace(row, met=set()) for row in rows], named, ours, theirs, peer, versions[peer], Counter())

    before = len(unexplained(rows, ours, theirs))

    def found(rows, ours, theirs):
        return [] if len(unexplained(rows, ours, theirs)) > before else ["it was not reported"]

    def changed(answers, change):
        answers = copy.deepcopy(answers)
        for answer in answers:
            change(answer)
        return answers

    for change in OF_OTHERS:
        yield f"{peer}_{change.__name__}", found(rows, ours, changed(theirs, change))
    for change in OF_OURS:
        yield f"martlet_{change.__name__}", found(rows, changed(ours, change), theirs)
    # Every row is needed by what its examples show; one that is taken away leaves them unexplained.
    yield "row_taken_away", found([row for row in rows if row.kind != "stricter"], ours, theirs)
    ghost = dataclasses.replace(rows[0], id="ghost", peers=[peer], when="is_pri and is_trace", met=set())
    told = [failures for row, failures in dead_rows([ghost], versions) if row is ghost]
    yield "row_that_nothing_meets", [] if told and told[0] else ["it was not reported"]
