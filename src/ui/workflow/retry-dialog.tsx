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
import { Ago } from "../parts/text/time.tsx";
import { useAttempt } from "../use-attempt.ts";
import { useLoaded } from "../use-loaded.ts";
import { StepDifferences } from "./step-differences.tsx";
import { RUN_TONES } from "./step-texts.ts";

const MOST_SHOWN = 80;
/** The server tries no more at once. */
const MOST_TRIED = 100;

export function RetryDialog({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const client = useClient();
  const { value: rehearsed, error } = useLoaded(`retry ${workflow.id} ${workflow.version}`, () => client.workflows.rehearse(workflow.id, { states: "failed" }));
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set());
  const { isUnderWay, error: refusal, attempt } = useAttempt();
  const picked = (rehearsed ?? []).filter(({ run }) => !leftOut.has(run.id));
  const go = (): Promise<void> =>
    attempt(async () => {
      let count = picked.length;
      if (leftOut.size === 0) count = (await client.workflows.rerunAll(workflow.id, { states: "failed" })).length;
      else
        for (const { run } of picked) {
          await client.workflows.rerun(run.id);
          // Not once more, when a later one cannot be started.
          setLeftOut((before) => new Set([...before, run.id]));
        }
      tell(`Retrying ${plural(count, "run")}`);
      onClose();
    });
  const leaveOut = (id: string, isOut: boolean): void => setLeftOut(new Set(isOut ? [...leftOut, id] : [...leftOut].filter((one) => one !== id)));
  return (
    <Dialog title="Retry failed runs" onClose={onClose}>
      <p class="muted">
        Dry runs on version {workflow.version}, each from where it failed. No requests were sent: recorded answers were used, if there are any (
        <code>settings: record: true</code>).
      </p>
      {error !== undefined && <Problem error={error} />}
      {rehearsed === undefined && error === undefined && <Waiting />}
      {rehearsed !== undefined && <p role="status">{rehearsed.length === 0 ? "All failed runs were already rerun." : `${sumOfRehearsed(rehearsed)}.`}</p>}
      {rehearsed !== undefined && rehearsed.length >= MOST_TRIED && (
        <p class="note attention">The newest {MOST_TRIED} were tried. Retry reruns all others too, unless you leave out one of these.</p>
      )}
      {rehearsed?.map((one) => (
        <div class="row top" key={one.run.id}>
          <input
            type="checkbox"
            aria-label={`Retry ${one.run.id}`}
            checked={!leftOut.has(one.run.id)}
            onChange={({ currentTarget }) => leaveOut(one.run.id, !currentTarget.checked)}
          />
          <Tried tried={one} />
        </div>
      ))}
      {refusal !== undefined && <Problem error={refusal} />}
      <div class="row end">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button filled" disabled={picked.length === 0 || isUnderWay} onClick={() => void go()}>
          {isUnderWay ? "Retrying…" : "Retry"}
        </button>
      </div>
    </Dialog>
  );
}

function Tried({ tried: { run, before, after } }: { tried: RehearsedRun }) {
  return (
    <details class="grow" style={{ minWidth: "0" }}>
      <summary style={{ overflowWrap: "anywhere" }}>
        <StateMark tone={RUN_TONES[after.state]}>{after.state}</StateMark> <Ago at={run.started_at_ms} /> {run.arrived?.slice(0, MOST_SHOWN)}{" "}
        <span class="muted">{after.failure?.message.slice(0, 2 * MOST_SHOWN)}</span> <code class="muted">{run.id}</code>
      </summary>
      <StepDifferences differences={differencesOf(before, after.steps)} />
    </details>
  );
}
