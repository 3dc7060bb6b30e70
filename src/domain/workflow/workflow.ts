import type { JsonObject, JsonValue } from "../json.ts";
import type { Schedule } from "../schedule.ts";
import type { WrittenScalar } from "./yaml-reader.ts";

/** What is said in a workflow's file (workflows.md §1, and docs/workflows.md for what the hosted format leaves open). */
export interface Workflow {
  readonly name: string;
  /** It is deployed without being started, as it was when it was exported. */
  readonly isInactive: boolean;
  readonly settings: WorkflowSettings;
  readonly triggers: readonly WorkflowTrigger[];
  readonly steps: readonly Step[];
}

export interface WorkflowSettings {
  /** Runs at the same time; with 1 they keep their order. */
  readonly concurrency: number;
  /** At most so many runs begin in each window. */
  readonly throttle?: { readonly runs: number; readonly seconds: number };
  /** Requests to its endpoint are refused while so many messages wait; absent: none is. What sources emit always waits. */
  readonly queue?: number;
  /** How often a failed step is tried again; absent: never. 0: nor does a step run twice that the end of the server cut off. */
  readonly retries?: number;
  /** How long one step may take, in seconds. */
  readonly timeout: number;
  /** What it had on the hosted platform, in MB. */
  readonly memory?: number;
  /** A step whose e-mail does not leave has not failed. */
  readonly isMailOptional: boolean;
  /** The owner is sent a mail when a run fails. */
  readonly mailsErrors: boolean;
  /** Packages of its steps that name no version are the newest of this day. Omitted: the newest. */
  readonly packagesAsOf?: string;
  /** Answers of third parties are kept, so that a run can be tried again without asking them. */
  readonly records: boolean;
}

/** What begins a run. */
export type WorkflowTrigger =
  | { readonly kind: "http"; readonly id?: string; /** Absent: not said. */ readonly customResponse?: boolean }
  | { readonly kind: "schedule"; readonly id?: string; readonly schedule?: Schedule }
  /** Events of a source or of another workflow, by id or slug. */
  | { readonly kind: "events"; readonly emitter: string; readonly channel: string };

/** Where the code of a step comes from. */
export type StepCode =
  /** From the folder of the workflow. */
  | { readonly kind: "file"; readonly path: string }
  /** The same in Python. */
  | PythonCode
  /** Of a registry; without a version the newest. */
  | { readonly kind: "registry"; readonly key: string; readonly version?: string };

export interface PythonCode {
  readonly kind: "python";
  readonly path: string;
  /** The version that the file asks for, as in `3.12`. */
  readonly version?: string;
  /** Props by name, as the file declares them under `__configurableProps`: the code has no place for that. */
  readonly declares: JsonObject;
}

export type Step = CodeStep | IfStep | SwitchStep | ParallelStep | ForEachStep;

interface Named {
  /** Later steps read its results as `steps.<namespace>`. */
  readonly namespace: string;
  /** Where it stands in the file, from 1. */
  readonly line: number;
}

export interface CodeStep extends Named {
  readonly kind: "code";
  readonly code: StepCode;
  /** Texts may hold `{{…}}`. */
  readonly props: JsonObject;
  /** Where its props stand in the file, by name. */
  readonly propLines: Readonly<Record<string, number>>;
  /** Scalars of its props whose text says more than their value, such as `01067`; paths begin with the name of the prop. */
  readonly written: readonly WrittenScalar[];
  /** Absent: as the workflow's settings say. */
  readonly retries?: number;
  /** Its e-mail need not leave; absent: as the workflow's settings say. */
  readonly isMailOptional?: boolean;
}

/** One of two branches, by whether a condition holds: true, false, or a text that is one `{{…}}`. */
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
  /** A list, or a text with `{{…}}` that makes one. */
  readonly items: JsonValue;
  /** Items that are worked on at the same time. */
  readonly concurrency: number;
  readonly steps: readonly Step[];
}

/** Steps of any depth, in the order of the file. */
export function* everyStep(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    for (const { steps: inner } of innerLists(step)) yield* everyStep(inner);
  }
}

/** The lists of steps that a step has, by their names in the paths of a run. */
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
