import type { Delivery, Webhook } from "../types.ts";
import { CopyButton } from "./copy-button.tsx";
import { Dialog } from "./dialogs/dialog.tsx";
import { StateMark, type Tone } from "./state-mark.tsx";
import { Ago } from "./text/time.tsx";

export const DELIVERY_TONES: Readonly<Record<Delivery["state"], Tone>> = { pending: "attention", delivered: "good", failed: "bad", missed: "plain" };

export function Health({ webhook }: { webhook: Webhook }) {
  if (!webhook.active)
    return (
      <span title={webhook.inactive_reason}>
        <StateMark tone="plain">inactive</StateMark>
      </span>
    );
  const { failing_since_ms: since } = webhook;
  if (since === undefined) return <StateMark tone="good">delivering</StateMark>;
  return (
    <StateMark tone="bad">
      failing since <Ago at={since} />
    </StateMark>
  );
}

export function Secret({ title, webhook, onClose }: { title: string; webhook: Webhook; onClose: () => void }) {
  const { signing_key: key = "" } = webhook;
  return (
    <Dialog title={title} onClose={onClose}>
      <p>Its signing key is shown only now. The receiver checks signatures with it.</p>
      <p class="row wrap">
        <code style={{ overflowWrap: "anywhere" }}>{key}</code>
        <CopyButton text={key} />
      </p>
      <div class="row end">
        <button type="button" class="button filled" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
