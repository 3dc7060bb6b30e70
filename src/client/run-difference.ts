import type { RunRecord, RunStepRecord } from "../api/workflows.ts";
import { isSameJson } from "../domain/text/json.ts";

export interface StepDifference {
  readonly path: string;
  readonly namespace: string;
  /** `taken`: copied from the original run. */
  readonly kind: "same" | "changed" | "new" | "gone" | "taken";
  readonly before?: RunStepRecord;
  readonly after?: RunStepRecord;
}

/** In the new run's order, then the steps that it did not reach. */
export function differencesOf(before: readonly RunStepRecord[], after: readonly RunStepRecord[]): readonly StepDifference[] {
  const known = new Map(before.map((step) => [`${step.namespace} ${itemsOf(step)}`, step]));
  const differences = after.map((step): StepDifference => {
    const { path, namespace } = step;
    const key = `${namespace} ${itemsOf(step)}`;
    const old = known.get(key);
    known.delete(key);
    if (old === undefined) return { path, namespace, kind: "new", after: step };
    if (step.copied_from !== undefined) return { path, namespace, kind: "taken", before: old, after: step };
    return { path, namespace, kind: isSame(old, step) ? "same" : "changed", before: old, after: step };
  });
  return [...differences, ...[...known.values()].map((step): StepDifference => ({ path: step.path, namespace: step.namespace, kind: "gone", before: step }))];
}

/** Indexes in the enclosing loops, such as `[0][2]`. */
function itemsOf({ path }: RunStepRecord): string {
  return [...path.matchAll(/\[\d+\]/g)].join("");
}

function isSame(before: RunStepRecord, after: RunStepRecord): boolean {
  return (
    before.outcome === after.outcome &&
    before.message === after.message &&
    isSameJson(before.exports, after.exports) &&
    isSameJson(before.decision, after.decision)
  );
}

export function differenceLines({ namespace, kind, before, after }: StepDifference): readonly string[] {
  switch (kind) {
    case "taken":
      return [`= ${namespace} (not run again)`];
    case "same":
      return [`= ${namespace}`];
    case "new":
      return [`+ ${namespace} ${cameOut(after)}`];
    case "gone":
      return [`- ${namespace} ${cameOut(before)}`];
    case "changed":
      return [`- ${namespace} ${cameOut(before)}`, `+ ${namespace} ${cameOut(after)}`];
  }
}

function cameOut(step: RunStepRecord | undefined): string {
  if (step === undefined) return "";
  return step.outcome === "returned" ? JSON.stringify(step.exports) : step.message;
}

/** A waiting dry run has not succeeded, because later steps did not run. */
export function sumOfRehearsed(rehearsed: readonly { readonly after: Pick<RunRecord, "state"> }[]): string {
  const count = (wanted: RunRecord["state"]): number => rehearsed.filter(({ after: { state } }) => state === wanted).length;
  const waiting = count("waiting");
  return `${count("succeeded")} of ${rehearsed.length} would succeed${waiting === 0 ? "" : `, and ${waiting} would wait`}`;
}
