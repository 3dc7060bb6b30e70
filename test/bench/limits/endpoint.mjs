// node:http → child process → dedupe → SQLite with fsync → 200. No sandbox, state, logs or deliveries.
//   node endpoint.mjs <database> [custom]
import { fork } from "node:child_process";
import { createServer } from "node:http";
import Database from "better-sqlite3";

const [path, kind] = process.argv.slice(2);
const db = new Database(path);
db.pragma("journal_mode = wal");
db.pragma("synchronous = full");
db.exec(`create table runs (seq integer primary key, id text unique, at integer, trigger text, outcome text) strict;
create table events (source_id text, seq integer, at integer, dedupe_id text, run_id text, payload text, primary key (source_id, seq)) strict, without rowid;
create table ids (source_id text, id text, place integer, primary key (source_id, id)) strict, without rowid;`);
const insertRun = db.prepare("insert into runs (id, at, trigger, outcome) values (?, ?, ?, ?)");
const insertEvent = db.prepare("insert into events values ('dc_limit', ?, ?, ?, ?, ?)");
const insertId = db.prepare("insert into ids values ('dc_limit', ?, ?)");
const dropId = db.prepare("delete from ids where source_id = 'dc_limit' and id = ?");
const begin = db.prepare("begin immediate");
const commit = db.prepare("commit");

const recent = new Set();
const waiting = new Map();
let done = [];
let lastRun = 0;
let lastEvent = 0;

const unit = fork(new URL("endpoint-unit.mjs", import.meta.url), [kind ?? ""], { serialization: "json" });
unit.on("message", (result) => {
  done.push(result);
  if (done.length === 1) setImmediate(store);
});

/** Runs that end in the same turn share a commit. Their clients are answered afterwards. */
function store() {
  const runs = done;
  done = [];
  begin.run();
  for (const { id, payload, dedupeId } of runs) {
    const { at, trigger } = waiting.get(id);
    insertRun.run(`inv_${id}`, at, trigger, '{"kind":"returned"}');
    if (recent.has(dedupeId)) continue;
    recent.add(dedupeId);
    insertId.run(dedupeId, id);
    if (recent.size > 100) {
      const [oldest] = recent;
      recent.delete(oldest);
      dropId.run(oldest);
    }
    insertEvent.run(++lastEvent, at, dedupeId, `inv_${id}`, payload);
  }
  commit.run();
  for (const { id, answer } of runs) {
    const { response } = waiting.get(id);
    waiting.delete(id);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(answer ?? '{"received":true}');
  }
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const id = ++lastRun;
    const event = { method: request.method, path: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() };
    waiting.set(id, { response, at: Date.now(), trigger: JSON.stringify(event) });
    unit.send({ id, event });
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
