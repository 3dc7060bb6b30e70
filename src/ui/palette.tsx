import { useState } from "preact/hooks";
import { type Client, everyPage } from "../client/client.ts";
import { useGo } from "./browser/address.ts";
import { agreeTo } from "./agreed.ts";
import { useClient, useMayChange } from "./app-context.ts";
import { Dialog } from "./parts/dialogs/dialog.tsx";
import { signOut } from "./browser/session.ts";
import { telling } from "./parts/dialogs/toast.tsx";
import { SECTIONS } from "./sections.ts";
import type { Source, Workflow } from "./types.ts";
import { useLoaded } from "./use-loaded.ts";

interface Entry {
  readonly label: string;
  readonly hint: string;
  /** Where it leads, after `run`. */
  readonly to: string;
  readonly action?: string;
  readonly run?: (client: Client) => Promise<unknown>;
}

const MOST = 50;
/** Chosen: registries have thousands of actions. */
const LEAST_LETTERS = 3;
const MOST_ACTIONS = 5;
const VERBS: readonly Entry[] = [
  { label: "Deploy a new source", hint: "command", to: "/sources/new" },
  { label: "Connect an account", hint: "command", to: "/accounts?new=1" },
  { label: "Create a webhook", hint: "command", to: "/webhooks?new=1" },
  { label: "Create a data store", hint: "command", to: "/stores?new=1" },
  { label: "Run an action", hint: "command", to: "/actions" },
];

const SIGN_OUT: Entry = { label: "Sign out of this browser", hint: "command", to: "/", run: async () => signOut() };

function verbsOf({ id, name, active }: Source): readonly Entry[] {
  const page = `/sources/${id}`;
  return [
    { label: `Run ${name}`, hint: "command", to: `${page}/runs`, run: (client) => client.sources.run(id) },
    {
      label: `${active ? "Deactivate" : "Activate"} ${name}`,
      hint: "command",
      to: page,
      run: (client) => client.sources.update(id, { active: !active }),
    },
  ];
}

function verbsOfWorkflow({ id, name }: Workflow): readonly Entry[] {
  return [{ label: `Run ${name}`, hint: "command", to: `/workflows/${id}/runs`, run: (client) => client.workflows.start(id) }];
}

export function Palette({ onClose }: { onClose: () => void }) {
  const client = useClient();
  const go = useGo();
  const mayChange = useMayChange();
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const { value: sources = [] } = useLoaded("palette", () => everyPage(client.sources.list));
  const { value: workflows = [] } = useLoaded("palette workflows", () => everyPage(client.workflows.list));
  const wanted = query.trim();
  const { value: actions } = useLoaded(`palette ${wanted}`, async () =>
    wanted.length < LEAST_LETTERS ? [] : (await client.registries.search({ query: wanted, component_type: "action", limit: MOST_ACTIONS })).data,
  );
  const all: Entry[] = [
    ...sources.map(({ id, name, name_slug: slug }) => ({ label: name, hint: slug, to: `/sources/${id}` })),
    ...workflows.map(({ id, name, name_slug: slug }) => ({ label: name, hint: slug, to: `/workflows/${id}` })),
    ...SECTIONS.map(({ name, path }) => ({ label: name, hint: "page", to: path })),
    SIGN_OUT,
    ...(mayChange ? [...VERBS, ...sources.flatMap(verbsOf), ...workflows.flatMap(verbsOfWorkflow)] : []),
  ];
  const words = query.toLowerCase().split(/\s+/);
  const named = all.filter(({ label, hint }) => words.every((word) => `${label} ${hint}`.toLowerCase().includes(word))).slice(0, MOST);
  const inData: Entry = { label: `Search events and runs for "${wanted}"`, hint: "search", to: `/search?q=${encodeURIComponent(wanted)}` };
  // The registries already matched the words.
  const found: readonly Entry[] = [
    ...named,
    ...(actions ?? []).map(({ key, name }) => ({ label: name, hint: `run ${key}`, to: `/actions?key=${encodeURIComponent(key)}`, action: key })),
    ...(wanted === "" ? [] : [inData]),
  ];
  const choose = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    if (entry.action !== undefined) agreeTo(entry.action);
    go(entry.to);
    if (entry.run !== undefined) void telling(() => entry.run?.(client) ?? Promise.resolve());
  };
  return (
    <Dialog title="Search and commands" class="palette" onClose={onClose}>
      <input
        class="input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${at}`}
        aria-label="Search sources, actions, pages and commands"
        placeholder="Search sources, actions, pages and commands"
        value={query}
        onInput={({ currentTarget }) => {
          setQuery(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") choose(found[at]);
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step === undefined) return;
          event.preventDefault();
          setAt(Math.max(0, Math.min(found.length - 1, at + step)));
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Results">
        {found.map((entry, index) => (
          <li key={entry.to + entry.label} id={`palette-${index}`} role="option" aria-selected={index === at} onClick={() => choose(entry)}>
            <span class="cut grow">{entry.label}</span>
            <span class="muted cut">{entry.hint}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["Ctrl K", "search sources, actions, pages and commands"],
  ["/", "search on this page"],
  ["j  k  ↓  ↑", "move through a list"],
  ["Enter", "open the selection"],
  ["Esc", "close the dialog"],
  ["r", "run the source now"],
  ["e  i  l", "events, runs, logs of the source"],
  ["n", "create a new item"],
  ["Ctrl S", "save the code"],
  ["Esc  Tab", "leave the editor"],
  ...SECTIONS.map(({ key, name }) => [`g ${key}`, name] as const),
  ["?", "this help"],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="facts">
        {KEYS.map(([keys, what]) => (
          <>
            <dt>
              <kbd class="mono">{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <div class="row end">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
