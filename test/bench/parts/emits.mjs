import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { api, env, folder, median, memoryOf, post, quantile, round, run, sleep, spread } from "../support.mjs";

const COUNT = 100_000;
const RUNS = 5;

/** From the call to the answer, which follows the writes to disk. The first run is a warm-up. */
export default async function emits() {
  const limit = spawnSync(process.execPath, [join(import.meta.dirname, "..", "limits", "emits.mjs"), join(folder, "emits.db"), String(COUNT), String(RUNS)], {
    env,
    encoding: "utf8",
  });
  const limits = limit.stdout
    .trim()
    .split("\n")
    .map((line) => COUNT / JSON.parse(line).seconds);
  run("up", "--detach");
  const { pid } = JSON.parse(run("status", "--json"));
  const path = join(folder, "many-emits.mjs");
  writeFileSync(
    path,
    'export default { name: "Many emits", version: "1", dedupe: "unique", run({ count, from }) { for (let n = 0; n < count; n++) this.$emit({ at: Date.now(), n }, { id: `${from}-${n}` }); } };',
  );
  const source = JSON.parse(run("deploy", path, "--json"));
  const rates = [];
  for (let n = 0; n <= RUNS; n++) {
    const began = performance.now();
    const { event_count: count } = await api("POST", `/v1/sources/${source.id}/run`, { event: { count: COUNT, from: n } });
    if (count !== COUNT) throw new Error(`${count} events were kept, of ${COUNT}`);
    if (n > 0) rates.push(COUNT / ((performance.now() - began) / 1000));
  }
  const after = memoryOf(pid).megabytes;
  await sleep(30_000);
  const later = memoryOf(pid).megabytes;
  const meanwhile = await requestsMeanwhile(source.id);
  run("delete", source.id, "--yes");
  run("down");
  const ratios = rates.map((rate, place) => rate / limits[place]);
  return [
    {
      what: "one run that emits 100,000 events, dedupe unique",
      limit: `${Math.round(median(limits))} events/s`,
      now: `${Math.round(median(rates))} events/s`,
      ratio: round(median(ratios)),
      spread: spread(ratios),
    },
    { what: "memory after 6 such runs", now: `${Math.round(after)} MB; ${Math.round(later)} MB half a minute later` },
    { what: "requests to another source meanwhile, one after the other", now: meanwhile },
  ];
}

async function requestsMeanwhile(id) {
  const path = join(folder, "beside.mjs");
  writeFileSync(path, 'export default { name: "Beside", version: "1", props: { http: "$.interface.http" }, run({ body }) { this.$emit(body); } };');
  const beside = JSON.parse(run("deploy", path, "--json"));
  for (let n = 0; n < 50; n++) await post(beside.endpoint_url, { n });
  const ages = [];
  for (let n = 0; n < RUNS; n++) {
    let isOver = false;
    const large = api("POST", `/v1/sources/${id}/run`, { event: { count: COUNT, from: `meanwhile-${n}` } }).finally(() => (isOver = true));
    while (!isOver) {
      const began = performance.now();
      await post(beside.endpoint_url, { n });
      ages.push(performance.now() - began);
    }
    await large;
  }
  run("delete", beside.id, "--yes");
  return `p50 ${round(median(ages), 1)} ms, p99 ${round(quantile(ages, 0.99), 1)} ms, longest ${Math.round(Math.max(...ages))} ms`;
}
