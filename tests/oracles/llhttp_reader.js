// What llhttp, the parser inside Node, makes of bytes on a connection, in the language of request_reader.cpp. Strict, as Node's own server
// uses it. Byte by byte, so that it is known where a message ended.
"use strict";

const { HTTPParser, methods, allMethods } = require("_http_common");

const HEAD_BYTES_MAX = 1 << 20;

function pairs(list) {
  const fields = [];
  for (let i = 0; i + 1 < list.length; i += 2) fields.push([list[i], list[i + 1]]);
  return fields;
}

function read(data) {
  const messages = [];
  let head = null;
  let content = [];
  let lines = [];
  let target = "";
  let complete = null;
  let leaves = false;

  const parser = new HTTPParser();
  parser.initialize(HTTPParser.REQUEST, {}, HEAD_BYTES_MAX, 0);
  // Field lines come here when they are many, and when they are trailers.
  parser[HTTPParser.kOnHeaders | 0] = (some, url) => {
    lines = lines.concat(some);
    if (head === null) target += url;
  };
  parser[HTTPParser.kOnHeadersComplete | 0] = (major, minor, some, method, url, status, reason, upgrade, keep) => {
    head = {
      method: (allMethods || methods)[method],
      target: target + (url || ""),
      version: major + "." + minor,
      fields: pairs(lines.concat(some || [])),
      keep: keep,
    };
    lines = [];
    target = "";
    leaves = upgrade;
    return 0;
  };
  parser[HTTPParser.kOnBody | 0] = (bytes, start, length) => {
    content.push(start === undefined ? Buffer.from(bytes) : Buffer.from(bytes.subarray(start, start + length)));
  };
  parser[HTTPParser.kOnMessageComplete | 0] = () => {
    complete = head;
    complete.body = Buffer.concat(content).toString("latin1");
    complete.trailers = pairs(lines);
    head = null;
    content = [];
    lines = [];
  };

  let at = 0;
  const told = (end, why) => {
    parser.close();
    return { messages: messages, at: at, end: end, why: why || "" };
  };
  for (let i = 0; i < data.length; ++i) {
    const result = parser.execute(data.subarray(i, i + 1));
    // Node tells of no error behind such a head.
    if (leaves) {
      messages.push(head || complete);
      for (const part of ["body", "trailers", "keep"]) delete messages[messages.length - 1][part];
      return told("tunnel");
    }
    if (complete !== null) {
      const message = complete;
      complete = null;
      at = i + 1;
      message.at = at;
      messages.push(message);
      if (!message.keep) return told("closed");
      if (result instanceof Error) return told("refused", result.code + ": " + result.reason);
      continue;
    }
    if (result instanceof Error) return told("refused", result.code + ": " + result.reason);
  }
  const rest = data.subarray(at);
  return told(head === null && rest.every((byte) => byte === 13 || byte === 10) ? "done" : "more");
}

process.stdout.write(JSON.stringify({ name: "llhttp", version: process.versions.llhttp }) + "\n");
let waiting = Buffer.alloc(0);
process.stdin.on("data", (bytes) => {
  waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes]);
  let from = 0;
  let lines = "";
  while (waiting.length - from >= 4) {
    const size = waiting.readUInt32LE(from);
    if (waiting.length - from - 4 < size) break;
    lines += JSON.stringify(read(waiting.subarray(from + 4, from + 4 + size))) + "\n";
    from += 4 + size;
  }
  waiting = waiting.subarray(from);
  if (lines !== "") process.stdout.write(lines);
});
