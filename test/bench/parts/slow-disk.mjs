import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { env, folder, load, pd, quantile, round, run, said } from "../support.mjs";

/** The API's answers while 50 connections wait for slow commits. */
export default async function slowDisk() {
  const rows = [];
  const library = join(folder, "slow-fsync.so");
  if (spawnSync("cc", ["-shared", "-fPIC", "-o", library, join(import.meta.dirname, "..", "slow-fsync.c"), "-ldl"]).status !== 0) {
    return [said("slow disk: not measured, there is no C compiler")];
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
  rows.push(
    said(
      `10 ms more for each fsync, 50 connections: ${Math.round(rate)} stored requests/s (p50 ${round(p50, 1)} ms); meanwhile the API answers in p50 ${round(quantile(times, 0.5), 1)} ms, p99 ${round(quantile(times, 0.99), 1)} ms`,
    ),
  );
  run("down");
  return rows;
}
