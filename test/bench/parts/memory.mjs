import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { env, folder, memoryOf, round, run, said } from "../support.mjs";

/** V8 returns a start's memory after a quiet time. */
const UNTIL_IDLE_MS = 15_000;

export default async function memory() {
  const rows = [];
  const measure = async () => {
    run("up", "--detach");
    await new Promise((resolve) => setTimeout(resolve, UNTIL_IDLE_MS));
    const { pid } = JSON.parse(run("status", "--json"));
    return memoryOf(pid);
  };
  // The first start creates the database, and both fill caches.
  for (let start = 0; start < 2; start++) {
    run("up", "--detach");
    await new Promise((resolve) => setTimeout(resolve, 3000));
    run("down");
  }
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
  rows.push(
    said(
      `memory, server and its processes: ${round(empty.megabytes, 1)} MB with 0 sources (${empty.processes} processes), ${round(full.megabytes, 1)} MB with 200 idle ones (${full.processes} processes): ${round(each, 1)} KB each; ratio ${round(full.megabytes / empty.megabytes)}`,
    ),
  );
  return rows;
}
