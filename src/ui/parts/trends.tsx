import { useClient } from "../app-context.ts";
import { useQuery } from "../browser/address.ts";
import { duration, plural } from "../text-of.ts";
import { useLoaded } from "../use-loaded.ts";
import { Chart } from "./chart.tsx";
import { Problem } from "./problem.tsx";
import { Table, type Column } from "./table.tsx";
import { At } from "./text/time.tsx";
import { Waiting } from "./waiting.tsx";

const LOOK_EVERY_MS = 10_000;
const WINDOWS = { "1h": "1 hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days" } as const;
type WindowName = keyof typeof WINDOWS;
type Trend = Awaited<ReturnType<ReturnType<typeof useClient>["trends"]["get"]>>;
type Point = Trend["points"][number];

const COLUMNS: readonly Column[] = [
  { title: "From" },
  ...["Runs", "Failed", "Events", "Delivered", "Given up", "95 % of runs took at most"].map((title) => ({ title, isNumber: true })),
];

/** `id`: of a source or workflow. Without it, the whole server. */
export function Trends({ id }: { id?: string }) {
  const client = useClient();
  const [chosen, setWindow] = useQuery("window");
  const window: WindowName = isWindow(chosen) ? chosen : "24h";
  const ask = () => client.trends.get({ window, ...(id === undefined ? {} : { id }) });
  const { value, error, reload } = useLoaded(`trends ${id ?? ""} ${window}`, ask, LOOK_EVERY_MS);
  return (
    <section class="stack snug" aria-label="Trends">
      <div class="row wrap" role="group" aria-label="Time">
        {Object.entries(WINDOWS).map(([name, label]) => (
          <button key={name} type="button" class={`button ${name === window ? "" : "plain"}`} aria-pressed={name === window} onClick={() => setWindow(name)}>
            {label}
          </button>
        ))}
      </div>
      {error !== undefined && value === undefined && <Problem error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Waiting />}
      {value !== undefined && <Charts points={value.points} />}
    </section>
  );
}

function Charts({ points }: { points: readonly Point[] }) {
  const times = points.map(({ at_ms: at }) => at);
  const of = (read: (point: Point) => number): readonly number[] => points.map(read);
  const sum = (read: (point: Point) => number): number => points.reduce((total, point) => total + read(point), 0);
  const count = (value: number): string => value.toLocaleString("en");
  const [runs, failures, undelivered] = [sum((one) => one.runs), sum((one) => one.failures), sum((one) => one.undelivered)];
  const slowest = Math.max(0, ...of((one) => one.p95_ms ?? 0));
  return (
    <>
      <div class="charts">
        <Chart
          title="Runs"
          sum={failures === 0 ? count(runs) : `${count(runs)}, ${count(failures)} failed`}
          times={times}
          series={[
            { name: "succeeded", tone: "plain", values: of((one) => one.runs - one.failures) },
            { name: "failed", tone: "bad", values: of((one) => one.failures) },
          ]}
          textOf={count}
        />
        <Chart
          title="Events"
          sum={count(sum((one) => one.events))}
          times={times}
          series={[{ name: "events", tone: "plain", values: of((one) => one.events) }]}
          textOf={count}
        />
        <Chart
          title="Deliveries"
          sum={`${count(sum((one) => one.delivered))}${undelivered === 0 ? "" : `, ${count(undelivered)} given up`}`}
          times={times}
          series={[
            { name: "delivered", tone: "plain", values: of((one) => one.delivered) },
            { name: "given up", tone: "bad", values: of((one) => one.undelivered) },
          ]}
          textOf={count}
        />
        <Chart
          title="95 % of runs took at most"
          sum={slowest === 0 ? "no runs" : `at most ${duration(slowest)}`}
          times={times}
          series={[{ name: "", tone: "plain", values: of((one) => one.p95_ms ?? 0) }]}
          textOf={duration}
        />
      </div>
      <details>
        <summary>As a table ({plural(points.length, "row")})</summary>
        <Table columns={COLUMNS}>
          {points.toReversed().map((point) => (
            <tr key={point.at_ms}>
              <td>
                <At at={point.at_ms} />
              </td>
              <td class="number">{count(point.runs)}</td>
              <td class="number">{count(point.failures)}</td>
              <td class="number">{count(point.events)}</td>
              <td class="number">{count(point.delivered)}</td>
              <td class="number">{count(point.undelivered)}</td>
              <td class="number">{point.p95_ms === null ? "–" : duration(point.p95_ms)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}

function isWindow(text: string): text is WindowName {
  return text in WINDOWS;
}
