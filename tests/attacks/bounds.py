"""What a drill may cost: one row a drill, and why each number is what it is."""

from dataclasses import dataclass

# --- of every drill ---

ANSWERED_SHARE_MIN = 0.999
# The latency of healthy clients: under the first, or so many times that without the attack.
P99_MS_MAX = 50
P99_TIMES_MAX = 5
# A shared cut of the default timeouts: heads 2 s, first bytes 3 s, contents 1 s of grace, unread output 6 s.
TIMEOUTS_PERCENT = 20
# What may stay resident after the attack: the highest piece of malloc's heap that is in use keeps resident what was freed below it. The
# next attack uses it again; what leaked would show in descriptors and in a server that does not end cleanly.
LEFT_BYTES_MAX = 24 * 1024 * 1024
# limits::buffered_bytes_max, and a quarter of it for what is not counted in it: a turn's reads, pools, rounding by malloc.
HELD_BYTES_MAX = 320 * 1024 * 1024

# Of the ends that the server gave, the share that must have been told why.
TOLD_SHARE_MIN = 0.97

KIB = 1024
FILE = 64 * KIB


@dataclass
class Bound:
    """One drill: options of the server, what its CPU may be, what a connection may take, what attackers may be told."""

    name: str
    what: str
    # Server seconds beyond those of the healthy requests, for each MB that the attackers sent or each connection that they opened.
    cpu_ms_per_mb: float = 0
    cpu_ms_per_connection: float = 0
    # Resident bytes at the peak beyond those at rest, for each attacking connection that was open at once.
    connection_bytes: int = 0
    # Statuses that the ends must come with, and those that may come besides.
    told: tuple = ()
    besides: tuple = ()
    # How a connection ends that is told nothing: "closed", "reset" or "" when it does not end by the server.
    ends: str = ""
    # Not sooner, in ms, for what the server ends by time alone.
    ends_after_ms: int = 0
    options: tuple = ()
    timeouts_percent: int = TIMEOUTS_PERCENT
    # Of the healthy requests, per mille, that open a connection of their own: none where new connections are refused on purpose.
    fresh_permille: int = 10
    # Resident afterwards beyond what was at rest before.
    left_bytes: int = LEFT_BYTES_MAX
    # Received bytes for each answer.
    answer_bytes_max: int = 0


# A refused flood costs reading and dropping up to linger_bytes_max: 0.2 ms a MB here, and ten times that is still nothing to gain by.
REFUSED_MS_PER_MB = 2
# Accepting, serving once and closing costs 15 to 50 us; so much again for each packet of a trickle.
VISIT_MS = 0.3
# Of a connection with an unfinished head or content: the input's buffer (8 KiB), the content's (4 KiB), the exchange, the coroutine.
WAITING_BYTES = 32 * KIB
# 128 KiB of input may wait behind a handler, as much output beyond flush_bytes, and 16 connections bear the rounding of pools.
FLOODING_BYTES = 512 * KIB
# The whole content of /count, doubled by the growth of its buffer, and the input.
COLLECTING_BYTES = 2560 * KIB

BOUNDS = [
    Bound("slow_heads", "1,000 heads, a byte every 200 ms", cpu_ms_per_connection=VISIT_MS, connection_bytes=WAITING_BYTES, told=(408,),
          ends_after_ms=1900),
    Bound("slow_bodies", "1,000 contents of 20 bytes a second, by length", cpu_ms_per_connection=VISIT_MS,
          connection_bytes=WAITING_BYTES, told=(408,),
          ends_after_ms=900),
    Bound("slow_chunks", "1,000 contents of two bytes a second, in chunks", cpu_ms_per_connection=VISIT_MS,
          connection_bytes=WAITING_BYTES, told=(408,), ends_after_ms=900),
    # What they are owed is queued: an answer of 256 KiB and flush_bytes, or a stream's 64 KiB; buffered_bytes_max bounds the sum. To fill
    # the queue and unsent_bytes_max costs 0.6 ms.
    Bound("slow_readers", "1,000 readers of 320 bytes a second, answers of 768 KiB and of 16 MiB", cpu_ms_per_connection=2,
          connection_bytes=352 * KIB, besides=(200, 503)),
    Bound("stalled_readers", "1,000 readers that read nothing", cpu_ms_per_connection=2, connection_bytes=352 * KIB, ends="reset",
          timeouts_percent=10, ends_after_ms=2900),
    Bound("silent_connections", "2,000 connections that say nothing", cpu_ms_per_connection=VISIT_MS, connection_bytes=KIB,
          ends="closed", ends_after_ms=2900),
    Bound("header_flood", "small fields without end", cpu_ms_per_mb=REFUSED_MS_PER_MB, connection_bytes=FLOODING_BYTES, told=(431,)),
    Bound("big_header_flood", "fields of 15 KB without end", cpu_ms_per_mb=REFUSED_MS_PER_MB, connection_bytes=FLOODING_BYTES,
          told=(431,)),
    Bound("endless_request_line", "a target without end", cpu_ms_per_mb=REFUSED_MS_PER_MB, connection_bytes=FLOODING_BYTES,
          told=(414,)),
    Bound("endless_field_line", "a field without end", cpu_ms_per_mb=REFUSED_MS_PER_MB, connection_bytes=FLOODING_BYTES, told=(431,)),
    Bound("extension_flood", "chunks of one byte with 200 bytes of extension", cpu_ms_per_mb=REFUSED_MS_PER_MB,
          connection_bytes=FLOODING_BYTES, told=(400,)),
    Bound("tiny_chunks", "chunks of one byte without end", cpu_ms_per_mb=REFUSED_MS_PER_MB, connection_bytes=FLOODING_BYTES,
          told=(400,)),
    Bound("endless_trailers", "trailers without end", cpu_ms_per_mb=REFUSED_MS_PER_MB, connection_bytes=FLOODING_BYTES, told=(431,)),
    # A request of 37 bytes costs 0.3 us with many in a read: 8 ms a MB, and the answers are four times as long.
    Bound("pipelining_flood", "100,000 GETs on each of 64 connections, no answer read", cpu_ms_per_mb=20,
          connection_bytes=FLOODING_BYTES),
    Bound("greedy_pipelining", "10,000 GETs at once on 16 connections, all answers read, again and again", cpu_ms_per_mb=20,
          connection_bytes=FLOODING_BYTES, besides=(200,), ends="closed"),
    Bound("refused_uploads", "a content of 1 GiB, and contents without end", cpu_ms_per_mb=REFUSED_MS_PER_MB,
          connection_bytes=COLLECTING_BYTES, told=(413,)),
    Bound("unread_uploads", "contents without end that no handler reads", cpu_ms_per_mb=REFUSED_MS_PER_MB,
          connection_bytes=FLOODING_BYTES, told=(200, 404)),
    # The sum is what counts, see HELD_BYTES_MAX. To take in and give up a MB costs copies and growing buffers. What was held in pieces
    # below 128 KiB is malloc's, whose highest piece in use keeps those below resident: 25 MiB here, no more after a second attack.
    Bound("hoarded_bodies", "600 contents of which the last tenth does not come", cpu_ms_per_mb=REFUSED_MS_PER_MB, connection_bytes=2048
          * KIB, told=(503, 408), left_bytes=64 * KIB * KIB),
    Bound("hoarded_heads", "12,000 heads of 30 KB whose end does not come", cpu_ms_per_connection=VISIT_MS, connection_bytes=72 * KIB,
          told=(503, 408),
          left_bytes=64 * KIB * KIB),
    Bound("range_bomb", "3,000 ranges, overlapping ones, and ten", cpu_ms_per_connection=1, connection_bytes=FLOODING_BYTES, told=(200,
          206),
          answer_bytes_max=FILE + 4 * KIB),
    # A form of 300 KB is collected, decoded up to the 1,000th pair and refused.
    Bound("hash_flooding", "10,000 names of a form, 256 of a query and 96 fields of equal weak hashes", cpu_ms_per_mb=10,
          connection_bytes=1024 * KIB, told=(200, 413)),
    Bound("connection_flood", "3,000 at once where 1,000 are the limit, again and again", cpu_ms_per_connection=VISIT_MS,
          connection_bytes=2 * KIB, besides=(200, 503), options=("--connections-max", "1000"), fresh_permille=0),
    # 1,500 for 600 descriptors: those in the queue cost nothing until there is one again.
    Bound("descriptor_limit", "1,500 silent ones, and descriptors for 600", cpu_ms_per_connection=VISIT_MS, connection_bytes=KIB,
          ends="closed", options=("--descriptors-max", "600"), fresh_permille=0),
    Bound("early_fins", "connections that send FIN at once, within a head, or behind a request", cpu_ms_per_connection=VISIT_MS,
          connection_bytes=WAITING_BYTES, besides=(200,), ends="closed"),
    Bound("reset_storm", "connections that reset at once, within a head, or behind requests of large answers",
          cpu_ms_per_connection=VISIT_MS, connection_bytes=320 * KIB),
    Bound("expect_games", "Expect: 100-continue whose content never comes, comes at once, or is too long",
          cpu_ms_per_connection=VISIT_MS, connection_bytes=WAITING_BYTES, told=(200, 408, 413, 417), besides=(100,)),
]
