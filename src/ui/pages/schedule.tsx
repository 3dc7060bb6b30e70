import { useTitle } from "../browser/title.ts";
import { outcomeWord } from "../../domain/run/invocation.ts";
import { Link } from "wouter-preact";
import { type Client, everyPage } from "../../client/client.ts";
import { scheduleWords } from "../../domain/timer/schedule-words.ts";
import { useQuery } from "../browser/address.ts";
import { useClient } from "../app-context.ts";
import { SearchField } from "../parts/fields.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Ago, At, Until } from "../parts/text/time.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { timerOf, triggerText } from "../workflow/step-texts.ts";
import { useLoaded } from "../use-loaded.ts";

const LOOK_EVERY_MS = 3000;
const MOST_SHOWN = 200;
const COLUMNS: readonly Column[] = [
  { title: "Next" },
  { title: "Source or workflow" },
  { title: "Schedule" },
  { title: "Missed instants", hide: "narrow" },
  { title: "Last call", hide: "narrow" },
];

/** A timer of a source, or a schedule of a workflow. */
interface Planned {
  readonly id: string;
  readonly path: string;
  readonly name: string;
  readonly slug: string;
  readonly isActive: boolean;
  readonly words: string;
  readonly cron: string | undefined;
  readonly missed: string;
  readonly nextAt: number | undefined;
}

export function SchedulePage() {
  useTitle("Schedule");
  const client = useClient();
  const [query, setQuery] = useQuery("q");
  const { value: all, error, reload } = useLoaded("schedule", () => everyPlanned(client), LOOK_EVERY_MS);
  const words = query.toLowerCase();
  const planned = (all ?? []).filter(({ name, slug }) => `${name} ${slug}`.toLowerCase().includes(words));
  const ids = [...new Set(planned.map(({ id }) => id))].filter((id) => id.startsWith("dc_")).join(",");
  const { value: activity = [] } = useLoaded(`last ${ids}`, async () => (ids === "" ? [] : client.sources.activity({ ids })), LOOK_EVERY_MS);
  return (
    <div class="content">
      <div class="row wrap">
        <h1 class="grow">Schedule</h1>
        <SearchField label="Search timers" placeholder="Search" width={220} value={query} onInput={setQuery} />
      </div>
      {error !== undefined && all === undefined && <Problem error={error} onRetry={reload} />}
      {all === undefined && error === undefined && <Waiting />}
      {all !== undefined && planned.length === 0 && (
        <Empty title={query === "" ? "No timers" : "No timers match"}>
          <p>
            A prop of the type <code>$.interface.timer</code> gives a source one, and a trigger <code>schedule</code> a workflow.{" "}
            <Link href="/sources/new">Deploy a source</Link>
          </p>
        </Empty>
      )}
      {planned.length > 0 && (
        <Table columns={COLUMNS}>
          {planned.slice(0, MOST_SHOWN).map((one, place) => (
            <Row key={`${one.path} ${one.words} ${place}`} planned={one} last={activity.find(({ source_id: id }) => id === one.id)?.calls[0]} />
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

async function everyPlanned(client: Client): Promise<readonly Planned[]> {
  const [sources, workflows] = await Promise.all([everyPage(client.sources.list), everyPage(client.workflows.list)]);
  const all = [
    ...sources.flatMap(({ id, name, name_slug: slug, active: isActive, timers = [] }): readonly Planned[] =>
      timers.map((timer) => ({
        id,
        name,
        slug,
        isActive,
        path: `/sources/${id}/schedule`,
        words: scheduleWords(timer),
        cron: timer.cron,
        missed: timer.catch_up,
        nextAt: timer.next_at_ms,
      })),
    ),
    ...workflows.flatMap(({ id, name, name_slug: slug, active: isActive, triggers }): readonly Planned[] =>
      triggers
        .filter(({ kind }) => kind === "schedule")
        .map((trigger) => ({
          id,
          name,
          slug,
          isActive,
          path: `/workflows/${id}`,
          words: triggerText(trigger),
          cron: timerOf(trigger.configured_props).cron,
          missed: "latest",
          nextAt: trigger.next_at_ms,
        })),
    ),
  ];
  const at = ({ isActive, nextAt }: Planned): number => (isActive ? (nextAt ?? Number.MAX_VALUE) : Number.MAX_VALUE);
  return all.toSorted((a, b) => at(a) - at(b));
}

interface RowProps {
  readonly planned: Planned;
  readonly last: { readonly started_at_ms: number; readonly outcome: string } | undefined;
}

function Row({ planned: { path, name, slug, isActive, words, cron, missed, nextAt: next }, last }: RowProps) {
  return (
    <tr>
      <td>
        {isActive && next !== undefined ? (
          <span class="stack tight">
            <strong>
              <Until at={next} />
            </strong>
            <span class="muted">
              <At at={next} />
            </span>
          </span>
        ) : (
          <StateMark tone="plain">{isActive ? "never" : "inactive"}</StateMark>
        )}
      </td>
      <td style={{ maxWidth: "280px" }}>
        <Link href={path} class="stack tight">
          <strong class="cut">{name}</strong>
          <span class="muted mono cut">{slug}</span>
        </Link>
      </td>
      <td title={cron}>{words}</td>
      <td class="hide-narrow">{missed}</td>
      <td class="hide-narrow">
        {last === undefined ? (
          <span class="muted">–</span>
        ) : (
          <StateMark tone={last.outcome === "returned" ? "good" : "bad"}>
            {outcomeWord(last.outcome)} <Ago at={last.started_at_ms} />
          </StateMark>
        )}
      </td>
    </tr>
  );
}
