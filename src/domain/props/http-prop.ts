import type { PropKind } from "./prop-kind.ts";

export interface HttpProp {
  readonly kind: "http";
  readonly name: string;
  readonly customResponse: boolean;
}

export const httpKind: PropKind<HttpProp> = {
  kind: "http",
  types: ["$.interface.http"],
  read: (name, { raw }) => ({ kind: "http", name, customResponse: raw["customResponse"] === true }),
  facts: ({ name, customResponse }) => ({ name, type: "$.interface.http", ...(customResponse ? { customResponse: true } : {}) }),
  shown: (_value, endpoint) => ({ endpoint_url: endpoint }),
  hasEndpoint: true,
  isGivenByServer: true,
};
