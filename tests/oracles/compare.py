"""Where two readers of the same bytes part. What they agree on before that is not looked at again."""

from dataclasses import dataclass


@dataclass
class Difference:
    """Of one message. `kind` is "ours/theirs" for what became of it (accepts, refuses, waits), or what of an accepted message differs."""

    kind: str
    message: bytes  # from the first byte of the message on
    why: str  # our reason, when we refuse
    peer_why: str
    before: bytes  # the message before it
    ours: object = None
    theirs: object = None


# What a reader may say differently and mean the same.
def same_fields(fields):
    """Names without case; the values of lists of codings too (RFC 9110 section 5.1, RFC 9112 section 7)."""
    return [(name.lower(), value.lower() if name.lower() == "transfer-encoding" else value) for name, value in fields]


PARTS = {
    "method": lambda value: value,
    "target": lambda value: value,
    "version": lambda value: value,
    "fields": same_fields,
    "body": lambda value: value,
    "trailers": same_fields,
    "at": lambda value: value,
    "keep": lambda value: value,
    "host": lambda value: value,
    "set": lambda value: value,
}


def completed(message):
    """Ours, with what others say instead: Host beside the other fields, and those without their order."""
    host = next((value for name, value in message["fields"] if name.lower() == "host"), "")
    apart = ("host", "transfer-encoding", "trailer")
    others = sorted([name.lower(), value] for name, value in message["fields"] if name.lower() not in apart)
    return {**message, "host": host, "set": others}


def became(answer, index):
    if index < len(answer["messages"]):
        return "accepts"
    return "refuses" if answer["end"] == "refused" else "waits"


def differences(data, ours, theirs):
    """Every difference up to the first behind which the two read different messages."""
    found, start, before = [], 0, b""
    for index in range(max(len(ours["messages"]), len(theirs["messages"])) + 1):
        mine, yours = became(ours, index), became(theirs, index)
        message = data[start:]
        if mine == yours == "refuses":
            # Whose fault it is: 4xx or 5xx. llhttp leaves the status to its caller.
            classes = [answer.get("status", 0) // 100 for answer in (ours, theirs)]
            if all(classes) and classes[0] != classes[1]:
                found.append(Difference("status", message, ours["why"], theirs["why"], before, ours["status"], theirs["status"]))
            return found
        if mine == yours == "waits":
            return found
        # What follows a head that left HTTP behind it was not read.
        left = theirs["end"] == "tunnel" and index + 1 >= len(theirs["messages"])
        if left and (yours != "accepts" or mine != "accepts" and ours["in"] == "content"):
            return found
        if mine != "accepts" or yours != "accepts":
            reasons = (ours["why"] if mine == "refuses" else "", theirs["why"] if yours == "refuses" else "")
            return [*found, Difference(f"{mine}/{yours}", message, *reasons, before)]
        one, other = completed(ours["messages"][index]), theirs["messages"][index]
        parts = [part for part, same in PARTS.items() if part in other and same(one[part]) != same(other[part])]
        found += [Difference(part, message, "", "", before, one[part], other[part]) for part in parts]
        is_last = left or not one["keep"] or other.get("keep") is False
        if "at" in parts or "body" in parts or is_last:
            return found
        before, start = data[start : one["at"]], one["at"]
    return found
