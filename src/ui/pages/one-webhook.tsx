import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useTitle } from "../browser/title.ts";
import { useGo } from "../browser/address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Deliveries } from "../parts/deliveries.tsx";
import { ConfirmByName } from "../parts/dialogs/dialog.tsx";
import { Missing } from "../parts/problem.tsx";
import { tell, telling } from "../parts/dialogs/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { Subscriptions } from "../parts/subscriptions.tsx";
import { Health, Secret } from "../parts/webhook-parts.tsx";
import { duration } from "../text-of.ts";
import type { Webhook } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";

const LOOK_EVERY_MS = 2000;

export function OneWebhook({ id }: { id: string }) {
  const client = useClient();
  const { value: webhook, error, reload } = useLoaded(id, () => client.webhooks.get(id), LOOK_EVERY_MS);
  useTitle(webhook?.name ?? webhook?.url, "Webhooks");
  if (webhook === undefined)
    return (
      <div class="content">
        <Link href="/webhooks">← Webhooks</Link>
        {error === undefined ? <Waiting /> : <Missing error={error} what="webhook" list="webhooks" onRetry={reload} />}
      </div>
    );
  const { inactive_reason: reason } = webhook;
  return (
    <div class="content">
      <p>
        <Link href="/webhooks">← Webhooks</Link>
      </p>
      <div class="row wrap">
        <h1 class="cut">{webhook.name ?? webhook.url}</h1>
        <Health webhook={webhook} />
        <span class="grow" />
        <Verbs webhook={webhook} reload={reload} />
      </div>
      <p class="row">
        <code class="cut">{webhook.url}</code>
        <CopyButton text={webhook.url} />
      </p>
      {reason !== undefined && <p class="note attention">{reason}</p>}
      <section class="stack tight">
        <h2>Subscriptions</h2>
        <Subscriptions of={id} side="listener" none="None yet" />
      </section>
      <h2>Deliveries</h2>
      <Deliveries listener={{ kind: "webhook", id }} none="No deliveries yet: it gets the events of its subscriptions" />
    </div>
  );
}

function Verbs({ webhook, reload }: { webhook: Webhook; reload: () => void }) {
  const client = useClient();
  const go = useGo();
  const mayChange = useMayChange();
  const [open, setOpen] = useState<"delete">();
  const [rotated, setRotated] = useState<Webhook>();
  const { id, url, active } = webhook;
  if (!mayChange) return null;
  const test = (): Promise<void> =>
    telling(async () => {
      const { status, duration_ms: took, error } = await client.webhooks.test(id, {});
      tell(error === undefined ? `Status ${status ?? "?"} in ${duration(took)}` : `Test failed: ${error}`);
    });
  const setActive = (next: boolean): Promise<void> =>
    telling(async () => {
      await client.webhooks.update(id, { active: next });
      reload();
      tell(next ? "Activated" : "Deactivated", () => void setActive(!next));
    });
  return (
    <span class="row wrap">
      <button type="button" class="button" onClick={() => void test()}>
        Send a test
      </button>
      <button type="button" class="button" onClick={() => void telling(async () => setRotated(await client.webhooks.rotate(id)))}>
        Rotate the key
      </button>
      <button type="button" class="button" onClick={() => void setActive(!active)}>
        {active ? "Deactivate" : "Activate"}
      </button>
      <button type="button" class="button danger" onClick={() => setOpen("delete")}>
        Delete…
      </button>
      {rotated !== undefined && <Secret title="New signing key" webhook={rotated} onClose={() => setRotated(undefined)} />}
      {open === "delete" && (
        <ConfirmByName
          title="Delete this webhook?"
          name={webhook.name ?? id}
          verb="Delete"
          onClose={() => setOpen(undefined)}
          onConfirm={async () => {
            await client.webhooks.delete(id);
            tell(`Deleted ${url}`);
            go("/webhooks");
          }}
        >
          Its subscriptions and deliveries will be deleted too.
        </ConfirmByName>
      )}
    </span>
  );
}
