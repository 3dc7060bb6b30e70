import { useQuery } from "../browser/address.ts";
import { useClient } from "../app-context.ts";
import { useLoaded } from "../use-loaded.ts";
import { FilterField, SearchField } from "./fields.tsx";
import { Letter } from "./text/letter.tsx";
import { Empty, Problem } from "./problem.tsx";
import { Waiting } from "./waiting.tsx";

const FOUND = 50;
const LINKS = /\[([^\]]*)\]\([^)]*\)/g;

interface RegistrySearchProps {
  readonly type: "source" | "action";
  readonly placeholder: string;
  readonly onChoose: (key: string) => void;
}

export function RegistrySearch({ type, placeholder, onChoose }: RegistrySearchProps) {
  const client = useClient();
  const [query, setQuery] = useQuery("q");
  const [app, setApp] = useQuery("app");
  const words = `${app} ${query}`.trim();
  const { value, error, reload } = useLoaded(`search ${type} ${words}`, () => client.registries.search({ query: words, component_type: type, limit: FOUND }));
  return (
    <div class="stack">
      <div class="row wrap">
        <SearchField label={`Search ${type}s`} placeholder={placeholder} width={360} value={query} onInput={setQuery} />
        <FilterField label="App" width={180} value={app} onChange={setApp} />
      </div>
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Waiting />}
      {value?.data.length === 0 && (
        <Empty title={words === "" ? `The registries have no ${type} yet` : "No results"}>
          <p>
            Search for words of the name, key or description. <code>pd registry list</code> shows the registries.
          </p>
        </Empty>
      )}
      <ul class="stack tight">
        {(value?.data ?? []).map(({ key, name, description, version }) => (
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
    </div>
  );
}
