import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { api, cpuOf, emitter, env, folder, median, quantile, round, run, sleep, spread } from "../support.mjs";

const COUNT = 20_000;
const ROUNDS = 3;
const ONE_BY_ONE = 300;

/** 20,000 events, alternating with the limit, after a warm-up. The webhook is inactive until all are stored. Then single events, from $emit to arrival. */
export default async function deliveries() {
  run("up", "--detach");
  const { pid } = JSON.parse(run("status", "--json"));
  const source = emitter();
  const receiver = spawn(process.execPath, [join(import.meta.dirname, "..", "receiver.mjs")], { env, stdio: ["ignore", "pipe", "inherit"] });
  const url = String((await once(receiver.stdout.setEncoding("utf8"), "data"))[0]).trim();
  const figures = async () => (await fetch(url)).json();
  const webhook = JSON.parse(run("subscribe", source.id, url, "--json"));
  const rounds = [];
  await deliverAll({ source, webhook, pid, figures });
  for (let n = 0; n < ROUNDS; n++) {
    const limit = await runLimit(url, n);
    await figures();
    rounds.push({ limit, ours: await deliverAll({ source, webhook, pid, figures }) });
  }
  await sleep(2000);
  await figures();
  for (let n = 0; n < ONE_BY_ONE; n++) {
    await api("POST", `/v1/sources/${source.id}/run`, { event: { count: 1 } });
    await sleep(5);
  }
  await sleep(500);
  const { ages } = await figures();
  receiver.kill();
  run("delete", source.id, "--yes");
  run("down");
  return [
    row(rounds),
    { what: "from $emit to the first attempt, events one by one", now: `p50 ${round(quantile(ages, 0.5), 1)} ms, p99 ${round(quantile(ages, 0.99), 1)} ms` },
  ];
}

async function deliverAll({ source, webhook, pid, figures }) {
  await api("PUT", `/v1/webhooks/${webhook.id}`, { active: false });
  for (let n = 0; n < COUNT / 1000; n++) await api("POST", `/v1/sources/${source.id}/run`, { event: { count: 1000 } });
  await sleep(1000);
  const before = cpuOf(pid);
  await api("PUT", `/v1/webhooks/${webhook.id}`, { active: true, replay_missed: true });
  while ((await api("GET", `/v1/webhooks/${webhook.id}`)).deliveries.pending > 0) await sleep(500);
  const cpu = (cpuOf(pid) - before) / COUNT;
  const { count, seconds } = await figures();
  if (count !== COUNT) throw new Error(`${count} deliveries came, of ${COUNT}`);
  return { rate: count / seconds, cpu };
}

async function runLimit(url, n) {
  const program = spawn(
    process.execPath,
    [join(import.meta.dirname, "..", "limits", "deliveries.mjs"), join(folder, `deliveries-${n}.db`), url, String(COUNT)],
    {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [text] = await once(program.stdout.setEncoding("utf8"), "data");
  const { count, seconds, cpu } = JSON.parse(text);
  return { rate: count / seconds, cpu: cpu / count };
}

function row(rounds) {
  const told = (side) => `${Math.round(median(rounds.map((one) => one[side].rate)))}/s, ${Math.round(median(rounds.map((one) => one[side].cpu)))} µs CPU each`;
  const ratios = rounds.map(({ limit, ours }) => ours.rate / limit.rate);
  return {
    what: "deliveries to one loopback receiver, 4 at a time, each attempt recorded",
    limit: told("limit"),
    now: told("ours"),
    ratio: round(median(ratios)),
    spread: spread(ratios),
  };
}
