import { StateMark } from "../parts/state-mark.tsx";
import type { RunStep, WorkflowStep } from "../types.ts";
import { STEP_TONES, stepText } from "./step-texts.ts";

interface GraphProps {
  readonly steps: readonly WorkflowStep[];
  readonly records?: readonly RunStep[];
  readonly chosen?: string;
  readonly onChoose?: (path: string) => void;
}

export function Graph({ steps, records = [], chosen = "", onChoose }: GraphProps) {
  return (
    <ul class="graph" aria-label="Steps">
      {steps.map((step) => (
        <Node key={step.namespace} step={step} records={records} chosen={chosen} {...(onChoose === undefined ? {} : { onChoose })} />
      ))}
    </ul>
  );
}

function Node({ step, records, chosen, onChoose }: { step: WorkflowStep } & Required<Pick<GraphProps, "records" | "chosen">> & Pick<GraphProps, "onChoose">) {
  const { namespace, branches = [] } = step;
  const own = records.filter((record) => record.namespace === namespace);
  const last = own.at(-1);
  return (
    <li>
      <div class="row">
        {last === undefined || onChoose === undefined ? (
          <strong class={records.length > 0 && last === undefined ? "muted" : ""}>{namespace}</strong>
        ) : (
          <button type="button" class="button plain" aria-pressed={chosen === last.path} onClick={() => onChoose(last.path)}>
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
            <Graph steps={steps} records={records} chosen={chosen} {...(onChoose === undefined ? {} : { onChoose })} />
          </div>
        ))}
    </li>
  );
}
