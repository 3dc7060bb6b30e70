import { useTitle } from "../browser/title.ts";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useGo } from "../browser/address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { ConfirmByName } from "../parts/dialogs/dialog.tsx";
import { Menu } from "../parts/dialogs/menu.tsx";
import { Empty, Missing } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { tell, telling } from "../parts/dialogs/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useLoaded } from "../use-loaded.ts";
import { FilesTab } from "./files-tab.tsx";
import { LazyBuilder } from "./lazy-builder.tsx";
import { RenameWorkflow } from "./rename-workflow.tsx";
import { RunWorkflow } from "./run-workflow.tsx";
import { Alerts } from "../parts/alerts.tsx";
import { Trends } from "../parts/trends.tsx";
import { RunsTab } from "./runs-tab.tsx";
import { triggerText } from "./step-texts.ts";
import type { WorkflowTabProps } from "./tab-props.ts";

const LOOK_EVERY_MS = 2000;

const TABS = [
  { name: "runs", label: "Runs", key: "i", content: RunsTab },
  { name: "trends", label: "Trends and alerts", key: "d", content: TrendsTab },
  { name: "steps", label: "Steps", key: "s", content: LazyBuilder },
  { name: "files", label: "Files", key: "o", content: FilesTab },
] as const;

function TrendsTab({ workflow }: WorkflowTabProps) {
  return (
    <div class="stack loose">
      <Trends id={workflow.id} />
      <Alerts id={workflow.id} what="a run of this workflow fails" />
    </div>
  );
}

export function WorkflowPage({ id, tab }: { id: string; tab: string }) {
  const client = useClient();
  const { value: workflow, error, reload } = useLoaded(id, () => client.workflows.get(id), LOOK_EVERY_MS);
  useTitle(workflow?.name, TABS.find(({ name }) => name === tab)?.label);
  if (workflow === undefined)
    return (
      <div class="content">
        <Link href="/workflows">← Workflows</Link>
        {error === undefined ? <Waiting /> : <Missing error={error} what="workflow" list="workflows" onRetry={reload} />}
      </div>
    );
  const { content: Content } = TABS.find(({ name }) => name === tab) ?? { content: undefined };
  return (
    <div class="content">
      <Head workflow={workflow} reload={reload} />
      {workflow.warnings.map((warning) => (
        <p class="note attention" key={warning}>
          {warning}
        </p>
      ))}
      <nav class="tabs" aria-label="Parts of this workflow">
        {TABS.map(({ name, label, key }) => (
          <Link key={name} href={`/workflows/${id}/${name}`} aria-current={name === tab ? "page" : undefined} data-key={key}>
            {label}
          </Link>
        ))}
      </nav>
      {Content === undefined ? <Empty title={`This workflow has no part "${tab}"`} /> : <Content workflow={workflow} reload={reload} />}
    </div>
  );
}

function Head({ workflow, reload }: WorkflowTabProps) {
  const mayChange = useMayChange();
  const { name, active, version, triggers } = workflow;
  const endpoint = triggers.find(({ endpoint_url: url }) => url !== undefined)?.endpoint_url;
  return (
    <div class="stack tight">
      <p>
        <Link href="/workflows">← Workflows</Link>
      </p>
      <div class="row wrap">
        <h1 class="cut">{name}</h1>
        <StateMark tone={active ? "good" : "plain"}>{active ? "active" : "inactive"}</StateMark>
        <span class="muted hide-narrow">version {version}</span>
        <span class="muted cut hide-narrow">{triggers.length === 0 ? "manual" : triggers.map(triggerText).join(", ")}</span>
        <span class="grow" />
        {mayChange && <Verbs workflow={workflow} reload={reload} />}
      </div>
      {endpoint !== undefined && (
        <div class="row">
          <code class="cut">{endpoint}</code>
          <CopyButton text={endpoint} />
        </div>
      )}
    </div>
  );
}

function Verbs({ workflow, reload }: WorkflowTabProps) {
  const client = useClient();
  const go = useGo();
  const [isDeleting, setDeleting] = useState(false);
  const [isRunning, setRunning] = useState(false);
  const [isRenaming, setRenaming] = useState(false);
  const { id, name_slug: slug, active } = workflow;
  const setActive = (next: boolean): Promise<void> =>
    telling(async () => {
      await client.workflows.update(id, { active: next });
      reload();
      tell(`${slug} is ${next ? "active" : "inactive"}`, () => void setActive(!next));
    });
  const remove = async (): Promise<void> => {
    await client.workflows.delete(id);
    tell(`Deleted ${slug}`);
    go("/workflows");
  };
  return (
    <>
      <button type="button" class="button filled" data-key="r" onClick={() => setRunning(true)}>
        Run now
      </button>
      <Menu label="More">
        <button type="button" class="button plain" onClick={() => void setActive(!active)}>
          {active ? "Deactivate" : "Activate"}
        </button>
        <button type="button" class="button plain" onClick={() => setRenaming(true)}>
          Rename…
        </button>
        <button type="button" class="button plain" onClick={() => setDeleting(true)}>
          Delete…
        </button>
      </Menu>
      {isRunning && <RunWorkflow workflow={workflow} onClose={() => setRunning(false)} />}
      {isRenaming && <RenameWorkflow workflow={workflow} reload={reload} onClose={() => setRenaming(false)} />}
      {isDeleting && (
        <ConfirmByName title={`Delete ${slug}?`} name={slug} verb="Delete" onClose={() => setDeleting(false)} onConfirm={remove}>
          Its endpoint, runs and events will be deleted too.
        </ConfirmByName>
      )}
    </>
  );
}
