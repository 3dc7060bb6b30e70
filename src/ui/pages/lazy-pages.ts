import { lazy } from "../parts/lazy.tsx";

const load = (): Promise<typeof import("./other-pages.ts")> => import("./other-pages.ts");

/** The list of sources is what most who come want to see first: the other pages are fetched once it is shown. */
export const AccountsPage = lazy(async () => (await load()).AccountsPage);
export const ActionsPage = lazy(async () => (await load()).ActionsPage);
export const NewSourcePage = lazy(async () => (await load()).NewSourcePage);
export const SchedulePage = lazy(async () => (await load()).SchedulePage);
export const SourcePage = lazy(async () => (await load()).SourcePage);
export const StatusPage = lazy(async () => (await load()).StatusPage);
export const StoresPage = lazy(async () => (await load()).StoresPage);
export const WorkflowsPage = lazy(async () => (await load()).WorkflowsPage);
export const WorkflowPage = lazy(async () => (await load()).WorkflowPage);
export const WebhooksPage = lazy(async () => (await load()).WebhooksPage);

// Whoever comes for another page waits for nothing else first.
if (location.pathname !== "/" && location.pathname !== "/sources") void load().catch(() => {});

/** After what is looked at now. */
const PREFETCH_AFTER_MS = 1500;

/** So that going elsewhere waits for nothing. */
export function prefetchPages(): () => void {
  // What fails now is told when it is needed.
  const timer = setTimeout(() => void load().catch(() => {}), PREFETCH_AFTER_MS);
  return () => clearTimeout(timer);
}
