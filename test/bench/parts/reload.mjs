import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { answering, dev, save } from "../saves.mjs";
import { folder, median, quantile, round, run, sleep, spread, startLimit } from "../support.mjs";

const SAVES = 50;
const UNCOUNTED = 3;
const SERIES = 4;
const IN_A_ROW = 15;
/** The first saves find a spare process ready. */
const FIRST = 5;
const KINDS = {
  "a small file": "",
  "with axios and lodash": 'import axios from "axios"; import lodash from "lodash"; if (!axios.get || !lodash.map) throw new Error("none");',
};

/** From the write to the new code's first answer, alternating with the limit. */
export default async function reload() {
  const rows = [];
  for (const [what, imports] of Object.entries(KINDS)) {
    const [ours, limits] = [join(folder, `reload-${rows.length}.mjs`), join(folder, `reload-limit-${rows.length}.mjs`)];
    const code = (version) => answering(version, { name: `Reload ${rows.length}`, imports });
    writeFileSync(ours, code(0));
    // The limit does not find or install packages.
    writeFileSync(limits, code(0).replace(imports, ""));
    const { session, endpoint } = await dev(ours);
    const limit = await startLimit("reload.mjs", limits);
    const pairs = [];
    for (let version = 1; version <= SAVES + UNCOUNTED; version++) {
      await sleep(500);
      const ms = await save(ours, code(version), { url: endpoint, text: String(version) });
      await sleep(500);
      pairs.push({ ours: ms, limit: await save(limits, code(version).replace(imports, ""), { url: limit.url, text: String(version) }) });
    }
    session.kill("SIGINT");
    await once(session, "close");
    limit.stop();
    rows.push(row(`save → first answer by the new code, ${what}`, pairs.slice(UNCOUNTED)));
  }
  rows.push(await backToBack());
  run("down");
  return rows;
}

/** Without a pause, no spare process is ready. */
async function backToBack() {
  const [ours, limits] = [join(folder, "back-to-back.mjs"), join(folder, "back-to-back-limit.mjs")];
  const code = (version) => answering(version, { name: "Back to back" });
  writeFileSync(ours, code(0));
  writeFileSync(limits, code(0));
  const { session, endpoint } = await dev(ours);
  const limit = await startLimit("reload.mjs", limits, "", "0");
  const pairs = [];
  let version = 0;
  const series = async (path, url) => {
    await sleep(1000);
    const times = [];
    for (let n = 0; n < IN_A_ROW; n++) times.push(await save(path, code(++version), { url, text: String(version) }));
    return times.slice(FIRST);
  };
  for (let n = 0; n < SERIES; n++) {
    const [told, least] = [await series(ours, endpoint), await series(limits, limit.url)];
    pairs.push(...told.map((ms, place) => ({ ours: ms, limit: least[place] })));
  }
  session.kill("SIGINT");
  await once(session, "close");
  limit.stop();
  return row("the same for a small file, each save at once after the one before", pairs);
}

function row(what, pairs) {
  const told = (side) => {
    const times = pairs.map((pair) => pair[side]);
    return `p50 ${round(median(times), 1)} ms, p95 ${round(quantile(times, 0.95), 1)} ms`;
  };
  const ratios = pairs.map(({ ours, limit }) => ours / limit);
  return { what, limit: told("limit"), now: told("ours"), ratio: round(median(ratios)), spread: spread(ratios) };
}
