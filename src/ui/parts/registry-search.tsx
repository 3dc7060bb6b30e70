import { useState } from "preact/hooks";
import { useQuery } from "../browser/address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { useAttempt } from "../use-attempt.ts";
import { nearestApp } from "../../domain/component/app-search.ts";
import { everyPage } from "../../client/client.ts";
import { useLoaded } from "../use-loaded.ts";
import { AppCatalogue } from "./app-catalogue.tsx";
import { FilterField, SearchField } from "./fields.tsx";
import { Letter } from "./text/letter.tsx";
import { Empty, Problem } from "./problem.tsx";
import { Waiting } from "./waiting.tsx";

const FOUND = 50;
const LINKS = /\[([^\]]*)\]\([^)]*\)/g;

interface RegistrySearchProps {
  readonly type: "source" | "action";
  readonly placeholder: string;
  /** What is searched does not go into the address of the page. */
  readonly isInDialog?: boolean;
  readonly onChoose: (key: string) => void;
}

/** A component of the registries, by its app or by words. */
export function RegistrySearch({ type, placeholder, isInDialog = false, onChoose }: RegistrySearchProps) {
  const client = useClient();
  const inAddress = { query: useQuery("q"), app: useQuery("app") };
  const inDialog = { query: useState(""), app: useState("") };
  const [query, setQuery] = (isInDialog ? inDialog : inAddress).query;
  const [app, setApp] = (isInDialog ? inDialog : inAddress).app;
  const words = `${app} ${query}`.trim();
  const { value, error, reload } = useLoaded(`search ${type} ${words}`, () => client.registries.search({ query: words, component_type: type, limit: FOUND }));
  const found = value?.data ?? [];
  const choose = (slug: string): void => {
    setQuery("");
    setApp(slug);
  };
  return (
    <div class="stack">
      <div class="row wrap">
        <SearchField label={`Search ${type}s`} placeholder={placeholder} width={360} value={query} onInput={setQuery} isFocused={isInDialog} />
        <FilterField label="App" width={180} value={app} onChange={setApp} />
        {app !== "" && (
          <button type="button" class="button" onClick={() => setApp("")}>
            All apps
          </button>
        )}
      </div>
      {app === "" && query !== "" && <AppCatalogue type={type} query={query} onApp={setApp} />}
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Waiting />}
      {value !== undefined && found.length === 0 && words !== "" && <Nothing type={type} app={app} query={query} onApp={choose} onAdded={reload} />}
      <ul class="stack tight">
        {found.map(({ key, name, description, version }) => (
          <li key={key}>
            <button type="button" class="button choice" onClick={() => onChoose(key)}>
              <Letter of={name} />
              <span class="stack tight grow">
                <span>
                  <bdi>{name}</bdi> <span class="muted mono">{key}</span>
                </span>
                <span class="muted cut">{description.replaceAll(LINKS, "$1")}</span>
              </span>
              <span class="muted">{version}</span>
            </button>
          </li>
        ))}
      </ul>
      {words === "" && <AppCatalogue type={type} query="" onApp={setApp} />}
    </div>
  );
}

const COLLECTION = "https://github.com/PipedreamHQ/pipedream";

/** The packages of the public registry are a part of the collection. */
function WholeCollection({ onAdded }: { onAdded: () => void }) {
  const client = useClient();
  const mayChange = useMayChange();
  const { isUnderWay, error, attempt } = useAttempt();
  const add = (): Promise<void> =>
    attempt(async () => {
      await client.registries.add({ name: "collection", kind: "git", location: COLLECTION });
      onAdded();
    });
  return (
    <>
      <p>
        Not every app has a package. Its components may be in the public Git repository, which has all of them: <code>{COLLECTION}</code>
      </p>
      {mayChange && (
        <button type="button" class="button" disabled={isUnderWay} onClick={() => void add()}>
          {isUnderWay ? "Downloading… (may take minutes)" : "Add it as a registry"}
        </button>
      )}
      {error !== undefined && <Problem error={error} />}
    </>
  );
}

interface NothingProps {
  readonly type: "source" | "action";
  readonly app: string;
  readonly query: string;
  readonly onApp: (slug: string) => void;
  readonly onAdded: () => void;
}

function Nothing({ type, app, query, onApp, onAdded }: NothingProps) {
  const client = useClient();
  const { value: apps } = useLoaded("apps ", () => everyPage(client.apps.list));
  const known = apps?.find(({ name_slug: slug }) => slug === app);
  const slugs = (apps ?? []).map(({ name_slug: slug }) => slug);
  const near = known === undefined ? nearestApp(app === "" ? query : app, slugs) : undefined;
  const title =
    app === ""
      ? `No ${type} was found for these words`
      : query === ""
        ? `The registries have no ${type} of ${known?.name ?? app}`
        : `No ${type} of ${known?.name ?? app} fits these words`;
  return (
    <Empty title={title}>
      {near !== undefined && (
        <p>
          Did you mean{" "}
          <button type="button" class="button" onClick={() => onApp(near)}>
            {near}
          </button>
          ?
        </p>
      )}
      {app === "" ? (
        <p>Words find components of apps that were opened here, and apps by what they are about. Without words you see all apps.</p>
      ) : (
        query === "" && <WholeCollection onAdded={onAdded} />
      )}
    </Empty>
  );
}
