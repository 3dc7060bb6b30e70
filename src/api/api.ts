import { accounts } from "./accounts.ts";
import { actions } from "./components.ts";
import { alerts } from "./alerts.ts";
import { apps } from "./apps.ts";
import type { CALLS } from "./calls.ts";
import { components } from "./components.ts";
import { dataStores } from "./data-stores.ts";
import { deliveries } from "./deliveries.ts";
import { events } from "./events.ts";
import { invocations } from "./invocations.ts";
import { registries } from "./registries.ts";
import { cluster, keys, server } from "./server.ts";
import { sources } from "./sources.ts";
import { state } from "./sources.ts";
import { subscriptions } from "./subscriptions.ts";
import { search } from "./search.ts";
import { trends } from "./trends.ts";
import { webhooks } from "./webhooks.ts";
import { workflows } from "./workflows.ts";
import { page } from "./server.ts";

type Declared = {
  readonly [Group in keyof typeof CALLS]: { readonly [Name in keyof (typeof CALLS)[Group]]: { readonly address: (typeof CALLS)[Group][Name] } };
};

export const api = {
  sources,
  events,
  invocations,
  state,
  components,
  actions,
  workflows,
  registries,
  dataStores,
  webhooks,
  deliveries,
  subscriptions,
  accounts,
  apps,
  keys,
  trends,
  search,
  alerts,
  page,
  cluster,
  server,
} satisfies Declared;

export type Api = typeof api;
