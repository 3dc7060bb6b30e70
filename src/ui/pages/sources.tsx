import { useTitle } from "../browser/title.ts";
import { useMemo } from "preact/hooks";
import { Link } from "wouter-preact";
import { everyPage } from "../../client/client.ts";
import { useQuery } from "../browser/address.ts";
import { type useClient, useMayChange, useSession } from "../app-context.ts";
import { Empty, Problem } from "../parts/problem.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { SourceState, TriggerOf } from "../parts/source-parts.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { Ago } from "../parts/text/time.tsx";
import { StartScreen } from "./start.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { bytes, plural } from "../text-of.ts";
import type { Source } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import { NewSourcePage } from "./lazy-pages.ts";
import { SearchField, Select } from "../parts/fields.tsx";
import { type Column, Table } from "../parts/table.tsx";

const COLUMNS: readonly Column[] = [
  { title: "Name" },
  { title: "State" },
  { title: "Trigger", hide: "narrow" },
  { title: "Events, last hour" },
  { title: "Last call", hide: "medium" },
  { title: "Failed of 20", isNumber: true, hide: "narrow" },
  { title: "Memory", isNumber: true, hide: "medium" },
];

const LOOK_EVERY_MS = 2000;
const MOST_SHOWN = 200;

type Activity = Awaited<ReturnType<ReturnType<typeof useClient>["sources"]["activity"]>>[number];

/** `/sources?action=create…` is the hosted platform's link to deploy. */
export function SourcesPage() {
  useTitle("Sources");
  const [action] = useQuery("action");
  return action === "create" ? <NewSourcePage /> : <SourceList />;
}

function SourceList() {
  const { client, takeSources } = useSession();
  const mayChange = useMayChange();
  const [query, setQuery] = useQuery("q");
  const [state, setState] = useQuery("state");
  const [order, setOrder] = useQuery("sort");
  const { value: sources, error, reload } = useLoaded("sources", () => takeSources() ?? everyPage(client.sources.list), LOOK_EVERY_MS);
  const shown = useMemo(() => sorted((sources ?? []).filter(fits(query, state)), order).slice(0, MOST_SHOWN), [sources, query, state, order]);
  const ids = shown.map(({ id }) => id).join(",");
  const { value: activity = [] } = useLoaded(`activity ${ids}`, async () => (ids === "" ? [] : client.sources.activity({ ids })), LOOK_EVERY_MS);
  return (
    <div class="content">
      <div class="row wrap">
        <h1 class="grow">Sources</h1>
        <SearchField label="Search sources" placeholder="Search" width={220} value={query} onInput={setQuery} />
        <Select
          label="State"
          choices={{ "": "All states", active: "Active", inactive: "Inactive", problem: "With a problem" }}
          value={state}
          onChange={setState}
        />
        <Select label="Order" choices={{ "": "Newest first", name: "By name", updated: "Changed last" }} value={order} onChange={setOrder} />
        {mayChange && (
          <Link href="/sources/new" class="button filled" data-key="n">
            New source
          </Link>
        )}
      </div>
      {error !== undefined && sources === undefined && <Problem error={error} onRetry={reload} />}
      {sources === undefined && error === undefined && <Waiting />}
      {sources?.length === 0 && <StartScreen />}
      {sources !== undefined && sources.length > 0 && shown.length === 0 && <Empty title="No sources match" />}
      {shown.length > 0 && <SourceTable sources={shown} activity={activity} />}
      {sources !== undefined && sources.length > MOST_SHOWN && shown.length === MOST_SHOWN && (
        <p class="muted">
          The first {MOST_SHOWN} of {sources.length} are shown; the search finds the others.
        </p>
      )}
    </div>
  );
}

function SourceTable({ sources, activity }: { sources: readonly Source[]; activity: readonly Activity[] }) {
  return (
    <Table columns={COLUMNS}>
      {sources.map((source) => (
        <Row key={source.id} source={source} activity={activity.find(({ source_id: id }) => id === source.id)} />
      ))}
    </Table>
  );
}

function Row({ source, activity }: { source: Source; activity: Activity | undefined }) {
  const count = activity?.events.reduce((sum, part) => sum + part, 0) ?? 0;
  const failed = activity?.calls.filter(({ outcome }) => outcome !== "returned").length ?? 0;
  const [last] = activity?.calls ?? [];
  return (
    <tr>
      <td style={{ minWidth: "120px", maxWidth: "320px" }}>
        <div class="stack tight">
          <Link href={`/sources/${source.id}`} class="cut">
            <strong>{source.name}</strong>
          </Link>
          <span class="muted mono cut">{source.name_slug}</span>
        </div>
      </td>
      <td>
        <SourceState source={source} />
      </td>
      <td class="hide-narrow">
        <TriggerOf source={source} hasCopy />
      </td>
      <td>
        {activity !== undefined && (
          <span class="row">
            <Sparkline counts={activity.events} label={`${plural(count, "event")} in the last hour`} />
            <span>{count}</span>
          </span>
        )}
      </td>
      <td class="hide-medium">{last === undefined ? <span class="muted">never</span> : <Ago at={last.started_at_ms} />}</td>
      <td class="hide-narrow number">{failed === 0 ? <span class="muted">0</span> : <StateMark tone="bad">{failed}</StateMark>}</td>
      <td class="hide-medium number">{activity?.memory_bytes === undefined ? <span class="muted">cold</span> : bytes(activity.memory_bytes)}</td>
    </tr>
  );
}

function fits(query: string, state: string): (source: Source) => boolean {
  const words = query.toLowerCase().split(/\s+/);
  return ({ name, name_slug: slug, id, component_key: key = "", active, problems = [] }) => {
    const isState = state === "" || (state === "problem" ? problems.length > 0 : active === (state === "active"));
    const text = `${name} ${slug} ${id} ${key}`.toLowerCase();
    return isState && words.every((word) => text.includes(word));
  };
}

function sorted(sources: readonly Source[], order: string): readonly Source[] {
  if (order === "name") return sources.toSorted((a, b) => a.name.localeCompare(b.name));
  return order === "updated" ? sources.toSorted((a, b) => b.updated_at - a.updated_at) : sources;
}
