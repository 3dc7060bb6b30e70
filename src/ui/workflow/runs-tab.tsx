import { useState } from "preact/hooks";
import { useQuery } from "../browser/address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { Select } from "../parts/fields.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { Ago } from "../parts/text/time.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { duration } from "../text-of.ts";
import type { WorkflowRun } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import { RetryDialog } from "./retry-dialog.tsx";
import { RunDetail } from "./run-detail.tsx";
import { RUN_TONES } from "./step-texts.ts";
import type { WorkflowTabProps } from "./tab-props.ts";

const LOOK_EVERY_MS = 1000;
const SHOWN = 100;

export function RunsTab({ workflow, reload }: WorkflowTabProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const [state, setState] = useQuery("state");
  const [chosen, setChosen] = useQuery("run");
  const [isRetrying, setRetrying] = useState(false);
  const { id } = workflow;
  const wanted = { limit: SHOWN, ...(state === "" ? {} : { states: state }) };
  const { value: runs, error } = useLoaded(`runs ${id} ${state}`, () => client.workflows.runs(id, wanted), LOOK_EVERY_MS);
  return (
    <div class="stack">
      <div class="row wrap">
        <Select
          label="State"
          choices={{ "": "All runs", running: "Running", waiting: "Waiting", succeeded: "Succeeded", failed: "Failed", cancelled: "Cancelled" }}
          value={state}
          onChange={setState}
        />
        <span class="grow" />
        {mayChange && workflow.runs.failed > 0 && (
          <button type="button" class="button" onClick={() => setRetrying(true)}>
            Retry failed runs…
          </button>
        )}
      </div>
      {error !== undefined && runs === undefined && <Problem error={error} />}
      {runs === undefined && error === undefined && <Waiting />}
      {runs?.length === 0 && <Empty title={state === "" ? "No runs yet" : `No ${state} runs`} />}
      {runs !== undefined && runs.length > 0 && (
        <div class={`split ${chosen === "" ? "" : "has-chosen"}`}>
          <ul class="panel list runs" aria-label="Runs">
            {runs.map((run) => (
              <li key={run.id}>
                <RunRow run={run} isChosen={run.id === chosen} onChoose={() => setChosen(run.id)} />
              </li>
            ))}
          </ul>
          <div class="chosen">
            {chosen === "" ? (
              <p class="muted">Choose a run to see its steps.</p>
            ) : (
              <>
                <button type="button" class="button plain back" onClick={() => setChosen("")}>
                  ← Runs
                </button>
                <RunDetail key={chosen} workflow={workflow} id={chosen} onRun={setChosen} />
              </>
            )}
          </div>
        </div>
      )}
      {isRetrying && (
        <RetryDialog
          workflow={workflow}
          onClose={() => {
            setRetrying(false);
            reload();
          }}
        />
      )}
    </div>
  );
}

function RunRow({ run, isChosen, onChoose }: { run: WorkflowRun; isChosen: boolean; onChoose: () => void }) {
  const { state, started_at_ms: at, ended_at_ms: end, failure, rerun_of: of, rerun_as: again, trigger, arrived } = run;
  return (
    <button type="button" class="button plain" aria-pressed={isChosen} onClick={onChoose}>
      <StateMark tone={RUN_TONES[state]}>{state}</StateMark>
      <Ago at={at} />
      <span class="cut grow">
        <span class="muted">{of === undefined ? trigger.kind : "rerun"}</span> {arrived}{" "}
        {again !== undefined && <span class="muted">{`· rerun ${again.state} `}</span>}
        {failure !== undefined && <span class="muted">{`· ${failure.namespace}: ${failure.message}`}</span>}
      </span>
      {end !== undefined && <span class="muted">{duration(end - at)}</span>}
    </button>
  );
}
