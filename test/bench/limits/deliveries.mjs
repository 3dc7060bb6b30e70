// SQLite rows → signed POSTs → attempts, committed with fsync every 5 ms. The first 5,000 are a warm-up.
//   node deliveries.mjs <database> <url> <count>
import { createHmac, randomBytes } from "node:crypto";
import Database from "better-sqlite3";
import { Agent, request } from "undici";

const [path, url, number] = process.argv.slice(2);
const WARM_UP = 5000;
const count = Number(number);
const db = new Database(path);
db.pragma("journal_mode = wal");
db.pragma("synchronous = full");
db.exec(`create table deliveries (seq integer primary key, message_id text unique, payload text, state text, attempts integer default 0, next_at integer) strict;
create index due on deliveries (next_at, seq) where state = 'pending';
create table attempts (seq integer primary key, delivery integer, at integer, duration_ms real, result text) strict;
create index attempts_by_delivery on attempts (delivery);`);
const insert = db.prepare("insert into deliveries (message_id, payload, state, next_at) values (?, ?, 'pending', 0)");
db.exec("begin");
for (let n = 0; n < count + WARM_UP; n++) insert.run(`msg_${n}`, JSON.stringify({ event: { at: Date.now(), n } }));
db.exec("commit");

const due = db.prepare("select seq, message_id as id, payload from deliveries where state = 'pending' and seq > ? order by next_at, seq limit 200");
const settle = db.prepare("update deliveries set state = 'delivered', next_at = null, attempts = attempts + 1 where seq = ?");
const insertAttempt = db.prepare("insert into attempts (delivery, at, duration_ms, result) values (?, ?, ?, ?)");
const key = randomBytes(32);
const agent = new Agent();
let [next, last, recorded] = [[], 0, 0];
let answered = [];

async function send({ seq, id, payload }) {
  const at = Date.now();
  const timestamp = Math.floor(at / 1000);
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${payload}`).digest("base64");
  const headers = { "content-type": "application/json", "webhook-id": id, "webhook-timestamp": `${timestamp}`, "webhook-signature": `v1,${signature}` };
  const { statusCode, body } = await request(url, { method: "POST", dispatcher: agent, headers, body: payload });
  await body.text();
  answered.push([seq, at, Date.now() - at, JSON.stringify({ kind: "answered", status: statusCode, answer: "" })]);
  if (answered.length === 1) setTimeout(record, 5);
}

function record() {
  const done = answered;
  answered = [];
  db.exec("begin immediate");
  for (const attempt of done) {
    settle.run(attempt[0]);
    insertAttempt.run(...attempt);
  }
  db.exec("commit");
  recorded += done.length;
  if (began === 0 && recorded >= WARM_UP) [began, cpuBefore] = [performance.now(), process.cpuUsage()];
}

async function lane() {
  for (;;) {
    if (next.length === 0) next = due.all(last);
    const one = next.shift();
    if (one === undefined) return;
    last = one.seq;
    await send(one);
  }
}

let [began, cpuBefore] = [0, process.cpuUsage()];
await Promise.all(Array.from({ length: 4 }, lane));
while (recorded < count + WARM_UP) await new Promise((resolve) => setTimeout(resolve, 1));
const cpu = process.cpuUsage(cpuBefore);
console.log(JSON.stringify({ count, seconds: (performance.now() - began) / 1000, cpu: cpu.user + cpu.system }));
await agent.close();
