import { useState } from "preact/hooks";
import { differencesOf, sumOfRehearsed } from "../../client/run-difference.ts";
import { useClient } from "../app-context.ts";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { tell } from "../parts/dialogs/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { plural } from "../text-of.ts";
import type { RehearsedRun, Workflow } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import { StepDifferences } from "./step-differences.tsx";
import { RUN_TONES } from "./step-texts.ts";

export function RetryDialog({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const client = useClient();
  const { value: rehearsed, error } = useLoaded(`retry ${workflow.id} ${workflow.version}`, () => client.workflows.rehearse(workflow.id, { states: "failed" }));
  const [refusal, setRefusal] = useState<unknown>();
  const go = async (): Promise<void> => {
    setRefusal(undefined);
    try {
      const begun = await client.workflows.rerunAll(workflow.id, { states: "failed" });
      tell(`Retrying ${plural(begun.length, "run")}`);
      onClose();
    } catch (thrown) {
      setRefusal(thrown);
    }
  };
  return (
    <Dialog title="Retry failed runs" onClose={onClose}>
      <p class="muted">
        Dry runs on version {workflow.version}, each from where it failed. No requests were sent: recorded answers were used, if there are any (
        <code>settings: record: true</code>).
      </p>
      {error !== undefined && <Problem error={error} />}
      {rehearsed === undefined && error === undefined && <Waiting />}
      {rehearsed !== undefined && <p role="status">{rehearsed.length === 0 ? "All failed runs were already rerun." : `${sumOfRehearsed(rehearsed)}.`}</p>}
      {rehearsed?.map((one) => (
        <Tried key={one.run.id} tried={one} />
      ))}
      {refusal !== undefined && <Problem error={refusal} />}
      <div class="row end">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button filled" disabled={rehearsed === undefined || rehearsed.length === 0} onClick={() => void go()}>
          Retry
        </button>
      </div>
    </Dialog>
  );
}

function Tried({ tried: { run, before, after } }: { tried: RehearsedRun }) {
  return (
    <details>
      <summary>
        <span class="row">
          <code>{run.id}</code>
          <StateMark tone={RUN_TONES[after.state]}>{after.state}</StateMark>
          <span class="muted cut">{after.failure?.message}</span>
        </span>
      </summary>
      <StepDifferences differences={differencesOf(before, after.steps)} />
    </details>
  );
}
