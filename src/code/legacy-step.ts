import { posix } from "node:path";
import { EXPORTS } from "./exports.ts";
import { type Script, type Span, readScript } from "../domain/component/javascript.ts";

/** A component that runs step code from before 2021 with the old interface. */
export interface LegacyStep {
  /** Keeps the file's line numbers. */
  readonly text: string;
  readonly warning: string;
}

/** Parsing more would block the server. */
const MOST_CHARACTERS = 200_000;

/** Undefined unless the file is JavaScript without exports. */
export function legacyStepOf(path: string, text: string): LegacyStep | undefined {
  if (!/\.[cm]?js$/.test(path) || text.length > MOST_CHARACTERS || text.trim() === "" || EXPORTS.test(text)) return undefined;
  const script = readScript(text);
  if (script === undefined) return undefined;
  return {
    text: adapted(text, { script, name: nameOf(path) }),
    warning: `${posix.basename(path)} has no export: it runs as a legacy step with event, steps, params and auths; this.x = … exports x`,
  };
}

/** `tell/entry.js` is `tell`. */
function nameOf(path: string): string {
  const { name, dir } = posix.parse(path);
  return name === "entry" && dir !== "" ? posix.basename(dir) : name;
}

function adapted(text: string, { script, name }: { script: Script; name: string }): string {
  const imports = script.imports.map(({ start, end }) => text.slice(start, end).replaceAll("\n", " ")).join(" ");
  const body = blanked(text, script.imports);
  const { onlyFunction: only } = script;
  const called =
    only === undefined
      ? `return await (async function () {${body}\n}).call(this);`
      : `${body.slice(0, only.start)}return await (${body.slice(only.start, only.end)}).call(this, event, steps, params, auths)${body.slice(only.end)}`;
  const facts = JSON.stringify({ name, apps: script.membersOf("auths"), params: script.membersOf("params") });
  const names = "event, steps, params, auths, $event, $respond, $end, $send, $checkpoint, $keep";
  return `${imports} ${ADAPTER} export default legacyStep(${facts}, async function (${names}) { try { ${called}\n} finally { $keep($checkpoint); } });`;
}

/** Blanks keep the rest in place. */
function blanked(text: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of spans) {
    parts.push(text.slice(from, start), text.slice(start, end).replaceAll(/[^\n]/g, " "));
    from = end;
  }
  return parts.join("") + text.slice(from);
}

/** Precedes such code on its first line. Exports the final members of `this`. The workflow passes the data store for `$checkpoint`. */
const ADAPTER = `
const legacyStep = ({ name, apps, params }, body) => ({
  name, version: "0.0.0",
  type: "action",
  props: {
    ...Object.fromEntries(params.map((name) => [name, { type: "any", optional: true }])),
    ...Object.fromEntries(apps.map((app) => [app, { type: "app", app }])),
    $checkpoints: { type: "data_store", optional: true },
    $step: { type: "string", optional: true },
  },
  async run({ steps, $ }) {
    const store = this.$checkpoints;
    const [own, all] = [this.$step, "$workflow"];
    const before = { own: await store?.get(own), all: await store?.get(all) };
    const exported = Object.defineProperty({}, "$checkpoint", { value: before.own, writable: true });
    const members = (names, valueOf) => Object.fromEntries(names.map((name) => [name, valueOf(this[name])]));
    const event = steps.trigger?.event;
    const end = Symbol("end");
    let checkpoint = before.all;
    const ending = (reason) => { $.flow.exit(reason); throw end; };
    try {
      return await body.call(
        exported, event, steps, members(params, (value) => value), members(apps, (app) => app?.$auth),
        structuredClone(event), $.respond, ending, $.send, checkpoint, (value) => { checkpoint = value; },
      );
    } catch (error) {
      if (error !== end) throw error;
    } finally {
      for (const [name, value] of Object.entries(exported)) $.export(name, value);
      const keep = async (key, value, known) => { if (JSON.stringify(value) !== JSON.stringify(known)) await store?.set(key, value); };
      await keep(own, exported.$checkpoint, before.own);
      await keep(all, checkpoint, before.all);
    }
  },
});`
  .trim()
  .replaceAll(/\s*\n\s*/g, " ");
