import { useClient, useMayChange } from "../app-context.ts";
import { telling } from "../parts/dialogs/toast.tsx";
import { Problem } from "../parts/problem.tsx";
import { StateMark, type Tone } from "../parts/state-mark.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { At } from "../parts/text/time.tsx";
import { plural } from "../text-of.ts";
import { useLoaded } from "../use-loaded.ts";

const LOOK_EVERY_MS = 1000;
const COLUMNS: readonly Column[] = [
  { title: "Node" },
  { title: "Role" },
  { title: "Version", hide: "narrow" },
  { title: "Started", hide: "narrow" },
  { title: "" },
];

type Node = Awaited<ReturnType<ReturnType<typeof useClient>["cluster"]["nodes"]>>[number];

const TONES: Readonly<Record<Node["role"], Tone>> = {
  leading: "good",
  starting: "attention",
  standby: "plain",
  unable: "bad",
  draining: "attention",
  silent: "bad",
};

/** Nothing for a server that is alone. */
export function Nodes() {
  const client = useClient();
  const mayChange = useMayChange();
  const { value: nodes, error, reload } = useLoaded("nodes", () => client.cluster.nodes(), LOOK_EVERY_MS);
  if (nodes === undefined) return error === undefined ? null : <Problem error={error} onRetry={reload} />;
  if (nodes.length === 0) return null;
  const drain = (node: string, draining: boolean): void =>
    void telling(
      async () => {
        await client.cluster.drain(node, { draining });
        reload();
      },
      draining ? `${node} is draining` : `${node} may lead again`,
    );
  return (
    <section class="stack tight" aria-label="Nodes">
      <h2>Nodes</h2>
      <p class="muted">
        One node leads: it serves all sources. The others forward requests to it, and one of them leads when it ends. Drain a node before you stop it.
      </p>
      <Table columns={COLUMNS}>
        {nodes.map(({ node, role, version, problem, started_at_ms: startedAt, silent_ms: silentMs }) => (
          <tr key={node}>
            <td class="mono">{node}</td>
            <td>
              <StateMark tone={TONES[role]}>{role === "silent" ? `silent for ${plural(Math.floor(silentMs / 1000), "second")}` : role}</StateMark>
              {problem !== undefined && <div class="muted">could not lead: {problem}</div>}
            </td>
            <td class="hide-narrow">{version}</td>
            <td class="hide-narrow">
              <At at={startedAt} />
            </td>
            <td class="number">
              {mayChange && role !== "silent" && (
                <button
                  type="button"
                  class="button small"
                  aria-label={`${role === "draining" ? "Let lead" : "Drain"} ${node}`}
                  onClick={() => drain(node, role !== "draining")}
                >
                  {role === "draining" ? "Let lead" : "Drain"}
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
