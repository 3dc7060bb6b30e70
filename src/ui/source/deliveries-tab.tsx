import { Deliveries } from "../parts/deliveries.tsx";
import type { TabProps } from "./tab-props.ts";

export function DeliveriesTab({ source }: TabProps) {
  return <Deliveries listener={{ kind: "source", id: source.id }} none="No deliveries: subscribe it to another source to get events" />;
}
