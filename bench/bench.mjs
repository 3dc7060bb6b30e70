// npm run bench [start] [reload] [requests] [slow-disk] [memory] [deliveries] [streams] [workflows] [waiting] [page]: figures as ratios to a yardstick measured beside them.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const pd = join(root, "bin", "pd.cjs");
const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"));
const env = { ...process.env, PD_HOME: join(folder, "home"), PD_PORT: "0", PD_ENDPOINT_PORT: "0", NO_COLOR: "1" };
// It costs each start of Node tens of milliseconds, and says nothing about this program.
delete env.NODE_EXTRA_CA_CERTS;
const wanted = process.argv.slice(2);
const isWanted = (name) => wanted.length === 0 || wanted.includes(name);

const sorted = (values) => values.toSorted((a, b) => a - b);
const quantile = (values, share) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * share))];
const median = (values) => quantile(values, 0.5);
const round = (value, digits = 2) => Number(value.toFixed(digits));
const spread = (values) => `${round(Math.min(...values))}–${round(Math.max(...values))}`;

function timeOf(words) {
  const started = performance.now();
  spawnSync(process.execPath, words, { env, stdio: "ignore" });
  return performance.now() - started;
}

/** `pd --version` ÷ `node -e 0`: whole processes, in turn, 25 pairs after 3 that do not count. */
function start() {
  const pairs = Array.from({ length: 28 }, () => ({ bare: timeOf(["-e", "0"]), version: timeOf([pd, "--version"]) })).slice(3);
  const ratios = pairs.map(({ bare, version }) => version / bare);
  console.log(
    `pd --version ÷ node -e 0: ${round(median(ratios))} (${spread(ratios)}); ${round(median(pairs.map((pair) => pair.version)), 1)} ms ÷ ${round(median(pairs.map((pair) => pair.bare)), 1)} ms, 25 pairs`,
  );
}

function run(...words) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [pd, ...words], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`pd ${words.join(" ")}: ${stderr}`);
  return stdout;
}

/** `pd dev` on a file: the session, once it is ready, and its endpoint. */
async function dev(path) {
  const session = spawn(process.execPath, [pd, "dev", path], { env, stdio: ["ignore", "pipe", "inherit"] });
  let shown = "";
  await new Promise((resolve) => session.stdout.setEncoding("utf8").on("data", (text) => (shown += text).includes("Ready for updates!") && resolve()));
  return { session, endpoint: /Endpoint: (\S+)/.exec(shown)[1] };
}

/** write() → first answer by the new code, asked for every millisecond, 30 saves after 3 that do not count, with a second between. */
async function reload(name, imports) {
  const path = join(folder, `${name}.mjs`);
  const code = (version) =>
    `${imports}\nexport default { name: "${name}", version: "1", props: { http: { type: "$.interface.http", customResponse: true } }, run() { this.http.respond({ body: "${version}" }); } };\n`;
  writeFileSync(path, code(0));
  const { session, endpoint } = await dev(path);
  const times = [];
  for (let version = 1; version <= 33; version++) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const started = performance.now();
    writeFileSync(path, code(version));
    while ((await (await fetch(endpoint)).text()) !== String(version)) await new Promise((resolve) => setTimeout(resolve, 1));
    times.push(performance.now() - started);
  }
  session.kill("SIGINT");
  await once(session, "close");
  const counted = times.slice(3);
  const bare = median(Array.from({ length: 9 }, () => timeOf(["-e", "0"])));
  console.log(
    `save → new code, ${name}: p50 ${round(quantile(counted, 0.5), 1)} ms, p95 ${round(quantile(counted, 0.95), 1)} ms (${spread(counted)}); p50 ÷ node -e 0: ${round(quantile(counted, 0.5) / bare)}; 30 saves`,
  );
}

async function load(url, connections = 50) {
  const client = spawn(process.execPath, [join(import.meta.dirname, "load.mjs"), url, String(connections), "4"], { env, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  client.stdout.setEncoding("utf8").on("data", (chunk) => (text += chunk));
  await once(client, "close");
  const result = JSON.parse(text);
  return { ...result, rate: result.requests / result.seconds };
}

/** A server in a process of its own that answers each POST with a little JSON. */
async function bareServer() {
  const code =
    "require('node:http').createServer((q,r)=>{q.resume();q.on('end',()=>{r.setHeader('content-type','application/json');r.end('{\"ok\":true}')})}).listen(0,'127.0.0.1',function(){console.log(this.address().port)})";
  const server = spawn(process.execPath, ["-e", code], { env, stdio: ["ignore", "pipe", "inherit"] });
  const [port] = await once(server.stdout.setEncoding("utf8"), "data");
  return { server, url: `http://127.0.0.1:${String(port).trim()}/` };
}

/** 50 connections, 1 KB of JSON each, 4 s, in turn with bare node:http, 3 rounds; every answer means that run, event and log are on disk. */
async function requests() {
  const path = join(folder, "emits.mjs");
  writeFileSync(
    path,
    'export default { name: "Emits", version: "1", dedupe: "unique", props: { http: "$.interface.http" }, run(event) { globalThis.n = (globalThis.n ?? 0) + 1; this.$emit(event.body, { id: globalThis.n }); } };',
  );
  const source = JSON.parse(run("deploy", path, "--json"));
  const bare = await bareServer();
  const rounds = [];
  for (let round = 0; round < 3; round++) rounds.push({ bare: await load(bare.url), ours: await load(source.endpoint_url) });
  bare.server.kill();
  const ratios = rounds.map(({ bare: yardstick, ours }) => ours.rate / yardstick.rate);
  const middle = (pick) => median(rounds.map(({ ours }) => pick(ours)));
  console.log(
    `endpoint requests, each stored: ${Math.round(middle(({ rate }) => rate))}/s, p50 ${round(middle(({ p50 }) => p50))} ms, p99 ${round(middle(({ p99 }) => p99))} ms; ÷ bare node:http: ${round(median(ratios))} (${spread(ratios)}); answers ${JSON.stringify(rounds.map(({ ours }) => ours.statuses))}`,
  );
  run("delete", source.id, "--yes");
  run("down");
}

/** Every sync to disk takes 10 ms longer: how long the API takes to answer while 50 connections wait for commits. */
async function slowDisk() {
  const library = join(folder, "slow-fsync.so");
  if (spawnSync("cc", ["-shared", "-fPIC", "-o", library, join(import.meta.dirname, "slow-fsync.c"), "-ldl"]).status !== 0) {
    return console.log("slow disk: not measured, there is no C compiler");
  }
  const server = spawn(process.execPath, [pd, "up", "--json"], { env: { ...env, LD_PRELOAD: library }, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(server.stdout.setEncoding("utf8"), "data");
  const { api_url: api } = JSON.parse(line);
  const key = readFileSync(join(env.PD_HOME, "api-key"), "utf8").trim();
  const path = join(folder, "emits.mjs");
  writeFileSync(path, 'export default { name: "Emits", version: "1", props: { http: "$.interface.http" }, run(event) { this.$emit(event.body); } };');
  const source = JSON.parse(run("deploy", path, "--json"));
  const times = [];
  const under = load(source.endpoint_url);
  for (const end = performance.now() + 3500; performance.now() < end;) {
    const started = performance.now();
    await (await fetch(`${api}/v1/status`, { headers: { authorization: `Bearer ${key}` } })).text();
    times.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const { rate, p50 } = await under;
  console.log(
    `10 ms more for each fsync, 50 connections: ${Math.round(rate)} stored requests/s (p50 ${round(p50, 1)} ms); meanwhile the API answers in p50 ${round(quantile(times, 0.5), 1)} ms, p99 ${round(quantile(times, 0.99), 1)} ms`,
  );
  run("down");
}

/** Proportional memory of the server and its children, MB; resident memory where the system does not tell it. */
function memoryOf(pid) {
  const pids = [pid, ...readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === String(pid))];
  const kilobytes = pids.map((one) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${one}/smaps_rollup`, "utf8"))?.[1] ?? 0));
  return { processes: pids.length, megabytes: kilobytes.reduce((sum, value) => sum + value, 0) / 1024 };
}

function parentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").replace(/.*\) /, "").split(" ")[1];
  } catch {
    return undefined;
  }
}

/** Of a server that was just started, with no source, then restarted with 200 deployed ones that are idle. */
async function memory() {
  const measure = async () => {
    run("up", "--detach");
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const { pid } = JSON.parse(run("status", "--json"));
    return memoryOf(pid);
  };
  const empty = await measure();
  const path = join(folder, "idle.mjs");
  writeFileSync(path, 'export default { name: "Idle", version: "1", props: { http: "$.interface.http", db: "$.service.db" }, run() {} };');
  const { api_url: api } = JSON.parse(run("status", "--json"));
  const key = readFileSync(join(env.PD_HOME, "api-key"), "utf8").trim();
  for (let n = 0; n < 200; n++) {
    const answer = await fetch(`${api}/v1/sources`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ component_code: readFileSync(path, "utf8") }),
    });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.text();
  }
  run("down");
  const full = await measure();
  run("down");
  const each = ((full.megabytes - empty.megabytes) / 200) * 1024;
  console.log(
    `memory, server and its processes: ${round(empty.megabytes, 1)} MB with 0 sources (${empty.processes} processes), ${round(full.megabytes, 1)} MB with 200 idle ones (${full.processes} processes): ${round(each, 1)} KB each; ratio ${round(full.megabytes / empty.megabytes)}`,
  );
}

/** What the API answers to a call. */
async function api(method, path, body) {
  const { api_url: base } = JSON.parse(run("status", "--json"));
  const key = readFileSync(join(env.PD_HOME, "api-key"), "utf8").trim();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(base + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(await answer.text());
  const told = await answer.json();
  return told.data ?? told;
}

/** A source that emits as many events with the time of each as its event says. */
function emitter() {
  const path = join(folder, "stamps.mjs");
  writeFileSync(
    path,
    'export default { name: "Stamps", version: "1", run({ count }) { for (let n = 0; n < count; n++) this.$emit({ at: Date.now(), n }); } };',
  );
  return JSON.parse(run("deploy", path, "--json"));
}

const summary = ({ ages }) => `p50 ${quantile(ages, 0.5)} ms, p99 ${quantile(ages, 0.99)} ms`;

/**
 * 20,000 events to one loopback receiver, 4 at a time, each attempt recorded, ÷ what 4 bare connections post to it;
 * then 300 events one by one: from $emit to the arrival of the first attempt.
 */
async function deliveries() {
  run("up", "--detach");
  const source = emitter();
  const receiver = spawn(process.execPath, [join(import.meta.dirname, "receiver.mjs")], { env, stdio: ["ignore", "pipe", "inherit"] });
  const url = String((await once(receiver.stdout.setEncoding("utf8"), "data"))[0]).trim();
  const figures = async () => (await fetch(url)).json();
  const bare = await load(url, 4);
  await figures();
  const webhook = JSON.parse(run("subscribe", source.id, url, "--json"));
  for (let n = 0; n < 20; n++) await api("POST", `/v1/sources/${source.id}/run`, { event: { count: 1000 } });
  while ((await api("GET", `/v1/webhooks/${webhook.id}`)).deliveries.pending > 0) await new Promise((resolve) => setTimeout(resolve, 100));
  const { count, seconds } = await figures();
  const rate = count / seconds;
  for (let n = 0; n < 300; n++) await api("POST", `/v1/sources/${source.id}/run`, { event: { count: 1 } });
  await new Promise((resolve) => setTimeout(resolve, 500));
  console.log(
    `deliveries to a loopback receiver: ${Math.round(rate)}/s of ${count}; ÷ 4 bare connections: ${round(rate / bare.rate)}; from $emit to the first attempt, one by one: ${summary(await figures())}`,
  );
  receiver.kill();
  run("delete", source.id, "--yes");
  run("down");
}

/** 100 readers of one stream get 200 events, one run each. */
async function streams() {
  run("up", "--detach");
  const source = emitter();
  const key = readFileSync(join(env.PD_HOME, "api-key"), "utf8").trim();
  const { api_url: base } = JSON.parse(run("status", "--json"));
  const words = [join(import.meta.dirname, "readers.mjs"), `${base}/sse/dc/${source.id}/emits`, key, "100", "200"];
  const readers = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "inherit"] });
  let shown = "";
  readers.stdout.setEncoding("utf8").on("data", (text) => (shown += text));
  while (!shown.includes("open")) await new Promise((resolve) => setTimeout(resolve, 20));
  for (let n = 0; n < 200; n++) await api("POST", `/v1/sources/${source.id}/run`, { event: { count: 1 } });
  while (!shown.includes("}")) await new Promise((resolve) => setTimeout(resolve, 20));
  const figures = JSON.parse(shown.slice(shown.indexOf("{")));
  console.log(`one stream to 100 readers: ${figures.count} messages, from $emit to each reader ${summary(figures)}`);
  readers.kill();
  run("delete", source.id, "--yes");
  run("down");
}

/** A workflow's folder of steps that do nothing but return. */
function workflowFolder(name, settings, steps) {
  const path = join(folder, name);
  const listed = Object.keys(steps).map((step) => `- { namespace: ${step}, uses: ./${step}.mjs }`);
  mkdirSync(path, { recursive: true });
  writeFileSync(
    join(path, "workflow.yaml"),
    `name: ${name}\nsettings: ${settings}\ntriggers:\n- http: { custom_response: false }\nsteps:\n${listed.join("\n")}\n`,
  );
  for (const [step, code] of Object.entries(steps)) writeFileSync(join(path, `${step}.mjs`), `export default async ({ steps, $ }) => { ${code} };\n`);
  return JSON.parse(run("deploy", path, "--json"));
}

const post = (url, body) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }).then((answer) => answer.text());

async function runsOf(id) {
  const all = [];
  for (let before; ;) {
    const page = await api("GET", `/v1/workflows/${id}/runs?limit=1000${before === undefined ? "" : `&before=${before}`}`);
    all.push(...page);
    if (page.length < 1000) return all;
    before = page.at(-1).id;
  }
}

async function untilRuns(id, state, count) {
  while ((await api("GET", `/v1/workflows/${id}`)).runs[state] < count) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** Words of a yardstick program of this folder: what it prints, as JSON. */
function yardstick(file, ...words) {
  const { stdout } = spawnSync(process.execPath, [join(import.meta.dirname, file), ...words.map(String)], { env, encoding: "utf8" });
  return JSON.parse(stdout);
}

const RUNS = 3000;
const AT_ONCE = 50;

/**
 * Three code steps, each committed with fsync: 3,000 runs whose requests came before, 50 at a time, ÷ the same three commits
 * by hand for 50 runs each; then 300 requests one by one, from the request to the commit of the last step. 3 rounds in turn.
 */
async function workflows() {
  run("up", "--detach", "--keep-invocations", "100000");
  const steps = { one: "return steps.trigger.event.body;", two: "return steps.one.$return_value;", three: "return steps.two.$return_value;" };
  const workflow = workflowFolder("three-steps", `{ concurrency: ${AT_ONCE} }`, steps);
  const [{ endpoint_url: url }] = workflow.triggers;
  await post(url, { warm: true });
  await untilRuns(workflow.id, "succeeded", 1);
  const rounds = [];
  let before = 1;
  for (let round = 0; round < 3; round++) {
    const byHand = yardstick("step-commits.mjs", mkdtempSync(join(folder, "hand-")), RUNS, AT_ONCE);
    for (let n = 0; n < RUNS; n += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, () => post(url, { n })));
    await untilRuns(workflow.id, "succeeded", before + RUNS);
    const ended = (await runsOf(workflow.id)).slice(0, RUNS);
    const seconds = (Math.max(...ended.map((one) => one.ended_at_ms)) - Math.min(...ended.map((one) => one.started_at_ms))) / 1000;
    rounds.push({ rate: RUNS / seconds, byHand: byHand.rate });
    before += RUNS;
  }
  const alone = yardstick("step-commits.mjs", mkdtempSync(join(folder, "hand-")), 300, 1);
  const sent = [];
  for (let n = 0; n < 300; n++) {
    sent.push(Date.now());
    await post(url, { n });
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  await untilRuns(workflow.id, "succeeded", before + 300);
  const times = (await runsOf(workflow.id))
    .slice(0, 300)
    .toReversed()
    .map((one, index) => one.ended_at_ms - sent[index]);
  const ratios = rounds.map(({ rate, byHand }) => rate / byHand);
  console.log(
    `runs of three code steps, each step committed: ${Math.round(median(rounds.map(({ rate }) => rate)))}/s of ${RUNS}, ${AT_ONCE} at a time; by hand ${Math.round(median(rounds.map(({ byHand }) => byHand)))}/s; ratio ${round(median(ratios), 3)} (${spread(ratios)})`,
  );
  console.log(
    `one request → last step committed: p50 ${quantile(times, 0.5)} ms, p95 ${quantile(times, 0.95)} ms of 300; three commits by hand: p50 ${round(alone.p50, 1)} ms`,
  );
  run("delete", workflow.id, "--yes");
  run("down");
}

const WAITING = 10_000;

/** 10,000 runs that wait for somebody: the server with them after a restart, beside one with none. */
async function waiting() {
  const measure = async () => {
    run("up", "--detach");
    await new Promise((resolve) => setTimeout(resolve, 5000));
    return memoryOf(JSON.parse(run("status", "--json")).pid);
  };
  run("up", "--detach");
  const workflow = workflowFolder("waits", `{ concurrency: ${AT_ONCE} }`, { ask: "return $.flow.suspend(1e9);", after: "return 1;" });
  run("down");
  const empty = await measure();
  // It is reached at another port by now.
  const [{ endpoint_url: url }] = (await api("GET", `/v1/workflows/${workflow.id}`)).triggers;
  for (let n = 0; n < WAITING; n += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, () => post(url, { n })));
  await untilRuns(workflow.id, "waiting", WAITING);
  await new Promise((resolve) => setTimeout(resolve, 90_000));
  const live = memoryOf(JSON.parse(run("status", "--json")).pid);
  run("down");
  const restarted = await measure();
  console.log(
    `${WAITING} runs that wait: ${round(restarted.megabytes - empty.megabytes, 1)} MB and ${restarted.processes - empty.processes} processes more than without them after a restart; ${round(live.megabytes - empty.megabytes, 1)} MB and ${live.processes - empty.processes} processes more on the server that began them, 90 s later`,
  );
  run("delete", workflow.id, "--yes");
  run("down");
}

const PAGE_EVENTS = 100_000;

/**
 * The web page in Chromium: bytes of the first load as they travel; from the request to a list that is shown, 20 times
 * without a cache; then a list of 100,000 events, scrolled from end to end: the longest time between two frames.
 */
async function page() {
  const { chromium } = await import("playwright-core");
  run("up", "--detach", "--keep-events", String(2 * PAGE_EVENTS));
  const source = emitter();
  const { api_url: base } = JSON.parse(run("status", "--json"));
  const key = readFileSync(join(env.PD_HOME, "api-key"), "utf8").trim();
  const flags = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
  const [times, sizes] = [[], []];
  for (let n = 0; n < 23; n++) {
    const context = await browser.newContext();
    const opened = await context.newPage();
    const asked = [];
    // Who counts bytes slows down what is timed: the loads that do not count are for that.
    if (n < 3) opened.on("requestfinished", (request) => asked.push(request.sizes()));
    await opened.goto(`${base}/sources#key=${key}`, { waitUntil: "commit" });
    await opened.locator("table").waitFor();
    times.push(await opened.evaluate("performance.now()"));
    sizes.push((await Promise.all(asked.splice(0))).reduce((sum, { responseBodySize: size }) => sum + size, 0));
    await context.close();
  }
  // Only now: a server that writes 100,000 events has no time to itself.
  for (let n = 0; n < PAGE_EVENTS / 1000; n++) await api("POST", `/v1/sources/${source.id}/run`, { event: { count: 1000 } });
  const opened = await browser.newPage();
  await opened.goto(`${base}/sources/${source.id}#key=${key}`);
  await opened.locator(".long-list .item").first().waitFor();
  const scroll = (body) =>
    opened.evaluate(`(async () => { const list = document.querySelector(".long-list"); const frame = () => new Promise(requestAnimationFrame); ${body} })()`);
  // Down to the end, as far as there are more.
  await scroll(
    `for (let still = 0, height = 0; still < 60; ) { list.scrollTop = list.scrollHeight; await frame(); still = list.scrollHeight === height ? still + 1 : 0; height = list.scrollHeight; }`,
  );
  const count = await scroll("return Math.round(list.firstElementChild.clientHeight / list.querySelector('.item').offsetHeight);");
  const gaps = await scroll(
    "const gaps = []; list.scrollTop = 0; await frame(); for (let at = performance.now(), n = 0; n < 600; n++) { list.scrollTop += list.scrollHeight / 600; await frame(); const now = performance.now(); gaps.push(now - at); at = now; } return gaps;",
  );
  const large = await api("POST", "/v1/sources", {
    component_code:
      'export default { name: "large", version: "1", run() { this.$emit({ list: Array.from({ length: 60_000 }, (_, n) => ({ n, name: "number " + n, more: "x".repeat(50) })) }, { summary: "large" }); } };',
  });
  await api("POST", `/v1/sources/${large.id}/run`, {});
  const opens = [];
  for (let n = 0; n < 10; n++) {
    await opened.goto(`${base}/sources/${large.id}/events`);
    const row = opened.locator(".long-list .item");
    await row.waitFor();
    opens.push(
      await opened.evaluate(`(async () => { const begins = performance.now(); document.querySelector(".long-list .item").click();
        while (!document.querySelector(".json")?.textContent.includes("[60000]")) await new Promise(requestAnimationFrame);
        return performance.now() - begins; })()`),
    );
  }
  await browser.close();
  console.log(`page: an event of 5.5 MB is opened in p50 ${round(median(opens))} ms, p95 ${round(quantile(opens, 0.95))} ms, from the click to its tree`);
  console.log(
    `page: first load ${round(Math.max(...sizes) / 1000, 1)} kB; shown after p50 ${round(median(times.slice(3)))} ms, p95 ${round(quantile(times.slice(3), 0.95))} ms, 20 loads without a cache`,
  );
  console.log(
    `page: a list of ${count} events scrolled in 600 steps: frames p50 ${round(median(gaps), 1)} ms, p99 ${round(quantile(gaps, 0.99), 1)} ms, longest ${round(Math.max(...gaps), 1)} ms`,
  );
  run("delete", source.id, "--yes");
  run("delete", large.id, "--yes");
  run("down");
}

try {
  console.log(`node ${process.version}, ${process.platform} ${process.arch}`);
  if (isWanted("start")) start();
  if (isWanted("reload")) {
    await reload("small", "");
    await reload("with axios", 'import axios from "axios"; if (typeof axios.get !== "function") throw new Error("no axios");');
  }
  if (isWanted("requests")) await requests();
  if (isWanted("slow-disk")) await slowDisk();
  if (isWanted("memory")) await memory();
  if (isWanted("deliveries")) await deliveries();
  if (isWanted("streams")) await streams();
  if (isWanted("workflows")) await workflows();
  if (isWanted("waiting")) await waiting();
  // It wants a browser.
  if (wanted.includes("page")) await page();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
