import { useMemo, useState } from "preact/hooks";
import { StateMark } from "../parts/state-mark.tsx";
import { duration } from "../text-of.ts";
import type { RunStep, WorkflowStep } from "../types.ts";
import { NODE_HEIGHT, NODE_WIDTH, layoutOf } from "./graph-layout.ts";
import { STEP_TONES, stepText } from "./step-texts.ts";

export interface GraphProps {
  readonly steps: readonly WorkflowStep[];
  readonly records?: readonly RunStep[];
  readonly chosen?: string;
  readonly onChoose?: (path: string) => void;
  /** What `chosen` is: the path of a record, or the name of a step, which may not have run. */
  readonly by?: "path" | "namespace";
  /** Names of steps with text that is not saved. */
  readonly unsaved?: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5] as const;

/** The steps as a drawing that scrolls and zooms. Each step is a button, in the order of the file. */
export function Graph({ steps, records = [], chosen = "", onChoose, by = "path", unsaved = NONE }: GraphProps) {
  const drawn = useMemo(() => layoutOf(steps), [JSON.stringify(steps)]);
  const [at, setAt] = useState(2);
  const zoom = ZOOMS[at] ?? 1;
  const change = (step: number): void => setAt((now) => Math.max(0, Math.min(ZOOMS.length - 1, now + step)));
  return (
    <div class="stack tight">
      <div class="row" role="group" aria-label="Zoom">
        <button type="button" class="button" aria-label="Smaller" disabled={at === 0} onClick={() => change(-1)}>
          −
        </button>
        <span class="muted">{Math.round(zoom * 100)} %</span>
        <button type="button" class="button" aria-label="Larger" disabled={at === ZOOMS.length - 1} onClick={() => change(1)}>
          +
        </button>
      </div>
      <div
        class="graph"
        tabIndex={0}
        role="group"
        aria-label="Drawing of the steps"
        onWheel={(event) => {
          if (!event.ctrlKey) return;
          event.preventDefault();
          change(event.deltaY > 0 ? -1 : 1);
        }}
      >
        <div style={{ width: `${drawn.width * zoom}px`, height: `${drawn.height * zoom}px` }}>
          <div class="drawing" style={{ width: `${drawn.width}px`, height: `${drawn.height}px`, transform: `scale(${zoom})` }}>
            <svg width={drawn.width} height={drawn.height} aria-hidden="true">
              {drawn.edges.map(({ points, label, at }, index) => (
                <g key={index}>
                  <polyline points={points.map(({ x, y }) => `${x},${y}`).join(" ")} />
                  {label !== "" && (
                    <text x={at.x} y={at.y + 4}>
                      {label}
                    </text>
                  )}
                </g>
              ))}
            </svg>
            <ul aria-label="Steps">
              {drawn.nodes.map(({ step, x, y }) => (
                <li key={step.namespace} style={{ left: `${x}px`, top: `${y}px`, width: `${NODE_WIDTH}px`, height: `${NODE_HEIGHT}px` }}>
                  <Node
                    step={step}
                    records={records}
                    chosen={chosen}
                    by={by}
                    isUnsaved={unsaved.has(step.namespace)}
                    {...(onChoose === undefined ? {} : { onChoose })}
                  />
                </li>
              ))}
            </ul>
          </div>
        </div>
      </div>
    </div>
  );
}

type NodeProps = { readonly step: WorkflowStep; readonly isUnsaved: boolean } & Required<Pick<GraphProps, "records" | "chosen" | "by">> &
  Pick<GraphProps, "onChoose">;

function Node({ step, isUnsaved, records, chosen, onChoose, by }: NodeProps) {
  const { namespace } = step;
  const own = records.filter((record) => record.namespace === namespace);
  const last = own.find(({ state }) => state === "failed") ?? own.at(-1);
  const state = stateOf(step, records) ?? last?.state;
  const id = by === "namespace" ? namespace : last?.path;
  const hasNotRun = records.length > 0 && last === undefined;
  const isChosen = by === "namespace" ? namespace === chosen : own.some(({ path }) => path === chosen);
  return (
    <div class={`node ${isChosen ? "is-chosen" : ""} ${state === "failed" ? "is-bad" : ""}`}>
      <div class="row">
        {id === undefined || onChoose === undefined ? (
          <strong class={`cut grow ${hasNotRun ? "muted" : ""}`}>{namespace}</strong>
        ) : (
          <button type="button" class="button plain grow" title={namespace} aria-pressed={isChosen} onClick={() => onChoose(id)}>
            <strong class="cut">{namespace}</strong>
          </button>
        )}
        {isUnsaved && <span class="muted">not saved</span>}
        {state !== undefined && <StateMark tone={STEP_TONES[state]}>{state}</StateMark>}
      </div>
      <div class="row muted">
        <span class="mono cut grow">{stepText(step)}</span>
        {own.length > 1 && <span>× {own.length}</span>}
        {last !== undefined && last.state !== "begun" && <span>{duration(last.duration_ms)}</span>}
      </div>
    </div>
  );
}

/** A block has failed when a step inside has. */
function stateOf({ branches = [] }: WorkflowStep, records: readonly RunStep[]): RunStep["state"] | undefined {
  const inside = new Set(branches.flatMap((branch) => namesIn(branch.steps)));
  return records.some(({ namespace, state }) => state === "failed" && inside.has(namespace)) ? "failed" : undefined;
}

function namesIn(steps: readonly WorkflowStep[]): readonly string[] {
  return steps.flatMap(({ namespace, branches = [] }) => [namespace, ...branches.flatMap((branch) => namesIn(branch.steps))]);
}
