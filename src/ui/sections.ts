import type { IconName } from "./icons.tsx";

/** `key` is pressed after g. */
export const SECTIONS: readonly { readonly path: string; readonly name: string; readonly icon: IconName; readonly key: string }[] = [
  { path: "/sources", name: "Sources", icon: "sources", key: "s" },
  { path: "/workflows", name: "Workflows", icon: "workflows", key: "f" },
  { path: "/actions", name: "Actions", icon: "actions", key: "a" },
  { path: "/webhooks", name: "Webhooks", icon: "webhooks", key: "w" },
  { path: "/accounts", name: "Accounts", icon: "accounts", key: "c" },
  { path: "/stores", name: "Data stores", icon: "stores", key: "d" },
  { path: "/schedule", name: "Schedule", icon: "schedule", key: "h" },
  { path: "/search", name: "Search", icon: "search", key: "q" },
  { path: "/status", name: "Status", icon: "status", key: "t" },
];
