import "./tokens.css";
import "./base.css";
import "./frame.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { SessionProvider } from "./app-context.ts";
import { Frame } from "./frame.tsx";
import { Guarded } from "./guarded.tsx";
import { AskKey } from "./pages/ask-key.tsx";
import { type Session, openSession } from "./session.ts";

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
