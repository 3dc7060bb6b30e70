import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { JsonValue } from "../../domain/text/json.ts";
import { useQuery } from "../browser/address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { copyText } from "../browser/copy-text.ts";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { JsonTree } from "../parts/json/json-tree.tsx";
import { LongList } from "../parts/long-list.tsx";
import { Menu } from "../parts/dialogs/menu.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { Ago, At } from "../parts/text/time.tsx";
import { tell, telling } from "../parts/dialogs/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { EventSummary, Source } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import type { TabProps } from "./tab-props.ts";
import { useEvents } from "./use-events.ts";
import { FilterField, SearchField } from "../parts/fields.tsx";

export function EventsTab({ source }: TabProps) {
  const [channel, setChannel] = useQuery("channel");
  const [query, setQuery] = useQuery("q");
  const [chosen, setChosen] = useQuery("event");
  const { events, isLoaded, error, loadOlder, hasOlder, forget } = useEvents(source.id, channel);
  const { held, count, onTop, release } = useHeld(events);
  const shown = useMemo(() => (query === "" ? held : held.filter((event) => textOf(event).includes(query.toLowerCase()))), [held, query]);
  if (!isLoaded) return error === undefined ? <Waiting /> : <Problem error={error} />;
  if (events.length === 0 && channel === "") return <NoEvents source={source} />;
  return (
    <div class="stack snug">
      <div class="row wrap">
        <SearchField label="Search events" placeholder="Search loaded events" width={240} value={query} onInput={setQuery} />
        <FilterField label="Channel" width={160} value={channel} onChange={setChannel} />
        <span class="muted">
          {shown.length} loaded{hasOlder ? "; scroll for older ones" : ""}
        </span>
      </div>
      {error !== undefined && <Problem error={error} onRetry={loadOlder} />}
      <div class={`panel split ${chosen === "" ? "" : "has-chosen"}`}>
        <div class="list" style={{ position: "relative" }}>
          {count > 0 && (
            <button type="button" class="button filled pill" onClick={release}>
              {count} new
            </button>
          )}
          <LongList items={shown} label="Events" keyOf={({ id }) => id} chosen={chosen} onChoose={setChosen} onEnd={loadOlder} onTop={onTop}>
            {(event) => <Row event={event} />}
          </LongList>
        </div>
        <div class="chosen" tabIndex={-1}>
          {chosen === "" ? (
            <Empty title="Choose an event to see it" />
          ) : (
            <Chosen source={source} id={chosen} onBack={() => setChosen("")} onDeleted={(isGone) => (forget(isGone), setChosen(""))} />
          )}
        </div>
      </div>
    </div>
  );
}

/** Adds rows only at the top, so that the list does not move while it is read. */
function useHeld(events: readonly EventSummary[]): { held: readonly EventSummary[]; count: number; onTop: (isTop: boolean) => void; release: () => void } {
  const [isTop, setTop] = useState(true);
  const held = useRef(events);
  const newestHeld = held.current[0]?.id;
  const count = isTop ? 0 : Math.max(0, newestHeld === undefined ? 0 : events.findIndex(({ id }) => id === newestHeld));
  if (isTop) held.current = events;
  else held.current = count > 0 ? events.slice(count) : events;
  return {
    held: held.current,
    count,
    onTop: setTop,
    release: () => {
      setTop(true);
      document.querySelector(".long-list")?.scrollTo({ top: 0 });
    },
  };
}

function Row({ event }: { event: EventSummary }) {
  const { summary, name } = event.metadata;
  return (
    <>
      <span class="cut grow">{summary ?? preview(event.event)}</span>
      {name !== "" && <span class="state">{name}</span>}
      <span class="muted">
        <Ago at={event.indexed_at_ms} />
      </span>
    </>
  );
}

function preview(event: JsonValue): string {
  return typeof event === "string" ? event : JSON.stringify(event).slice(0, 200);
}

function textOf({ id, metadata, event }: EventSummary): string {
  return `${id} ${metadata.summary ?? ""} ${metadata.name} ${metadata.id ?? ""} ${preview(event)}`.toLowerCase();
}

interface ChosenProps {
  readonly source: Source;
  readonly id: string;
  readonly onBack: () => void;
  readonly onDeleted: (isGone: (event: EventSummary) => boolean) => void;
}

function Chosen({ source, id, onBack, onDeleted }: ChosenProps) {
  const client = useClient();
  const { value: event, error, reload } = useLoaded(id, () => client.events.get(source.id, id));
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.closest(".chosen")?.scrollTo({ top: 0 }), [id]);
  if (error !== undefined) return <Problem error={error} onRetry={reload} />;
  if (event === undefined) return <Waiting />;
  const { metadata } = event;
  return (
    <div class="stack">
      <div class="row wrap">
        <button type="button" class="button back" onClick={onBack}>
          ← Events
        </button>
        <h2 ref={heading} class="grow" style={{ overflowWrap: "anywhere" }}>
          <bdi>{metadata.summary ?? event.id}</bdi>
        </h2>
        <Verbs source={source} event={event} onDeleted={onDeleted} />
      </div>
      <dl class="facts">
        <dt>Stored</dt>
        <dd>
          <At at={event.indexed_at_ms} /> (<Ago at={event.indexed_at_ms} />)
        </dd>
        <dt>Id</dt>
        <dd class="mono">{event.id}</dd>
        {metadata.id !== undefined && (
          <>
            <dt>Dedupe id</dt>
            <dd class="mono">
              <bdi>{metadata.id}</bdi>
            </dd>
          </>
        )}
        {metadata.ts !== undefined && (
          <>
            <dt>Event time</dt>
            <dd>
              <At at={metadata.ts} />
            </dd>
          </>
        )}
        {metadata.name !== "" && (
          <>
            <dt>Channel</dt>
            <dd>{metadata.name}</dd>
          </>
        )}
        <dt>Run</dt>
        <dd>
          <Link href={`/sources/${source.id}/runs?run=${metadata.invocation_id}`} class="mono">
            {metadata.invocation_id}
          </Link>
        </dd>
      </dl>
      <JsonTree value={event.event} label="the event" />
    </div>
  );
}

function Verbs({ source, event, onDeleted }: { source: Source; event: EventSummary; onDeleted: ChosenProps["onDeleted"] }) {
  const [channel] = useQuery("channel");
  const client = useClient();
  const mayChange = useMayChange();
  const [isDeleting, setDeleting] = useState(false);
  const remove = async (range: { start_id?: string; end_id?: string }, isGone: (other: EventSummary) => boolean): Promise<void> => {
    await client.events.delete(source.id, { ...range, ...(channel === "" ? {} : { event_name: channel }) });
    onDeleted(isGone);
    tell("Deleted");
  };
  const emitAgain = (): Promise<void> => telling(() => client.events.emit(source.id, event.id), "Emitted again as a new event");
  const save = (): void => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${JSON.stringify(event.event, null, 2)}\n`], { type: "application/json" }));
    link.download = `${source.name_slug}-${event.id}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
    tell(`Saved. To run it: pd run ${source.name_slug} --event ${link.download}`);
  };
  return (
    <>
      <Menu label="Actions">
        <button type="button" class="button plain" onClick={() => void copyText(JSON.stringify(event.event, null, 2))}>
          Copy
        </button>
        <button type="button" class="button plain" onClick={() => void copyText(curlOf(source, event))}>
          Copy as curl
        </button>
        <button type="button" class="button plain" onClick={save}>
          Save as fixture
        </button>
        {mayChange && (
          <>
            <button type="button" class="button plain" onClick={() => void emitAgain()}>
              Emit again
            </button>
            <button
              type="button"
              class="button plain"
              onClick={() => void telling(() => remove({ start_id: event.id, end_id: event.id }, ({ id }) => id === event.id))}
            >
              Delete
            </button>
            <button type="button" class="button plain" onClick={() => setDeleting(true)}>
              Delete a range…
            </button>
          </>
        )}
      </Menu>
      {isDeleting && (
        <DeleteRange
          last={event.id}
          channel={channel}
          onClose={() => setDeleting(false)}
          onDelete={async (from, to) => {
            const isGone = ({ id, metadata }: EventSummary): boolean =>
              numberOf(id) >= (from === "" ? 0 : numberOf(from)) && numberOf(id) <= numberOf(to) && (channel === "" || metadata.name === channel);
            await remove({ end_id: to, ...(from === "" ? {} : { start_id: from }) }, isGone);
            setDeleting(false);
          }}
        />
      )}
    </>
  );
}

interface DeleteRangeProps {
  readonly last: string;
  readonly channel: string;
  readonly onClose: () => void;
  readonly onDelete: (from: string, to: string) => Promise<void>;
}

function DeleteRange({ last, channel, onClose, onDelete }: DeleteRangeProps) {
  const [from, setFrom] = useState("");
  const [to, setTo] = useState(last);
  const [error, setError] = useState<unknown>();
  const bounds = [
    { label: "From the event (default: the oldest)", value: from, set: setFrom, isRequired: false },
    { label: "To the event", value: to, set: setTo, isRequired: true },
  ];
  return (
    <Dialog title="Delete events" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setError(undefined);
          onDelete(from, to).catch(setError);
        }}
      >
        <p>Includes both ends{channel === "" ? "" : `; only events of ${channel}`}. This cannot be undone.</p>
        {bounds.map(({ label, value, set, isRequired }) => (
          <label class="field" key={label}>
            {label}
            <input
              class="input mono"
              pattern="\d+-\d+"
              title="The id of an event"
              required={isRequired}
              value={value}
              onInput={({ currentTarget }) => set(currentTarget.value.trim())}
            />
          </label>
        ))}
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button danger">
            Delete
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function curlOf({ id, endpoint_url: endpoint }: Source, { event }: EventSummary): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const json = "-H 'content-type: application/json'";
  if (endpoint !== undefined) return `curl ${json} -d ${quoted(JSON.stringify(event))} ${endpoint}`;
  return `curl ${json} -H "authorization: Bearer $PD_API_KEY" -d ${quoted(JSON.stringify({ event }))} ${location.origin}/v1/sources/${id}/run`;
}

function numberOf(id: string): number {
  return Number(id.split("-")[1]);
}

function NoEvents({ source }: { source: Source }) {
  const { endpoint_url: endpoint, name_slug: slug } = source;
  const command = endpoint === undefined ? `pd run ${slug}` : `curl -d '{"hello":"world"}' -H 'content-type: application/json' ${endpoint}`;
  return (
    <Empty title="No events yet">
      <p>They appear here as the component emits them. {endpoint === undefined ? "Run it now:" : "Send it a request:"}</p>
      <code>{command}</code>
      <button type="button" class="button" onClick={() => void copyText(command)}>
        Copy
      </button>
    </Empty>
  );
}
