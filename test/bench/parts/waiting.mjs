import { AT_ONCE, api, memoryOf, post, round, run, said, untilRuns, workflowFolder } from "../support.mjs";

const WAITING = 10_000;

export default async function waiting() {
  const rows = [];
  const measure = async () => {
    run("up", "--detach");
    await new Promise((resolve) => setTimeout(resolve, 5000));
    return memoryOf(JSON.parse(run("status", "--json")).pid);
  };
  run("up", "--detach");
  const workflow = workflowFolder("waits", `{ concurrency: ${AT_ONCE} }`, { ask: "return $.flow.suspend(1e9);", after: "return 1;" });
  run("down");
  const empty = await measure();
  // Restarting changed the endpoint's port.
  const [{ endpoint_url: url }] = (await api("GET", `/v1/workflows/${workflow.id}`)).triggers;
  for (let n = 0; n < WAITING; n += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, () => post(url, { n })));
  await untilRuns(workflow.id, "waiting", WAITING);
  await new Promise((resolve) => setTimeout(resolve, 90_000));
  const live = memoryOf(JSON.parse(run("status", "--json")).pid);
  run("down");
  const restarted = await measure();
  rows.push(
    said(
      `${WAITING} runs that wait: ${round(restarted.megabytes - empty.megabytes, 1)} MB and ${restarted.processes - empty.processes} processes more than without them after a restart; ${round(live.megabytes - empty.megabytes, 1)} MB and ${live.processes - empty.processes} processes more on the server that began them, 90 s later`,
    ),
  );
  run("delete", workflow.id, "--yes");
  run("down");
  return rows;
}
