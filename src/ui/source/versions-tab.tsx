import { useQuery } from "../browser/address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { FileDifference } from "../parts/editor/difference.tsx";
import { Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { Ago } from "../parts/text/time.tsx";
import { tell, telling } from "../parts/dialogs/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { Source, Version } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import type { TabProps } from "./tab-props.ts";
import { type Column, Table } from "../parts/table.tsx";

const COLUMNS: readonly Column[] = [
  { title: "Version" },
  { title: "Since" },
  { title: "Component", hide: "narrow" },
  { title: "Code", hide: "narrow" },
  { title: "" },
];

export function VersionsTab({ source, reload }: TabProps) {
  const client = useClient();
  const [chosen, setChosen] = useQuery("version");
  const { value: versions, error } = useLoaded(`versions ${source.id} ${source.version}`, () => client.sources.versions(source.id));
  if (error !== undefined) return <Problem error={error} />;
  if (versions === undefined) return <Waiting />;
  return (
    <div class="stack">
      <Table columns={COLUMNS}>
        {versions.map((version) => (
          <Row
            key={version.number}
            source={source}
            version={version}
            isChosen={chosen === String(version.number)}
            onChoose={() => setChosen(chosen === String(version.number) ? "" : String(version.number))}
            reload={reload}
          />
        ))}
      </Table>
      {chosen !== "" && <Compared source={source} number={chosen} />}
    </div>
  );
}

interface RowProps {
  readonly source: Source;
  readonly version: Version;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly reload: () => void;
}

function Row({ source, version, isChosen, onChoose, reload }: RowProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const { number, current, same_as: sameAs } = version;
  const rollBack = (): Promise<void> =>
    telling(async () => {
      const after = await client.sources.rollback(source.id, { version: number });
      reload();
      tell(
        `Version ${after.version} is running: the same as version ${number}`,
        () => void client.sources.rollback(source.id, { version: source.version }).then(reload),
      );
    });
  return (
    <tr>
      <td>
        <span class="row">
          <strong>{number}</strong>
          {current && <StateMark tone="good">running</StateMark>}
          {sameAs !== undefined && <span class="muted">as {sameAs}</span>}
        </span>
      </td>
      <td>
        <Ago at={version.since_ms} />
      </td>
      <td class="hide-narrow">{version.component_version}</td>
      <td class="hide-narrow mono">{version.code_hash.slice(0, 7)}</td>
      <td>
        {!current && (
          <span class="row" style={{ justifyContent: "flex-end" }}>
            <button type="button" class="button" aria-pressed={isChosen} onClick={onChoose}>
              Difference
            </button>
            {mayChange && (
              <button type="button" class="button" onClick={() => void rollBack()}>
                Roll back
              </button>
            )}
          </span>
        )}
      </td>
    </tr>
  );
}

function Compared({ source, number }: { source: Source; number: string }) {
  const client = useClient();
  const { value, error } = useLoaded(`${source.id} ${number} ${source.version}`, async () => {
    const older = Number(number) < source.version;
    return older ? client.sources.version(source.id, String(source.version), { against: Number(number) }) : client.sources.version(source.id, number);
  });
  if (error !== undefined) return <Problem error={error} />;
  if (value === undefined) return <Waiting />;
  return (
    <section class="stack">
      <h2>
        From version {value.against} to {value.number}
      </h2>
      {value.package_changes.length > 0 && <p class="mono">{value.package_changes.join(", ")}</p>}
      <FileDifference changes={value.changes} />
    </section>
  );
}
