/**
 * Fails when repeated operations enlarge the footprint. Exit codes: 1 for growth, 2 for an unknown name.
 * npm run leaks -- [names] [--scale 0.01]
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Footprint, settledFootprint } from "./footprint.ts";
import { REPEATED, type Repetition } from "./repetitions.ts";

const SHARES = [0.01, 0.1, 1];
/** From 10 % to 100 %, a figure may grow to `GROWTH` times its value plus `SLACK`, for chance such as uncollected garbage. */
const GROWTH = 1.1;
const SLACK: Footprint = { memoryMb: 35, files: 6, processes: 2, threads: 8, diskMb: 4, entries: 12 };

const { values, positionals } = parseArgs({ allowPositionals: true, options: { scale: { type: "string", default: "1" } } });
const unknown = positionals.filter((name) => !Object.hasOwn(REPEATED, name));
if (unknown.length > 0) {
  process.stderr.write(`Cannot repeat ${unknown.join(", ")}: there are ${Object.keys(REPEATED).join(", ")}\n`);
  process.exit(2);
}
const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function measure(name: string, { times, begin, quietMs }: Repetition): Promise<string[]> {
  const all = Math.round(times * Number(values.scale));
  const { program, repeat } = await begin(resolve("."));
  const seen: Footprint[] = [];
  let done = 0;
  try {
    for (const share of SHARES) {
      const started = performance.now();
      const until = Math.round(all * share);
      await repeat(done, until);
      const seconds = (performance.now() - started) / 1000;
      const found = await settledFootprint(program.pid, program.folder, quietMs);
      say(`${name}, ${until} times (${((until - done) / seconds).toFixed(1)}/s): ${JSON.stringify(found)}`);
      seen.push(found);
      done = until;
    }
  } finally {
    await program.stop();
  }
  const [, early, late] = seen;
  return early === undefined || late === undefined ? [] : grown(early, late).map((text) => `${name}: ${text}`);
}

function grown(early: Footprint, late: Footprint): string[] {
  const pairs: [string, number, number, number][] = [
    ["memory (MB)", early.memoryMb, late.memoryMb, SLACK.memoryMb],
    ["open files", early.files, late.files, SLACK.files],
    ["processes", early.processes, late.processes, SLACK.processes],
    ["threads", early.threads, late.threads, SLACK.threads],
    ["disk (MB)", early.diskMb, late.diskMb, SLACK.diskMb],
    ["files and folders", early.entries, late.entries, SLACK.entries],
  ];
  return pairs.flatMap(([what, before, after, slack]) => (after > before * GROWTH + slack ? [`${what}: ${before} at 10 %, ${after} at 100 %`] : []));
}

const problems: string[] = [];
for (const [name, repetition] of Object.entries(REPEATED)) {
  if (positionals.length === 0 || positionals.includes(name)) problems.push(...(await measure(name, repetition)));
}
for (const problem of problems) say(`GROWS: ${problem}`);
say(problems.length === 0 ? "leaks: everything is flat" : `leaks: ${problems.length} figures grow`);
process.exit(problems.length === 0 ? 0 : 1);
