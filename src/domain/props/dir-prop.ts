import type { PropKind } from "./prop-kind.ts";

/** Gives access to /tmp, which every run has. Has no value. */
export interface DirProp {
  readonly kind: "dir";
  readonly name: string;
  readonly accessMode?: string;
  readonly sync?: boolean;
}

export const dirKind: PropKind<DirProp> = {
  kind: "dir",
  types: ["dir"],
  read: (name, { raw }) => ({
    kind: "dir",
    name,
    ...(typeof raw["accessMode"] === "string" ? { accessMode: raw["accessMode"] } : {}),
    ...(typeof raw["sync"] === "boolean" ? { sync: raw["sync"] } : {}),
  }),
  facts: ({ name, accessMode, sync }) => ({ name, type: "dir", accessMode, sync, readOnly: true }),
};
