import { useTitle } from "../browser/title.ts";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { everyPage } from "../../client/client.ts";
import { isJsonObject } from "../../domain/text/json.ts";
import { useGo, useQuery } from "../browser/address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { ConnectAccount } from "../form/connect-account.tsx";
import { beginOAuth, finishOAuth } from "../form/oauth-return.ts";
import { ConfirmByName, Dialog } from "../parts/dialogs/dialog.tsx";
import { Letter } from "../parts/text/letter.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { tell, telling } from "../parts/dialogs/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { Account, Source } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";

export function AccountsPage({ id }: { id: string }) {
  useTitle("Accounts");
  return id === "connected" ? <Connected /> : <AccountList />;
}

function Connected() {
  const client = useClient();
  const go = useGo();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    finishOAuth(client).then(({ account, from }) => {
      tell(account === undefined ? "Connected" : `Connected ${account.name}`);
      go(from);
    }, setError);
  }, [client, go]);
  return (
    <div class="content">
      {error === undefined ? (
        <Waiting />
      ) : (
        <>
          <Problem error={error} />
          <Link href="/accounts">Accounts</Link>
        </>
      )}
    </div>
  );
}

function AccountList() {
  const client = useClient();
  const mayChange = useMayChange();
  const [isNew, setNew] = useQuery("new");
  const { value: accounts, error, reload } = useLoaded("accounts", () => everyPage(client.accounts.list));
  const { value: sources = [] } = useLoaded("sources", () => everyPage(client.sources.list));
  return (
    <div class="content">
      <div class="row wrap">
        <h1 class="grow">Accounts</h1>
        {mayChange && (
          <button type="button" class="button filled" data-key="n" onClick={() => setNew("1")}>
            Connect an account
          </button>
        )}
      </div>
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {accounts === undefined && error === undefined && <Waiting />}
      {accounts?.length === 0 && (
        <Empty title="No accounts yet">
          <p>An account stores credentials for an app. Components use it by name and never see where it is stored.</p>
        </Empty>
      )}
      {accounts !== undefined && accounts.length > 0 && (
        <ul class="panel">
          {accounts.map((account) => (
            <Row key={account.id} account={account} users={sources.filter((source) => uses(source, account))} reload={reload} />
          ))}
        </ul>
      )}
      {isNew !== "" && (
        <ChooseApp
          onClose={() => setNew("")}
          onConnected={(account) => {
            setNew("");
            reload();
            tell(`Connected ${account.name}`);
          }}
        />
      )}
    </div>
  );
}

function uses({ configured_props: values }: Source, { id }: Account): boolean {
  return Object.values(values).some((value) => isJsonObject(value) && value["authProvisionId"] === id);
}

function Row({ account, users, reload }: { account: Account; users: readonly Source[]; reload: () => void }) {
  const client = useClient();
  const mayChange = useMayChange();
  const [isDeleting, setDeleting] = useState(false);
  const { id, name, app, healthy, tested, error, oauth } = account;
  const test = (): Promise<void> =>
    telling(async () => {
      const { verdict, reason } = await client.accounts.test(id, {});
      tell(`${name}: ${verdict}. ${reason}`);
      reload();
    });
  const remove = async (): Promise<void> => {
    await client.accounts.delete(id, { force: users.length > 0 });
    setDeleting(false);
    reload();
    tell(`Deleted ${name}`);
  };
  const reconnect = (): Promise<void> => telling(() => beginOAuth(client, { account: id, redirect_uri: `${location.origin}/accounts/connected` }));
  return (
    <li class="row wrap" style={{ padding: "10px 12px", borderBottom: "1px solid var(--grey-3)" }}>
      <Letter of={app.name} />
      <span class="stack tight grow">
        <strong class="cut">{name}</strong>
        <span class="muted cut">
          {app.name} · {users.length === 0 ? "no source uses it" : `used by ${users.map((source) => source.name).join(", ")}`}
        </span>
        {error !== undefined && <span class="problem">{error}</span>}
      </span>
      <AccountState healthy={healthy} tested={tested} />
      {mayChange && (
        <span class="row wrap">
          <button type="button" class="button" onClick={() => void test()}>
            Test
          </button>
          {oauth !== null && (
            <button type="button" class="button" onClick={() => void reconnect()}>
              Reconnect
            </button>
          )}
          <button type="button" class="button" aria-label={`Delete ${name}`} onClick={() => setDeleting(true)}>
            Delete…
          </button>
        </span>
      )}
      {isDeleting && (
        <ConfirmByName title={`Delete ${name}?`} name={name} verb="Delete" onClose={() => setDeleting(false)} onConfirm={remove}>
          {users.length === 0 ? "Its credentials will be deleted." : `${users.map((source) => source.name).join(", ")} cannot run without it.`}
        </ConfirmByName>
      )}
    </li>
  );
}

function AccountState({ healthy, tested }: Pick<Account, "healthy" | "tested">) {
  if (!healthy || tested === "refused") return <StateMark tone="bad">not working</StateMark>;
  if (tested === "accepted") return <StateMark tone="good">working</StateMark>;
  return <StateMark tone="plain">{tested === undefined ? "not tested" : tested === "unclear" ? "test unclear" : "no test is known"}</StateMark>;
}

const FOUND = 30;

function ChooseApp({ onConnected, onClose }: { onConnected: (account: Account) => void; onClose: () => void }) {
  const client = useClient();
  const [query, setQuery] = useState("");
  const [app, setApp] = useState<string>();
  const { value } = useLoaded(`apps ${query}`, () => client.apps.list({ q: query, limit: FOUND }));
  if (app !== undefined) return <ConnectAccount app={app} onConnected={onConnected} onClose={onClose} />;
  const isOther = /^[a-z0-9][a-z0-9_-]*$/.test(query) && value?.data.every(({ name_slug: slug }) => slug !== query) === true;
  return (
    <Dialog title="Connect an account" onClose={onClose}>
      <div class="field">
        <label for="app-search">App</label>
        <input
          id="app-search"
          class="input"
          type="search"
          placeholder="Search, or type its slug"
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        />
      </div>
      <ul class="scrolls" style={{ maxHeight: "50vh" }}>
        {(value?.data ?? []).map(({ id, name, name_slug: slug }) => (
          <li key={id}>
            <button type="button" class="button plain" style={{ width: "100%", justifyContent: "flex-start" }} onClick={() => setApp(slug)}>
              <Letter of={name} /> {name} <span class="muted mono">{slug}</span>
            </button>
          </li>
        ))}
        {isOther && (
          <li>
            <button type="button" class="button plain" style={{ width: "100%", justifyContent: "flex-start" }} onClick={() => setApp(query)}>
              <Letter of={query} /> {query} <span class="muted">another app</span>
            </button>
          </li>
        )}
      </ul>
    </Dialog>
  );
}
