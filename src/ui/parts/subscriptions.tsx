import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { SubscriptionRecord } from "../../api/subscriptions.ts";
import { type Client, everyPage } from "../../client/client.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { useLoaded } from "../use-loaded.ts";
import { Select } from "./fields.tsx";
import { StateMark } from "./state-mark.tsx";
import { tell, telling } from "./dialogs/toast.tsx";
import { Health } from "./webhook-parts.tsx";

const LOOK_EVERY_MS = 3000;

interface SubscriptionsProps {
  readonly of: string;
  /** Whether `of` emits the events of these subscriptions, or gets them. */
  readonly side: "emitter" | "listener";
  readonly none: string;
}

/** Something with events, or that gets them. */
interface End {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly state: preact.ComponentChildren;
}

export function Subscriptions({ of, side, none }: SubscriptionsProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const other = side === "emitter" ? "listener_id" : "emitter_id";
  const { value: all = [], reload } = useLoaded(`subscriptions ${of} ${side}`, () => client.subscriptions.list(), LOOK_EVERY_MS);
  const { value: ends = [] } = useLoaded("ends of subscriptions", () => everyEnd(client), LOOK_EVERY_MS);
  const [channel, setChannel] = useState("");
  const isFromHere = ({ emitter_id: from, listener_id: to }: SubscriptionRecord): boolean => from === of || (isOfAll(from) && to !== of);
  const own = all.filter((one) => (side === "emitter" ? isFromHere(one) : one.listener_id === of));
  const subscribe = (id: string, to: string): Promise<void> =>
    telling(async () => {
      const both = side === "emitter" ? { emitter_id: of, listener_id: id } : { emitter_id: id, listener_id: of };
      await client.subscriptions.create({ ...both, event_name: to });
      reload();
    }, "Subscribed");
  const remove = (one: SubscriptionRecord): Promise<void> =>
    telling(async () => {
      const { emitter_id, listener_id, event_name } = one;
      await client.subscriptions.delete({ emitter_id, listener_id, event_name });
      reload();
      tell("Unsubscribed", () => void subscribe(one[other], event_name));
    });
  const offered = ends.filter(({ id }) => id !== of && (side === "emitter" || !id.startsWith("wh_")));
  return (
    <div class="stack tight">
      <ul class="stack tight">
        {own.map((one) => (
          <li class="row wrap" key={one.id}>
            <EndOf id={one[other]} ends={ends} />
            {one.event_name !== "" && <span class="muted">· {one.event_name}</span>}
            {side === "emitter" && one.emitter_id !== of && <span class="muted">gets the events of all sources</span>}
            {mayChange && (side === "listener" || one.emitter_id === of) && !one.listener_id.startsWith("p_") && (
              <button
                type="button"
                class="button plain icon"
                aria-label={`Unsubscribe ${side === "emitter" ? "" : "from "}${ends.find(({ id }) => id === one[other])?.name ?? one[other]}${one.event_name === "" ? "" : ` on ${one.event_name}`}`}
                onClick={() => void remove(one)}
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {own.length === 0 && <p class="muted">{none}</p>}
      {mayChange && offered.length > 0 && (
        <div class="row wrap">
          <input
            class="input"
            style={{ maxWidth: "160px" }}
            placeholder="Channel (optional)"
            aria-label="Channel (optional)"
            value={channel}
            onInput={({ currentTarget }) => setChannel(currentTarget.value.trim())}
          />
          <Select
            label={side === "emitter" ? "Add a subscriber" : "Subscribe to a source"}
            value=""
            choices={{
              "": side === "emitter" ? "Add a subscriber…" : "Subscribe to…",
              ...Object.fromEntries(offered.map(({ id, name }) => [id, name])),
              ...(side === "listener" ? { "dc_*": "all sources" } : {}),
            }}
            onChange={(id) => void subscribe(id, channel)}
          />
        </div>
      )}
    </div>
  );
}

/** `dc_*`, a user or a workspace. */
function isOfAll(emitter: string): boolean {
  return emitter === "dc_*" || /^[ou]_/.test(emitter);
}

function EndOf({ id, ends }: { id: string; ends: readonly End[] }) {
  if (isOfAll(id)) return <span>all sources</span>;
  const end = ends.find((one) => one.id === id);
  if (end === undefined) return <code>{id}</code>;
  return (
    <>
      <Link href={end.path}>{end.name}</Link>
      {end.state}
    </>
  );
}

async function everyEnd(client: Client): Promise<readonly End[]> {
  const [webhooks, sources, workflows] = await Promise.all([everyPage(client.webhooks.list), everyPage(client.sources.list), everyPage(client.workflows.list)]);
  const stateOf = (isActive: boolean) => <StateMark tone={isActive ? "good" : "plain"}>{isActive ? "active" : "inactive"}</StateMark>;
  return [
    ...webhooks.map((webhook) => ({ id: webhook.id, name: webhook.name ?? webhook.url, path: `/webhooks/${webhook.id}`, state: <Health webhook={webhook} /> })),
    ...sources.map(({ id, name, active }) => ({ id, name, path: `/sources/${id}`, state: stateOf(active) })),
    ...workflows.map(({ id, name, active }) => ({ id, name, path: `/workflows/${id}`, state: stateOf(active) })),
  ];
}
