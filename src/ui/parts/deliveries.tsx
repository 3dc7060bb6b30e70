import { useState } from "preact/hooks";
import { useQuery } from "../browser/address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { describeEvent } from "../../domain/run/arrival.ts";
import { bytes, duration, plural } from "../text-of.ts";
import type { Delivery } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import { JsonTree } from "./json/json-tree.tsx";
import { Empty, Problem } from "./problem.tsx";
import { StateMark } from "./state-mark.tsx";
import { Ago, At, Until } from "./text/time.tsx";
import { telling } from "./dialogs/toast.tsx";
import { Waiting } from "./waiting.tsx";
import { DELIVERY_TONES } from "./webhook-parts.tsx";
import { Select } from "./fields.tsx";

const LOOK_EVERY_MS = 2000;
const SHOWN = 100;

interface DeliveriesProps {
  readonly listener: { readonly kind: "webhook" | "source"; readonly id: string };
  readonly none: string;
}

export function Deliveries({ listener: { kind, id }, none }: DeliveriesProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const [state, setState] = useQuery("delivered");
  const [open, setOpen] = useState<string>();
  const filter = isState(state) ? { state } : {};
  const list = kind === "webhook" ? client.deliveries.ofWebhook : client.deliveries.ofSource;
  const { value, error, reload } = useLoaded(`deliveries ${id} ${state}`, () => list(id, { limit: SHOWN, ...filter }), LOOK_EVERY_MS);
  const retryAll = (): Promise<void> =>
    telling(async () => {
      await (kind === "webhook" ? client.deliveries.retryWebhook(id, {}) : client.deliveries.retrySource(id, {}));
      reload();
    }, "Retrying all failed and pending deliveries");
  if (error !== undefined && value === undefined) return <Problem error={error} onRetry={reload} />;
  if (value === undefined) return <Waiting />;
  return (
    <div class="stack tight">
      <div class="row wrap">
        <Select
          label="State of deliveries"
          choices={{ "": "All deliveries", pending: "Pending", delivered: "Delivered", failed: "Failed", missed: "Missed" }}
          value={state}
          onChange={setState}
        />
        <span class="grow" />
        {mayChange && (
          <button type="button" class="button" onClick={() => void retryAll()}>
            Retry all failed
          </button>
        )}
      </div>
      {value.length === 0 ? (
        <Empty title={none} />
      ) : (
        <ul class="panel">
          {value.map((delivery) => (
            <li key={delivery.id} style={{ borderBottom: "1px solid var(--grey-3)" }}>
              <button
                type="button"
                class="button plain"
                style={{ width: "100%", justifyContent: "flex-start", borderRadius: 0 }}
                aria-expanded={open === delivery.id}
                onClick={() => setOpen(open === delivery.id ? undefined : delivery.id)}
              >
                <StateMark tone={DELIVERY_TONES[delivery.state]}>{delivery.state}</StateMark>
                <span class="cut">
                  {delivery.emitter_name ?? delivery.emitter_id} <span class="muted">{describeEvent(delivery.event)}</span>
                </span>
                <span class="muted hide-narrow">{plural(delivery.attempt_count, "attempt")}</span>
                <span class="grow" />
                <span class="muted">
                  <Ago at={delivery.created_at_ms} />
                </span>
              </button>
              {open === delivery.id && <Detail id={delivery.id} onRetried={reload} />}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Detail({ id, onRetried }: { id: string; onRetried: () => void }) {
  const client = useClient();
  const mayChange = useMayChange();
  const { value, error, reload } = useLoaded(id, () => client.deliveries.get(id), LOOK_EVERY_MS);
  if (error !== undefined && value === undefined) return <Problem error={error} />;
  if (value === undefined) return <Waiting />;
  const { attempts = [] } = value;
  const retry = (): Promise<void> =>
    telling(async () => {
      await client.deliveries.retry(id);
      reload();
      onRetried();
    });
  return (
    <div class="stack" style={{ padding: "8px 16px 16px" }}>
      <div class="row wrap">
        {value.next_attempt_at_ms !== undefined && (
          <span>
            Next attempt <Until at={value.next_attempt_at_ms} />
          </span>
        )}
        <span class="grow" />
        {mayChange && (
          <button type="button" class="button" onClick={() => void retry()}>
            Deliver now
          </button>
        )}
      </div>
      {attempts.map(({ at_ms: at, duration_ms: took, status, answer, error: reason }) => (
        <div class={`note ${status !== undefined && status < 300 ? "" : "bad"}`} key={at}>
          <span class="row wrap">
            <strong>{status ?? "no answer"}</strong>
            <At at={at} />
            <span class="muted">{duration(took)}</span>
          </span>
          {reason !== undefined && <span>{reason}</span>}
          {answer !== undefined && answer !== "" && <pre>{answer}</pre>}
        </div>
      ))}
      <p class="muted mono">{value.message_id}</p>
      <h3>Payload ({bytes(JSON.stringify(value.event).length)})</h3>
      <JsonTree value={value.event} label="payload" />
    </div>
  );
}

function isState(text: string): text is Delivery["state"] {
  return text in DELIVERY_TONES;
}
