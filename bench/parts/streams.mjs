import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { api, emitter, env, run, said, summary } from "../support.mjs";

/** 100 readers of one stream get 200 events, one run each. */
export default async function streams() {
  const rows = [];
  run("up", "--detach");
  const source = emitter();
  const key = readFileSync(join(env.PD_HOME, "api-key"), "utf8").trim();
  const { api_url: base } = JSON.parse(run("status", "--json"));
  const words = [join(import.meta.dirname, "..", "readers.mjs"), `${base}/sse/dc/${source.id}/emits`, key, "100", "200"];
  const readers = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "inherit"] });
  let shown = "";
  readers.stdout.setEncoding("utf8").on("data", (text) => (shown += text));
  while (!shown.includes("open")) await new Promise((resolve) => setTimeout(resolve, 20));
  for (let n = 0; n < 200; n++) await api("POST", `/v1/sources/${source.id}/run`, { event: { count: 1 } });
  while (!shown.includes("}")) await new Promise((resolve) => setTimeout(resolve, 20));
  const figures = JSON.parse(shown.slice(shown.indexOf("{")));
  rows.push(said(`one stream to 100 readers: ${figures.count} messages, from $emit to each reader ${summary(figures)}`));
  readers.kill();
  run("delete", source.id, "--yes");
  run("down");
  return rows;
}
