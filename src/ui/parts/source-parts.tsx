import { scheduleWords } from "../../domain/timer/schedule-words.ts";
import type { Source } from "../types.ts";
import { CopyButton } from "./copy-button.tsx";
import { StateMark } from "./state-mark.tsx";
import { Until } from "./text/time.tsx";

export function SourceState({ source }: { source: Source }) {
  const { active, problems = [] } = source;
  if (problems.length > 0)
    return (
      <span title={problems.join("\n")}>
        <StateMark tone="bad">problem</StateMark>
      </span>
    );
  return active ? <StateMark tone="good">active</StateMark> : <StateMark tone="plain">inactive</StateMark>;
}

export function TriggerOf({ source, hasCopy = false }: { source: Source; hasCopy?: boolean }) {
  const { endpoint_url: endpoint, timers = [], active } = source;
  const [timer] = timers;
  if (timer !== undefined)
    return (
      <span class="row">
        <span title={timer.cron}>{scheduleWords(timer)}</span>
        {active && timer.next_at_ms !== undefined && (
          <span class="muted">
            <Until at={timer.next_at_ms} />
          </span>
        )}
      </span>
    );
  if (endpoint === undefined) return <span class="muted">manual</span>;
  return (
    <span class="row">
      <span class="muted" title={endpoint}>
        HTTP
      </span>
      {hasCopy && <CopyButton text={endpoint} label="Copy" />}
    </span>
  );
}
