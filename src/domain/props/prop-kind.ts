import type { JsonObject, JsonValue } from "../json.ts";

/** What every prop that is declared has. */
export interface Prop {
  readonly kind: string;
  readonly name: string;
}

/** What every prop that takes a value has (platform.md §4.3). */
export interface Input {
  readonly name: string;
  readonly label?: string;
  readonly description?: string;
  readonly optional: boolean;
  /** Not shown, so nobody can be asked for it. */
  readonly hidden?: true;
  /** Its value is ignored. */
  readonly disabled?: true;
  /** Its value decides what `additionalProps` declares. */
  readonly reloadProps?: true;
}

/** What is told of a prop: type always explicit, functions as facts (platform.md §4.3). */
export interface PropFacts {
  readonly name: string;
  readonly type: string;
  readonly label?: string | undefined;
  readonly description?: string | undefined;
  readonly optional?: true | undefined;
  readonly hidden?: true | undefined;
  readonly disabled?: true | undefined;
  readonly reloadProps?: true | undefined;
  /** Has no value, and is only shown. */
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

/** A declaration that is being read, and what is wrong or odd about it. */
export interface Reading {
  readonly raw: Record<string, unknown>;
  readonly warnings: string[];
  readonly problems: string[];
}

/** A value that was given, held against its declaration: the value to keep, or a problem, or nothing. */
export interface CheckedProp {
  readonly value?: JsonValue;
  /** Ends with `, not <the value>` where it quotes it. */
  readonly problem?: string;
  /** Nothing was given: asking for it would help. */
  readonly isMissing?: boolean;
}

/** What others must not see of a value. */
export interface SecretValue<P extends Prop> {
  isIn(prop: P, value: JsonValue): boolean;
  /** As it is shown; asked only of values that hold a secret. */
  starred(value: JsonValue): JsonValue | undefined;
  /** Texts that must not be seen in what a component prints. */
  texts(value: JsonValue): readonly string[];
}

/** How a person is asked for a value. */
export interface Asking {
  /** How a value is written that is no plain text. */
  form?(facts: PropFacts): string | undefined;
  /** What is wrong with an answer, as far as it can be told without the server; `undefined`: nothing. */
  problem?(facts: PropFacts, answer: string): string | undefined;
  /** What an answer stands for; without it, the text itself. */
  read?(answer: string): JsonValue | undefined;
  /** It names one of what is kept here, which are offered. */
  readonly offers?: "accounts" | "data-stores";
  /** Its value is asked for again where all values are (`pd dev --prompt-all`). */
  readonly isAskedAgain: boolean;
}

/**
 * All that the program knows of one kind of prop; what a component sees as its value is made beside the component
 * (`sandbox/child/instance.ts`). The list of kinds is `kinds.ts`.
 */
export interface PropKind<P extends Prop> {
  readonly kind: P["kind"];
  /** Types by which components declare it. */
  readonly types: readonly string[];
  read(name: string, reading: Reading): P;
  /** As an entry of `configurable_props`. */
  facts(prop: P): PropFacts;
  /** Without it, the prop takes no value from its user. */
  check?(prop: P, given: JsonValue | undefined): CheckedProp;
  /** A value that fits, made up; `undefined`: it needs none. */
  sample?(prop: P): JsonValue | undefined;
  /** What is shown as its value, where that is not what was configured. */
  shown?(value: JsonValue | undefined, endpoint: string): JsonValue | undefined;
  readonly secret?: SecretValue<P>;
  /** Without it, nobody is asked for a value. */
  readonly asking?: Asking;
  /** Requests to the source's endpoint run it. */
  readonly hasEndpoint?: true;
  /** The server fills it by itself: a text or a number that is given for one was meant for something else. */
  readonly isGivenByServer?: true;
}

/** The members that every prop with a value may declare. */
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
