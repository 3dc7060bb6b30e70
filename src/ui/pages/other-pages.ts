/** Many small requests take longer than one. */
export { SourcePage } from "../source/source-page.tsx";
export { AccountsPage } from "./accounts.tsx";
export { ActionsPage } from "./actions.tsx";
export { NewSourcePage } from "./new-source.tsx";
export { SearchPage } from "./search.tsx";
export { SchedulePage } from "./schedule.tsx";
export { StatusPage } from "./status.tsx";
export { StoresPage } from "./stores.tsx";
export { WebhooksPage } from "./webhooks.tsx";
export { WorkflowPage } from "../workflow/workflow-page.tsx";
export { WorkflowsPage } from "./workflows.tsx";
