import { useRef } from "preact/hooks";
import { useClient } from "../app-context.ts";
import { Sparkline } from "../parts/sparkline.tsx";
import { bytes } from "../text-of.ts";
import { useLoaded } from "../use-loaded.ts";

const LOOK_EVERY_MS = 2000;
/** Two minutes of samples. */
const MOST_SAMPLES = 60;

type FiguresRecord = Awaited<ReturnType<ReturnType<typeof useClient>["server"]["figures"]>>;

export function Figures() {
  const client = useClient();
  const { value } = useLoaded("figures", () => client.server.figures(), LOOK_EVERY_MS);
  const samples = useRef<FiguresRecord[]>([]);
  if (value !== undefined && samples.current.at(-1)?.at_ms !== value.at_ms) samples.current = [...samples.current, value].slice(-MOST_SAMPLES);
  if (value === undefined) return null;
  const rates = (name: "runs" | "events" | "delivered"): number[] =>
    samples.current.slice(1).map((sample, index) => {
      const before = samples.current[index] ?? sample;
      return Math.max(0, ((sample[name] - before[name]) * 1000) / Math.max(1, sample.at_ms - before.at_ms));
    });
  const shown = [
    { name: "Runs", counts: rates("runs"), total: value.runs, more: value.failed === 0 ? "none failed" : `${value.failed.toLocaleString("en")} failed` },
    { name: "Events", counts: rates("events"), total: value.events, more: `${value.dropped.toLocaleString("en")} dropped by dedupe` },
    {
      name: "Deliveries",
      counts: rates("delivered"),
      total: value.delivered,
      more: `${(value.attempts - value.delivered).toLocaleString("en")} attempts failed`,
    },
  ];
  return (
    <div class="figures">
      {shown.map(({ name, counts, total, more }) => (
        <section class="panel padded stack tight" key={name}>
          <h2>{name}</h2>
          <p class="row">
            <strong class="figure">{(counts.at(-1) ?? 0).toFixed(1)}</strong> <span class="muted">per second</span>
            <span class="grow" />
            <Sparkline counts={counts} label={`${name} per second`} />
          </p>
          <p class="muted">
            {total.toLocaleString("en")} since the start, {more}
          </p>
        </section>
      ))}
      <section class="panel padded stack tight">
        <h2>Memory</h2>
        <p>
          <strong class="figure">{bytes(value.memory_bytes)}</strong> <span class="muted">memory of the server</span>
        </p>
        <p class="muted">{bytes(value.database_bytes)} database on disk</p>
      </section>
      <Queues figures={value} />
    </div>
  );
}

function Queues({ figures }: { figures: FiguresRecord }) {
  const queues: readonly (readonly [name: string, count: number])[] = [
    ["running calls", figures.running_calls],
    ["waiting calls", figures.waiting_calls],
    ["requests to run", figures.pending_requests],
    ["pending deliveries", figures.pending_deliveries],
    ["postponed events", figures.postponed_events],
  ];
  return (
    <section class="panel padded stack tight" aria-label="Queues">
      <h2>Queues</h2>
      <dl class="counts">
        {queues.map(([name, count]) => (
          <>
            <dt>{name}</dt>
            <dd>{count.toLocaleString("en")}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
