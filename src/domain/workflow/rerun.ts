import { isSameJson } from "../text/json.ts";
import type { RunId } from "../ids.ts";
import type { StepRecord } from "./run.ts";
import { type Step, everyStep, innerLists } from "./workflow.ts";

/** `4.[].0` is in a loop. */
interface Place {
  readonly pattern: string;
  /** Enclosing loops, outermost first. */
  readonly loops: readonly string[];
}

/**
 * The records that a rerun copies: finished steps before `from`, and steps that do not depend on it. Without `from`,
 * all finished steps. Steps are matched by namespace. A step whose wait expired is not finished.
 */
export function carriedOver(steps: readonly Step[], records: readonly StepRecord[], { from, of }: { from: string | undefined; of: RunId }): StepRecord[] {
  const places = placesOf(steps);
  const again = from === undefined ? new Set<string>() : stepsFrom(steps, from);
  const ended = records.filter(({ namespace, state, isExpired }) => !again.has(namespace) && places.has(namespace) && state === "done" && isExpired !== true);
  const known = new Set(ended.map(({ namespace }) => namespace));
  return ended.flatMap((record): StepRecord[] => {
    const place = places.get(record.namespace);
    const path = place === undefined || !place.loops.every((loop) => known.has(loop)) ? undefined : pathAt(place, record.path);
    if (path === undefined) return [];
    const { pause: _over, ...rest } = record;
    return [{ ...rest, path, state: "done", copiedFrom: record.copiedFrom ?? of }];
  });
}

function placesOf(steps: readonly Step[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  const walk = (list: readonly Step[], prefix: string, loops: readonly string[]): void => {
    for (const [index, step] of list.entries()) {
      const pattern = `${prefix}${index}`;
      places.set(step.namespace, { pattern, loops });
      const inner = step.kind === "for_each" ? [...loops, step.namespace] : loops;
      for (const { name, steps: own } of innerLists(step)) walk(own, `${pattern}.${name}.`, inner);
    }
  };
  walk(steps, "", []);
  return places;
}

/** Keeps the loop indices of the old path. Undefined when the number of loops differs. */
function pathAt({ pattern }: Place, before: string): string | undefined {
  const items = [...before.matchAll(/\[(\d+)\]/g)].map(([, index = ""]) => index);
  const wanted = pattern.split("[]").length - 1;
  if (items.length !== wanted) return undefined;
  return pattern.replaceAll("[]", () => `[${items.shift() ?? ""}]`);
}

/** The step, later steps, and their inner steps, but not parallel branches. */
function stepsFrom(steps: readonly Step[], from: string): Set<string> {
  const found = new Set<string>();
  const look = (list: readonly Step[]): boolean => {
    for (const [index, step] of list.entries()) {
      const isHere = step.namespace === from;
      const isInside = !isHere && innerLists(step).some(({ steps: inner }) => look(inner));
      if (!isHere && !isInside) continue;
      for (const { namespace } of everyStep(list.slice(isHere ? index : index + 1))) found.add(namespace);
      return true;
    }
    return false;
  };
  look(steps);
  return found;
}

export interface StepFacts {
  readonly steps: readonly Step[];
  /** Identifies the code. */
  readonly codeOf: (namespace: string) => string | undefined;
}

/** Undefined when no step changed. */
export function firstChanged(before: StepFacts, after: StepFacts): string | undefined {
  const known = new Map([...everyStep(before.steps)].map((step) => [step.namespace, step]));
  for (const step of everyStep(after.steps)) {
    const old = known.get(step.namespace);
    if (old === undefined || !isSameJson(factsOf(old), factsOf(step)) || before.codeOf(step.namespace) !== after.codeOf(step.namespace)) return step.namespace;
  }
  return undefined;
}

/** Without inner steps and the line. */
function factsOf(step: Step) {
  const { kind, namespace } = step;
  switch (step.kind) {
    case "code":
      return { kind, namespace, props: step.props };
    case "if":
      return { kind, namespace, value: step.condition };
    case "switch":
      return { kind, namespace, value: step.value, cases: step.cases.map(({ when }) => when) };
    case "parallel":
      return { kind, namespace, branches: step.branches.map(({ name }) => name) };
    case "for_each":
      return { kind, namespace, value: step.items, concurrency: step.concurrency };
  }
}
