import { Link } from "wouter-preact";
import { useClient } from "../app-context.ts";
import { duration, plural } from "../text-of.ts";
import type { Invocation, Source } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";

/** Events after a run that are looked through for its own. */
const MOST_LOOKED_AT = 200;

/** The one picture of the product: what called it, how long it ran, what it emitted and what was dropped. */
export function RunTimeline({ source, run }: { source: Source; run: Invocation }) {
  const client = useClient();
  const { value: events = [] } = useLoaded(`events of ${run.id}`, async () => {
    if (run.event_count === 0) return [];
    const { data } = await client.events.list(source.id, { limit: MOST_LOOKED_AT });
    return data.filter(({ metadata }) => metadata.invocation_id === run.id);
  });
  const total = Math.max(1, run.duration_ms);
  return (
    <div class="timeline" aria-label="What happened">
      <div class="step">
        <span aria-hidden="true">→</span>
        <span class="cut">{run.trigger_summary}</span>
        <span class="muted">{run.trigger.kind}</span>
      </div>
      <div class="step">
        <span aria-hidden="true">▬</span>
        <div class={`bar ${run.outcome === "returned" ? "" : "bad"}`} role="img" aria-label={`ran for ${duration(run.duration_ms)}`}>
          {(run.logs ?? []).slice(0, 200).map((line, index) => (
            <span key={index} class="tick" style={{ left: `${Math.max(0, Math.min(99, ((line.ts - run.started_at_ms) / total) * 100))}%` }} />
          ))}
        </div>
        <span class="muted">{duration(run.duration_ms)}</span>
      </div>
      {events.slice(0, 20).map((event) => (
        <div class="step" key={event.id}>
          <span aria-hidden="true">●</span>
          <Link href={`/sources/${source.id}/events?event=${event.id}`} class="cut">
            {event.metadata.summary ?? event.id}
          </Link>
          <span class="muted">{event.metadata.name === "" ? "event" : event.metadata.name}</span>
        </div>
      ))}
      {run.event_count > Math.min(events.length, 20) && (
        <div class="step">
          <span aria-hidden="true">●</span>
          <span>{plural(run.event_count - Math.min(events.length, 20), events.length === 0 ? "event" : "more event")}</span>
          <span />
        </div>
      )}
      {Object.entries(run.dropped).map(([reason, count]) => (
        <div class="step" key={reason}>
          <span aria-hidden="true">○</span>
          <span>
            {plural(count, "emit")} dropped: {reason}
          </span>
          <span class="muted">dedupe</span>
        </div>
      ))}
    </div>
  );
}
