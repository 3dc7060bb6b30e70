import { useTitle } from "../browser/title.ts";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useGo, useQuery } from "../browser/address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { ConfirmByName, Dialog } from "../parts/dialogs/dialog.tsx";
import { KeyValues } from "../parts/key-values.tsx";
import { Empty, Missing, Problem } from "../parts/problem.tsx";
import { tell } from "../parts/dialogs/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { absoluteTime, plural } from "../text-of.ts";
import { useLoaded } from "../use-loaded.ts";

const LOOK_EVERY_MS = 3000;

export function StoresPage({ name }: { name: string }) {
  useTitle(name, "Data stores");
  return name === "" ? <StoreList /> : <OneStore name={decoded(name)} />;
}

/** The router has decoded all but reserved characters, so a percent sign may stand alone. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function StoreList() {
  const client = useClient();
  const mayChange = useMayChange();
  const [isNew, setNew] = useQuery("new");
  const { value, error, reload } = useLoaded("stores", () => client.dataStores.list(), LOOK_EVERY_MS);
  return (
    <div class="content">
      <div class="row wrap">
        <h1 class="grow">Data stores</h1>
        {mayChange && (
          <button type="button" class="button filled" data-key="n" onClick={() => setNew("1")}>
            New data store
          </button>
        )}
      </div>
      {error !== undefined && value === undefined && <Problem error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Waiting />}
      {value?.length === 0 && (
        <Empty title="No data stores yet">
          <p>
            Components share values in a data store. A prop of the type <code>data_store</code> names it.
          </p>
        </Empty>
      )}
      {value !== undefined && value.length > 0 && (
        <ul class="panel">
          {value.map(({ name, key_count: count }) => (
            <li key={name} class="row" style={{ padding: "8px 12px", borderBottom: "1px solid var(--grey-3)" }}>
              <Link href={`/stores/${encodeURIComponent(name)}`} class="grow cut">
                <strong>{name}</strong>
              </Link>
              <span class="muted">{plural(count, "key")}</span>
            </li>
          ))}
        </ul>
      )}
      {isNew !== "" && <NewStore onClose={() => setNew("")} />}
    </div>
  );
}

function NewStore({ onClose }: { onClose: () => void }) {
  const client = useClient();
  const go = useGo();
  const [name, setName] = useState("");
  const [error, setError] = useState<unknown>();
  return (
    <Dialog title="New data store" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          client.dataStores.create({ name }).then((made) => go(`/stores/${encodeURIComponent(made.name)}`), setError);
        }}
      >
        <div class="field">
          <label for="store-name">Name</label>
          <input id="store-name" class="input" required value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        </div>
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button filled">
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function OneStore({ name }: { name: string }) {
  const client = useClient();
  const go = useGo();
  const mayChange = useMayChange();
  const [isDeleting, setDeleting] = useState(false);
  const { value, error, reload } = useLoaded(`store ${name}`, () => client.dataStores.values(name), LOOK_EVERY_MS);
  const { value: expiries = {} } = useLoaded(`expiries ${name}`, () => client.dataStores.expiries(name), LOOK_EVERY_MS);
  const remove = async (): Promise<void> => {
    await client.dataStores.delete(name, {});
    tell(`Deleted ${name}`);
    go("/stores");
  };
  return (
    <div class="content">
      <p>
        <Link href="/stores">← Data stores</Link>
      </p>
      <div class="row wrap">
        <h1 class="grow cut">{name}</h1>
        {mayChange && (
          <button type="button" class="button danger" onClick={() => setDeleting(true)}>
            Delete…
          </button>
        )}
      </div>
      {error !== undefined && value === undefined && <Missing error={error} what="data store" list="stores" onRetry={reload} />}
      {value === undefined && error === undefined && <Waiting />}
      {value !== undefined && (
        <KeyValues
          values={value}
          notes={Object.fromEntries(Object.entries(expiries).map(([key, at]) => [key, `until ${absoluteTime(at, false)}`]))}
          none="No keys"
          isReadOnly={!mayChange}
          set={async (key, next) => {
            await client.dataStores.set(name, key, { value: next });
            reload();
          }}
          remove={async (key) => {
            await client.dataStores.unset(name, key);
            reload();
          }}
        />
      )}
      {isDeleting && (
        <ConfirmByName title={`Delete ${name}?`} name={name} verb="Delete" onClose={() => setDeleting(false)} onConfirm={remove}>
          All its values will be deleted.
        </ConfirmByName>
      )}
    </div>
  );
}
