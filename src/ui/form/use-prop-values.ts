import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { BadProps } from "../../api/props.ts";
import { badPropsOf } from "../../client/client.ts";
import type { CodeParams } from "../../api/components.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { useClient } from "../app-context.ts";
import type { Prop } from "../types.ts";
import { isSecretProp } from "./secret-props.ts";
import type { ChoiceAsker } from "./choice-field.tsx";

export interface PropValues {
  /** With what `additionalProps` has added. */
  readonly props: readonly Prop[];
  readonly values: JsonObject;
  /** Those that were changed here. */
  readonly changed: JsonObject;
  readonly set: (name: string, value: JsonValue | undefined) => void;
  /** Back to what was kept. */
  readonly reset: () => void;
  /** How often: fields that keep what was typed begin anew. */
  readonly resets: number;
  readonly ask: ChoiceAsker;
  readonly problems: Readonly<Record<string, string>>;
  /** Takes what the server says of values; false: it is about something else. */
  readonly takeRefusal: (error: unknown) => boolean;
  readonly error: unknown;
}

interface Setup {
  /** How the component is named, or its code. */
  readonly code: CodeParams;
  readonly declared: readonly Prop[];
  /** Values that stand already, but for secrets, which nobody is shown. */
  readonly kept: JsonObject;
  /** Whose kept secrets count. */
  readonly sourceId?: string;
}

/** Values for the props of a component, with the same choices, added props and checks as the prompts of the command. */
export function usePropValues({ code, declared, kept, sourceId }: Setup): PropValues {
  const client = useClient();
  const [changed, setChanged] = useState<JsonObject>({});
  const [added, setAdded] = useState<readonly Prop[]>();
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [error, setError] = useState<unknown>();
  const [resets, setResets] = useState(0);
  const values = useMemo(() => ({ ...kept, ...changed }), [kept, changed]);
  const props = added ?? declared;
  // The server has the rest, secrets among it.
  const told = sourceId === undefined ? given(named(props, values)) : given(changed);
  const source = sourceId === undefined ? {} : { source_id: sourceId };
  const reloading = JSON.stringify(
    props.flatMap(({ reloadProps, name }) => (reloadProps === true && (values[name] ?? null) !== null ? [[name, values[name] ?? null]] : [])),
  );
  useEffect(() => {
    // What a source has is declared with it; what a draft has is not.
    const isAsIs = Object.keys(changed).length === 0 && (sourceId !== undefined || Object.keys(kept).length === 0);
    if (reloading === "[]" || isAsIs) return;
    let isLate = false;
    client.components.props({ ...code, ...source, configured_props: told, partial: true }).then(
      ({ dynamicProps }) => isLate || (setError(undefined), setAdded(dynamicProps.configurableProps)),
      (thrown: unknown) => isLate || setError(thrown),
    );
    return () => {
      isLate = true;
    };
    // Asked again when a value changes on which others depend.
  }, [reloading]);
  // An empty field of a secret that nobody is shown says nothing about it.
  const isUnseen = (name: string): boolean => props.some((prop) => prop.name === name && isSecretProp(prop));
  const set = useCallback(
    (name: string, value: JsonValue | undefined) => {
      setChanged(({ [name]: _before, ...rest }) => (value === undefined && isUnseen(name) ? rest : { ...rest, [name]: value ?? null }));
      setProblems(({ [name]: _solved, ...rest }) => rest);
    },
    [props],
  );
  const reset = (): void => {
    setChanged({});
    setAdded(undefined);
    setProblems({});
    setResets((before) => before + 1);
  };
  const ask: ChoiceAsker = async ({ prop, page, context, query }) => {
    const asked = { prop_name: prop, page, prev_context: context, configured_props: told, ...(query === undefined ? {} : { query }) };
    const answer = await client.components.configure({ ...code, ...source, ...asked });
    const texts = answer.string_options.map((text) => ({ label: text, value: text }));
    // Pages are counted whether or not the component hands a context on.
    return { choices: answer.options.length > 0 ? answer.options : texts, context: answer.context ?? {} };
  };
  const takeRefusal = useCallback((thrown: unknown): boolean => {
    const bad = badPropsOf(thrown);
    if (bad === undefined) return false;
    setAdded(bad.props);
    setProblems(textsOf(bad));
    return true;
  }, []);
  return { props, values, changed, set, reset, resets, ask, problems, takeRefusal, error };
}

/** What is wrong with each, by the prop's name. */
function textsOf({ problems }: BadProps): Record<string, string> {
  return Object.fromEntries(
    problems.map(({ prop, problem, isMissing }) => [prop, isMissing === true ? "This has to be given" : (problem ?? "This is not taken")]),
  );
}

/** Values of props that there are: others were added by a value that has changed since. */
export function named(props: readonly Prop[], values: JsonObject): JsonObject {
  const names = new Set(props.map(({ name }) => name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}

/** What was taken away is not given. */
export function given(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}
