import { outcomeWord } from "../../domain/run/invocation.ts";
import { type JsonValue, isSameJson } from "../../domain/text/json.ts";
import { sentenceOf } from "../../client/rehearsal-text.ts";
import { useClient } from "../app-context.ts";
import { Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { duration } from "../text-of.ts";
import { useLoaded } from "../use-loaded.ts";
import { LogLines } from "./log-lines.tsx";

type Rehearsed = Awaited<ReturnType<ReturnType<typeof useClient>["invocations"]["rehearse"]>>;
type Emitted = Rehearsed["after"]["events"][number];

export function Rehearsal({ id, attempt }: { id: string; attempt: number }) {
  const client = useClient();
  const { value, error } = useLoaded(`rehearse ${id} ${attempt}`, () => client.invocations.rehearse(id));
  if (error !== undefined) return <Problem error={error} />;
  if (value === undefined) return <Waiting />;
  const { before, after, state } = value;
  return (
    <section class="panel padded stack" aria-label="Dry run with the current code">
      <p>
        <strong>{sentenceOf(value)}</strong>
      </p>
      <p class="muted">Nothing was stored. Requests to third parties were real.</p>
      <div class="compared">
        <h3>Recorded{before.version === undefined ? "" : `, version ${before.version}`}</h3>
        <h3>Current code, version {after.version}</h3>
        <Outcome outcome={before.outcome} message={before.message} />
        <Outcome outcome={after.outcome} message={`${after.message}, ${duration(after.duration_ms)}`} />
        {pairs(before.events, after.events).map(([left, right], index) => (
          <Pair key={index} left={left} right={right} />
        ))}
        <span>status: {before.status ?? "none"}</span>
        <span class={before.status === after.status ? "" : "differs"}>
          status: {after.status ?? "none"} {after.body !== undefined && <code class="cut">{after.body.slice(0, 200)}</code>}
        </span>
      </div>
      {after.error !== undefined && <pre class="note bad">{after.error.stack}</pre>}
      {state.length > 0 && (
        <>
          <h3>State</h3>
          <div class="difference">
            {state.map(({ key, before: old, after: next }) => (
              <>
                {old !== undefined && (
                  <div class="removed">
                    - {key}: {textOf(old)}
                  </div>
                )}
                {next !== undefined && (
                  <div class="added">
                    + {key}: {textOf(next)}
                  </div>
                )}
              </>
            ))}
          </div>
        </>
      )}
      <h3>Log of the dry run</h3>
      <LogLines lines={after.logs} none="No log lines" />
    </section>
  );
}

function Outcome({ outcome, message }: { outcome: string; message: string }) {
  return (
    <span class="row">
      <StateMark tone={outcome === "returned" ? "good" : "bad"}>{outcomeWord(outcome)}</StateMark>
      <span class="muted cut">{message}</span>
    </span>
  );
}

function Pair({ left, right }: { left: Emitted | undefined; right: Emitted | undefined }) {
  const isSame = left !== undefined && right !== undefined && isSameJson(left.event, right.event) && left.summary === right.summary && left.name === right.name;
  return (
    <>
      <EventText emitted={left} sign={right === undefined ? "-" : ""} />
      <div class={isSame ? "" : "differs"}>
        <EventText emitted={right} sign={left === undefined ? "+" : ""} />
      </div>
    </>
  );
}

function EventText({ emitted, sign }: { emitted: Emitted | undefined; sign: string }) {
  if (emitted === undefined) return <span class="muted">no event</span>;
  return (
    <details>
      <summary class="cut">
        {sign} {emitted.summary ?? textOf(emitted.event).slice(0, 120)}{" "}
        {emitted.dropped !== undefined && <span class="muted">would be dropped: {emitted.dropped}</span>}
      </summary>
      <pre class="json">{JSON.stringify(emitted.event, null, 2)}</pre>
    </details>
  );
}

function pairs(before: readonly Emitted[], after: readonly Emitted[]): (readonly [Emitted | undefined, Emitted | undefined])[] {
  return Array.from({ length: Math.min(50, Math.max(before.length, after.length)) }, (_, index) => [before[index], after[index]] as const);
}

function textOf(value: JsonValue): string {
  return JSON.stringify(value);
}
