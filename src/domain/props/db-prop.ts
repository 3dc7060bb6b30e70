import type { PropKind } from "./prop-kind.ts";

/** The source's own key-value store. */
export interface DbProp {
  readonly kind: "db";
  readonly name: string;
}

export const dbKind: PropKind<DbProp> = {
  kind: "db",
  types: ["$.service.db"],
  read: (name) => ({ kind: "db", name }),
  facts: ({ name }) => ({ name, type: "$.service.db" }),
  shown: () => ({ type: "$.service.db" }),
  isGivenByServer: true,
};
