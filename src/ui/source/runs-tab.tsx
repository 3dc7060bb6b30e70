import { outcomeWord } from "../../domain/run/invocation.ts";
import { useEffect, useState } from "preact/hooks";
import { useQuery } from "../browser/address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { JsonTree } from "../parts/json/json-tree.tsx";
import { LongList } from "../parts/long-list.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { Ago, At } from "../parts/text/time.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { duration, plural } from "../text-of.ts";
import type { Invocation, Source } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import { LogLines } from "./log-lines.tsx";
import { RunTimeline } from "./run-timeline.tsx";
import { Rehearsal } from "./rehearsal.tsx";
import type { TabProps } from "./tab-props.ts";
import { Select } from "../parts/fields.tsx";

const LOOK_EVERY_MS = 1500;
const PAGE = 100;

export function RunsTab({ source }: TabProps) {
  const client = useClient();
  const [chosen, setChosen] = useQuery("run");
  const [filter, setFilter] = useQuery("outcome");
  const [limit, setLimit] = useState(PAGE);
  const { value: runs, error, reload } = useLoaded(source.id, () => client.invocations.list(source.id, { limit }), LOOK_EVERY_MS);
  useEffect(reload, [limit, reload]);
  if (error !== undefined && runs === undefined) return <Problem error={error} onRetry={reload} />;
  if (runs === undefined) return <Waiting />;
  if (runs.length === 0)
    return (
      <Empty title="No runs yet">
        <p>Run it now with the key r, or wait for its trigger.</p>
      </Empty>
    );
  const shown = runs.filter(({ outcome }) => filter === "" || (filter === "failed") === (outcome !== "returned"));
  return (
    <div class="stack snug">
      <div class="row">
        <Select label="Outcome" choices={{ "": "All runs", failed: "Failed", done: "Succeeded" }} value={filter} onChange={setFilter} />
        <span class="muted">{plural(shown.length, "run")}</span>
      </div>
      <div class={`panel split ${chosen === "" ? "" : "has-chosen"}`}>
        <div class="list">
          <LongList
            items={shown}
            label="Runs"
            keyOf={({ id }) => id}
            chosen={chosen}
            onChoose={setChosen}
            onEnd={() => runs.length === limit && setLimit(Math.min(1000, limit + PAGE))}
          >
            {(run) => <Row run={run} />}
          </LongList>
        </div>
        <div class="chosen" tabIndex={-1}>
          {chosen === "" ? (
            <Empty title="Choose a run to see it" />
          ) : (
            <Chosen key={chosen} source={source} id={chosen} onBack={() => setChosen("")} onReplayed={setChosen} />
          )}
        </div>
      </div>
    </div>
  );
}

function Row({ run }: { run: Invocation }) {
  const dropped = Object.values(run.dropped).reduce((sum, count) => sum + count, 0);
  return (
    <>
      <OutcomeMark run={run} />
      <span class="cut grow">
        {run.trigger_summary} <span class="muted">{run.arrived}</span>
      </span>
      {run.event_count > 0 && <span>{plural(run.event_count, "event")}</span>}
      {dropped > 0 && <span class="muted">{dropped} dropped</span>}
      <span class="muted hide-narrow">{duration(run.duration_ms)}</span>
      <span class="muted">
        <Ago at={run.started_at_ms} />
      </span>
    </>
  );
}

export function OutcomeMark({ run }: { run: Pick<Invocation, "outcome"> }) {
  return <StateMark tone={run.outcome === "returned" ? "good" : "bad"}>{outcomeWord(run.outcome)}</StateMark>;
}

interface ChosenProps {
  readonly source: Source;
  readonly id: string;
  readonly onBack: () => void;
  readonly onReplayed: (id: string) => void;
}

function Chosen({ source, id, onBack, onReplayed }: ChosenProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const [isReplaying, setReplaying] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const [replayError, setReplayError] = useState<unknown>();
  const { value: run, error, reload } = useLoaded(id, () => client.invocations.get(id));
  const replay = async (): Promise<void> => {
    setReplaying(true);
    setReplayError(undefined);
    await client.invocations.replay(id).then((again) => onReplayed(again.id), setReplayError);
    setReplaying(false);
  };
  if (error !== undefined) return <Problem error={error} onRetry={reload} />;
  if (run === undefined) return <Waiting />;
  return (
    <div class="stack">
      <div class="row wrap">
        <button type="button" class="button back" onClick={onBack}>
          ← Runs
        </button>
        <OutcomeMark run={run} />
        <h2 class="grow cut">{run.trigger_summary}</h2>
        {mayChange && run.trigger.kind !== "hook" && (
          <button type="button" class="button" data-key="x" onClick={() => setAttempt(attempt + 1)} title="Dry run with the current code; nothing is stored">
            Compare with current code
          </button>
        )}
        {mayChange && run.trigger.kind !== "hook" && (
          <button
            type="button"
            class="button"
            data-key="p"
            disabled={isReplaying}
            onClick={() => void replay()}
            title="Run the same trigger again with the current code"
          >
            {isReplaying ? "Replaying…" : "Replay"}
          </button>
        )}
      </div>
      {attempt > 0 && <Rehearsal id={id} attempt={attempt} />}
      {replayError !== undefined && <Problem error={replayError} />}
      {run.error !== undefined && (
        <div class="note bad">
          <strong>
            {run.error.name}: {run.error.message}
          </strong>
          <pre>{run.error.stack}</pre>
        </div>
      )}
      {run.error === undefined && run.outcome !== "returned" && <p class="note bad">{run.message}</p>}
      <RunTimeline source={source} run={run} />
      <Facts run={run} onOpen={onReplayed} />
      <section class="stack tight">
        <h3>Log</h3>
        <LogLines lines={run.logs ?? []} none="No log lines" />
      </section>
      {run.event !== undefined && (
        <section class="stack tight">
          <h3>Event, as the component received it</h3>
          <JsonTree value={run.event} label="the event" />
        </section>
      )}
      <details>
        <summary>{run.trigger.kind === "http" ? "The request as it came" : "Trigger"}</summary>
        <JsonTree value={JSON.parse(JSON.stringify(run.trigger))} label="trigger" />
      </details>
      {run.returned !== undefined && (
        <section class="stack tight">
          <h3>Return value</h3>
          <JsonTree value={run.returned} label="return value" />
        </section>
      )}
    </div>
  );
}

function Facts({ run, onOpen }: { run: Invocation; onOpen: (id: string) => void }) {
  const { replay_of: replayOf } = run;
  return (
    <dl class="facts">
      <dt>Started</dt>
      <dd>
        <At at={run.started_at_ms} />
      </dd>
      <dt>Duration</dt>
      <dd>{duration(run.duration_ms)}</dd>
      {run.version !== undefined && (
        <>
          <dt>Code</dt>
          <dd>version {run.version}</dd>
        </>
      )}
      {run.response_status !== undefined && (
        <>
          <dt>Response</dt>
          <dd>{run.response_status}</dd>
        </>
      )}
      {replayOf !== undefined && (
        <>
          <dt>Replay of</dt>
          <dd>
            <button type="button" class="button plain mono" onClick={() => onOpen(replayOf)}>
              {replayOf}
            </button>
          </dd>
        </>
      )}
      <dt>Id</dt>
      <dd class="mono">{run.id}</dd>
    </dl>
  );
}
