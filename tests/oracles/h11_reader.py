"""What h11 makes of bytes on a connection, in the language of request_reader.cpp. Run by a Python that has h11."""

import json
import struct
import sys

import h11

# Sizes are not what is compared.
HEAD_BYTES_MAX = 1 << 20


def text(data):
    return bytes(data).decode("latin-1")


def fields(headers):
    return [[text(name), text(value)] for name, value in headers.raw_items()]


def told_head(head):
    return {"method": text(head.method), "target": text(head.target), "version": text(head.http_version), "fields": fields(head.headers)}


def read(data):
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES_MAX)
    connection.receive_data(data)
    messages, at = [], 0

    def told(end, why=""):
        return {"messages": messages, "at": at, "end": end, "why": why}

    while True:
        head, content = None, b""
        while True:
            try:
                event = connection.next_event()
            except h11.RemoteProtocolError as error:
                return told("refused", str(error)) | {"status": error.error_status_hint}
            if event is h11.NEED_DATA:
                # Empty lines before a request say nothing yet.
                return told("more" if head or data[at:].strip(b"\r\n") else "done")
            if isinstance(event, h11.Request):
                head = event
                if head.method == b"CONNECT":
                    messages.append(told_head(head))
                    return told("tunnel")
            elif isinstance(event, h11.Data):
                content += event.data
            elif isinstance(event, h11.EndOfMessage):
                break
        at = len(data) - len(connection.trailing_data[0])
        message = {
            **told_head(head),
            "body": text(content),
            "trailers": fields(event.headers) if event.headers else [],
            "at": at,
        }
        messages.append(message)
        connection.send(h11.Response(status_code=404, headers=[("Content-Length", "0")]))
        connection.send(h11.EndOfMessage())
        message["keep"] = connection.our_state is h11.DONE and connection.their_state is h11.DONE
        if not message["keep"]:
            return told("closed")
        connection.start_next_cycle()
        if at == len(data):
            return told("done")


def main():
    source, sink = sys.stdin.buffer, sys.stdout
    print(json.dumps({"name": "h11", "version": h11.__version__}), file=sink)
    while len(size := source.read(4)) == 4:
        data = source.read(struct.unpack("<I", size)[0])
        print(json.dumps(read(data)), file=sink)


main()
