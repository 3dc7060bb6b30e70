import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, median, pd, round, run, spread, timeOf } from "../support.mjs";

/** `pd list --json` with a server and ten sources ÷ `node -e 0`: whole processes, in turn, 25 pairs after 3 that do not count. */
export default async function commands() {
  run("up", "--detach");
  const path = join(folder, "listed.mjs");
  writeFileSync(path, 'export default { name: "Listed", version: "1", props: { http: "$.interface.http" }, run() {} };');
  for (let n = 0; n < 10; n++) run("deploy", path);
  const pairs = Array.from({ length: 28 }, () => ({ bare: timeOf(["-e", "0"]), list: timeOf([pd, "list", "--json"]) })).slice(3);
  for (const { id } of JSON.parse(run("list", "--json"))) run("delete", id, "--yes");
  run("down");
  const ratios = pairs.map(({ bare, list }) => list / bare);
  return [
    {
      what: "pd list --json ÷ node -e 0, whole processes, 25 pairs",
      limit: `${round(median(pairs.map(({ bare }) => bare)), 1)} ms`,
      now: `${round(median(pairs.map(({ list }) => list)), 1)} ms`,
      ratio: round(median(ratios)),
      spread: spread(ratios),
    },
  ];
}
