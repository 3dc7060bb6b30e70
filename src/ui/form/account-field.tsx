import { useEffect, useState } from "preact/hooks";
import { everyPage } from "../../client/client.ts";
import { isJsonObject } from "../../domain/text/json.ts";
import { useClient } from "../app-context.ts";
import { useLoaded } from "../use-loaded.ts";
import { ConnectAccount } from "./connect-account.tsx";
import { takeConnected } from "./oauth-return.ts";
import type { FieldProps } from "./field-props.ts";

export function AccountField({ id, prop, value, set, isDisabled, describedBy, isWrong }: FieldProps) {
  const client = useClient();
  const app = prop.app ?? prop.name;
  const [isConnecting, setConnecting] = useState(false);
  const { value: accounts = [], reload } = useLoaded(`accounts ${app}`, () => everyPage((page) => client.accounts.list({ ...page, app })));
  const chosen = isJsonObject(value) ? String(value["authProvisionId"] ?? "") : typeof value === "string" ? value : "";
  useEffect(() => {
    const connected = isDisabled ? undefined : takeConnected(accounts, prop.name);
    if (connected !== undefined) set(connected.id);
  }, [accounts]);
  return (
    <div class="row wrap">
      <select
        id={id}
        class="input"
        style={{ width: "auto", minWidth: "200px" }}
        disabled={isDisabled}
        aria-invalid={isWrong}
        aria-describedby={describedBy}
        value={accounts.find((account) => account.id === chosen || account.name === chosen)?.id ?? ""}
        onChange={({ currentTarget }) => set(currentTarget.value === "" ? undefined : currentTarget.value)}
      >
        <option value="">
          {prop.optional === true ? "No account (optional)" : accounts.length === 0 ? `No account of ${app} is connected` : "Choose an account"}
        </option>
        {accounts.map(({ id: own, name, healthy }) => (
          <option key={own} value={own}>
            {name}
            {healthy ? "" : " (not working)"}
          </option>
        ))}
      </select>
      {!isDisabled && (
        <button type="button" class="button" onClick={() => setConnecting(true)}>
          Connect an account
        </button>
      )}
      {isConnecting && (
        <ConnectAccount
          app={app}
          field={prop.name}
          onClose={() => setConnecting(false)}
          onConnected={(account) => {
            setConnecting(false);
            reload();
            set(account.id);
          }}
        />
      )}
    </div>
  );
}
