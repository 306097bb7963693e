// Node's http in one process. node main.mjs --port N
import { createServer } from "node:http";

const port = Number(process.argv[process.argv.indexOf("--port") + 1]);
const body = Buffer.from("Hello, World!");

const server = createServer((request, response) => {
  if (request.url !== "/plaintext") {
    response.writeHead(404, { "Content-Length": 0 });
    response.end();
    return;
  }
  response.writeHead(200, { "Content-Type": "text/plain", "Content-Length": body.length, Server: "node" });
  response.end(body);
});
server.keepAliveTimeout = 3_600_000;
server.requestTimeout = 0;
server.listen({ host: "127.0.0.1", port, backlog: 4096 }, () => console.log(`listening on 127.0.0.1:${port}`));
process.on("SIGTERM", () => process.exit(0));
