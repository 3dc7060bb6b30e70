import { useTitle } from "../browser/title.ts";
import { outcomeWord } from "../../domain/run/invocation.ts";
import { Link } from "wouter-preact";
import { everyPage } from "../../client/client.ts";
import { useQuery } from "../browser/address.ts";
import { useClient } from "../app-context.ts";
import { SearchField } from "../parts/fields.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Ago, At, Until } from "../parts/text/time.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { Source } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";

const LOOK_EVERY_MS = 3000;
const MOST_SHOWN = 200;
const COLUMNS: readonly Column[] = [
  { title: "Next" },
  { title: "Source" },
  { title: "Schedule" },
  { title: "Missed instants", hide: "narrow" },
  { title: "Last call", hide: "narrow" },
];

type Timer = NonNullable<Source["timers"]>[number];

interface Planned {
  readonly source: Source;
  readonly timer: Timer;
}

export function SchedulePage() {
  useTitle("Schedule");
  const client = useClient();
  const [query, setQuery] = useQuery("q");
  const { value: sources, error, reload } = useLoaded("sources", () => everyPage(client.sources.list), LOOK_EVERY_MS);
  const words = query.toLowerCase();
  const planned = plannedOf(sources ?? []).filter(({ source }) => `${source.name} ${source.name_slug}`.toLowerCase().includes(words));
  const ids = planned.map(({ source }) => source.id).join(",");
  const { value: activity = [] } = useLoaded(`last ${ids}`, async () => (ids === "" ? [] : client.sources.activity({ ids })), LOOK_EVERY_MS);
  return (
    <div class="content">
      <div class="row wrap">
        <h1 class="grow">Schedule</h1>
        <SearchField label="Search timers" placeholder="Search" width={220} value={query} onInput={setQuery} />
      </div>
      {error !== undefined && sources === undefined && <Problem error={error} onRetry={reload} />}
      {sources === undefined && error === undefined && <Waiting />}
      {sources !== undefined && planned.length === 0 && (
        <Empty title={query === "" ? "No timers" : "No timers match"}>
          <p>
            A prop of the type <code>$.interface.timer</code> gives a source one. <Link href="/sources/new">Deploy a source</Link>
          </p>
        </Empty>
      )}
      {planned.length > 0 && (
        <Table columns={COLUMNS}>
          {planned.slice(0, MOST_SHOWN).map(({ source, timer }) => (
            <Row key={`${source.id} ${timer.prop}`} source={source} timer={timer} last={activity.find(({ source_id: id }) => id === source.id)?.calls[0]} />
          ))}
        </Table>
      )}
      {planned.length > MOST_SHOWN && (
        <p class="muted">
          The first {MOST_SHOWN} of {planned.length} are shown; the search finds the others.
        </p>
      )}
    </div>
  );
}

function plannedOf(sources: readonly Source[]): readonly Planned[] {
  const all = sources.flatMap((source) => (source.timers ?? []).map((timer) => ({ source, timer })));
  const at = ({ source, timer }: Planned): number => (source.active ? (timer.next_at_ms ?? Number.MAX_VALUE) : Number.MAX_VALUE);
  return all.toSorted((a, b) => at(a) - at(b));
}

interface RowProps extends Planned {
  readonly last: { readonly started_at_ms: number; readonly outcome: string } | undefined;
}

function Row({ source, timer, last }: RowProps) {
  const { next_at_ms: next } = timer;
  return (
    <tr>
      <td>
        {source.active && next !== undefined ? (
          <span class="stack tight">
            <strong>
              <Until at={next} />
            </strong>
            <span class="muted">
              <At at={next} />
            </span>
          </span>
        ) : (
          <StateMark tone="plain">{source.active ? "never" : "inactive"}</StateMark>
        )}
      </td>
      <td style={{ maxWidth: "280px" }}>
        <Link href={`/sources/${source.id}/schedule`} class="stack tight">
          <strong class="cut">{source.name}</strong>
          <span class="muted mono cut">{source.name_slug}</span>
        </Link>
      </td>
      <td>{timer.cron === undefined ? `every ${timer.intervalSeconds ?? "?"} s` : `${timer.cron} (${timer.timezone ?? "UTC"})`}</td>
      <td class="hide-narrow">{timer.catch_up}</td>
      <td class="hide-narrow">
        {last === undefined ? (
          <span class="muted">never</span>
        ) : (
          <StateMark tone={last.outcome === "returned" ? "good" : "bad"}>
            {outcomeWord(last.outcome)} <Ago at={last.started_at_ms} />
          </StateMark>
        )}
      </td>
    </tr>
  );
}
