import { useState } from "preact/hooks";
import { isRecord, parseJson } from "../../domain/text/json.ts";
import { useClient } from "../app-context.ts";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { Account } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import { beginOAuth } from "./oauth-return.ts";

interface Field {
  readonly name: string;
  readonly isSecret: boolean;
  readonly isOptional: boolean;
}

/** For a provider that the server does not know. */
const OWN_PROVIDER: readonly Field[] = [
  { name: "authorize_url", isSecret: false, isOptional: false },
  { name: "token_url", isSecret: false, isOptional: false },
  { name: "scopes", isSecret: false, isOptional: true },
];

interface ConnectProps {
  readonly app: string;
  readonly field?: string;
  readonly onConnected: (account: Account) => void;
  readonly onClose: () => void;
}

export function ConnectAccount({ app, field, onConnected, onClose }: ConnectProps) {
  const client = useClient();
  const { value: known, error } = useLoaded(`app ${app}`, () => client.apps.get(app));
  const fields = known === undefined ? [] : fieldsOf(known.custom_fields_json);
  const [chosen, setWay] = useState<"sign-in" | "fields">();
  const isKnownProvider = known !== undefined && known.oauth !== null;
  const way = chosen ?? (isKnownProvider ? "sign-in" : "fields");
  // The user may enter an existing token.
  const token = isKnownProvider ? [{ name: "oauth_access_token", isSecret: true, isOptional: false }] : [];
  return (
    <Dialog title={`Connect ${known?.name ?? app}`} onClose={onClose}>
      {error === undefined && known === undefined && <Waiting lines={3} />}
      {(known !== undefined || error !== undefined) && way === "sign-in" && (
        <SignIn
          app={app}
          field={field}
          fields={fields}
          wantsHttps={known?.oauth?.wants_https === true}
          isKnownProvider={isKnownProvider}
          onOther={() => setWay("fields")}
        />
      )}
      {(known !== undefined || error !== undefined) && way === "fields" && (
        <ByFields app={app} fields={[...fields, ...token]} onConnected={onConnected} onClose={onClose} onOther={() => setWay("sign-in")} />
      )}
    </Dialog>
  );
}

interface ByFieldsProps {
  readonly app: string;
  readonly fields: readonly Field[];
  readonly onConnected: (account: Account) => void;
  readonly onClose: () => void;
  readonly onOther: () => void;
}

function ByFields({ app, fields, onConnected, onClose, onOther }: ByFieldsProps) {
  const client = useClient();
  const [name, setName] = useState("");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [own, setOwn] = useState("api_key");
  const [error, setError] = useState<unknown>();
  const shown = fields.length > 0 ? fields : [{ name: own, isSecret: true, isOptional: false }];
  const connect = (): void => {
    const credentials = Object.fromEntries(
      shown.flatMap((field) => (values[field.name] === undefined || values[field.name] === "" ? [] : [[field.name, values[field.name] ?? ""]])),
    );
    client.accounts.connect({ app, credentials, ...(name === "" ? {} : { name }) }).then(onConnected, setError);
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        // The dialog is inside another form.
        event.stopPropagation();
        connect();
      }}
    >
      <div class="field">
        <label for="account-name">Name</label>
        <input
          id="account-name"
          class="input"
          placeholder={app}
          autocomplete="off"
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </div>
      {fields.length === 0 && (
        <div class="field">
          <label for="account-field">Name of the field</label>
          <input id="account-field" class="input mono" value={own} onInput={({ currentTarget }) => setOwn(currentTarget.value)} />
          <p class="muted">The fields of this app's accounts are not known. See the component's code.</p>
        </div>
      )}
      {shown.map((field) => (
        <div class="field" key={field.name}>
          <label for={`account-${field.name}`}>
            {field.name} {field.isOptional && <span class="muted">(optional)</span>}
          </label>
          <input
            id={`account-${field.name}`}
            class="input"
            type={field.isSecret ? "password" : "text"}
            required={!field.isOptional}
            autocomplete="off"
            spellcheck={false}
            value={values[field.name] ?? ""}
            onInput={({ currentTarget }) => setValues({ ...values, [field.name]: currentTarget.value })}
          />
        </div>
      ))}
      {error !== undefined && <Problem error={error} />}
      <div class="row end wrap">
        <button type="button" class="button" onClick={onOther}>
          Sign in with OAuth instead
        </button>
        <span class="grow" />
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button filled">
          Connect
        </button>
      </div>
    </form>
  );
}

interface SignInProps {
  readonly app: string;
  readonly fields: readonly Field[];
  readonly wantsHttps: boolean;
  readonly field: string | undefined;
  readonly isKnownProvider: boolean;
  readonly onOther: () => void;
}

/** The sign-in leaves the page and returns to it. */
function SignIn({ app, field, fields, wantsHttps, isKnownProvider, onOther }: SignInProps) {
  const client = useClient();
  const [given, setGiven] = useState<Readonly<Record<string, string>>>({});
  const [error, setError] = useState<unknown>();
  const set = (name: string, value: string): void => setGiven({ ...given, [name]: value });
  const redirect = `${location.origin}/accounts/connected`;
  const signIn = (): void => {
    const scopes = (given["scopes"] ?? "").split(/\s+/).filter((scope) => scope !== "");
    const extra = Object.fromEntries(fields.flatMap(({ name }) => (given[name] === undefined ? [] : [[name, given[name] ?? ""]])));
    const params = {
      app,
      redirect_uri: redirect,
      fields: extra,
      ...textsOf(given, ["name", "client_id", "client_secret", "authorize_url", "token_url"]),
      ...(scopes.length === 0 ? {} : { scopes }),
    };
    beginOAuth(client, params, field).catch(setError);
  };
  const asked = [
    { name: "name", isSecret: false, isOptional: true },
    { name: "client_id", isSecret: false, isOptional: false },
    { name: "client_secret", isSecret: true, isOptional: true },
    ...(isKnownProvider ? [] : OWN_PROVIDER),
    ...fields,
  ];
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        // The dialog is inside another form.
        event.stopPropagation();
        signIn();
      }}
    >
      <p>
        Create a client at the provider with this redirect address, and enter its id and secret: <code>{redirect}</code>
      </p>
      {wantsHttps && location.protocol === "http:" && <p class="note attention">This provider requires an https address. This page has none.</p>}
      {asked.map(({ name, isSecret, isOptional }) => (
        <div class="field" key={name}>
          <label for={`oauth-${name}`}>
            {name.replaceAll("_", " ")} {isOptional && <span class="muted">(optional)</span>}
          </label>
          <input
            id={`oauth-${name}`}
            class="input"
            type={isSecret ? "password" : "text"}
            required={!isOptional}
            autocomplete="off"
            value={given[name] ?? ""}
            onInput={({ currentTarget }) => set(name, currentTarget.value)}
          />
        </div>
      ))}
      {error !== undefined && <Problem error={error} />}
      <div class="row end wrap">
        <button type="button" class="button" onClick={onOther}>
          Use a token instead
        </button>
        <button type="submit" class="button filled">
          Sign in
        </button>
      </div>
    </form>
  );
}

function textsOf(given: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => ((given[name] ?? "") === "" ? [] : [[name, given[name] ?? ""]])));
}

function fieldsOf(text: string): Field[] {
  const list = parseJson(text);
  if (!Array.isArray(list)) return [];
  return list.flatMap((field) =>
    isRecord(field) ? [{ name: String(field["name"]), isSecret: field["secret"] === true, isOptional: field["optional"] === true }] : [],
  );
}
