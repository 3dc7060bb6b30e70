import { type JsonObject, type JsonValue, isSameJson } from "../json.ts";
import type { CodeStep, ForEachStep, IfStep, ParallelStep, Step, SwitchStep } from "./workflow.ts";

/** What is known of a step of a run once it is over: the part of its record that says what comes next. */
export interface StepResult {
  /** What later steps read under its namespace: exports, and `$return_value`. */
  readonly exports: JsonObject;
  /** Of a branch which was taken, of a loop what it goes over. */
  readonly decision?: JsonValue;
  /** The run ends with it (`$.flow.exit`). */
  readonly isExit?: true;
}

/** What a run does next: a step's code, or what a branch or a loop depends on. */
export interface StepCall {
  /** Its place in this run, the same whenever the run is looked at: `2`, `3.then.0`, `4.[17].0`. */
  readonly path: string;
  readonly step: CodeStep | IfStep | SwitchStep | ForEachStep;
  /** Namespace → what it came to: all that has ended before it, with the items of the loops around it. */
  readonly steps: JsonObject;
}

/** What a run comes to, as far as is known. */
export interface Progress {
  /** May begin now; those that have begun already are among them. */
  readonly ready: readonly StepCall[];
  readonly isDone: boolean;
}

/**
 * What comes next in a run, from its file and what is known of its steps. Nothing else is remembered: after a crash the
 * same records lead to the same calls.
 */
export function advance(steps: readonly Step[], { results, trigger, loops = new Map() }: Known): Progress {
  const walk = new Walk(results, loops);
  const isOver = walk.sequence(steps, "", { trigger });
  return { ready: walk.isExit ? [] : walk.ready, isDone: isOver || walk.isExit };
}

export interface Known {
  /** By the paths of the steps. */
  readonly results: ReadonlyMap<string, StepResult>;
  readonly trigger: JsonObject;
  /** What earlier looks at the same run have found of its loops, by their paths: it is added to, and spares later ones to walk through all items. */
  readonly loops?: Loops;
}

/** Items of a loop that are over, from the first on without a gap, and what each came to. */
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

  /** True when all of it has ended. What it comes to is added to `scope`. */
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

  /** Branches do not see each other, and what comes after them sees what each has come to. */
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

  /** A few items at a time, in their order. What its last step returned for each is what the loop comes to. */
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

/** The decision is the value: a run that is repeated on a file with other cases takes the one that fits there. */
function switchBranch({ cases, otherwise }: SwitchStep, decision: JsonValue | undefined): readonly [string, readonly Step[]] {
  const place = cases.findIndex(({ when }) => isSameJson(when, decision));
  return place < 0 ? ["default", otherwise] : [`case${place}`, cases[place]?.steps ?? []];
}

/** What the last step of a list has exported; `undefined`: the list is empty. */
function lastExports(steps: readonly Step[], scope: JsonObject): JsonValue | undefined {
  const namespace = steps.at(-1)?.namespace;
  return namespace === undefined ? undefined : scope[namespace];
}

/** As the end of a block exports it on the hosted platform: later steps see this, and no step inside it. */
function blockExports(ended: JsonValue | undefined): JsonObject {
  return ended === undefined ? {} : { $return_value: ended };
}

function lastValue(steps: readonly Step[], scope: JsonObject): JsonValue {
  const result = lastExports(steps, scope);
  return typeof result === "object" && result !== null && !Array.isArray(result) ? (result["$return_value"] ?? null) : null;
}
