import type { JsonObject, JsonValue } from "../text/json.ts";
import type { Schedule } from "../timer/schedule.ts";
import type { WrittenScalar } from "./yaml-reader.ts";

/** `workflow.yaml` (docs/workflows.md). */
export interface Workflow {
  readonly name: string;
  /** Deployed without being started. */
  readonly isInactive: boolean;
  readonly settings: WorkflowSettings;
  readonly triggers: readonly WorkflowTrigger[];
  readonly steps: readonly Step[];
}

export interface WorkflowSettings {
  /** Concurrent runs. With 1 they keep their order. */
  readonly concurrency: number;
  /** At most `runs` start per window. */
  readonly throttle?: { readonly runs: number; readonly seconds: number };
  /** Requests are rejected while this many messages wait. Events of sources always wait. */
  readonly queue?: number;
  /** Omitted means no retries. 0 also prevents rerunning a step that the server's end cut off. */
  readonly retries?: number;
  /** Per step, in seconds. */
  readonly timeout: number;
  /** MB on the hosted platform. */
  readonly memory?: number;
  /** Unsent mail does not fail the step. */
  readonly isMailOptional: boolean;
  readonly mailsErrors: boolean;
  /** Date for unpinned packages. Omitted for today's. */
  readonly packagesAsOf?: string;
  /** Keeps responses of third parties, to repeat runs without them. */
  readonly records: boolean;
}

export type WorkflowTrigger =
  | { readonly kind: "http"; readonly id?: string; readonly customResponse?: boolean }
  | { readonly kind: "schedule"; readonly id?: string; readonly schedule?: Schedule }
  /** Id or slug of the source or workflow. */
  | { readonly kind: "events"; readonly emitter: string; readonly channel: string };

export type StepCode =
  | { readonly kind: "file"; readonly path: string }
  | PythonCode
  /** Without a version, the newest. */
  | { readonly kind: "registry"; readonly key: string; readonly version?: string };

export interface PythonCode {
  readonly kind: "python";
  readonly path: string;
  /** Such as `3.12`. */
  readonly version?: string;
  /** Props from `__configurableProps`, because the code cannot declare them. */
  readonly declares: JsonObject;
}

export type Step = CodeStep | IfStep | SwitchStep | ParallelStep | ForEachStep;

interface Named {
  /** Later steps read `steps.<namespace>`. */
  readonly namespace: string;
  /** In the file, from 1. */
  readonly line: number;
}

export interface CodeStep extends Named {
  readonly kind: "code";
  readonly code: StepCode;
  /** Strings may contain `{{…}}`. */
  readonly props: JsonObject;
  /** Prop name → line. */
  readonly propLines: Readonly<Record<string, number>>;
  /** Whose spelling matters, such as `01067`. Paths start with the prop. */
  readonly written: readonly WrittenScalar[];
  /** Overrides the workflow's setting. */
  readonly retries?: number;
  /** Overrides the workflow's setting. */
  readonly isMailOptional?: boolean;
}

export interface IfStep extends Named {
  readonly kind: "if";
  readonly condition: JsonValue;
  readonly whenTrue: readonly Step[];
  readonly otherwise: readonly Step[];
}

export interface SwitchStep extends Named {
  readonly kind: "switch";
  readonly value: JsonValue;
  readonly cases: readonly { readonly when: JsonValue; readonly steps: readonly Step[] }[];
  readonly otherwise: readonly Step[];
}

export interface ParallelStep extends Named {
  readonly kind: "parallel";
  readonly branches: readonly { readonly name: string; readonly steps: readonly Step[] }[];
}

export interface ForEachStep extends Named {
  readonly kind: "for_each";
  /** May be a string with a `{{…}}`. */
  readonly items: JsonValue;
  readonly concurrency: number;
  readonly steps: readonly Step[];
}

/** Includes inner steps, in the order of the file. */
export function* everyStep(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    for (const { steps: inner } of innerLists(step)) yield* everyStep(inner);
  }
}

/** `name` is used in the paths of a run. */
export function innerLists(step: Step): readonly { readonly name: string; readonly steps: readonly Step[] }[] {
  switch (step.kind) {
    case "code":
      return [];
    case "if":
      return [
        { name: "then", steps: step.whenTrue },
        { name: "else", steps: step.otherwise },
      ];
    case "switch":
      return [...step.cases.map(({ steps }, index) => ({ name: `case${index}`, steps })), { name: "default", steps: step.otherwise }];
    case "parallel":
      return step.branches;
    case "for_each":
      return [{ name: "[]", steps: step.steps }];
  }
}
