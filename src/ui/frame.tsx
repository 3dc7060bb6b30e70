import { useTitle } from "./browser/title.ts";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { Link, Redirect, Route, Switch, useLocation } from "wouter-preact";
import { useGo } from "./browser/address.ts";
import { useClient, useSession } from "./app-context.ts";
import { Icon } from "./icons.tsx";
import { Help, Palette } from "./palette.tsx";
import {
  AccountsPage,
  ActionsPage,
  NewSourcePage,
  SchedulePage,
  SourcePage,
  SearchPage,
  StatusPage,
  StoresPage,
  WebhooksPage,
  WorkflowPage,
  WorkflowsPage,
  prefetchPages,
} from "./pages/lazy-pages.ts";
import { SourcesPage } from "./pages/sources.tsx";
import { Empty } from "./parts/problem.tsx";
import { Toasts } from "./parts/dialogs/toast.tsx";
import { usePreference } from "./browser/preferences.ts";
import { SECTIONS } from "./sections.ts";
import { useLoaded } from "./use-loaded.ts";

const LOOK_EVERY_MS = 3000;
/** Time for the second key after g. */
const CHORD_MS = 1000;

export function Frame() {
  const [open, setOpen] = useState<"palette" | "help">();
  const client = useClient();
  const { error } = useLoaded("alive", () => client.server.status(), LOOK_EVERY_MS);
  const isAlive = error === undefined;
  useTheme();
  useKeys(setOpen);
  useEffect(prefetchPages, []);
  return (
    <div class="frame">
      <Top isAlive={isAlive} onSearch={() => setOpen("palette")} />
      <Rail />
      <main id="main" tabIndex={-1}>
        {!isAlive && <Offline />}
        <Pages />
      </main>
      {open === "palette" && <Palette onClose={() => setOpen((now) => (now === "palette" ? undefined : now))} />}
      {open === "help" && <Help onClose={() => setOpen((now) => (now === "help" ? undefined : now))} />}
      <Toasts />
    </div>
  );
}

function Pages() {
  return (
    <Switch>
      <Route path="/sources/new" component={NewSourcePage} />
      <Route path="/sources/:id/:tab?">{({ id, tab }) => <SourcePage id={id} tab={tab ?? "events"} key={id} />}</Route>
      <Route path="/sources" component={SourcesPage} />
      <Route path="/workflows/:id/:tab?">{({ id, tab }) => <WorkflowPage id={id} tab={tab ?? "runs"} key={id} />}</Route>
      <Route path="/workflows" component={WorkflowsPage} />
      <Route path="/actions" component={ActionsPage} />
      <Route path="/webhooks/:id?">{({ id }) => <WebhooksPage id={id ?? ""} />}</Route>
      <Route path="/accounts/:id?">{({ id }) => <AccountsPage id={id ?? ""} />}</Route>
      <Route path="/stores/:name?">{({ name }) => <StoresPage name={name ?? ""} />}</Route>
      <Route path="/schedule" component={SchedulePage} />
      <Route path="/status" component={StatusPage} />
      <Route path="/search" component={SearchPage} />
      <Route path="/">
        <Redirect to="/sources" replace />
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}

function NotFound() {
  const [path] = useLocation();
  useTitle("Page not found");
  return (
    <Empty title="Page not found">
      <p>
        There is nothing at <code>{path}</code>.
      </p>
      <Link class="button" href="/sources">
        All sources
      </Link>
    </Empty>
  );
}

function Top({ isAlive, onSearch }: { isAlive: boolean; onSearch: () => void }) {
  const { isReadOnly, keyName } = useSession();
  const [theme, setTheme] = usePreference("theme", "system");
  const [times, setTimes] = usePreference("times", "local");
  const next = { system: "light", light: "dark", dark: "system" }[theme] ?? "system";
  return (
    <header>
      <Link href="/sources" class="brand" aria-label="Headwater">
        <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="7" fill="var(--accent)" />
          <path
            d="M5 13c3.7-4 7.300-4 11 0s7.300 4 11 0M5 20c3.700-4 7.300-4 11 0s7.300 4 11 0"
            fill="none"
            stroke="var(--on-accent)"
            stroke-width="3"
            stroke-linecap="round"
          />
        </svg>
        <span>Headwater</span>
      </Link>
      <button type="button" class="button plain" onClick={onSearch} aria-label="Search and commands">
        <Icon name="search" /> <span class="hide-narrow muted">Search or run</span> <kbd class="muted palette-key">Ctrl K</kbd>
      </button>
      <span class="grow" />
      <ConnectionLight isAlive={isAlive} />
      {isReadOnly && <span class="state attention">read-only{keyName === undefined ? "" : ` · ${keyName}`}</span>}
      <button type="button" class="button plain hide-narrow" onClick={() => setTimes(times === "utc" ? "local" : "utc")} title="Times in this zone or in UTC">
        {times === "utc" ? "UTC" : "Local time"}
      </button>
      <button type="button" class="button plain" onClick={() => setTheme(next)} title="Light, dark, or like the system">
        {{ system: "Auto", light: "Light", dark: "Dark" }[theme] ?? "Auto"}
      </button>
    </header>
  );
}

function ConnectionLight({ isAlive }: { isAlive: boolean }) {
  const label = isAlive ? "The server answers" : "The server does not answer";
  return <span class={`light ${isAlive ? "" : "off"}`} role="img" aria-label={label} title={label} />;
}

function Rail() {
  const [path] = useLocation();
  return (
    <nav aria-label="Sections">
      {SECTIONS.map((section) => (
        <Link key={section.path} href={section.path} aria-current={path.startsWith(section.path) ? "page" : undefined} title={section.name}>
          <Icon name={section.icon} /> <span>{section.name}</span>
        </Link>
      ))}
    </nav>
  );
}

function Offline() {
  return (
    <p class="offline" role="alert">
      The server does not answer. This page continues as soon as it does.
    </p>
  );
}

function useTheme(): void {
  const [theme] = usePreference("theme", "system");
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
  }, [theme]);
}

function useKeys(open: (what: "palette" | "help") => void): void {
  const go = useGo();
  // A layout effect: keys work once the page is visible.
  useLayoutEffect(() => {
    let chordUntil = 0;
    const onKey = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        return open("palette");
      }
      // Only composedPath shows the focus in the editor's shadow root.
      const [target] = event.composedPath();
      const isTyping = target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName));
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") !== null) return;
      const section = event.timeStamp < chordUntil ? SECTIONS.find(({ key }) => key === event.key) : undefined;
      chordUntil = event.key === "g" ? event.timeStamp + CHORD_MS : 0;
      if (section !== undefined) go(section.path);
      else if (event.key === "?") open("help");
      else if (event.key === "/") {
        event.preventDefault();
        const field = document.querySelector<HTMLInputElement>("main input[type=search]");
        if (field === null) open("palette");
        else field.focus();
      } else pressShortcut(event);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [go, open]);
}

function pressShortcut(event: KeyboardEvent): void {
  if (!/^[a-z]$/.test(event.key)) return;
  const target = document.querySelector<HTMLElement>(`main [data-key="${event.key}"]`);
  if (target === null) return;
  event.preventDefault();
  target.click();
}
