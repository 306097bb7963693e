"""What nginx makes of bytes on a connection, in the language of request_reader.cpp: `nginx_reader.py NGINX`. Every request that it accepts
goes to a server here that tells what came; the client's bytes are followed by the end of its sending."""

import asyncio
import json
import re
import signal
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

CONNECTIONS_MAX = 64
SECONDS_MAX = 20
TOLD_BYTES_MAX = 8000

CONFIGURATION = """
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error crit;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    large_client_header_buffers 4 64k;
    client_max_body_size 0;
    keepalive_requests 100000;
    upstream reader {{ server unix:{folder}/reader; keepalive 64; }}
    server {{
        listen unix:{folder}/nginx;
        location / {{
            proxy_pass http://reader;
            proxy_http_version 1.1;
            proxy_ignore_client_abort on;
            proxy_set_header Connection "";
            proxy_buffer_size 64k;
            proxy_buffers 4 64k;
        }}
    }}
}}
"""


def text(data):
    return data.decode("latin-1")


async def tell(reader, writer):
    """Behind nginx: answers each request with what it was."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            line, _, rest = head.partition(b"\r\n")
            method, target, _ = line.split(b" ", 2)
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)\r\n", b"\r\n" + rest)
            content = await reader.readexactly(int(length[1])) if length else b""
            told = {"method": text(method), "target": text(target)}
            if len(content) <= TOLD_BYTES_MAX:
                told["body"] = text(content)
            shown = json.dumps(told).encode().hex().encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Read: " + shown + b"\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


ANSWER = re.compile(rb"HTTP/1\.1 (\d{3}) [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n")


def answer_of(output):
    messages = []
    for found in ANSWER.finditer(output):
        status = int(found[1])
        shown = re.search(rb"\r\nX-Read: (\w+)\r\n", found[0])
        if shown:
            messages.append(json.loads(bytes.fromhex(text(shown[1]))))
        elif status >= 400:
            return {"messages": messages, "end": "refused", "why": str(status), "status": status}
    return {"messages": messages, "end": "more", "why": ""}


async def ask(path, data, room):
    async with room:
        try:
            reader, writer = await asyncio.open_unix_connection(path)
        except OSError as error:
            return {"messages": [], "end": "none", "why": str(error)}
        output = b""
        try:
            writer.write(data)
            writer.write_eof()
            async with asyncio.timeout(SECONDS_MAX):
                while part := await reader.read(65536):
                    output += part
        except ConnectionError:
            pass
        finally:
            writer.close()
        return answer_of(output)


async def main(nginx):
    inputs = []
    while len(size := sys.stdin.buffer.read(4)) == 4:
        inputs.append(sys.stdin.buffer.read(struct.unpack("<I", size)[0]))
    version = subprocess.run([nginx, "-v"], capture_output=True, text=True, timeout=20).stderr.strip().rpartition("/")[2]
    print(json.dumps({"name": "nginx", "version": version}))
    with tempfile.TemporaryDirectory(prefix="nginx-") as folder:
        Path(folder, "configuration").write_text(CONFIGURATION.format(folder=folder))
        behind = await asyncio.start_unix_server(tell, f"{folder}/reader", limit=1 << 20)
        process = await asyncio.create_subprocess_exec(nginx, "-p", folder, "-c", f"{folder}/configuration", "-e", f"{folder}/error")
        try:
            for _ in range(200):
                if Path(folder, "nginx").exists() or process.returncode is not None:
                    break
                await asyncio.sleep(0.05)
            room = asyncio.Semaphore(CONNECTIONS_MAX)
            for told in await asyncio.gather(*(ask(f"{folder}/nginx", data, room) for data in inputs)):
                print(json.dumps(told))
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()
            behind.close()


# The end of this program is the end of nginx and of its folder.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
asyncio.run(main(sys.argv[1]))
