import { useState } from "preact/hooks";
import { everyPage } from "../../client/client.ts";
import { MAIL_ACCOUNT, SECURITIES } from "../../domain/account/mail.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { useAttempt } from "../use-attempt.ts";
import { useLoaded } from "../use-loaded.ts";
import { Dialog } from "./dialogs/dialog.tsx";
import { tell } from "./dialogs/toast.tsx";
import { Select } from "./fields.tsx";
import { Problem } from "./problem.tsx";

const LOOK_EVERY_MS = 5000;

/** Tells a person when the source or workflow fails. Without `id`, about everything on the server. */
export function Alerts({ id, what }: { id?: string; what: string }) {
  const client = useClient();
  const mayChange = useMayChange();
  const { isUnderWay, error, attempt } = useAttempt();
  const {
    value: alerts,
    error: unread,
    reload,
  } = useLoaded(`alerts ${id ?? ""}`, () => client.alerts.list(id === undefined ? {} : { source_id: id }), LOOK_EVERY_MS);
  const shown = (alerts ?? []).filter(({ source_id: of }) => (of ?? undefined) === id);
  const remove = (alert: string): Promise<void> =>
    attempt(async () => {
      await client.alerts.delete(alert);
      reload();
      tell("Deleted the alert");
    });
  const test = (alert: string): Promise<void> =>
    attempt(async () => {
      const { sent, problem = "" } = await client.alerts.test(alert);
      if (!sent) throw new Error(`The test was not sent: ${problem}`);
      tell("The test was sent");
    });
  return (
    <section class="panel padded stack" aria-label="Alerts">
      <h2>Alerts</h2>
      <p class="muted">
        Tells you when {what}. Many failures make one message, and the next one comes ten minutes later at the earliest.
        {id === undefined && " Also about deactivated webhooks, skipped timers, accounts that stop working, and a full disk."}
      </p>
      {unread !== undefined && alerts === undefined && <Problem error={unread} onRetry={reload} />}
      {shown.length > 0 && (
        <ul class="stack tight">
          {shown.map(({ id: alert, to, via, daily }) => (
            <li class="row wrap" key={alert}>
              <span class="grow cut">
                {via === "mail" ? "By mail to" : "To the webhook"} <strong>{to}</strong> {daily && <span class="muted">and a summary every day at 08:00</span>}
              </span>
              {mayChange && (
                <>
                  <button type="button" class="button" disabled={isUnderWay} onClick={() => void test(alert)}>
                    Send a test
                  </button>
                  <button type="button" class="button" disabled={isUnderWay} aria-label={`Delete the alert to ${to}`} onClick={() => void remove(alert)}>
                    Delete
                  </button>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {alerts !== undefined && shown.length === 0 && <p>Nobody is told yet.</p>}
      {error !== undefined && <Problem error={error} />}
      {mayChange && <AddAlert id={id} onAdded={reload} />}
    </section>
  );
}

const NEW_WEBHOOK = "new webhook";

function AddAlert({ id, onAdded }: { id: string | undefined; onAdded: () => void }) {
  const client = useClient();
  const { isUnderWay, error, attempt } = useAttempt();
  const [via, setVia] = useState("");
  const [url, setUrl] = useState("");
  const [isDaily, setDaily] = useState(false);
  const [isSettingUp, setSettingUp] = useState(false);
  const { value: webhooks = [] } = useLoaded("webhooks of alerts", () => everyPage(client.webhooks.list));
  const { value: mail, reload } = useLoaded("mail server", () => client.accounts.list({ app: MAIL_ACCOUNT.app }));
  const hasMail = mail?.data.some(({ name }) => name === MAIL_ACCOUNT.name) === true;
  const add = (): Promise<void> =>
    attempt(async () => {
      const to = via === NEW_WEBHOOK ? (await client.webhooks.create({ url, name: "Alerts" })).id : via;
      await client.alerts.create({ via: to, daily: isDaily, ...(id === undefined ? {} : { source_id: id }) });
      setVia("");
      setUrl("");
      onAdded();
      tell("Added the alert. Send a test to see it arrive");
    });
  return (
    <form
      class="stack tight"
      aria-label="New alert"
      onSubmit={(event) => {
        event.preventDefault();
        if (via === "mail" && !hasMail) setSettingUp(true);
        else void add();
      }}
    >
      <div class="row wrap">
        <Select
          label="How to tell you"
          choices={{
            "": "Tell me…",
            mail: "By mail",
            [NEW_WEBHOOK]: "At an address (new webhook)",
            ...Object.fromEntries(webhooks.map(({ id: webhook, name, url: address }) => [webhook, `Webhook ${name ?? address}`])),
          }}
          value={via}
          onChange={setVia}
        />
        {via === NEW_WEBHOOK && (
          <input
            class="input"
            type="url"
            required
            aria-label="Address"
            placeholder="https://"
            style={{ maxWidth: "320px" }}
            value={url}
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        )}
        <label class="row">
          <input type="checkbox" checked={isDaily} onChange={({ currentTarget }) => setDaily(currentTarget.checked)} /> also a daily summary
        </label>
        <button type="submit" class="button" disabled={via === "" || isUnderWay}>
          Add
        </button>
      </div>
      {error !== undefined && <Problem error={error} />}
      {isSettingUp && (
        <MailServerDialog
          onClose={() => setSettingUp(false)}
          onSaved={() => {
            setSettingUp(false);
            reload();
            void add();
          }}
        />
      )}
    </form>
  );
}

const MAIL_FIELDS = [
  { name: "host", label: "SMTP server", placeholder: "smtp.example.com" },
  { name: "port", label: "Port", placeholder: "587" },
  { name: "username", label: "User (optional)", placeholder: "" },
  { name: "password", label: "Password (optional)", placeholder: "" },
  { name: "from", label: "From", placeholder: "headwater@example.com" },
  { name: "to", label: "To: your address", placeholder: "you@example.com" },
] as const;
const OPTIONAL: ReadonlySet<string> = new Set(["username", "password"]);

/** Once per server. Steps of workflows mail through it too. */
function MailServerDialog({ onClose, onSaved }: { onClose: () => void; onSaved: () => void }) {
  const client = useClient();
  const { isUnderWay, error, attempt } = useAttempt();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({ port: "587" });
  const [security, setSecurity] = useState("starttls");
  const save = (): Promise<void> =>
    attempt(async () => {
      const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
      await client.accounts.connect({ ...MAIL_ACCOUNT, credentials: { ...given, port: Number(values["port"]), security } });
      onSaved();
    });
  return (
    <Dialog title="Mail server" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          // The dialog is inside another form.
          event.stopPropagation();
          void save();
        }}
      >
        <p>Set up once for this server. Mail goes to your address only.</p>
        {MAIL_FIELDS.map(({ name, label, placeholder }) => (
          <div class="field" key={name}>
            <label for={`mail-${name}`}>{label}</label>
            <input
              id={`mail-${name}`}
              class="input"
              type={name === "password" ? "password" : name === "port" ? "number" : "text"}
              autocomplete="off"
              required={!OPTIONAL.has(name)}
              placeholder={placeholder}
              value={values[name] ?? ""}
              onInput={({ currentTarget }) => setValues({ ...values, [name]: currentTarget.value })}
            />
          </div>
        ))}
        <Select
          label="Encryption"
          choices={Object.fromEntries(SECURITIES.map((one) => [one, { tls: "TLS", starttls: "STARTTLS", none: "None (this machine only)" }[one]]))}
          value={security}
          onChange={setSecurity}
        />
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button filled" disabled={isUnderWay}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
