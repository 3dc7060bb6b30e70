import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { AT_ONCE, api, env, folder, median, post, quantile, round, run, said, spread, untilRuns, workflowFolder } from "../support.mjs";

const RUNS = 3000;

async function runsOf(id) {
  const all = [];
  for (let before; ;) {
    const page = await api("GET", `/v1/workflows/${id}/runs?limit=1000${before === undefined ? "" : `&before=${before}`}`);
    all.push(...page);
    if (page.length < 1000) return all;
    before = page.at(-1).id;
  }
}

function yardstick(file, ...words) {
  const { stdout } = spawnSync(process.execPath, [join(import.meta.dirname, "..", file), ...words.map(String)], { env, encoding: "utf8" });
  return JSON.parse(stdout);
}

/** Runs of three code steps, each committed with fsync, beside the bare commits. Then single requests, up to the last commit. */
export default async function workflows() {
  const rows = [];
  run("up", "--detach", "--keep-invocations", "100000");
  const steps = { one: "return steps.trigger.event.body;", two: "return steps.one.$return_value;", three: "return steps.two.$return_value;" };
  const workflow = workflowFolder("three-steps", `{ concurrency: ${AT_ONCE} }`, steps);
  const [{ endpoint_url: url }] = workflow.triggers;
  await post(url, { warm: true });
  await untilRuns(workflow.id, "succeeded", 1);
  const rounds = [];
  let before = 1;
  for (let round = 0; round < 3; round++) {
    const byHand = yardstick("step-commits.mjs", mkdtempSync(join(folder, "hand-")), RUNS, AT_ONCE);
    for (let n = 0; n < RUNS; n += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, () => post(url, { n })));
    await untilRuns(workflow.id, "succeeded", before + RUNS);
    const ended = (await runsOf(workflow.id)).slice(0, RUNS);
    const seconds = (Math.max(...ended.map((one) => one.ended_at_ms)) - Math.min(...ended.map((one) => one.started_at_ms))) / 1000;
    rounds.push({ rate: RUNS / seconds, byHand: byHand.rate });
    before += RUNS;
  }
  const alone = yardstick("step-commits.mjs", mkdtempSync(join(folder, "hand-")), 300, 1);
  const sent = [];
  for (let n = 0; n < 300; n++) {
    sent.push(Date.now());
    await post(url, { n });
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  await untilRuns(workflow.id, "succeeded", before + 300);
  const times = (await runsOf(workflow.id))
    .slice(0, 300)
    .toReversed()
    .map((one, index) => one.ended_at_ms - sent[index]);
  const ratios = rounds.map(({ rate, byHand }) => rate / byHand);
  rows.push(
    said(
      `runs of three code steps, each step committed: ${Math.round(median(rounds.map(({ rate }) => rate)))}/s of ${RUNS}, ${AT_ONCE} at a time; by hand ${Math.round(median(rounds.map(({ byHand }) => byHand)))}/s; ratio ${round(median(ratios), 3)} (${spread(ratios)})`,
    ),
  );
  rows.push(
    said(
      `one request → last step committed: p50 ${quantile(times, 0.5)} ms, p95 ${quantile(times, 0.95)} ms of 300; three commits by hand: p50 ${round(alone.p50, 1)} ms`,
    ),
  );
  run("delete", workflow.id, "--yes");
  run("down");
  return rows;
}
