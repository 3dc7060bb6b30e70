import { everyPage } from "../../client/client.ts";
import { useClient } from "../app-context.ts";
import { useLoaded } from "../use-loaded.ts";
import { plural } from "../text-of.ts";
import { Problem } from "./problem.tsx";
import { Letter } from "./text/letter.tsx";
import { Waiting } from "./waiting.tsx";

const MOST_MATCHES = 8;

interface AppCatalogueProps {
  readonly type: "source" | "action";
  /** Empty for all apps. */
  readonly query: string;
  readonly onApp: (slug: string) => void;
}

/** The apps that are known here. Their components are fetched when one is opened. */
export function AppCatalogue({ type, query, onApp }: AppCatalogueProps) {
  const client = useClient();
  const { value, error, reload } = useLoaded(`apps ${query}`, () => (query === "" ? everyPage(client.apps.list) : matches(client, query)));
  if (error !== undefined) return <Problem error={error} onRetry={reload} />;
  if (value === undefined) return query === "" ? <Waiting /> : null;
  if (value.length === 0) return null;
  const here = value.filter(({ components }) => components !== null);
  const shown = query === "" ? [...here, ...value.filter(({ components }) => components === null)] : value;
  return (
    <section class="stack tight" aria-label="Apps">
      <h2>{query === "" ? "Apps" : "Apps that fit"}</h2>
      <ul class="apps">
        {shown.map(({ name_slug: slug, name, components }) => (
          <li key={slug}>
            <button type="button" class="button choice" onClick={() => onApp(slug)}>
              <Letter of={name} />
              <span class="stack tight grow">
                <span class="cut">{name}</span>
                <span class="muted cut">{components === null ? slug : plural(type === "source" ? components.sources : components.actions, type)}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

async function matches(client: ReturnType<typeof useClient>, query: string) {
  return (await client.apps.list({ q: query, limit: MOST_MATCHES })).data;
}
