import { useTitle } from "../browser/title.ts";
import { Link } from "wouter-preact";
import { everyPage } from "../../client/client.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { useQuery } from "../browser/address.ts";
import { LazyNewWorkflow } from "../workflow/lazy-builder.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { Workflow } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import { triggerText } from "../workflow/step-texts.ts";

const LOOK_EVERY_MS = 2000;
const COLUMNS: readonly Column[] = [
  { title: "Name" },
  { title: "State" },
  { title: "Trigger", hide: "narrow" },
  { title: "Running", isNumber: true },
  { title: "Waiting", isNumber: true, hide: "narrow" },
  { title: "Succeeded", isNumber: true, hide: "medium" },
  { title: "Failed", isNumber: true },
];

export function WorkflowsPage() {
  useTitle("Workflows");
  const client = useClient();
  const mayChange = useMayChange();
  const [isNew, setNew] = useQuery("new");
  const { value: workflows, error, reload } = useLoaded("workflows", () => everyPage(client.workflows.list), LOOK_EVERY_MS);
  return (
    <div class="content">
      <div class="row wrap">
        <h1 class="grow">Workflows</h1>
        {mayChange && (
          <button type="button" class="button filled" data-key="n" onClick={() => setNew("1")}>
            New workflow
          </button>
        )}
      </div>
      {isNew !== "" && <LazyNewWorkflow onClose={() => setNew("")} />}
      {error !== undefined && workflows === undefined && <Problem error={error} onRetry={reload} />}
      {workflows === undefined && error === undefined && <Waiting />}
      {workflows?.length === 0 && <NoWorkflows />}
      {workflows !== undefined && workflows.length > 0 && (
        <Table columns={COLUMNS}>
          {workflows.map((workflow) => (
            <Row key={workflow.id} workflow={workflow} />
          ))}
        </Table>
      )}
    </div>
  );
}

function NoWorkflows() {
  const command = "pd init workflow hello && pd dev hello";
  return (
    <Empty title="No workflows yet">
      <p>A workflow is a folder of steps that process an event. Create one here, or from a terminal:</p>
      <code>{command}</code>
      <CopyButton text={command} />
    </Empty>
  );
}

function Row({ workflow }: { workflow: Workflow }) {
  const { id, name, name_slug: slug, active, triggers, runs } = workflow;
  return (
    <tr>
      <td style={{ minWidth: "120px", maxWidth: "320px" }}>
        <div class="stack tight">
          <Link href={`/workflows/${id}`} class="cut">
            <strong>{name}</strong>
          </Link>
          <span class="muted mono cut">{slug}</span>
        </div>
      </td>
      <td>
        <StateMark tone={active ? "good" : "plain"}>{active ? "active" : "inactive"}</StateMark>
      </td>
      <td class="hide-narrow cut">{triggers.length === 0 ? "manual" : triggers.map(triggerText).join(", ")}</td>
      <td class="number">{runs.running}</td>
      <td class="hide-narrow number">{runs.waiting}</td>
      <td class="hide-medium number">{runs.succeeded}</td>
      <td class="number">{runs.failed === 0 ? <span class="muted">0</span> : <StateMark tone="bad">{runs.failed}</StateMark>}</td>
    </tr>
  );
}
