import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { answering, dev, save } from "../saves.mjs";
import { api, folder, median, quantile, round, run, sleep } from "../support.mjs";

const SAVES = 20;
const BURSTS = 5;
const SOURCES = 200;
const MANY = 10_000;

export default async function saves() {
  run("up", "--detach");
  const path = join(folder, "saves.mjs");
  writeFileSync(path, answering(0, { name: "Saves" }));
  const file = { path, name: "Saves", version: 0, ...(await dev(path)) };
  const rows = [];
  const row = (what, times, base) =>
    rows.push({
      what: `save → first answer by the new code, ${what}`,
      now: `p50 ${round(median(times), 1)} ms, p95 ${round(quantile(times, 0.95), 1)} ms${base === undefined ? "" : `; ${round(median(times) / median(base))} × of those a second apart, just before`}`,
    });
  const alone = await apart(file);
  row("a second apart", alone);
  row(`the last 5 of ${SAVES} within 10 s, ${BURSTS} times`, await bursts(file), alone);
  row("each at once after the one before, so that no spare waits", (await backToBack(file, 2 * SAVES)).slice(SAVES), alone);
  const before = await apart(file);
  await backToBack(file, MANY);
  await sleep(5000);
  const after = await apart(file);
  row(`after ${MANY} saves`, after, before);
  await deployMany();
  row(`of one of ${SOURCES} sources`, await apart(file), after);
  file.session.kill("SIGINT");
  await once(file.session, "close");
  run("down");
  return rows;
}

function saveNext(file) {
  const text = String(++file.version);
  return save(file.path, answering(text, file), { url: file.endpoint, text });
}

async function apart(file) {
  const times = [];
  for (let n = 0; n < SAVES; n++) {
    await sleep(1000);
    times.push(await saveNext(file));
  }
  return times;
}

async function bursts(file) {
  const times = [];
  for (let burst = 0; burst < BURSTS; burst++) {
    await sleep(5000);
    const all = [];
    for (let n = 0; n < SAVES; n++) {
      await sleep(480);
      all.push(await saveNext(file));
    }
    times.push(...all.slice(-5));
  }
  return times;
}

async function backToBack(file, count) {
  const times = [];
  for (let n = 0; n < count; n++) times.push(await saveNext(file));
  return times;
}

async function deployMany() {
  for (let n = 1; n < SOURCES; n++) await api("POST", "/v1/sources", { component_code: answering(n, { name: `Other ${n}` }) });
  await sleep(5000);
}
