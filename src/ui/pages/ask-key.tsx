import { useState } from "preact/hooks";
import { type Session, openWith } from "../browser/session.ts";
import { Problem } from "../parts/problem.tsx";

export function AskKey({ error: first, onOpen }: { error?: unknown; onOpen: (session: Session) => void }) {
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
          <code>pd open</code> in a terminal on the server's machine opens this page with its key. On a shared server, use the key that you were given.
        </p>
        <div class="field">
          <label for="key">API key</label>
          <input id="key" class="input" type="password" autocomplete="off" required value={key} onInput={({ currentTarget }) => setKey(currentTarget.value)} />
        </div>
        {error !== undefined && <Problem error={error} />}
        <button type="submit" class="button filled">
          Open
        </button>
      </form>
    </main>
  );
}
