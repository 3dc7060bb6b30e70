import { useTitle } from "../browser/title.ts";
import { useClient } from "../app-context.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { Ago, At } from "../parts/text/time.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { Alerts } from "../parts/alerts.tsx";
import { Trends } from "../parts/trends.tsx";
import { useLoaded } from "../use-loaded.ts";
import { Figures } from "./status-figures.tsx";
import { Nodes } from "./status-nodes.tsx";
import { UsageTable } from "./status-usage.tsx";
import { plural } from "../text-of.ts";

const LOOK_EVERY_MS = 2000;

export function StatusPage() {
  useTitle("Status");
  const client = useClient();
  const { value: status, error, reload } = useLoaded("status", () => client.server.status(), LOOK_EVERY_MS);
  if (status === undefined) return <div class="content">{error === undefined ? <Waiting /> : <Problem error={error} onRetry={reload} />}</div>;
  return (
    <div class="content">
      <div class="row wrap">
        <h1>Status</h1>
        {status.damage === undefined ? <StateMark tone="good">running</StateMark> : <StateMark tone="bad">damaged</StateMark>}
      </div>
      {status.damage !== undefined && (
        <p class="note bad" role="alert">
          The database is damaged: {status.damage}. It is no longer written. <code>pd backup</code> saves what can be read, <code>pd restore</code> restores a
          backup.
        </p>
      )}
      <Checkup />
      <Nodes />
      <Trends />
      <Alerts what="anything on this server fails" />
      <Figures />
      <UsageTable sources={status.sources} />
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
        <dd>{{ keyring: "in the machine's keyring", file: "in a file of the home", environment: "in a variable" }[status.secret_key]}</dd>
        <dt>Database</dt>
        <dd>{status.database}</dd>
        <dt>Sandbox</dt>
        <dd>{status.sandbox === "wall" ? "the wall: namespaces, a filter of system calls, limits" : "the belt: Node's permission model"}</dd>
        <dt>Component network</dt>
        <dd>{status.component_network === "open" ? "any network" : "the public network, neither this machine nor its own network"}</dd>
      </dl>
    </div>
  );
}

const CHECK_EVERY_MS = 15_000;

function Checkup() {
  const client = useClient();
  const { value: found, error, reload } = useLoaded("checkup", () => client.server.checkup(), CHECK_EVERY_MS);
  if (found === undefined) return error === undefined ? <Waiting /> : <Problem error={error} onRetry={reload} />;
  const wrong = found.filter(({ level }) => level !== "good");
  const well = found.filter(({ level }) => level === "good").map(({ about }) => about);
  return (
    <section class="panel padded stack" aria-label="Check">
      <div class="row wrap">
        <h2>Check</h2>
        {wrong.length === 0 ? (
          <StateMark tone="good">no problems</StateMark>
        ) : (
          <StateMark tone={wrong.some(({ level }) => level === "bad") ? "bad" : "attention"}>{plural(wrong.length, "finding")}</StateMark>
        )}
        <span class="muted">from pd doctor</span>
      </div>
      {wrong.map(({ level, about, text, fix }) => (
        <div class={`note ${level}`} key={`${about} ${text}`}>
          <span>
            <strong>{about}</strong>: {text}
          </span>
          {fix !== undefined && <span class="muted">{fix}</span>}
        </div>
      ))}
      {well.length > 0 && <p class="muted">OK: {well.join(", ")}</p>}
    </section>
  );
}
