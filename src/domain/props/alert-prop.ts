import type { PropKind } from "./prop-kind.ts";

/** Text for the user. Has no value. */
export interface AlertProp {
  readonly kind: "alert";
  readonly name: string;
  readonly alertType: string;
  readonly content: string;
  readonly hidden?: true;
}

export const alertKind: PropKind<AlertProp> = {
  kind: "alert",
  types: ["alert"],
  read: (name, { raw }) => ({
    kind: "alert",
    name,
    alertType: typeof raw["alertType"] === "string" ? raw["alertType"] : "info",
    content: typeof raw["content"] === "string" ? raw["content"] : "",
    ...(raw["hidden"] === true ? { hidden: true } : {}),
  }),
  facts: ({ name, alertType, content, hidden }) => ({ name, type: "alert", alertType, content, hidden, readOnly: true }),
};
