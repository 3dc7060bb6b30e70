import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { api, emitter, env, median, round, run, said, spread, startLimit, summary } from "../support.mjs";

const READERS = 100;
const SINGLE = 200;
const MANY = 2000;
const ROUNDS = 3;

/** 200 single events, then 2,000 events of one run beside the limit. */
export default async function streams() {
  run("up", "--detach");
  const source = emitter();
  const key = readFileSync(join(env.PD_HOME, "api-key"), "utf8").trim();
  const { api_url: base } = JSON.parse(run("status", "--json"));
  const ours = `${base}/sse/dc/${source.id}/emits`;
  const emit = (count) => api("POST", `/v1/sources/${source.id}/run`, { event: { count } });
  const limit = await startLimit("streams.mjs");
  const emitLimit = (count) => fetch(limit.url, { method: "POST", body: JSON.stringify({ event: { count } }) }).then((answer) => answer.text());

  const single = await read(ours, { key, events: SINGLE }, async () => {
    for (let n = 0; n < SINGLE; n++) await emit(1);
  });
  const pairs = [];
  for (let n = 0; n <= ROUNDS; n++) {
    const rateOf = ({ count, seconds }) => count / seconds;
    const pair = {
      limit: rateOf(await read(limit.url, { key, events: MANY }, () => emitLimit(MANY))),
      ours: rateOf(await read(ours, { key, events: MANY }, () => emit(MANY))),
    };
    if (n > 0) pairs.push(pair);
  }
  limit.stop();
  run("delete", source.id, "--yes");
  run("down");
  const ratios = pairs.map((pair) => pair.ours / pair.limit);
  const told = (side) => `${Math.round(median(pairs.map((pair) => pair[side])) / 1000)},000 frames/s`;
  return [
    said(`one stream to ${READERS} readers, ${SINGLE} events one by one: from $emit to each reader ${summary(single)}`),
    {
      what: `one stream to ${READERS} readers, ${MANY} events of one run`,
      limit: told("limit"),
      now: told("ours"),
      ratio: round(median(ratios)),
      spread: spread(ratios),
    },
  ];
}

async function read(url, { key, events }, emit) {
  const words = [join(import.meta.dirname, "..", "readers.mjs"), url, key, String(READERS), String(events)];
  const readers = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "inherit"] });
  let shown = "";
  readers.stdout.setEncoding("utf8").on("data", (text) => (shown += text));
  while (!shown.includes("open")) await new Promise((resolve) => setTimeout(resolve, 20));
  await emit();
  while (!shown.includes("}")) await new Promise((resolve) => setTimeout(resolve, 20));
  readers.kill();
  return JSON.parse(shown.slice(shown.indexOf("{")));
}
