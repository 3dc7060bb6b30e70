import { Select } from "../parts/fields.tsx";
import type { RunStep } from "../types.ts";

interface ItemChoiceProps {
  /** Of one step, once for each item of its loops. */
  readonly records: readonly RunStep[];
  readonly path: string;
  readonly onPath: (path: string) => void;
}

/** Nothing outside of loops. */
export function ItemChoice({ records, path, onPath }: ItemChoiceProps) {
  if (records.length < 2) return null;
  return (
    <Select
      label="Item"
      choices={Object.fromEntries(records.map((record) => [record.path, `${itemText(record)}: ${record.state}`]))}
      value={path}
      onChange={onPath}
    />
  );
}

/** `item 2`, or `item 2.1` in a loop inside a loop. Counted from 1. */
export function itemText({ path }: Pick<RunStep, "path">): string {
  const places = [...path.matchAll(/\[(\d+)\]/g)].map(([, index = "0"]) => Number(index) + 1);
  return places.length === 0 ? "" : `item ${places.join(".")}`;
}
