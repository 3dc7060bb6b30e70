import { Deliveries } from "../parts/deliveries.tsx";
import type { TabProps } from "./tab-props.ts";

export function DeliveriesTab({ source }: TabProps) {
  return <Deliveries listener={{ kind: "source", id: source.id }} none="Nothing was delivered to it: a subscription lets it listen to another source" />;
}
