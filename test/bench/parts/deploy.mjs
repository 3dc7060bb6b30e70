import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { api, env, median, quantile, round, run, sleep, spread } from "../support.mjs";

const ROUNDS = 20;
const IMPORTS = ["@pipedream/platform", "lodash"];

/** From the request to the answer, with installed packages. The limit only loads them. */
export default async function deploy() {
  run("up", "--detach");
  await save(0);
  const packages = join(env.PD_HOME, "packages");
  const set = readdirSync(packages).find((name) => IMPORTS.every((one) => existsSync(join(packages, name, "node_modules", one))));
  const pairs = [];
  for (let number = 1; number <= ROUNDS; number++) {
    await sleep(500);
    const limit = loadAlone(join(packages, set));
    await sleep(500);
    pairs.push({ ours: await save(number), limit });
  }
  run("down");
  const told = (side) => {
    const times = pairs.map((pair) => pair[side]);
    return `p50 ${round(median(times), 1)} ms, p95 ${round(quantile(times, 0.95), 1)} ms`;
  };
  const ratios = pairs.map(({ ours, limit }) => ours / limit);
  return [
    {
      what: `saving a component that imports ${IMPORTS.join(", ")}, installed before, ${ROUNDS} times`,
      limit: `${told("limit")} to import them in a process that has started`,
      now: told("ours"),
      ratio: round(median(ratios)),
      spread: spread(ratios),
    },
  ];
}

async function save(number) {
  const imports = IMPORTS.map((name, index) => `import * as p${index} from "${name}";`).join("");
  const code = `${imports} export default { key: "bench-${number}", name: "Bench ${number}", version: "0.0.1", type: "action", props: {}, run() { return [p0, p1].length; } };`;
  const started = performance.now();
  await api("POST", "/v1/components", { component_code: code });
  return performance.now() - started;
}

function loadAlone(cwd) {
  const names = JSON.stringify(IMPORTS);
  const code = `const t = performance.now(); for (const name of ${names}) await import(name); console.log(performance.now() - t);`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { cwd, env, encoding: "utf8" });
  if (stdout === "") throw new Error(stderr);
  return Number(stdout);
}
