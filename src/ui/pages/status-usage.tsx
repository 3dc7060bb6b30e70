import { useClient } from "../app-context.ts";
import { type Column, Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { Problem } from "../parts/problem.tsx";
import { bytes } from "../text-of.ts";
import { useLoaded } from "../use-loaded.ts";

const LOOK_EVERY_MS = 60_000;
const COLUMNS: readonly Column[] = [
  { title: "Kind" },
  { title: "On disk", isNumber: true },
  { title: "Stored", isNumber: true },
  { title: "At most", hide: "narrow" },
];

type Usage = Awaited<ReturnType<ReturnType<typeof useClient>["server"]["usage"]>>;
type Kind = Usage["kinds"][number]["kind"];

const NAMES: Readonly<Record<Kind, string>> = {
  events: "Events",
  runs: "Runs with their logs",
  deliveries: "Deliveries with their attempts",
  state: "State of sources, data stores",
  code: "Code and its versions",
  other: "Everything else",
  free: "Free, used next",
};

export function UsageTable({ sources }: { sources: number }) {
  const client = useClient();
  const { value: usage, error, reload } = useLoaded("usage", () => client.server.usage(), LOOK_EVERY_MS);
  if (usage === undefined) return error === undefined ? <Waiting /> : <Problem error={error} onRetry={reload} />;
  const { keeps, kinds, folders, free_bytes: free, total_bytes: total } = usage;
  const days = `${keeps.days.toLocaleString("en")} days`;
  const most: Partial<Record<Kind, string>> = {
    events: `${keeps.events.toLocaleString("en")} per source, ${days}`,
    runs: `${keeps.invocations.toLocaleString("en")} per source, ${days}`,
    deliveries: `${keeps.invocations.toLocaleString("en")} per listener, ${days}`,
  };
  const budget: Partial<Record<Kind, number>> = { events: keeps.events * sources, runs: keeps.invocations * sources };
  return (
    <section class="stack tight">
      <h2>On disk</h2>
      <p class="muted">
        {bytes(free)} of {bytes(total)} are free. Server flags limit what is stored: <code>--keep-events</code>, <code>--keep-invocations</code>,{" "}
        <code>--keep-days</code>.
      </p>
      <Table columns={COLUMNS}>
        {kinds.map(({ kind, bytes: size, count }) => (
          <tr key={kind}>
            <td>{NAMES[kind]}</td>
            <td class="number">{bytes(size)}</td>
            <td class="number">
              {count?.toLocaleString("en") ?? ""}
              {count !== undefined && budget[kind] !== undefined && budget[kind] > 0 && (
                <span class="muted"> ({((count / budget[kind]) * 100).toFixed(1)} %)</span>
              )}
            </td>
            <td class="hide-narrow">{most[kind] ?? ""}</td>
          </tr>
        ))}
        {folders.map(({ name, bytes: size }) => (
          <tr key={name}>
            <td>Folder of {name}</td>
            <td class="number">{bytes(size)}</td>
            <td class="number" />
            <td class="hide-narrow" />
          </tr>
        ))}
      </Table>
    </section>
  );
}
