/**
 * Deliberate faults, each a change of one place of this program that breaks one promise. Whoever trusts the checker
 * wants to see it catch them: `npm run torture:faults` applies each to a copy, builds that, tortures it, and fails when
 * no promise is found broken.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

interface Fault {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly put: string;
  /** One of the rules that it has to break. */
  readonly breaks: RegExp;
}

const FAULTS: readonly Fault[] = [
  {
    name: "an update lets old code write over what new code has stored",
    file: "src/engine/live-source.ts",
    find: 'const keys = kind === "hook" ? [] : owned.clashesOf(touched, unit);',
    put: 'const keys: readonly string[] = kind === "hook" || kind !== "hook" ? [] : owned.clashesOf(touched, unit);',
    breaks: /never given twice|never go back|one step/,
  },
  {
    name: "a run that was killed is recorded, and not made again",
    file: "src/domain/run-again.ts",
    find: "if (!isDeath({ outcome }) || hasExited === true || deathsAlone + 1 >= DEATHS_FOR_BLAME) return undefined;",
    put: "if (isDeath({ outcome }) || hasExited === true || deathsAlone + 1 >= DEATHS_FOR_BLAME) return undefined;",
    breaks: /has run once|500|hears each event/,
  },
  {
    name: "a request is acknowledged before it is stored",
    file: "src/engine/accept-request.ts",
    find: "request.cancels.push(this.#slow.add(() => request.store().then(() => resolve(accepted(request.id)), reject)));",
    put: "request.cancels.push(this.#slow.add(() => resolve(accepted(request.id)))); void reject;",
    breaks: /has run once/,
  },
  {
    name: "the state of a run is committed apart from its events",
    file: "src/store/sqlite/runs.ts",
    find: "      writeState(sourceId, stateChanges);\n      const logChunk = writeLogs(sourceId, id, logs);",
    put: "      if (id.charCodeAt(id.length - 1) % 16 !== 0) writeState(sourceId, stateChanges);\n      const logChunk = writeLogs(sourceId, id, logs);",
    breaks: /one step|never given twice/,
  },
  {
    name: "dedupe forgets what it knows at a start",
    file: "src/store/sqlite/runs.ts",
    find: 'return { fence: Number(opened["fence"]), cache: json(opened["cache"]), state: readState(id) };',
    put: 'return { fence: Number(opened["fence"]), cache: {}, state: readState(id) };',
    breaks: /remembered is stored once/,
  },
  {
    name: "commits are not held back for their fsync",
    file: "src/store/sqlite/writer.ts",
    find: "    const replies = writer.perform(batch",
    put: '    port.postMessage(batch.filter(({ verb }) => verb === "storePending").map(({ id }) => ({ id })));\n    const end = Date.now() + 150; while (Date.now() < end);\n    const replies = writer.perform(batch',
    breaks: /has run once/,
  },
  {
    name: "a stream that is resumed leaves one event out",
    file: "src/server/api/event-stream.ts",
    find: "const after = last === undefined ? undefined : seqOf(last);",
    put: 'const after = last === undefined ? undefined : seqOf(last) + (last === "0-0" ? 0 : 1);',
    breaks: /reader sees each event/,
  },
  {
    name: "a delivery is settled before its receiver has it",
    file: "src/engine/deliver.ts",
    find: "const result = webhook === undefined ? await this.#giveToSource(delivery) : await this.#sendTo(webhook, delivery);",
    put: 'const result: SendResult | "inactive" | "busy" = webhook === undefined ? await this.#giveToSource(delivery) : clock.random() < 0.05 ? { kind: "answered", status: 200, answer: "" } : await this.#sendTo(webhook, delivery);',
    breaks: /delivered to each webhook/,
  },
  {
    name: "one event in forty reaches no listener",
    file: "src/store/sqlite/runs.ts",
    find: "return { events: stored, listeners: publish({ sourceId, invocationId: id, at, events: stored, logs, logChunk, invocation }) };",
    put: "return { events: stored, listeners: publish({ sourceId, invocationId: id, at, events: stored.filter(({ seq }) => seq % 40 !== 0), logs, logChunk, invocation }) };",
    breaks: /delivered to each webhook|hears each event/,
  },
  {
    name: "an instant that was running at a crash is fired again",
    file: "src/engine/scheduler.ts",
    find: "      await store.advance(moved, instants);",
    put: "      void store.advance; void instants; void moved;",
    breaks: /one fate/,
  },
];

const { values } = parseArgs({ options: { only: { type: "string" }, minutes: { type: "string", default: "0.4" }, seed: { type: "string", default: "11" } } });
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const source = resolve(".");
const MOST_TRIES = 3;
let missed = 0;
const chosen = FAULTS.filter(({ name }) => values.only === undefined || name.includes(values.only));
for (const fault of chosen) {
  const found = broken(fault);
  if (!found.some((line) => fault.breaks.test(line))) missed++;
  say(
    `${found.some((line) => fault.breaks.test(line)) ? "caught" : "MISSED"}: ${fault.name}${found.length === 0 ? "" : `\n  ${found.slice(0, 2).join("\n  ")}`}`,
  );
}
say(`${chosen.length - missed} passed, ${missed} failed`);
process.exit(missed === 0 ? 0 : 1);

/** What the checker says of a copy with this fault. */
function broken({ name, file, find, put, breaks }: Fault): readonly string[] {
  const copy = mkdtempSync(join(tmpdir(), "headwater-fault-"));
  try {
    for (const part of ["src", "scripts", "bin", "templates", "package.json"]) cpSync(join(source, part), join(copy, part), { recursive: true });
    symlinkSync(join(source, "node_modules"), join(copy, "node_modules"));
    const text = readFileSync(join(copy, file), "utf8");
    if (!text.includes(find)) throw new Error(`${file} has no place for the fault "${name}" any more: say where it is now`);
    writeFileSync(
      join(copy, file),
      text.replace(find, () => put),
    );
    run(["scripts/build.mjs"], copy);
    // What depends on when a blow falls may want another try.
    for (let tries = 1; ; tries++) {
      const words = ["--program", copy, "--minutes", String(Number(values.minutes) * tries), "--seed", String(Number(values.seed) + tries)];
      const lines = run(["scripts/run.mjs", "torture/main.ts", ...words], source).split("\n");
      const found = lines.filter((line) => line.startsWith("BROKEN: "));
      if (tries === MOST_TRIES || found.some((line) => breaks.test(line))) return found;
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function run(words: readonly string[], cwd: string): string {
  const { stdout } = spawnSync(process.execPath, words, { cwd, encoding: "utf8", maxBuffer: 2 ** 26 });
  return stdout;
}
