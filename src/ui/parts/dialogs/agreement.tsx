import { useState } from "preact/hooks";
import { agreeTo, isAgreedTo } from "../../agreed.ts";

interface AgreementProps {
  readonly of: string;
  /** Such as "deploy it". */
  readonly to: string;
  readonly onRefuse: () => void;
  readonly children: preact.ComponentChildren;
}

/** Any site may link here, and loading a component runs its code. */
export function Agreement({ of: key, to, onRefuse, children }: AgreementProps) {
  const [isAgreed, setAgreed] = useState(false);
  if (isAgreed || isAgreedTo(key)) return <>{children}</>;
  return (
    <section class="panel padded stack">
      <h1>
        Load <bdi>{key}</bdi>?
      </h1>
      <p>
        The address of this page requests the component <code>{key}</code>, to {to}. The server would fetch it from its registries and run its code to read what
        it declares. Nothing has been fetched.
      </p>
      <div class="row">
        <button
          type="button"
          class="button filled"
          onClick={() => {
            agreeTo(key);
            setAgreed(true);
          }}
        >
          Load it
        </button>
        <button type="button" class="button" onClick={onRefuse}>
          Choose another
        </button>
      </div>
    </section>
  );
}
