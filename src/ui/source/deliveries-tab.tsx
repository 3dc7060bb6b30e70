import { Link } from "wouter-preact";
import { useMayChange } from "../app-context.ts";
import { Deliveries } from "../parts/deliveries.tsx";
import { Subscriptions } from "../parts/subscriptions.tsx";
import type { TabProps } from "./tab-props.ts";

/** Who gets the events of this source. */
export function SubscribersTab({ source }: TabProps) {
  const mayChange = useMayChange();
  return (
    <div class="stack">
      <p class="muted">These get every event of this source at least once. The order is not guaranteed.</p>
      <Subscriptions of={source.id} side="emitter" none="Nobody gets its events yet" />
      {mayChange && (
        <div>
          <Link href="/webhooks?new=1" class="button">
            New webhook
          </Link>
        </div>
      )}
    </div>
  );
}

/** Whose events start runs of this source. */
export function ListensTab({ source }: TabProps) {
  return (
    <div class="stack">
      <p class="muted">Each event of these starts a run of this source. "Delivered" means that the run is stored; the tab Runs shows whether it succeeded.</p>
      <Subscriptions of={source.id} side="listener" none="It listens to no other source" />
      <h2>Deliveries</h2>
      <Deliveries listener={{ kind: "source", id: source.id }} none="No deliveries: subscribe it to another source to get events" />
    </div>
  );
}
