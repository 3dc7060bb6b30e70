import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { api, emitter, env, load, round, run, said, summary } from "../support.mjs";

/**
 * 20,000 events to one loopback receiver, 4 at a time, each attempt recorded, ÷ what 4 bare connections post to it;
 * then 300 events one by one: from $emit to the arrival of the first attempt.
 */
export default async function deliveries() {
  const rows = [];
  run("up", "--detach");
  const source = emitter();
  const receiver = spawn(process.execPath, [join(import.meta.dirname, "..", "receiver.mjs")], { env, stdio: ["ignore", "pipe", "inherit"] });
  const url = String((await once(receiver.stdout.setEncoding("utf8"), "data"))[0]).trim();
  const figures = async () => (await fetch(url)).json();
  const bare = await load(url, { connections: 4 });
  await figures();
  const webhook = JSON.parse(run("subscribe", source.id, url, "--json"));
  for (let n = 0; n < 20; n++) await api("POST", `/v1/sources/${source.id}/run`, { event: { count: 1000 } });
  while ((await api("GET", `/v1/webhooks/${webhook.id}`)).deliveries.pending > 0) await new Promise((resolve) => setTimeout(resolve, 100));
  const { count, seconds } = await figures();
  const rate = count / seconds;
  for (let n = 0; n < 300; n++) await api("POST", `/v1/sources/${source.id}/run`, { event: { count: 1 } });
  await new Promise((resolve) => setTimeout(resolve, 500));
  rows.push(
    said(
      `deliveries to a loopback receiver: ${Math.round(rate)}/s of ${count}; ÷ 4 bare connections: ${round(rate / bare.rate)}; from $emit to the first attempt, one by one: ${summary(await figures())}`,
    ),
  );
  receiver.kill();
  run("delete", source.id, "--yes");
  run("down");
  return rows;
}
