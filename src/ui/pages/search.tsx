import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { outcomeWord } from "../../domain/run/invocation.ts";
import { pathOf, pathOfRun } from "../../domain/page-path.ts";
import { messageOf } from "../../domain/errors.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { useQuery } from "../browser/address.ts";
import { useTitle } from "../browser/title.ts";
import { SearchField, Select } from "../parts/fields.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { Ago } from "../parts/text/time.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { plural } from "../text-of.ts";
import { useLoaded } from "../use-loaded.ts";

const PAGE = 50;
const HOUR_MS = 3_600_000;
const TIMES: Readonly<Record<string, { readonly label: string; readonly ms: number }>> = {
  "1h": { label: "Last hour", ms: HOUR_MS },
  "24h": { label: "Last 24 hours", ms: 24 * HOUR_MS },
  "7d": { label: "Last 7 days", ms: 7 * 24 * HOUR_MS },
};

type Hit = Awaited<ReturnType<ReturnType<typeof useClient>["search"]["find"]>>[number];

/** Events and runs, by words of their data and logs. */
export function SearchPage() {
  useTitle("Search");
  const client = useClient();
  const [query, setQuery] = useQuery("q");
  const [what, setWhat] = useQuery("what");
  const [time, setTime] = useQuery("time");
  const [shown, setShown] = useState(PAGE);
  const ask = () =>
    client.search.find({
      q: query,
      limit: Math.min(100, shown),
      failed: what === "failed",
      ...(what === "event" || what === "run" ? { kind: what } : {}),
      ...(TIMES[time] === undefined ? {} : { since_ms: Date.now() - TIMES[time].ms }),
    });
  const { value: hits, error, reload } = useLoaded(`search ${query} ${what} ${time} ${shown}`, ask);
  return (
    <div class="content">
      <h1>Search</h1>
      <div class="row wrap">
        <SearchField label="Search events and runs" placeholder="Words, or body.order.id=7" width={420} value={query} onInput={setQuery} />
        <Select label="What" choices={{ "": "Events and runs", event: "Events", run: "Runs", failed: "Failed runs" }} value={what} onChange={setWhat} />
        <Select
          label="Time"
          choices={{ "": "Any time", ...Object.fromEntries(Object.entries(TIMES).map(([name, { label }]) => [name, label])) }}
          value={time}
          onChange={setTime}
        />
      </div>
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {hits === undefined && error === undefined && <Waiting />}
      {hits?.length === 0 && (
        <Empty title="Nothing was found">
          <p>All words must be found, also as the beginning of a longer one. New events and runs can be found a second later.</p>
        </Empty>
      )}
      {hits !== undefined && hits.length > 0 && <Hits key={`${query} ${what} ${time}`} hits={hits} />}
      {hits?.length === shown && shown < 100 && (
        <div>
          <button type="button" class="button" onClick={() => setShown(100)}>
            More
          </button>
        </div>
      )}
    </div>
  );
}

type Told = Readonly<Record<string, string>>;

function Hits({ hits }: { hits: readonly Hit[] }) {
  const client = useClient();
  const mayChange = useMayChange();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [dry, setDry] = useState<Told>({});
  const [again, setAgain] = useState<Told>({});
  const [isUnderWay, setUnderWay] = useState(false);
  const runs = hits.filter(({ kind, id }) => kind === "run" && again[id] === undefined);
  const failed = runs.filter((run) => run.failed && run.rerun_as === undefined);
  const usual = runs.some((run) => run.failed) ? failed : runs;
  const picked = runs.filter(({ id }) => chosen.has(id));
  const pick = (id: string): void => setChosen((before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id]));
  /** One after the other. An error is the answer of its dry run, which can be made again. */
  const forEach = async (work: (hit: Hit) => Promise<string>, tell: (told: (before: Told) => Told) => void): Promise<void> => {
    setUnderWay(true);
    for (const hit of picked) {
      const noted = (told: string) => (before: Told) => ({ ...before, [hit.id]: told });
      await work(hit).then(
        (told) => tell(noted(told)),
        (error: unknown) => setDry(noted(`failed: ${messageOf(error)}`)),
      );
    }
    setUnderWay(false);
  };
  /** Failed runs of a workflow go on from where they failed, others begin again. */
  const startOf = async ({ id, failed }: Hit): Promise<{ from?: string }> => {
    const [first] = failed ? [] : await client.workflows.steps(id);
    return first === undefined ? {} : { from: first.namespace };
  };
  const rehearse = async (hit: Hit): Promise<string> => {
    const { id } = hit;
    if (!id.startsWith("run_")) return wouldEnd(outcomeWord((await client.invocations.rehearse(id)).after.outcome));
    const { state, failure } = (await client.workflows.rehearseRun(id, await startOf(hit))).after;
    return `${wouldEnd(state)}${failure === undefined ? "" : `: ${failure.namespace}: ${failure.message}`}`;
  };
  const replay = async (hit: Hit): Promise<string> => {
    const { id } = hit;
    if (!id.startsWith("run_")) return `ran again: ${outcomeWord((await client.invocations.replay(id)).outcome)}`;
    await client.workflows.rerun(id, await startOf(hit));
    return "started again";
  };
  return (
    <>
      {mayChange && runs.length > 0 && (
        <div class="row wrap">
          <label class="row">
            <input
              type="checkbox"
              disabled={usual.length === 0}
              checked={usual.length > 0 && usual.every(({ id }) => chosen.has(id))}
              onChange={({ currentTarget }) => setChosen(new Set(currentTarget.checked ? usual.map(({ id }) => id) : []))}
            />
            All {plural(usual.length, usual === failed ? "failed run" : "run")}
          </label>
          <span class="grow" />
          <button type="button" class="button" disabled={picked.length === 0 || isUnderWay} onClick={() => void forEach(rehearse, setDry)}>
            Dry run of {picked.length}
          </button>
          <button
            type="button"
            class="button filled"
            title="After a dry run of them"
            disabled={picked.length === 0 || isUnderWay || picked.some(({ id }) => dry[id] === undefined)}
            onClick={() => void forEach(replay, setAgain)}
          >
            Run {picked.length} again
          </button>
        </div>
      )}
      <ul class="panel" aria-label="Results">
        {hits.map((hit) => (
          <li key={`${hit.kind} ${hit.source_id} ${hit.id}`} class="row wrap hit">
            {mayChange && hit.kind === "run" && again[hit.id] === undefined && (
              <input type="checkbox" aria-label={`Choose ${hit.id}`} checked={chosen.has(hit.id)} onChange={() => pick(hit.id)} />
            )}
            <StateMark tone={hit.failed ? "bad" : "plain"}>{hit.failed ? "failed run" : hit.kind}</StateMark>
            <Link href={pathOfHit(hit)} class="stack tight grow" style={{ minWidth: "0" }}>
              <strong class="cut">{hit.source_name ?? hit.source_id}</strong>
              <span class="muted cut">{hit.snippet}</span>
            </Link>
            {hit.rerun_as !== undefined && again[hit.id] === undefined && <span class="muted">already rerun: {hit.rerun_as.state}</span>}
            {dry[hit.id] !== undefined && again[hit.id] === undefined && <span class="muted cut">{dry[hit.id]}</span>}
            {again[hit.id] !== undefined && <strong>{again[hit.id]}</strong>}
            <span class="muted">
              <Ago at={hit.at_ms} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function pathOfHit({ kind, id, source_id: source }: Hit): string {
  if (kind === "run") return pathOfRun(source, id);
  return source.startsWith("p_") ? `${pathOf(source)}/runs` : `${pathOf(source)}/events?event=${id}`;
}

function wouldEnd(word: string): string {
  return word === "succeeded" ? "would succeed" : word === "failed" ? "would fail" : `would end as: ${word}`;
}
