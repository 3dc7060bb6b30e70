import { scheduleWords } from "../../domain/timer/schedule-words.ts";
import { Link } from "wouter-preact";
import { useClient } from "../app-context.ts";
import { Empty, Problem } from "../parts/problem.tsx";
import { StateMark, type Tone } from "../parts/state-mark.tsx";
import { At, Until } from "../parts/text/time.tsx";
import { NextInstants } from "../parts/text/next-instants.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { plural } from "../text-of.ts";
import type { Source } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import type { TabProps } from "./tab-props.ts";
import { type Column, Table } from "../parts/table.tsx";

const COLUMNS: readonly Column[] = [{ title: "Planned" }, { title: "Result" }, { title: "Why", hide: "narrow" }, { title: "Run" }];

const LOOK_EVERY_MS = 2000;
const SHOWN = 100;
const TONES: Readonly<Record<string, Tone>> = { fired: "good", running: "plain", coalesced: "attention", skipped: "attention" };
const WORDS: Readonly<Record<string, string>> = { fired: "ran", running: "running", coalesced: "merged", skipped: "skipped" };

export function ScheduleTab({ source }: TabProps) {
  const client = useClient();
  const { value: instants, error } = useLoaded(`instants ${source.id}`, () => client.invocations.instants(source.id, { limit: SHOWN }), LOOK_EVERY_MS);
  const { timers = [] } = source;
  if (error !== undefined && instants === undefined) return <Problem error={error} />;
  if (instants === undefined) return <Waiting />;
  if (timers.length === 0 && instants.length === 0)
    return (
      <Empty title="No timer">
        <p>
          A prop of the type <code>$.interface.timer</code> adds one.
        </p>
      </Empty>
    );
  return (
    <div class="stack">
      {timers.map((timer) => (
        <div class="panel padded stack tight" key={timer.prop}>
          <p class="row wrap">
            <strong>{timer.prop}</strong>
            <span title={timer.cron}>{scheduleWords(timer)}</span>
            {timer.next_at_ms !== undefined && source.active && (
              <span>
                next <At at={timer.next_at_ms} />, <Until at={timer.next_at_ms} />
              </span>
            )}
            <span class="muted">missed instants: {timer.catch_up}</span>
            <Link href={`/sources/${source.id}/configuration`}>Change it</Link>
          </p>
          {timer.cron !== undefined && source.active && <NextInstants cron={timer.cron} timezone={timer.timezone} />}
          {timer.cron === undefined && source.active && <Planned timer={timer} />}
        </div>
      ))}
      {instants.length === 0 && <p class="muted">Nothing was due yet.</p>}
      {instants.length > 0 && (
        <Table columns={COLUMNS}>
          {instants.map((instant) => (
            <tr key={`${instant.prop}${instant.planned_at_ms}`}>
              <td>
                <At at={instant.planned_at_ms} />
              </td>
              <td>
                <StateMark tone={TONES[instant.state] ?? "plain"}>{WORDS[instant.state] ?? instant.state}</StateMark>{" "}
                {instant.count > 1 && <span class="muted">{plural(instant.count, "instant")}</span>}
              </td>
              <td class="hide-narrow">{instant.reason}</td>
              <td>{instant.invocation_id !== undefined && <Link href={`/sources/${source.id}/runs?run=${instant.invocation_id}`}>show</Link>}</td>
            </tr>
          ))}
        </Table>
      )}
    </div>
  );
}

const SHOWN_INSTANTS = 5;

function Planned({ timer: { next_at_ms: next, intervalSeconds: seconds } }: { timer: NonNullable<Source["timers"]>[number] }) {
  if (next === undefined || seconds === undefined) return null;
  return (
    <p class="muted">
      Next:{" "}
      {Array.from({ length: SHOWN_INSTANTS }, (_, index) => next + index * seconds * 1000).map((at, index) => (
        <span key={at}>
          {index > 0 && ", "}
          <At at={at} />
        </span>
      ))}
    </p>
  );
}
