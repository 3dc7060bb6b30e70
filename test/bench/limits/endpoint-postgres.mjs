// As endpoint.mjs, on PostgreSQL: node:http → child process → dedupe → one statement for all runs that wait → 200.
//   node endpoint-postgres.mjs <folder of the socket>
import { fork } from "node:child_process";
import { createServer } from "node:http";
import pg from "pg";

const [host] = process.argv.slice(2);
const db = new pg.Client({ host, user: "headwater", database: "postgres" });
await db.connect();
await db.query(`create table limit_runs (seq bigint generated always as identity primary key, id text unique, at bigint, trigger text, outcome text);
create table limit_events (source_id text, seq bigint, at bigint, dedupe_id text, run_id text, payload text, primary key (source_id, seq));
create table limit_progress (source_id text primary key, cache text) with (fillfactor = 50);
insert into limit_progress values ('dc_limit', '')`);
const STORE = `with runs as (insert into limit_runs (id, at, trigger, outcome) select *, '{"kind":"returned"}' from unnest($1::text[], $2::bigint[], $3::text[])),
  progress as (update limit_progress set cache = $4)
  insert into limit_events (source_id, seq, at, dedupe_id, run_id, payload) select 'dc_limit', * from unnest($5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[])`;

const recent = new Set();
const waiting = new Map();
let done = [];
let isStoring = false;
let lastRun = 0;
let lastEvent = 0;

const unit = fork(new URL("endpoint-unit.mjs", import.meta.url), [""], { serialization: "json" });
unit.on("message", (result) => {
  done.push(result);
  if (!isStoring) void store();
});

/** Runs that end while a statement is under way share the next one. Their clients are answered afterwards. */
async function store() {
  isStoring = true;
  while (done.length > 0) {
    const runs = done;
    done = [];
    const events = runs.filter(({ dedupeId }) => !recent.has(dedupeId) && recent.add(dedupeId));
    for (const old of [...recent].slice(0, Math.max(0, recent.size - 100))) recent.delete(old);
    const of = ({ id }) => waiting.get(id);
    await db.query({
      name: "store",
      text: STORE,
      values: [
        runs.map(({ id }) => `inv_${id}`),
        runs.map((one) => of(one).at),
        runs.map((one) => of(one).trigger),
        JSON.stringify([...recent]),
        events.map(() => ++lastEvent),
        events.map((one) => of(one).at),
        events.map(({ dedupeId }) => dedupeId),
        events.map(({ id }) => `inv_${id}`),
        events.map(({ payload }) => payload),
      ],
    });
    for (const { id, answer } of runs) {
      const { response } = waiting.get(id);
      waiting.delete(id);
      response.writeHead(200, { "content-type": "application/json" });
      response.end(answer ?? '{"received":true}');
    }
  }
  isStoring = false;
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
