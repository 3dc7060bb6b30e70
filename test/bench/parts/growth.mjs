import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { plot } from "../plot.mjs";
import { api, env, folder, load, median, memoryOf, quantile, round, run, sleep } from "../support.mjs";

const PLACE = join(import.meta.dirname, "..", "..", "..", "docs");
const SIZES = [100, 1000, 50_000];
const SOURCES = [1, 200, 1000];
const EVENTS = [10_000, 100_000, 1_000_000];
const QUESTIONS = 100;

export default async function growth() {
  env.PD_KEEP_EVENTS = "2000000";
  run("up", "--detach");
  const rows = [...(await overPayloads()), ...(await overEvents())];
  run("down");
  return [...rows, ...(await overSources())];
}

function draw(name, chart) {
  mkdirSync(PLACE, { recursive: true });
  writeFileSync(join(PLACE, `growth-${name}.svg`), plot(chart));
}

function component(name, code) {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, code);
  return path;
}

async function overPayloads() {
  const path = component(
    "sizes",
    'export default { name: "Sizes", version: "1", props: { http: "$.interface.http" }, run(event) { this.$emit(event.body); } };',
  );
  const { id, endpoint_url: url } = JSON.parse(run("deploy", path, "--json"));
  await load(url);
  const points = [];
  for (const size of SIZES) {
    const rates = [];
    for (let n = 0; n < 3; n++) rates.push((await load(url, { size })).rate);
    points.push([size, Math.round(median(rates))]);
  }
  run("delete", id, "--yes");
  draw("payload", { title: "Requests/s, 50 connections", xLabel: "bytes of a body", points, names: SIZES.map(String) });
  return points.map(([size, rate]) => ({ what: `endpoint, 50 connections, a body of ${size} B`, now: `${rate}/s` }));
}

async function overEvents() {
  const code = "run({ count }) { for (let n = 0; n < count; n++) this.$emit({ n, text: 'x'.repeat(100) }); }";
  const path = component("history", `export default { name: "History", version: "1", ${code} };`);
  const { id } = JSON.parse(run("deploy", path, "--json"));
  const { api_url: base } = JSON.parse(run("status", "--json"));
  const headers = { authorization: `Bearer ${readFileSync(join(env.PD_HOME, "api-key"), "utf8").trim()}` };
  const [rows, points] = [[], []];
  let made = 0;
  for (const count of EVENTS) {
    for (; made < count; made += 10_000) await api("POST", `/v1/sources/${id}/run`, { event: { count: 10_000 } });
    await sleep(2000);
    const told = [];
    for (const limit of [10, 100]) {
      const times = [];
      for (let n = 0; n < QUESTIONS + 10; n++) {
        const began = performance.now();
        const answer = await fetch(`${base}/v1/sources/${id}/event_summaries?limit=${limit}`, { headers });
        const { data } = await answer.json();
        if (data.length !== limit) throw new Error(`${data.length} events were told, of ${limit}`);
        if (n >= 10) times.push(performance.now() - began);
      }
      told.push(`last ${limit}: p50 ${round(median(times))} ms, p99 ${round(quantile(times, 0.99))} ms`);
      if (limit === 10) points.push([count, round(median(times))]);
    }
    rows.push({ what: `events of a source with ${count} at the API`, now: told.join("; ") });
  }
  run("delete", id, "--yes");
  draw("events", {
    title: "Last 10 events at the API, ms (p50)",
    xLabel: "events of the source",
    points,
    names: EVENTS.map((count) => count.toLocaleString("en")),
  });
  return rows;
}

async function overSources() {
  const points = [];
  const code = 'export default { name: "Idle", version: "1", props: { http: "$.interface.http", db: "$.service.db" }, run() {} };';
  let made = 0;
  for (const count of SOURCES) {
    run("up", "--detach");
    for (; made < count; made++) await api("POST", "/v1/sources", { component_code: code });
    run("down");
    run("up", "--detach");
    // The server collects garbage after 10 s of rest.
    await sleep(22_000);
    points.push([count, round(memoryOf(JSON.parse(run("status", "--json")).pid).megabytes, 1)]);
    run("down");
  }
  draw("sources", { title: "Memory (PSS) of an idle server, MB", xLabel: "deployed sources", points, names: SOURCES.map(String) });
  return points.map(([count, megabytes]) => ({ what: `memory of an idle server with ${count} sources`, now: `${megabytes} MB` }));
}
