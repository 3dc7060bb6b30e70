import { useRef } from "preact/hooks";
import { useClient } from "../app-context.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Problem } from "../parts/problem.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { Ago, At } from "../parts/time.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { bytes } from "../text-of.ts";
import { useLoaded } from "../use-loaded.ts";

const LOOK_EVERY_MS = 2000;

/** What runs here, and what is wrong with it. */
export function StatusPage() {
  const client = useClient();
  const { value: status, error, reload } = useLoaded("status", () => client.server.status(), LOOK_EVERY_MS);
  if (status === undefined) return <div class="content">{error === undefined ? <Waiting /> : <Problem error={error} onRetry={reload} />}</div>;
  return (
    <div class="content">
      <div class="row wrap">
        <h1>Status</h1>
        {status.damage === undefined ? <StateMark tone="good">runs</StateMark> : <StateMark tone="bad">damaged</StateMark>}
      </div>
      {status.damage !== undefined && (
        <p class="note bad" role="alert">
          The database is damaged: {status.damage}. Nothing is written any more. <code>pd backup</code> saves what can be read, <code>pd restore</code> brings a
          backup back.
        </p>
      )}
      {status.no_wall !== undefined && (
        <p class="note attention">Components run without the wall: {status.no_wall}. Node's permission model alone holds them.</p>
      )}
      <Figures />
      <dl class="panel padded facts">
        <dt>Version</dt>
        <dd>{status.version}</dd>
        <dt>Running since</dt>
        <dd>
          <At at={status.started_at_ms} /> (<Ago at={status.started_at_ms} />
          ), process {status.pid}
        </dd>
        <dt>Sources</dt>
        <dd>{status.sources}</dd>
        <dt>Processes of components</dt>
        <dd>{status.processes ?? 0}</dd>
        <dt>API</dt>
        <dd class="row">
          <code class="cut">{status.api_url}</code> <CopyButton text={status.api_url} />
        </dd>
        <dt>Endpoints</dt>
        <dd class="row">
          <code class="cut">{status.endpoint_url}</code> <CopyButton text={status.endpoint_url} />
        </dd>
        <dt>Home</dt>
        <dd class="mono">{status.home}</dd>
        <dt>Secret key</dt>
        <dd>{{ keyring: "in the keyring of the machine", file: "in a file of the home", environment: "in a variable" }[status.secret_key]}</dd>
        <dt>Database</dt>
        <dd>{status.database}</dd>
        <dt>Components are enclosed by</dt>
        <dd>{status.sandbox === "wall" ? "the wall: namespaces, a filter of system calls, limits" : "the belt: Node's permission model"}</dd>
        <dt>Components reach</dt>
        <dd>{status.component_network === "open" ? "any network" : "the public network, neither this machine nor its own network"}</dd>
      </dl>
    </div>
  );
}

type FiguresRecord = Awaited<ReturnType<ReturnType<typeof useClient>["server"]["figures"]>>;

/** How many samples are kept for the pictures: two minutes. */
const MOST_SAMPLES = 60;

/** What happens now, as the difference of what was counted. */
function Figures() {
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
            <strong class="figure">{(counts.at(-1) ?? 0).toFixed(1)}</strong> <span class="muted">a second</span>
            <span class="grow" />
            <Sparkline counts={counts} label={`${name} a second, lately`} />
          </p>
          <p class="muted">
            {total.toLocaleString("en")} since the start, {more}
          </p>
        </section>
      ))}
      <section class="panel padded stack tight">
        <h2>Takes up</h2>
        <p>
          <strong class="figure">{bytes(value.memory_bytes)}</strong> <span class="muted">memory of the server</span>
        </p>
        <p class="muted">{bytes(value.database_bytes)} database on disk</p>
      </section>
    </div>
  );
}
