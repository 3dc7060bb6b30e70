import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, load, median, memoryOf, round, run, sleep, spread, startLimit } from "../support.mjs";

const ROUNDS = 3;
const KINDS = {
  "run and event on disk before the answer": [
    '"$.interface.http"',
    "globalThis.n = (globalThis.n ?? 0) + 1; this.$emit(event.body, { id: globalThis.n });",
    "",
  ],
  "the same, with customResponse": [
    '{ type: "$.interface.http", customResponse: true }',
    "globalThis.n = (globalThis.n ?? 0) + 1; this.http.respond({ status: 200, body: { ok: true } }); this.$emit(event.body, { id: globalThis.n });",
    "custom",
  ],
};

export default async function requests() {
  const rows = [];
  const bare = await startLimit("echo.mjs");
  for (const [what, [prop, body, word]] of Object.entries(KINDS)) {
    const path = join(folder, `emits-${word}.mjs`);
    writeFileSync(path, `export default { name: "Emits ${word}", version: "1", dedupe: "unique", props: { http: ${prop} }, run(event) { ${body} } };`);
    const source = JSON.parse(run("deploy", path, "--json"));
    const { pid } = JSON.parse(run("status", "--json"));
    const limit = await startLimit("endpoint.mjs", join(folder, `limit-${word}.db`), word);
    const idle = memoryOf(pid).megabytes;
    rows.push(row(`endpoint, 50 connections: ${what}`, await rounds(50, { bare, limit, ours: { url: source.endpoint_url, pid } })));
    if (word === "") {
      rows.push({
        what: "memory after that load",
        limit: `${Math.round(memoryOf(limit.pid).megabytes)} MB`,
        now: `${Math.round(memoryOf(pid).megabytes)} MB (${Math.round(idle)} MB before)`,
      });
      rows.push(row("one connection", await rounds(1, { bare, limit, ours: { url: source.endpoint_url, pid } })));
      await sleep(60_000);
      rows.push({ what: "memory a minute after the last request", now: `${Math.round(memoryOf(pid).megabytes)} MB` });
    }
    limit.stop();
    run("delete", source.id, "--yes");
  }
  bare.stop();
  run("down");
  return rows;
}

async function rounds(connections, { bare, limit, ours }) {
  for (const { url } of [limit, ours]) await load(url, { connections });
  const all = [];
  for (let n = 0; n < ROUNDS; n++)
    all.push({
      bare: await load(bare.url, { connections }),
      limit: await load(limit.url, { connections, pid: limit.pid }),
      ours: await load(ours.url, { connections, pid: ours.pid }),
    });
  return all;
}

function row(what, all) {
  const told = (side) => {
    const of = (pick) => median(all.map((one) => pick(one[side])));
    const answers = all.flatMap((one) => Object.keys(one[side].statuses)).filter((status) => status !== "200");
    const others = answers.length === 0 ? "" : `, also answered ${[...new Set(answers)].join(", ")}`;
    return `${Math.round(of(({ rate }) => rate))}/s, p50 ${round(of(({ p50 }) => p50))} ms, p99 ${round(
      of(({ p99 }) => p99),
      1,
    )} ms, ${Math.round(of(({ cpu }) => cpu ?? 0))} µs CPU each${others}`;
  };
  const ratios = all.map(({ limit, ours }) => ours.rate / limit.rate);
  const toBare = all.map(({ bare, ours }) => ours.rate / bare.rate);
  return { what, limit: told("limit"), now: told("ours"), ratio: round(median(ratios)), spread: spread(ratios), bare: `${round(median(toBare))} of node:http` };
}
