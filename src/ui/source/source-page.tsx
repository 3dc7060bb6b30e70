import { useTitle } from "../browser/title.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useGo } from "../browser/address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { ConfirmByName } from "../parts/dialogs/dialog.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Menu } from "../parts/dialogs/menu.tsx";
import { Empty, Missing } from "../parts/problem.tsx";
import { tell, telling } from "../parts/dialogs/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { SourceState, TriggerOf } from "../parts/source-parts.tsx";
import { useLoaded } from "../use-loaded.ts";
import type { TabProps } from "./tab-props.ts";
import { CodeTab } from "./code-tab.tsx";
import { ConfigurationTab } from "./configuration-tab.tsx";
import { ListensTab, SubscribersTab } from "./deliveries-tab.tsx";
import { EventsTab } from "./events-tab.tsx";
import { LogsTab } from "./logs-tab.tsx";
import { RunSource } from "./run-source.tsx";
import { RunsTab } from "./runs-tab.tsx";
import { ScheduleTab } from "./schedule-tab.tsx";
import { Alerts } from "../parts/alerts.tsx";
import { Trends } from "../parts/trends.tsx";
import { StateTab } from "./state-tab.tsx";
import { VersionsTab } from "./versions-tab.tsx";

const LOOK_EVERY_MS = 3000;

const TABS = [
  { name: "events", label: "Events", key: "e", content: EventsTab },
  { name: "runs", label: "Runs", key: "i", content: RunsTab },
  { name: "logs", label: "Logs", key: "l", content: LogsTab },
  { name: "trends", label: "Trends and alerts", key: "h", content: TrendsTab },
  { name: "configuration", label: "Configuration", key: "c", content: ConfigurationTab },
  { name: "code", label: "Code", key: "o", content: CodeTab },
  { name: "versions", label: "Versions", key: "v", content: VersionsTab },
  { name: "state", label: "State", key: "s", content: StateTab },
  { name: "schedule", label: "Schedule", key: "t", content: ScheduleTab },
  { name: "subscribers", label: "Subscribers", key: "b", content: SubscribersTab },
  { name: "deliveries", label: "Listens to", key: "d", content: ListensTab },
] as const;

function TrendsTab({ source }: TabProps) {
  return (
    <div class="stack loose">
      <Trends id={source.id} />
      <Alerts id={source.id} what="a run of this source fails or a timer is skipped" />
    </div>
  );
}

export function SourcePage({ id, tab }: { id: string; tab: string }) {
  const client = useClient();
  const { value: source, error, reload } = useLoaded(id, () => client.sources.get(id), LOOK_EVERY_MS);
  useTitle(source?.name, TABS.find(({ name }) => name === tab)?.label);
  const tabs = useRef<HTMLElement>(null);
  // On narrow screens, the current tab stays visible.
  useEffect(() => tabs.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }), [tab, source === undefined]);
  if (source === undefined)
    return (
      <div class="content">
        <Link href="/sources">← Sources</Link>
        {error === undefined ? <Waiting /> : <Missing error={error} what="source" list="sources" onRetry={reload} />}
      </div>
    );
  const { content: Content } = TABS.find(({ name }) => name === tab) ?? { content: undefined };
  return (
    <div class="content">
      <Head source={source} reload={reload} />
      {(source.problems ?? []).map((problem) => (
        <p class="note bad" role="alert" key={problem}>
          {problem}
        </p>
      ))}
      <nav class="tabs" aria-label="Parts of this source" ref={tabs}>
        {TABS.map(({ name, label, key }) => (
          <Link key={name} href={`/sources/${id}/${name}`} aria-current={name === tab ? "page" : undefined} data-key={key}>
            {label}
          </Link>
        ))}
      </nav>
      {Content === undefined ? <Empty title={`This source has no part "${tab}"`} /> : <Content source={source} reload={reload} />}
    </div>
  );
}

function Head({ source, reload }: TabProps) {
  const mayChange = useMayChange();
  const { endpoint_url: endpoint } = source;
  return (
    <div class="stack tight">
      <p>
        <Link href="/sources">← Sources</Link>
      </p>
      <div class="row wrap">
        <h1 class="cut">{source.name}</h1>
        <SourceState source={source} />
        <Link href={`/sources/${source.id}/versions`} class="muted">
          version {source.version}
        </Link>
        <TriggerOf source={source} />
        <span class="grow" />
        {mayChange && <Verbs source={source} reload={reload} />}
      </div>
      {endpoint !== undefined && (
        <div class="row">
          <code class="cut">{endpoint}</code>
          <CopyButton text={endpoint} />
          <CopyButton text={`curl -d '{"hello":"world"}' -H 'content-type: application/json' ${endpoint}`} label="Copy as curl" />
        </div>
      )}
    </div>
  );
}

function Verbs({ source, reload }: TabProps) {
  const client = useClient();
  const go = useGo();
  const [open, setOpen] = useState<"run" | "delete">();
  const { id, name_slug: slug, active } = source;
  const setActive = (next: boolean): Promise<void> =>
    telling(async () => {
      await client.sources.update(id, { active: next });
      reload();
      tell(`${slug} is ${next ? "active" : "inactive"}`, () => void setActive(!next));
    });
  const remove = async (): Promise<void> => {
    await client.sources.delete(id, {});
    tell(`Deleted ${slug}`);
    go("/sources");
  };
  return (
    <>
      <button type="button" class="button filled" data-key="r" onClick={() => setOpen("run")}>
        Run now
      </button>
      <Menu label="More">
        <button type="button" class="button plain" onClick={() => void setActive(!active)}>
          {active ? "Deactivate" : "Activate"}
        </button>
        <button type="button" class="button plain" onClick={() => setOpen("delete")}>
          Delete…
        </button>
      </Menu>
      {open === "run" && <RunSource source={source} onClose={() => setOpen(undefined)} />}
      {open === "delete" && (
        <ConfirmByName title={`Delete ${source.name}?`} name={slug} verb="Delete" onConfirm={remove} onClose={() => setOpen(undefined)}>
          Its deactivate hook runs. Then it is deleted with its events, runs, state and versions.
        </ConfirmByName>
      )}
    </>
  );
}
