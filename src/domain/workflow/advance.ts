import { type JsonObject, type JsonValue, isSameJson } from "../text/json.ts";
import type { CodeStep, ForEachStep, IfStep, ParallelStep, Step, SwitchStep } from "./workflow.ts";

/** Decides what is next. */
export interface StepResult {
  readonly exports: JsonObject;
  /** Selects a branch, or is the items of a loop. */
  readonly decision?: JsonValue;
  /** The step called `$.flow.exit`. */
  readonly isExit?: true;
}

/** Runs a step's code, or evaluates a branch or loop. */
export interface StepCall {
  /** Stable position in the run: `2`, `3.then.0`, `4.[17].0`. */
  readonly path: string;
  readonly step: CodeStep | IfStep | SwitchStep | ForEachStep;
  /** By namespace: exports of the steps that ended before it, and items of enclosing loops. */
  readonly steps: JsonObject;
}

export interface Progress {
  /** Calls that may start, including those that have started. */
  readonly ready: readonly StepCall[];
  readonly isDone: boolean;
}

/** The same records lead to the same calls, also after a crash. */
export function advance(steps: readonly Step[], { results, trigger, loops = new Map() }: RunSoFar): Progress {
  const walk = new Walk(results, loops);
  const isOver = walk.sequence(steps, "", { trigger });
  return { ready: walk.isExit ? [] : walk.ready, isDone: isOver || walk.isExit };
}

export interface RunSoFar {
  /** By path. */
  readonly results: ReadonlyMap<string, StepResult>;
  readonly trigger: JsonObject;
  /** Pass the map again to skip finished items. */
  readonly loops?: Loops;
}

/** Values of finished items, without gaps. */
export type Loops = Map<string, JsonValue[]>;

interface Decided {
  readonly path: string;
  readonly decision: JsonValue | undefined;
}

class Walk {
  readonly ready: StepCall[] = [];
  isExit = false;
  readonly #results: ReadonlyMap<string, StepResult>;
  readonly #loops: Loops;

  constructor(results: ReadonlyMap<string, StepResult>, loops: Loops) {
    this.#results = results;
    this.#loops = loops;
  }

  /** Returns true when all steps have ended. Adds their exports to `scope`. */
  sequence(steps: readonly Step[], prefix: string, scope: JsonObject): boolean {
    for (const [index, step] of steps.entries()) {
      if (!this.#step(step, `${prefix}${index}`, scope)) return false;
      if (this.isExit) return true;
    }
    return true;
  }

  #step(step: Step, path: string, scope: JsonObject): boolean {
    if (step.kind === "parallel") return this.#parallel(step, path, scope);
    const result = this.#results.get(path);
    if (result === undefined) {
      this.ready.push({ path, step, steps: { ...scope } });
      return false;
    }
    if (result.isExit === true) this.isExit = true;
    scope[step.namespace] = result.exports;
    if (this.isExit || step.kind === "code") return true;
    const decided = { path, decision: result.decision };
    return step.kind === "for_each" ? this.#loop(step, decided, scope) : this.#branch(step, decided, scope);
  }

  #branch(step: IfStep | SwitchStep, { path, decision }: Decided, scope: JsonObject): boolean {
    const [name, steps] = step.kind === "if" ? ifBranch(step, decision) : switchBranch(step, decision);
    const own = { ...scope };
    const isOver = this.sequence(steps, `${path}.${name}.`, own);
    scope[step.namespace] = blockExports(lastExports(steps, own));
    return isOver;
  }

  /** Branches do not see each other. Later steps see the exports of all. */
  #parallel({ namespace, branches }: ParallelStep, path: string, scope: JsonObject): boolean {
    const ends: JsonObject = {};
    let isOver = true;
    for (const { name, steps } of branches) {
      const own = { ...scope };
      isOver = this.sequence(steps, `${path}.${name}.`, own) && isOver;
      ends[name] = lastExports(steps, own);
    }
    scope[namespace] = blockExports(ends);
    return isOver || this.isExit;
  }

  /** Runs up to `concurrency` items at a time, in order. The result lists what the last step returned for each item. */
  #loop({ namespace, concurrency, steps }: ForEachStep, { path, decision }: Decided, scope: JsonObject): boolean {
    const items = Array.isArray(decision) ? decision : [];
    const values = this.#loops.get(path) ?? [];
    this.#loops.set(path, values);
    let begun = 0;
    for (let index = values.length; index < items.length; index++) {
      const own: JsonObject = { ...scope, [namespace]: { item: items[index] ?? null, index } };
      const isItemOver = this.sequence(steps, `${path}.[${index}].`, own);
      if (this.isExit) return true;
      if (isItemOver && values.length === index) values.push(lastValue(steps, own));
      if (!isItemOver && ++begun === concurrency) break;
    }
    scope[namespace] = { $return_value: values };
    return values.length === items.length;
  }
}

function ifBranch({ whenTrue, otherwise }: IfStep, decision: JsonValue | undefined): readonly [string, readonly Step[]] {
  return decision === true ? ["then", whenTrue] : ["else", otherwise];
}

/** Compares values, so a rerun on a changed file selects among the new cases. */
function switchBranch({ cases, otherwise }: SwitchStep, decision: JsonValue | undefined): readonly [string, readonly Step[]] {
  const place = cases.findIndex(({ when }) => isSameJson(when, decision));
  return place < 0 ? ["default", otherwise] : [`case${place}`, cases[place]?.steps ?? []];
}

function lastExports(steps: readonly Step[], scope: JsonObject): JsonValue | undefined {
  const namespace = steps.at(-1)?.namespace;
  return namespace === undefined ? undefined : scope[namespace];
}

/** As on the hosted platform, later steps see these exports and no inner steps. */
function blockExports(ended: JsonValue | undefined): JsonObject {
  return ended === undefined ? {} : { $return_value: ended };
}

function lastValue(steps: readonly Step[], scope: JsonObject): JsonValue {
  const result = lastExports(steps, scope);
  return typeof result === "object" && result !== null && !Array.isArray(result) ? (result["$return_value"] ?? null) : null;
}
