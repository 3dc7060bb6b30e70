import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useClient, useMayChange } from "../app-context.ts";
import { useUnsaved } from "../browser/unsaved.ts";
import { Description } from "../parts/text/description.tsx";
import { Problem } from "../parts/problem.tsx";
import { tell } from "../parts/dialogs/toast.tsx";
import { useAttempt } from "../use-attempt.ts";
import type { TabProps } from "./tab-props.ts";

/** What the source is: its name and slug, and what its code says about it. */
export function AboutForm({ source, reload }: TabProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const [name, setName] = useState(source.name);
  const [slug, setSlug] = useState(source.name_slug);
  const { isUnderWay, error, attempt } = useAttempt();
  const isChanged = name !== source.name || slug !== source.name_slug;
  useUnsaved(isChanged);
  const save = (): Promise<void> =>
    attempt(async () => {
      await client.sources.update(source.id, { name, ...(slug === source.name_slug ? { keep_slug: true } : { slug }) });
      reload();
      tell("Saved");
    });
  return (
    <form
      class="panel padded stack form"
      aria-label="About"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h2>About</h2>
      {source.description === undefined ? <p class="muted">Its code has no description.</p> : <Description text={source.description} />}
      <p class="muted">
        {source.component_key === undefined ? "" : `${source.component_key} `}version {source.component_version}. The description is part of{" "}
        <Link href={`/sources/${source.id}/code`}>the code</Link>.
      </p>
      <div class="field">
        <label for="about-name">Name</label>
        <input id="about-name" class="input" required disabled={!mayChange} value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
      </div>
      <div class="field">
        <label for="about-slug">Slug</label>
        <input
          id="about-slug"
          class="input mono"
          required
          disabled={!mayChange}
          aria-describedby="about-slug-help"
          value={slug}
          onInput={({ currentTarget }) => setSlug(currentTarget.value.trim())}
        />
        <p id="about-slug-help" class="muted">
          Commands and links name the source by it.
        </p>
      </div>
      {error !== undefined && isChanged && <Problem error={error} />}
      {mayChange && (
        <div>
          <button type="submit" class="button filled" disabled={!isChanged || isUnderWay}>
            Save name
          </button>
        </div>
      )}
    </form>
  );
}
