import { useClient } from "../app-context.ts";
import { Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { plural } from "../text-of.ts";
import { useLoaded } from "../use-loaded.ts";

const LOOK_EVERY_MS = 15_000;

export function Checkup() {
  const client = useClient();
  const { value: found, error, reload } = useLoaded("checkup", () => client.server.checkup(), LOOK_EVERY_MS);
  if (found === undefined) return error === undefined ? <Waiting /> : <Problem error={error} onRetry={reload} />;
  const wrong = found.filter(({ level }) => level !== "good");
  const well = found.filter(({ level }) => level === "good").map(({ about }) => about);
  return (
    <section class="panel padded stack" aria-label="Check">
      <div class="row wrap">
        <h2>Check</h2>
        {wrong.length === 0 ? (
          <StateMark tone="good">no problems</StateMark>
        ) : (
          <StateMark tone={wrong.some(({ level }) => level === "bad") ? "bad" : "attention"}>{plural(wrong.length, "finding")}</StateMark>
        )}
        <span class="muted">from pd doctor</span>
      </div>
      {wrong.map(({ level, about, text, fix }) => (
        <div class={`note ${level}`} key={`${about} ${text}`}>
          <span>
            <strong>{about}</strong>: {text}
          </span>
          {fix !== undefined && <span class="muted">{fix}</span>}
        </div>
      ))}
      {well.length > 0 && <p class="muted">OK: {well.join(", ")}</p>}
    </section>
  );
}
