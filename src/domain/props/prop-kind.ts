import type { JsonObject, JsonValue } from "../text/json.ts";

export interface Prop {
  readonly kind: string;
  readonly name: string;
}

export interface Input {
  readonly name: string;
  readonly label?: string;
  readonly description?: string;
  readonly optional: boolean;
  /** The user cannot be asked for it. */
  readonly hidden?: true;
  /** Its value is ignored. */
  readonly disabled?: true;
  /** Its value decides what `additionalProps` declares. */
  readonly reloadProps?: true;
}

/** A prop as the API shows it. Functions become flags. */
export interface PropFacts {
  readonly name: string;
  readonly type: string;
  readonly label?: string | undefined;
  readonly description?: string | undefined;
  readonly optional?: true | undefined;
  readonly hidden?: true | undefined;
  readonly disabled?: true | undefined;
  readonly reloadProps?: true | undefined;
  /** Has no value. */
  readonly readOnly?: true | undefined;
  readonly secret?: true | undefined;
  readonly default?: JsonValue | undefined;
  readonly static?: JsonObject | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly options?: { label: string; value: JsonValue }[] | undefined;
  readonly remoteOptions?: true | undefined;
  readonly useQuery?: true | undefined;
  readonly withLabel?: true | undefined;
  readonly app?: string | undefined;
  readonly auth?: { app: string } | undefined;
  readonly customResponse?: true | undefined;
  readonly eventNames?: string[] | undefined;
  readonly alertType?: string | undefined;
  readonly content?: string | undefined;
  readonly accessMode?: string | undefined;
  readonly sync?: boolean | undefined;
}

export interface Reading {
  readonly raw: Record<string, unknown>;
  readonly warnings: string[];
  readonly problems: string[];
}

export interface CheckedProp {
  readonly value?: JsonValue;
  /** Ends with `, got <value>`, which `checkProps` removes for secrets. */
  readonly problem?: string;
  /** Asking the user would help. */
  readonly isMissing?: boolean;
}

export interface SecretValue<P extends Prop> {
  isIn(prop: P, value: JsonValue): boolean;
  /** Called only when `isIn` is true. */
  starred(value: JsonValue): JsonValue | undefined;
  /** Strings to mask in a component's output. */
  texts(value: JsonValue): readonly string[];
}

export interface Asking {
  form?(facts: PropFacts): string | undefined;
  /** Checks without asking the server. */
  problem?(facts: PropFacts, answer: string): string | undefined;
  /** Converts an answer. Without it, the value is the text. */
  read?(answer: string): JsonValue | undefined;
  readonly offers?: "accounts" | "data-stores";
  /** `pd dev --prompt-all` asks for it again. */
  readonly isAskedAgain: boolean;
}

/** `sandbox/child/component/instance.ts` creates the value that components see. */
export interface PropKind<P extends Prop> {
  readonly kind: P["kind"];
  /** Values of `type` in declarations. */
  readonly types: readonly string[];
  read(name: string, reading: Reading): P;
  facts(prop: P): PropFacts;
  /** Omitted when the user cannot set a value. */
  check?(prop: P, given: JsonValue | undefined): CheckedProp;
  /** A made-up valid value. Undefined when none is needed. */
  sample?(prop: P): JsonValue | undefined;
  /** The displayed value, when not the configured one. */
  shown?(value: JsonValue | undefined, endpoint: string): JsonValue | undefined;
  readonly secret?: SecretValue<P>;
  /** Omitted when the user is not asked. */
  readonly asking?: Asking;
  /** Requests to the source's endpoint run it. */
  readonly hasEndpoint?: true;
  /** A string or number from the user is a mistake. */
  readonly isGivenByServer?: true;
}

export function inputOf(name: string, raw: Record<string, unknown>): Input {
  return {
    name,
    optional: raw["optional"] === true,
    ...(typeof raw["label"] === "string" ? { label: raw["label"] } : {}),
    ...(typeof raw["description"] === "string" ? { description: raw["description"] } : {}),
    ...(raw["hidden"] === true ? { hidden: true as const } : {}),
    ...(raw["disabled"] === true ? { disabled: true as const } : {}),
    ...(raw["reloadProps"] === true ? { reloadProps: true as const } : {}),
  };
}

export function inputFacts({ name, label, description, optional, hidden, disabled, reloadProps }: Input): Omit<PropFacts, "type"> {
  return { name, label, description, optional: optional || undefined, hidden, disabled, reloadProps };
}

export function isNothing(given: JsonValue | undefined): given is undefined | null | "" {
  return given === undefined || given === null || given === "";
}
