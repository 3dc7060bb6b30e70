import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const pd = join(import.meta.dirname, "..", "..", "bin", "pd.cjs");
export const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"));
export const env = { ...process.env, PD_HOME: join(folder, "home"), PD_PORT: "0", PD_ENDPOINT_PORT: "0", NO_COLOR: "1" };
// It slows each start of Node by tens of milliseconds.
delete env.NODE_EXTRA_CA_CERTS;
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const sorted = (values) => values.toSorted((a, b) => a - b);
export const quantile = (values, share) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * share))];
export const median = (values) => quantile(values, 0.5);
export const round = (value, digits = 2) => Number(value.toFixed(digits));
export const spread = (values) => `${round(Math.min(...values))}–${round(Math.max(...values))}`;

export function timeOf(words) {
  const started = performance.now();
  spawnSync(process.execPath, words, { env, stdio: "ignore" });
  return performance.now() - started;
}

/** Alternates with `node -e 0`: 25 pairs after 3 warm-up pairs. */
export function besideNode(...words) {
  const pairs = Array.from({ length: 28 }, () => ({ bare: timeOf(["-e", "0"]), ours: timeOf([pd, ...words]) })).slice(3);
  const ratios = pairs.map(({ bare, ours }) => ours / bare);
  return {
    what: `pd ${words.join(" ")} ÷ node -e 0, whole processes, 25 pairs`,
    limit: `${round(median(pairs.map(({ bare }) => bare)), 1)} ms`,
    now: `${round(median(pairs.map(({ ours }) => ours)), 1)} ms`,
    ratio: round(median(ratios)),
    spread: spread(ratios),
  };
}

export function run(...words) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [pd, ...words], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`pd ${words.join(" ")}: ${stderr}`);
  return stdout;
}

export async function api(method, path, body) {
  // The server writes this file once it listens.
  const { api_url: base } = JSON.parse(readFileSync(join(env.PD_HOME, "server.json"), "utf8"));
  const key = readFileSync(join(env.PD_HOME, "api-key"), "utf8").trim();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(base + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(await answer.text());
  const told = await answer.json();
  return told.data ?? told;
}

export async function startLimit(file, ...words) {
  const program = spawn(process.execPath, [join(import.meta.dirname, "limits", file), ...words], { env, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(program.stdout.setEncoding("utf8"), "data");
  return { url: String(line).trim(), pid: program.pid, stop: () => program.kill() };
}

/** `size`: bytes of a body. `cpu`: µs per request in the process tree of `pid`. */
export async function load(url, { connections = 50, pid, size = 1000 } = {}) {
  const before = pid === undefined ? 0 : cpuOf(pid);
  const client = spawn(process.execPath, [join(import.meta.dirname, "load.mjs"), url, String(connections), "4", String(size)], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  client.stdout.setEncoding("utf8").on("data", (chunk) => (text += chunk));
  await once(client, "close");
  const result = JSON.parse(text);
  const cpu = pid === undefined ? undefined : (cpuOf(pid) - before) / result.requests;
  return { ...result, rate: result.requests / result.seconds, cpu };
}

function childrenOf(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number));
  } catch {
    return [];
  }
}

const treeOf = (pid) => [pid, ...childrenOf(pid).flatMap(treeOf)];

/** CPU time of a process and its descendants, µs. */
export function cpuOf(pid) {
  const ticks = treeOf(pid).map((one) => {
    try {
      const fields = readFileSync(`/proc/${one}/stat`, "utf8").replace(/.*\) /, "").split(" ");
      return Number(fields[11]) + Number(fields[12]);
    } catch {
      return 0;
    }
  });
  return ticks.reduce((sum, value) => sum + value, 0) * 10_000;
}

/** PSS of a process and its descendants, MB. */
export function memoryOf(pid) {
  const pids = treeOf(pid);
  const kilobytes = pids.map((one) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${one}/smaps_rollup`, "utf8"))?.[1] ?? 0));
  return { processes: pids.length, megabytes: kilobytes.reduce((sum, value) => sum + value, 0) / 1024 };
}

/** Makes a row from "what: result". */
export function said(sentence) {
  const mark = sentence.indexOf(": ");
  return { what: sentence.slice(0, mark), now: sentence.slice(mark + 2) };
}

export const summary = ({ ages }) => `p50 ${quantile(ages, 0.5)} ms, p99 ${quantile(ages, 0.99)} ms`;

export function emitter() {
  const path = join(folder, "stamps.mjs");
  writeFileSync(
    path,
    'export default { name: "Stamps", version: "1", run({ count }) { for (let n = 0; n < count; n++) this.$emit({ at: Date.now(), n }); } };',
  );
  return JSON.parse(run("deploy", path, "--json"));
}

export const AT_ONCE = 50;

export function workflowFolder(name, settings, steps) {
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

export const post = (url, body) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }).then((answer) => answer.text());

export async function untilRuns(id, state, count) {
  while ((await api("GET", `/v1/workflows/${id}`)).runs[state] < count) await new Promise((resolve) => setTimeout(resolve, 100));
}
