import { lazy } from "../parts/editor/lazy.tsx";

const load = (): Promise<typeof import("./other-pages.ts")> => import("./other-pages.ts");

/** Most visits start with the list of sources. */
export const AccountsPage = lazy(async () => (await load()).AccountsPage);
export const ActionsPage = lazy(async () => (await load()).ActionsPage);
export const NewSourcePage = lazy(async () => (await load()).NewSourcePage);
export const SchedulePage = lazy(async () => (await load()).SchedulePage);
export const SourcePage = lazy(async () => (await load()).SourcePage);
export const SearchPage = lazy(async () => (await load()).SearchPage);
export const StatusPage = lazy(async () => (await load()).StatusPage);
export const StoresPage = lazy(async () => (await load()).StoresPage);
export const WorkflowsPage = lazy(async () => (await load()).WorkflowsPage);
export const WorkflowPage = lazy(async () => (await load()).WorkflowPage);
export const WebhooksPage = lazy(async () => (await load()).WebhooksPage);

if (location.pathname !== "/" && location.pathname !== "/sources") void load().catch(() => {});

const PREFETCH_AFTER_MS = 1500;

export function prefetchPages(): () => void {
  // The page reports the error.
  const timer = setTimeout(() => void load().catch(() => {}), PREFETCH_AFTER_MS);
  return () => clearTimeout(timer);
}
