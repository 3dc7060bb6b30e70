import { accounts } from "./accounts.ts";
import { actions } from "./actions.ts";
import { apps } from "./apps.ts";
import type { CALLS } from "./calls.ts";
import { components } from "./components.ts";
import { dataStores } from "./data-stores.ts";
import { deliveries } from "./deliveries.ts";
import { events } from "./events.ts";
import { invocations } from "./invocations.ts";
import { registries } from "./registries.ts";
import { keys, server } from "./server.ts";
import { sources } from "./sources.ts";
import { state } from "./state.ts";
import { subscriptions } from "./subscriptions.ts";
import { webhooks } from "./webhooks.ts";
import { workflows } from "./workflows.ts";
import { page } from "./page.ts";

/** Each call of the list is declared, at the address that it has there. */
type Declared = {
  readonly [Group in keyof typeof CALLS]: { readonly [Name in keyof (typeof CALLS)[Group]]: { readonly address: (typeof CALLS)[Group][Name] } };
};

/** Every call of the API: what it takes and what it answers. */
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
  page,
  server,
} satisfies Declared;

export type Api = typeof api;
