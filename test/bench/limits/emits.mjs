// Child process → JSON over the channel → dedupe → one transaction with fsync. The first run is a warm-up.
//   node emits.mjs <database> <count> <runs>
import { fork } from "node:child_process";
import Database from "better-sqlite3";

const [path, number, runs] = process.argv.slice(2);
const count = Number(number);
const db = new Database(path);
db.pragma("journal_mode = wal");
db.pragma("synchronous = full");
db.exec(`create table events (source_id text, seq integer, at integer, dedupe_id text, run_id text, payload text, primary key (source_id, seq)) strict, without rowid;
create table ids (source_id text, id text, place integer, primary key (source_id, id)) strict, without rowid;`);
const insertEvent = db.prepare("insert into events values ('dc_limit', ?, ?, ?, ?, ?)");
const insertId = db.prepare("insert into ids values ('dc_limit', ?, ?)");
const recent = new Set();
let last = 0;

const unit = fork(new URL("emits-unit.mjs", import.meta.url), { serialization: "json" });

function run(from) {
  const began = performance.now();
  const emits = [];
  return new Promise((resolve) => {
    unit.on("message", function take(message) {
      emits.push(...message.emits);
      if (message.isDone !== true) return;
      unit.off("message", take);
      store(emits, from);
      resolve((performance.now() - began) / 1000);
    });
    unit.send({ count, from });
  });
}

function store(emits, from) {
  const at = Date.now();
  db.transaction(() => {
    for (const { payload, id } of emits) {
      if (recent.has(id)) continue;
      recent.add(id);
      if (recent.size > 100) recent.delete(recent.values().next().value);
      insertEvent.run(++last, at, id, `inv_${from}`, payload);
    }
    db.exec("delete from ids");
    for (const id of recent) insertId.run(id, last);
  })();
}

for (let n = 0; n <= Number(runs); n++) {
  const seconds = await run(n);
  if (n > 0) console.log(JSON.stringify({ count, seconds }));
}
unit.kill();
