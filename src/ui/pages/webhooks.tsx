import { useTitle } from "../browser/title.ts";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { everyPage } from "../../client/client.ts";
import { useGo, useQuery } from "../browser/address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { Health, Secret } from "../parts/webhook-parts.tsx";
import type { Webhook } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import { OneWebhook } from "./one-webhook.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { AddressField } from "../parts/fields.tsx";

const COLUMNS: readonly Column[] = [
  { title: "Where" },
  { title: "State" },
  { title: "Pending", isNumber: true, hide: "narrow" },
  { title: "Delivered", isNumber: true, hide: "narrow" },
  { title: "Failed", isNumber: true },
];

const LOOK_EVERY_MS = 2000;

export function WebhooksPage({ id }: { id: string }) {
  return id === "" ? <WebhookList /> : <OneWebhook id={id} />;
}

function WebhookList() {
  useTitle("Webhooks");
  const client = useClient();
  const mayChange = useMayChange();
  const [isNew, setNew] = useQuery("new");
  const { value, error, reload } = useLoaded("webhooks", () => everyPage(client.webhooks.list), LOOK_EVERY_MS);
  return (
    <div class="content">
      <div class="row wrap">
        <h1 class="grow">Webhooks</h1>
        {mayChange && (
          <button type="button" class="button filled" data-key="n" onClick={() => setNew("1")}>
            New webhook
          </button>
        )}
      </div>
      {error !== undefined && value === undefined && <Problem error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Waiting />}
      {value?.length === 0 && (
        <Empty title="No webhooks yet">
          <p>A webhook gets the events of the sources that it is subscribed to, signed and at least once.</p>
        </Empty>
      )}
      {value !== undefined && value.length > 0 && (
        <Table columns={COLUMNS}>
          {value.map((webhook) => (
            <tr key={webhook.id}>
              <td style={{ maxWidth: "360px" }}>
                <Link href={`/webhooks/${webhook.id}`} class="stack tight">
                  <strong class="cut">{webhook.name ?? webhook.url}</strong>
                  <span class="muted cut">{webhook.url}</span>
                </Link>
              </td>
              <td>
                <Health webhook={webhook} />
              </td>
              <td class="number hide-narrow">{webhook.deliveries.pending}</td>
              <td class="number hide-narrow">{webhook.deliveries.delivered}</td>
              <td class="number">{webhook.deliveries.failed}</td>
            </tr>
          ))}
        </Table>
      )}
      {isNew !== "" && <NewWebhook onClose={() => setNew("")} />}
    </div>
  );
}

function NewWebhook({ onClose }: { onClose: () => void }) {
  const client = useClient();
  const go = useGo();
  const [url, setUrl] = useState("");
  const [name, setName] = useState("");
  const [error, setError] = useState<unknown>();
  const [made, setMade] = useState<Webhook>();
  if (made !== undefined)
    return (
      <Secret
        title="Webhook created"
        webhook={made}
        onClose={() => {
          onClose();
          go(`/webhooks/${made.id}`);
        }}
      />
    );
  return (
    <Dialog title="New webhook" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          client.webhooks.create({ url, ...(name === "" ? {} : { name }) }).then(setMade, setError);
        }}
      >
        <AddressField label="Address" value={url} onInput={setUrl} />
        <div class="field">
          <label for="webhook-name">
            Name <span class="muted">(optional)</span>
          </label>
          <input id="webhook-name" class="input" value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        </div>
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button filled">
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}
