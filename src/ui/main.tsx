import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { SessionProvider } from "./app-context.ts";
import { Frame } from "./frame.tsx";
import { AskKey } from "./pages/ask-key.tsx";
import { type Session, openSession } from "./browser/session.ts";
import { Router } from "wouter-preact";
import { Dialog } from "./parts/dialogs/dialog.tsx";
import { leaveFor, useAsker } from "./browser/unsaved.ts";

import "./tokens.css";
import "./base.css";
import "./frame.css";

type Opening = { readonly kind: "opening" } | { readonly kind: "open"; readonly session: Session } | { readonly kind: "ask"; readonly error?: unknown };

function Page() {
  const [state, setState] = useState<Opening>({ kind: "opening" });
  useEffect(() => {
    openSession().then(
      (session) => setState(session === undefined ? { kind: "ask" } : { kind: "open", session }),
      (error: unknown) => setState({ kind: "ask", error }),
    );
  }, []);
  if (state.kind === "opening") return null;
  if (state.kind === "ask") return <AskKey error={state.error} onOpen={(session) => setState({ kind: "open", session })} />;
  return (
    <SessionProvider value={state.session}>
      <Guarded>
        <Frame />
      </Guarded>
    </SessionProvider>
  );
}

const root = document.getElementById("page");
if (root !== null) render(<Page />, root);

function Guarded({ children }: { children: preact.ComponentChildren }) {
  const [leave, setLeave] = useState<() => void>();
  const stay = useCallback(() => setLeave(undefined), []);
  useAsker(useCallback((wanted: () => void) => setLeave(() => wanted), []));
  return (
    <Router aroundNav={(navigate, to, options) => leaveFor(to, () => navigate(to, options))}>
      {children}
      {leave !== undefined && (
        <Dialog title="Leave without saving?" onClose={stay}>
          <p>Your changes are not saved.</p>
          <div class="row end">
            <button type="button" class="button" onClick={stay}>
              Stay
            </button>
            <button
              type="button"
              class="button danger"
              onClick={() => {
                stay();
                leave();
              }}
            >
              Leave
            </button>
          </div>
        </Dialog>
      )}
    </Router>
  );
}
