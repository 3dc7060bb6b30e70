// Each event is serialized once and written to all readers. No backlog, store or bound on slow readers.
import { createServer } from "node:http";

const readers = new Set();
let seq = 0;

const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(":sse-handshake\n\n");
    readers.add(response);
    response.on("close", () => readers.delete(response));
    return;
  }
  let text = "";
  request.setEncoding("utf8").on("data", (chunk) => (text += chunk));
  request.on("end", () => {
    const { count } = JSON.parse(text).event;
    emit(count);
    response.end("{}");
  });
});

/** As long as a record of the hosted platform. */
function record(n) {
  const at = Date.now();
  const id = `${at}-${seq}`;
  return {
    id,
    indexed_at_ms: at,
    event: { at, n },
    metadata: { emitter_id: "dc_Abc1234", emit_id: `dc_Abc1234-${id}`, name: "", invocation_id: "inv_0VbwYw8gQJLHzbz1" },
  };
}

/** Emits in batches, because this process holds what the sockets have not sent. */
function emit(count) {
  const now = Math.min(count, 200);
  const frames = [];
  for (let n = 0; n < now; n++) frames.push(`data: ${JSON.stringify(record(n))}\nid: ${Date.now()}-${++seq}\n\n`);
  const chunk = frames.join("");
  for (const reader of readers) reader.write(chunk);
  if (count > now) setImmediate(emit, count - now);
}

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
