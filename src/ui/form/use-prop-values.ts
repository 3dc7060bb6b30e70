import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { BadProps, ChoicesRecord } from "../../api/props.ts";
import { badPropsOf } from "../../client/client.ts";
import type { CodeParams } from "../../api/components.ts";
import { type JsonObject, type JsonValue, isSameJson } from "../../domain/text/json.ts";
import { useClient } from "../app-context.ts";
import type { Prop } from "../types.ts";
import { isSecretProp } from "./secret-props.ts";
import type { ChoiceAsker } from "./choice-field.tsx";
import { useDependents } from "./use-dependents.ts";

export interface PropValues {
  /** Includes dynamic props. */
  readonly props: readonly Prop[];
  readonly values: JsonObject;
  readonly changed: JsonObject;
  readonly set: (name: string, value: JsonValue | undefined) => void;
  readonly reset: () => void;
  /** Used as a key, resets fields with internal state. */
  readonly resets: number;
  readonly ask: ChoiceAsker;
  readonly problems: Readonly<Record<string, string>>;
  /** Shows the problems of PD_BAD_PROPS. False for other errors. */
  readonly takeRefusal: (error: unknown) => boolean;
  readonly error: unknown;
}

interface Setup {
  readonly code: CodeParams;
  readonly declared: readonly Prop[];
  /** Without secrets. */
  readonly kept: JsonObject;
  /** Typed before a reload of the page. */
  readonly typed?: JsonObject;
  /** The server uses this source's secrets. */
  readonly sourceId?: string;
}

export function usePropValues({ code, declared, kept, typed = {}, sourceId }: Setup): PropValues {
  const client = useClient();
  const [changed, setChanged] = useState<JsonObject>(typed);
  const [added, setAdded] = useState<readonly Prop[]>();
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [error, setError] = useState<unknown>();
  const [resets, setResets] = useState(0);
  const values = useMemo(() => ({ ...kept, ...changed }), [kept, changed]);
  const props = added ?? declared;
  // The server adds a source's unchanged values, including secrets.
  const told = sourceId === undefined ? given(named(props, values)) : given(changed);
  const source = sourceId === undefined ? {} : { source_id: sourceId };
  const reloading = reloadingOf(props, values);
  useEffect(() => {
    // A source's dynamic props are declared already, but not those of a draft.
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
  }, [reloading]);
  // An empty secret field keeps the server's value.
  const isUnseen = (name: string): boolean => props.some((prop) => prop.name === name && isSecretProp(prop));
  const put = (name: string, value: JsonValue | undefined): void => {
    setChanged(({ [name]: _before, ...rest }) => (value === undefined && isUnseen(name) ? rest : { ...rest, [name]: value ?? null }));
    setProblems(({ [name]: _solved, ...rest }) => rest);
  };
  const clear = (name: string, of: JsonValue): void =>
    setChanged((now) => (isSameJson({ ...kept, ...now }[name] ?? null, of) ? { ...now, [name]: null } : now));
  const list: ChoiceAsker = async ({ prop, page, context, query }) => {
    const asked = { prop_name: prop, page, prev_context: context, configured_props: told, ...(query === undefined ? {} : { query }) };
    const answer = await client.components.configure({ ...code, ...source, ...asked });
    return choicesOf(answer);
  };
  const [ask, clearDependents] = useDependents({ props, values, ask: list, clear });
  const set = (name: string, value: JsonValue | undefined): void => {
    const isChange = !isSameJson(values[name] ?? null, value ?? null);
    put(name, value);
    if (isChange) clearDependents(name);
  };
  const reset = (): void => {
    setChanged({});
    setAdded(undefined);
    setProblems({});
    setResets((before) => before + 1);
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

/** Pages may lack a context. */
function choicesOf({ options, string_options: texts, context, reads }: ChoicesRecord): Awaited<ReturnType<ChoiceAsker>> {
  return { choices: options.length > 0 ? options : texts.map((text) => ({ label: text, value: text })), context: context ?? {}, reads };
}

/** The props whose values change which others there are. */
function reloadingOf(props: readonly Prop[], values: JsonObject): string {
  return JSON.stringify(
    props.flatMap(({ reloadProps, name }) => (reloadProps === true && (values[name] ?? null) !== null ? [[name, values[name] ?? null]] : [])),
  );
}

function textsOf({ problems }: BadProps): Record<string, string> {
  return Object.fromEntries(problems.map(({ prop, problem, isMissing }) => [prop, isMissing === true ? "Required" : (problem ?? "Not valid")]));
}

export function named(props: readonly Prop[], values: JsonObject): JsonObject {
  const names = new Set(props.map(({ name }) => name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}

export function given(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}
