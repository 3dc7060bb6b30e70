import { Link } from "wouter-preact";
import { useClient, useMayChange } from "../app-context.ts";
import { useGo } from "../browser/address.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { tell } from "../parts/dialogs/toast.tsx";
import { Problem } from "../parts/problem.tsx";
import { useAttempt } from "../use-attempt.ts";
import { EXAMPLES } from "./examples.ts";

/** What a fresh server shows. */
export function StartScreen() {
  const mayChange = useMayChange();
  const command = "pd init source hello && pd dev hello/hello.mjs";
  return (
    <section class="stack loose" aria-label="First steps">
      <div class="stack tight">
        <h2>No sources yet</h2>
        <p>
          A source runs your component when a request comes, when a timer fires, or by hand, and stores what it emits. {mayChange && "Start with an example:"}
        </p>
      </div>
      {mayChange && (
        <div class="examples">
          {EXAMPLES.map((example) => (
            <Card key={example.title} example={example} />
          ))}
        </div>
      )}
      <div class="row wrap">
        {mayChange && (
          <Link href="/sources/new" class="button">
            From the catalogue, or your own code
          </Link>
        )}
        <span class="row wrap muted">
          From a terminal: <code>{command}</code> <CopyButton text={command} />
        </span>
      </div>
    </section>
  );
}

function Card({ example: { title, about, next, code } }: { example: (typeof EXAMPLES)[number] }) {
  const client = useClient();
  const go = useGo();
  const { isUnderWay: isDeploying, error, attempt } = useAttempt();
  const deploy = (): Promise<void> =>
    attempt(async () => {
      const { id, name_slug: slug } = await client.sources.deploy({ component_code: code, component_path: "example.mjs" });
      tell(`Deployed ${slug}. ${next}`);
      go(`/sources/${id}`);
    });
  return (
    <article class="panel padded stack snug">
      <h3>{title}</h3>
      <p>{about}</p>
      <details>
        <summary>Code</summary>
        <pre class="scrolls mono example-code">{code}</pre>
      </details>
      <p class="muted">Next: {next}</p>
      {error !== undefined && <Problem error={error} />}
      <div>
        <button type="button" class="button filled" disabled={isDeploying} aria-label={`Deploy the example: ${title}`} onClick={() => void deploy()}>
          {isDeploying ? "Deploying…" : "Deploy"}
        </button>
      </div>
    </article>
  );
}
