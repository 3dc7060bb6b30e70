import { useEffect, useRef, useState } from "preact/hooks";
import type { Files } from "../../domain/workflow/edit-steps.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { useGo } from "../browser/address.ts";
import { Select } from "../parts/fields.tsx";
import { JsonTree } from "../parts/json/json-tree.tsx";
import { Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { LogLines } from "../source/log-lines.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { RehearsedRun, RunStep, WorkflowRun, WorkflowStep } from "../types.ts";
import { useAttempt } from "../use-attempt.ts";
import { ItemChoice, itemText } from "../workflow/item-choice.tsx";
import { runChoices } from "../workflow/run-choices.ts";
import { STEP_TONES } from "../workflow/step-texts.ts";
import type { Folder } from "./use-folder.ts";
import type { RunInView } from "./use-run-in-view.ts";

interface StepRunsProps {
  readonly step: WorkflowStep;
  readonly folder: Folder;
  /** With what is typed, if anything. */
  readonly draft: Files | undefined;
  readonly inView: RunInView;
}

/** What a run did in this step, and what the step would do with what the run gave it. */
export function StepRuns(props: StepRunsProps) {
  const { inView } = props;
  const { runs, id, run, error, choose } = inView;
  if (id === "") return <p class="muted">After the first run, this step can be tried with what the run gave it.</p>;
  return (
    <section class="stack tight" aria-label="Runs of this step">
      <div class="row wrap">
        <h3>With a run</h3>
        <Select label="Run" choices={{ ...(run === undefined ? { [id]: id } : {}), ...runChoices(runs) }} value={id} onChange={choose} />
      </div>
      {run !== undefined && <WithRun key={id} {...props} run={run} />}
      {run === undefined && (error === undefined ? <Waiting /> : <Problem error={error} />)}
    </section>
  );
}

function WithRun({ step, folder, draft, inView: { records }, run }: StepRunsProps & { readonly run: WorkflowRun }) {
  const client = useClient();
  const go = useGo();
  const mayChange = useMayChange();
  const { namespace } = step;
  const { id, state } = run;
  const [asksThirdParties, setAsking] = useState(false);
  const [tried, setTried] = useState<RehearsedRun>();
  const { isUnderWay, error, attempt } = useAttempt();
  const own = records.filter((one) => one.namespace === namespace);
  const [path, setPath] = useState("");
  const record = own.find((one) => one.path === path) ?? own.find((one) => one.state === "failed") ?? own.at(-1);
  const tryIt = (): Promise<void> =>
    attempt(async () => {
      setTried(undefined);
      const files = draft === undefined ? {} : { files: { ...draft } };
      const item = record === undefined ? {} : { path: record.path };
      setTried(await client.workflows.rehearseRun(id, { from: namespace, alone: true, ask_third_parties: asksThirdParties, ...item, ...files }));
    });
  const rerun = (): Promise<void> =>
    attempt(async () => {
      if (draft !== undefined) await folder.change(draft);
      // Items of a loop that have succeeded do not run again.
      const again = await client.workflows.rerun(id, run.failure?.namespace === namespace ? {} : { from: namespace });
      go(`/workflows/${run.workflow_id}/runs?run=${again.id}`);
    });
  return (
    <>
      {mayChange && (
        <>
          <div class="row wrap">
            {step.kind !== "parallel" && (
              <button type="button" class="button" disabled={isUnderWay} title="A dry run of this step alone: nothing is stored" onClick={() => void tryIt()}>
                {isUnderWay ? "Trying…" : "Try this step"}
              </button>
            )}
            <button type="button" class="button" disabled={isUnderWay || state === "running" || state === "waiting"} onClick={() => void rerun()}>
              {draft === undefined ? "Rerun from here" : "Save and rerun from here"}
            </button>
          </div>
          <label class="row">
            <input type="checkbox" checked={asksThirdParties} onChange={({ currentTarget }) => setAsking(currentTarget.checked)} />
            <span>
              Send requests while trying <span class="muted">(otherwise the run's recorded answers are used)</span>
            </span>
          </label>
        </>
      )}
      {error !== undefined && <Problem error={error} />}
      {tried !== undefined && <Tried tried={tried} namespace={namespace} />}
      {record === undefined ? (
        <p class="muted">This run did not reach the step.</p>
      ) : (
        <section class="stack tight" aria-label="Last result">
          <div class="row wrap">
            <h3>In this run</h3>
            <ItemChoice records={own} path={record.path} onPath={setPath} />
          </div>
          <Result record={record} label="last" />
        </section>
      )}
    </>
  );
}

function Tried({ tried: { after }, namespace }: { tried: RehearsedRun; namespace: string }) {
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), []);
  const record = after.steps.findLast((one) => one.namespace === namespace && one.copied_from === undefined);
  return (
    <section class="panel padded stack tight" aria-label="What the step would do" ref={section}>
      <h3>Tried{record === undefined || itemText(record) === "" ? "" : ` with ${itemText(record)}`}, nothing was stored</h3>
      {record !== undefined && <Result record={record} label="tried" />}
      {after.logs.length > 0 && <LogLines lines={after.logs} none="No log lines" />}
    </section>
  );
}

function Result({ record: { state, outcome, message, inputs, decision, exports }, label }: { record: RunStep; label: string }) {
  return (
    <>
      <div class="row">
        <StateMark tone={STEP_TONES[state]}>{state}</StateMark>
      </div>
      {outcome !== "returned" && <p class="note bad">{message}</p>}
      {inputs !== undefined && Object.keys(inputs).length > 0 && (
        <>
          <h4>Inputs</h4>
          <JsonTree value={inputs} label={`${label} inputs`} />
        </>
      )}
      <h4>Result</h4>
      <JsonTree value={decision ?? exports} label={`${label} exports`} />
    </>
  );
}
