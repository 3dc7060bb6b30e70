import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { env, folder, load, median, memoryOf, quantile, round, run, sleep } from "../support.mjs";

/** Only the bench installs them. */
const VERSIONS = { nodemon: "3.1.14", "vite-node": "6.0.0", "node-red": "4.1.15", miniflare: "4.20260317.2" };
const PLACE = join(import.meta.dirname, "..", "..", "..", "build", "peers");
const SAVES = 15;

/** Other programs on this machine answer without storing anything. Ours first writes run, event and log to disk. */
export default async function peers() {
  install();
  const rows = [];
  for (const [name, start] of Object.entries(RELOADING)) rows.push(await reload(name, start));
  for (const [name, start] of Object.entries(ANSWERING)) rows.push(await requests(name, start));
  rows.push(await requests("headwater, everything on disk before the answer", ours));
  run("down");
  return rows;
}

function install() {
  mkdirSync(PLACE, { recursive: true });
  writeFileSync(join(PLACE, "package.json"), JSON.stringify({ private: true, dependencies: VERSIONS }));
  const { status, stderr } = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: PLACE, encoding: "utf8" });
  if (status !== 0) throw new Error(`the peers could not be installed: ${stderr}`);
}

const installed = (...path) => join(PLACE, "node_modules", ...path);

const RELOADING = {
  nodemon: (file, port) => [installed("nodemon", "bin", "nodemon.js"), "--quiet", "--watch", file, file, String(port)],
  "vite-node": (file, port) => [installed("vite-node", "dist", "cli.mjs"), "--watch", file, String(port)],
};

const serverOf = (version, port) => `import { createServer } from "node:http";
globalThis.server?.closeAllConnections();
await new Promise((resolve) => (globalThis.server === undefined ? resolve() : globalThis.server.close(resolve)));
globalThis.server = createServer((_request, response) => response.end("${version}")).listen(${port}, "127.0.0.1");
if (import.meta.hot) import.meta.hot.accept();
`;

async function reload(name, words) {
  const [file, port] = [join(folder, `peer-${name}.mjs`), await freePort()];
  writeFileSync(file, serverOf(0, port));
  const peer = spawn(process.execPath, words(file, port), { cwd: PLACE, env, stdio: "ignore" });
  await untilAnswered(port, "0");
  const times = [];
  for (let version = 1; version <= SAVES; version++) {
    await sleep(700);
    const began = performance.now();
    writeFileSync(file, serverOf(version, port));
    await untilAnswered(port, String(version));
    times.push(performance.now() - began);
  }
  peer.kill();
  return { what: `${name}: save → first answer by the new code`, now: `p50 ${round(median(times), 1)} ms, p95 ${round(quantile(times, 0.95), 1)} ms` };
}

const FLOW = [
  { id: "tab", type: "tab", label: "bench" },
  { id: "in", type: "http in", z: "tab", url: "/", method: "post", wires: [["out"]] },
  { id: "out", type: "http response", z: "tab", statusCode: "200", wires: [] },
];

const WORKER = "export default { async fetch(request) { await request.json(); return Response.json({ received: true }); } };";

/** Each function returns its process. */
const ANSWERING = {
  async "node-red"(port) {
    const home = join(folder, "node-red");
    mkdirSync(home);
    writeFileSync(join(home, "flows.json"), JSON.stringify(FLOW));
    writeFileSync(join(home, "settings.js"), 'module.exports = { httpAdminRoot: false, uiHost: "127.0.0.1", logging: { console: { level: "off" } } };');
    return spawn(process.execPath, [installed("node-red", "red.js"), "-u", home, "-p", String(port), join(home, "flows.json")], { env, stdio: "ignore" });
  },
  async miniflare(port) {
    const program = join(PLACE, "worker.mjs");
    const options = JSON.stringify({ modules: true, script: WORKER, host: "127.0.0.1", port });
    writeFileSync(program, `import { Miniflare } from "miniflare"; await new Miniflare(${options}).ready;`);
    return spawn(process.execPath, [program], { cwd: PLACE, env, stdio: "ignore" });
  },
};

async function ours() {
  const path = join(folder, "beside-peers.mjs");
  writeFileSync(path, 'export default { name: "Beside peers", version: "1", props: { http: "$.interface.http" }, run(event) { this.$emit(event.body); } };');
  const { endpoint_url: url } = JSON.parse(run("deploy", path, "--json"));
  return { pid: JSON.parse(run("status", "--json")).pid, url, kill: () => undefined };
}

async function requests(name, start) {
  const port = await freePort();
  const peer = await start(port);
  const url = peer.url ?? `http://127.0.0.1:${port}/`;
  if (peer.url === undefined) await untilAnswered(port);
  await load(url);
  const { rate, p50, p99, cpu } = await load(url, { pid: peer.pid });
  const memory = memoryOf(peer.pid).megabytes;
  peer.kill();
  return {
    what: `${name}: 50 connections, 1 KB`,
    now: `${Math.round(rate)}/s, p50 ${round(p50)} ms, p99 ${round(p99, 1)} ms, ${Math.round(cpu)} µs CPU each, ${Math.round(memory)} MB`,
  };
}

const agent = new Agent({ keepAlive: false });

/** Omitted `text`: any answer. Throws after 60 s. */
async function untilAnswered(port, text) {
  const until = performance.now() + 60_000;
  for (;;) {
    const answer = await ask(port).catch(() => undefined);
    if (answer !== undefined && (text === undefined || answer === text)) return;
    if (performance.now() > until) throw new Error(`nobody answers on port ${port}`);
    await sleep(1);
  }
}

function ask(port) {
  return new Promise((resolve, reject) => {
    const request = get({ host: "127.0.0.1", port, agent }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk) => (body += chunk));
      response.on("end", () => resolve(body)).on("error", reject);
    });
    request.on("error", reject);
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
