import { useTitle } from "../browser/title.ts";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { CodeParams } from "../../api/components.ts";
import { useQuery } from "../browser/address.ts";
import { dropDraft, readDraft } from "../form/draft.ts";
import { agreeTo } from "../agreed.ts";
import { useMayChange } from "../app-context.ts";
import { Agreement } from "../parts/dialogs/agreement.tsx";
import { Described } from "../parts/text/described.tsx";
import { Empty } from "../parts/problem.tsx";
import { ChooseCode, EXAMPLE, pastedCode } from "./choose-code.tsx";
import { DeployForm } from "./deploy-form.tsx";

/** `/sources/new`, and `/sources?action=create` with `key=…` or `url=…`. */
export function NewSourcePage() {
  useTitle("New source");
  const mayChange = useMayChange();
  const [key, setKey] = useQuery("key");
  const [url, setUrl] = useQuery("url");
  const [by] = useQuery("by");
  // Restores pasted code after a sign-in at a provider.
  const [text, setText] = useState(() => (by === "code" ? readDraft()?.code.component_code : undefined));
  const [pasted, setPasted] = useState(text ?? EXAMPLE);
  // Any site can link here, so the user confirms a URL before it is fetched.
  const [agreed, setAgreed] = useState<string>();
  if (!mayChange) return <Empty title="This key is read-only: it cannot deploy" />;
  const code = codeOf({ text, key, url: url === agreed ? url : "" });
  const back = (): void => {
    dropDraft();
    setText(undefined);
    if (key !== "") setKey("");
    if (url !== "") setUrl("");
  };
  return (
    <div class="content">
      <p>
        <Link href="/sources">← Sources</Link>
      </p>
      {code === undefined ? (
        <ChooseCode
          onKey={(chosen) => {
            agreeTo(chosen);
            setKey(chosen);
          }}
          onUrl={(given) => {
            setAgreed(given);
            setUrl(given);
          }}
          pasted={pasted}
          onInput={setPasted}
          onCode={setText}
        />
      ) : (
        <AgreedCode code={code} onBack={back} />
      )}
    </div>
  );
}

function AgreedCode({ code, onBack }: { code: CodeParams; onBack: () => void }) {
  const form = (
    <Described code={code} back="Choose another" onBack={onBack}>
      {(described) => <DeployForm code={code} described={described} />}
    </Described>
  );
  return code.key === undefined ? (
    form
  ) : (
    <Agreement key={code.key} of={code.key} to="deploy it" onRefuse={onBack}>
      {form}
    </Agreement>
  );
}

function codeOf({ text, key, url }: { text: string | undefined; key: string; url: string }): CodeParams | undefined {
  if (text !== undefined) return pastedCode(text);
  if (key !== "") return { key };
  return url === "" ? undefined : { component_url: url };
}
