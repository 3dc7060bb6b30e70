import { StateMark } from "../parts/state-mark.tsx";
import type { RunStep, WorkflowStep } from "../types.ts";
import { STEP_TONES, stepText } from "./step-texts.ts";

interface GraphProps {
  readonly steps: readonly WorkflowStep[];
  readonly records?: readonly RunStep[];
  readonly chosen?: string;
  readonly onChoose?: (path: string) => void;
  /** What `chosen` is: the path of a record, or the name of a step, which may not have run. */
  readonly by?: "path" | "namespace";
}

export function Graph({ steps, records = [], chosen = "", onChoose, by = "path" }: GraphProps) {
  return (
    <ul class="graph" aria-label="Steps">
      {steps.map((step) => (
        <Node key={step.namespace} step={step} records={records} chosen={chosen} by={by} {...(onChoose === undefined ? {} : { onChoose })} />
      ))}
    </ul>
  );
}

type NodeProps = { readonly step: WorkflowStep } & Required<Pick<GraphProps, "records" | "chosen" | "by">> & Pick<GraphProps, "onChoose">;

function Node({ step, records, chosen, onChoose, by }: NodeProps) {
  const { namespace, branches = [] } = step;
  const own = records.filter((record) => record.namespace === namespace);
  const last = own.at(-1);
  const id = by === "namespace" ? namespace : last?.path;
  return (
    <li>
      <div class="row">
        {id === undefined || onChoose === undefined ? (
          <strong class={records.length > 0 && last === undefined ? "muted" : ""}>{namespace}</strong>
        ) : (
          <button type="button" class="button plain" aria-pressed={chosen === id} onClick={() => onChoose(id)}>
            <strong>{namespace}</strong>
          </button>
        )}
        {last !== undefined && <StateMark tone={STEP_TONES[last.state]}>{last.state}</StateMark>}
        {own.length > 1 && <span class="muted">× {own.length}</span>}
        <span class="muted mono cut">{stepText(step)}</span>
      </div>
      {branches
        .filter(({ steps }) => steps.length > 0)
        .map(({ name, steps }) => (
          <div key={name} class="branch">
            <span class="muted">{name === "[]" ? "each item" : name}</span>
            <Graph steps={steps} records={records} chosen={chosen} by={by} {...(onChoose === undefined ? {} : { onChoose })} />
          </div>
        ))}
    </li>
  );
}
