import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { besideNode, folder, run } from "../support.mjs";

export default async function commands() {
  run("up", "--detach");
  const path = join(folder, "listed.mjs");
  writeFileSync(path, 'export default { name: "Listed", version: "1", props: { http: "$.interface.http" }, run() {} };');
  for (let n = 0; n < 10; n++) run("deploy", path);
  const row = besideNode("list", "--json");
  for (const { id } of JSON.parse(run("list", "--json"))) run("delete", id, "--yes");
  run("down");
  return [row];
}
