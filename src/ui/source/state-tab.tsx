import { useClient, useMayChange } from "../app-context.ts";
import { KeyValues } from "../parts/key-values.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useLoaded } from "../use-loaded.ts";
import type { TabProps } from "./tab-props.ts";

const LOOK_EVERY_MS = 2000;

export function StateTab({ source }: TabProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const { value, error, reload } = useLoaded(`state ${source.id}`, () => client.state.all(source.id), LOOK_EVERY_MS);
  if (error !== undefined && value === undefined) return <Problem error={error} onRetry={reload} />;
  if (value === undefined) return <Waiting />;
  return (
    <KeyValues
      values={value}
      none="No state yet: its code sets it with this.db.set"
      isReadOnly={!mayChange}
      set={async (key, next) => {
        await client.state.set(source.id, key, { value: next });
        reload();
      }}
      remove={async (key) => {
        await client.state.delete(source.id, key);
        reload();
      }}
    />
  );
}
