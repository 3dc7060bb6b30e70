import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { unsentMails } from "../../domain/account/mail.ts";
import { differencesOf } from "../../client/run-difference.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { JsonTree } from "../parts/json/json-tree.tsx";
import { Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { At, Until } from "../parts/text/time.tsx";
import { telling } from "../parts/dialogs/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { LogLines } from "../source/log-lines.tsx";
import { duration } from "../text-of.ts";
import type { RunStep, Workflow, WorkflowRun } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import { ItemChoice } from "./item-choice.tsx";
import { LazyGraph } from "./lazy-builder.tsx";
import { StepDifferences } from "./step-differences.tsx";
import { RUN_TONES, STEP_TONES } from "./step-texts.ts";

const LOOK_EVERY_MS = 1000;

interface RunDetailProps {
  readonly workflow: Workflow;
  readonly id: string;
  readonly onRun: (id: string) => void;
}

export function RunDetail({ workflow, id, onRun }: RunDetailProps) {
  const client = useClient();
  const [chosen, setPath] = useState<string>();
  const load = async () => ({ run: await client.workflows.run(id), steps: await client.workflows.steps(id) });
  const { value, error, reload } = useLoaded(`run ${id}`, load, LOOK_EVERY_MS);
  const version = value?.run.version ?? workflow.version;
  const isOlder = version !== workflow.version;
  const { value: older, error: notDrawn } = useLoaded(`${workflow.id} ${version}`, async () =>
    isOlder ? client.workflows.get(workflow.id, { version }) : undefined,
  );
  if (error !== undefined && value === undefined) return <Problem error={error} onRetry={reload} />;
  if (value === undefined) return <Waiting />;
  const { run, steps } = value;
  const path = chosen ?? run.failure?.path ?? "";
  const step = steps.find((one) => one.path === path);
  const drawn = isOlder ? older?.steps : workflow.steps;
  return (
    <div class="stack">
      <RunHead run={run} first={workflow.steps[0]?.namespace} reload={reload} onRun={onRun} />
      {run.rerun_of !== undefined && <Repeated of={run.rerun_of} steps={steps} />}
      <details>
        <summary>Trigger event</summary>
        <JsonTree value={run.trigger.event ?? null} label="event" />
      </details>
      {notDrawn !== undefined && <Problem error={notDrawn} />}
      {drawn !== undefined && <LazyGraph steps={drawn} records={steps} chosen={path} onChoose={setPath} />}
      {step !== undefined && (
        <StepDetail
          key={step.namespace}
          step={step}
          items={steps.filter(({ namespace }) => namespace === step.namespace)}
          run={run}
          isChosen={chosen !== undefined}
          onPath={setPath}
          onRun={onRun}
        />
      )}
    </div>
  );
}

interface RunHeadProps {
  readonly run: WorkflowRun;
  /** The first step of the current files. */
  readonly first: string | undefined;
  readonly reload: () => void;
  readonly onRun: (id: string) => void;
}

function RunHead({ run, first, reload, onRun }: RunHeadProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const { id, state, started_at_ms: at, ended_at_ms: end, failure, reason, version, rerun_as: again } = run;
  const hasEnded = state !== "running" && state !== "waiting";
  const act = (work: () => Promise<unknown>): void =>
    void telling(async () => {
      await work();
      reload();
    });
  return (
    <div class="stack tight">
      <div class="row wrap">
        <h2>
          <StateMark tone={RUN_TONES[state]}>{state}</StateMark>
        </h2>
        <At at={at} />
        {end !== undefined && <span class="muted">{duration(end - at)}</span>}
        <span class="muted">version {version}</span>
        <code class="cut">{id}</code>
        <span class="grow" />
        {mayChange && state === "waiting" && (
          <button type="button" class="button" onClick={() => act(() => client.workflows.resume(id))}>
            Resume
          </button>
        )}
        {mayChange && !hasEnded && (
          <button type="button" class="button" onClick={() => act(() => client.workflows.cancel(id))}>
            Cancel the run
          </button>
        )}
        {mayChange && (state === "failed" || state === "cancelled") && (
          <button type="button" class="button" onClick={() => act(async () => onRun((await client.workflows.rerun(id)).id))}>
            Rerun from where it ended
          </button>
        )}
        {mayChange && state === "succeeded" && first !== undefined && (
          <button type="button" class="button" onClick={() => act(async () => onRun((await client.workflows.rerun(id, { from: first })).id))}>
            Rerun
          </button>
        )}
      </div>
      {failure !== undefined && (
        <p class="note bad" role="alert">
          {failure.namespace}: {failure.message}
        </p>
      )}
      {again !== undefined && (
        <p class="muted">
          It was rerun as{" "}
          <button type="button" class="button plain mono" onClick={() => onRun(again.id)}>
            {again.id}
          </button>
          , which is {again.state}.
        </p>
      )}
      {reason !== undefined && <p class="muted">{reason}</p>}
    </div>
  );
}

function Repeated({ of, steps }: { of: string; steps: readonly RunStep[] }) {
  const client = useClient();
  const { value: before } = useLoaded(`steps ${of}`, () => client.workflows.steps(of));
  if (before === undefined) return null;
  return (
    <details open>
      <summary>Compared with {of}, which it repeats</summary>
      <StepDifferences differences={differencesOf(before, steps)} />
    </details>
  );
}

interface StepDetailProps {
  readonly step: RunStep;
  /** Of the same step. */
  readonly items: readonly RunStep[];
  readonly run: WorkflowRun;
  /** By the user, who then wants to see it. */
  readonly isChosen: boolean;
  readonly onPath: (path: string) => void;
  readonly onRun: (id: string) => void;
}

function StepDetail({ step, items, run, isChosen, onPath, onRun }: StepDetailProps) {
  const client = useClient();
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isChosen) section.current?.scrollIntoView({ block: "nearest" });
  }, [step.path]);
  const mayChange = useMayChange();
  const { namespace, state, attempt, duration_ms: ms, inputs, exports, decision, outcome, message, invocation_id: invocation, pause, sends = [] } = step;
  const { value: called } = useLoaded(`called ${invocation ?? ""}`, async () => (invocation === undefined ? undefined : client.invocations.get(invocation)));
  const again = (): Promise<void> => telling(async () => onRun((await client.workflows.rerun(run.id, { from: namespace })).id));
  return (
    <section class="stack panel" style={{ padding: "12px" }} aria-label={`Step ${namespace}`} ref={section}>
      <div class="row wrap">
        <h3>{namespace}</h3>
        <StateMark tone={STEP_TONES[state]}>{state}</StateMark>
        <ItemChoice records={items} path={step.path} onPath={onPath} />
        <span class="muted">{step.copied_from === undefined ? duration(ms) : `as in ${step.copied_from}`}</span>
        {attempt > 1 && <span class="muted">attempt {attempt}</span>}
        {pause !== undefined && (
          <span class="muted">
            {pause.kind}, <Until at={pause.until_ms} />
          </span>
        )}
        <span class="grow" />
        {mayChange && (
          <>
            <Link href={`/workflows/${run.workflow_id}/steps?step=${namespace}&run=${run.id}`} class="button">
              Edit this step
            </Link>
            <button type="button" class="button" onClick={() => void again()}>
              Rerun from here
            </button>
          </>
        )}
      </div>
      {unsentMails(sends).map((problem) => (
        <p class="note attention">E-mail {problem}</p>
      ))}
      {outcome !== "returned" && <p class="note bad">{message}</p>}
      {inputs !== undefined && Object.keys(inputs).length > 0 && (
        <>
          <h4>Inputs</h4>
          <JsonTree value={inputs} label={`inputs of ${namespace}`} />
        </>
      )}
      <h4>Exports</h4>
      <JsonTree value={decision ?? exports} label={`exports of ${namespace}`} />
      <h4>Log</h4>
      <LogLines lines={called?.logs ?? []} none="No log lines" />
    </section>
  );
}
