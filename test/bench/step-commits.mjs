// The bare SQLite writes of runs with three steps. Arguments: folder, runs, concurrent runs.
import { join } from "node:path";
import Database from "better-sqlite3";

const [folder, count, atOnce] = process.argv.slice(2);
const [runs, batch] = [Number(count), Number(atOnce)];
const db = new Database(join(folder, `by-hand-${batch}.db`));
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.exec(`create table invocations (id text primary key, source_id text, trigger text, outcome text, at integer);
  create table runs (id integer primary key, trigger text, state text);
  create table steps (run integer, path text, record text, primary key (run, path)) without rowid;`);
const invocation = db.prepare("insert into invocations values (?, ?, ?, ?, ?)");
const begin = db.prepare("insert into runs values (?, ?, 'running')");
const step = db.prepare("insert into steps values (?, ?, ?)");
const state = db.prepare("update runs set state = ? where id = ?");
const trigger = JSON.stringify({ kind: "http", event: { body: "x".repeat(500) } });
const record = JSON.stringify({ namespace: "step", exports: { $return_value: "x".repeat(200) }, outcome: { kind: "returned" }, startedAt: 1, durationMs: 1 });

/** As in the server, a batch shares a commit. */
const commit = db.transaction((first, path) => {
  for (let run = first; run < first + batch; run++) {
    if (path === 0) begin.run(run, trigger);
    invocation.run(`inv_${run}_${path}`, "p_1", '{"kind":"step"}', '{"kind":"returned"}', Date.now());
    step.run(run, String(path), record);
    state.run(path === 2 ? "succeeded" : "running", run);
  }
});

const times = [];
const started = performance.now();
for (let first = 0; first < runs; first += batch) {
  const begun = performance.now();
  for (const path of [0, 1, 2]) commit(first, path);
  times.push(performance.now() - begun);
}
const seconds = (performance.now() - started) / 1000;
times.sort((a, b) => a - b);
console.log(JSON.stringify({ rate: runs / seconds, p50: times[Math.floor(times.length / 2)] }));
