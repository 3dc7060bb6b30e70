import { useTitle } from "../browser/title.ts";
import { useState } from "preact/hooks";
import { type Session, openWith } from "../browser/session.ts";
import { PdError } from "../../domain/errors.ts";
import { Problem } from "../parts/problem.tsx";

const KEY_REFUSED = "This server does not know this key. Copy the whole key again, without spaces.";
const LINK_REFUSED = "The link was used before or is too old, or this browser's key is not valid any more. Open the page again with pd open, or enter the key.";

function isRefused(error: unknown): boolean {
  return error instanceof PdError && error.code === "PD_UNAUTHORIZED";
}

export function AskKey({ error: first, onOpen }: { error?: unknown; onOpen: (session: Session) => void }) {
  useTitle("Sign in");
  const [key, setKey] = useState("");
  const [error, setError] = useState(first);
  return (
    <main class="empty" style={{ minHeight: "100%", alignContent: "center" }}>
      <form
        class="panel padded stack"
        style={{ width: "min(420px, 100%)", textAlign: "left" }}
        onSubmit={(event) => {
          event.preventDefault();
          openWith(key.trim()).then(onOpen, setError);
        }}
      >
        <h1>Headwater needs your key</h1>
        <p>
          Run <code>pd open</code> in a terminal on the server's machine: it opens this page signed in. Or enter the key here. It is in the file{" "}
          <code>api-key</code> of the server's home folder, which <code>pd status</code> shows; on a shared server, it is the key that you were given.
        </p>
        <div class="field">
          <label for="key">API key</label>
          <input id="key" class="input" type="password" autocomplete="off" required value={key} onInput={({ currentTarget }) => setKey(currentTarget.value)} />
        </div>
        {isRefused(error) ? (
          <p role="alert" class="problem">
            {error === first ? LINK_REFUSED : KEY_REFUSED}
          </p>
        ) : (
          error !== undefined && <Problem error={error} />
        )}
        <button type="submit" class="button filled">
          Open
        </button>
      </form>
    </main>
  );
}
