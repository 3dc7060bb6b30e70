import { Link } from "wouter-preact";
import { useClient } from "../app-context.ts";
import { StateMark } from "../parts/state-mark.tsx";
import { DELIVERY_TONES } from "../parts/webhook-parts.tsx";
import { duration, plural } from "../text-of.ts";
import type { Delivery, Invocation, Source } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";

const SHOWN = 20;
/** Deliveries continue after the run. */
const LOOK_EVERY_MS = 3000;

export function RunTimeline({ source, run }: { source: Source; run: Invocation }) {
  const client = useClient();
  const { value: events = [] } = useLoaded(`events of ${run.id}`, () => client.invocations.events(run.id, { limit: SHOWN }));
  const { value: deliveries = [] } = useLoaded(
    `deliveries of ${run.id}`,
    () => client.deliveries.ofInvocation(run.id),
    events.length > 0 ? LOOK_EVERY_MS : undefined,
  );
  const total = Math.max(1, run.duration_ms);
  return (
    <div class="timeline" aria-label="Timeline">
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
      {events.map((event) => (
        <>
          <div class="step" key={event.id}>
            <span aria-hidden="true">●</span>
            <Link href={`/sources/${source.id}/events?event=${event.id}`} class="cut">
              {event.metadata.summary ?? event.id}
            </Link>
            <span class="muted">{event.metadata.name === "" ? "event" : event.metadata.name}</span>
          </div>
          {deliveries
            .filter(({ message_id: message }) => message === `${source.id}-${event.id}`)
            .map((delivery) => (
              <DeliveryStep key={delivery.id} delivery={delivery} />
            ))}
        </>
      ))}
      {run.event_count > events.length && (
        <div class="step">
          <span aria-hidden="true">●</span>
          <span>{plural(run.event_count - events.length, events.length === 0 ? "event" : "more event")}</span>
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

function DeliveryStep({ delivery: { listener_id: listener, listener_name: name, state, attempts = [] } }: { delivery: Delivery }) {
  const isWebhook = listener.startsWith("wh_");
  const last = attempts.at(-1);
  return (
    <div class="step delivery">
      <span aria-hidden="true">↳</span>
      <span class="row">
        <StateMark tone={DELIVERY_TONES[state]}>{state}</StateMark>
        <Link href={isWebhook ? `/webhooks/${listener}` : listener.startsWith("p_") ? `/workflows/${listener}` : `/sources/${listener}/deliveries`} class="cut">
          {name ?? listener}
        </Link>
        {attempts.length > 1 && <span class="muted">{plural(attempts.length, "attempt")}</span>}
      </span>
      <span class="muted">{last === undefined ? "" : `${last.status ?? "no answer"}, ${duration(last.duration_ms)}`}</span>
    </div>
  );
}
