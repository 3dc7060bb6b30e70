import { useEffect, useRef, useState } from "preact/hooks";
import { type JsonObject, type JsonValue, isSameJson } from "../../domain/text/json.ts";
import { messageOf } from "../../domain/errors.ts";
import type { FieldProps } from "./field-props.ts";

export interface Choice {
  readonly label: string;
  readonly value: JsonValue;
}

interface ChoicePage {
  readonly choices: readonly Choice[];
  /** Passed on when the next page is loaded. */
  readonly context: JsonObject;
  /** Props that they were made of. */
  readonly reads: readonly string[];
}

interface Asked {
  readonly prop: string;
  readonly page: number;
  readonly context: JsonObject;
  readonly query?: string;
}

export type ChoiceAsker = (asked: Asked) => Promise<ChoicePage>;

const TYPING_MS = 250;

interface Loading {
  readonly choices: readonly Choice[];
  readonly page: number;
  readonly next: JsonObject | undefined;
  readonly reads: readonly string[];
  readonly isLoading: boolean;
  readonly error?: unknown;
}

const NOTHING: Loading = { choices: [], page: -1, next: undefined, reads: [], isLoading: false };

export function ChoiceField(props: FieldProps & { ask: ChoiceAsker; values: JsonObject }) {
  const { prop, value, set, id, isDisabled, describedBy, isWrong, ask, values } = props;
  const isMany = prop.type.endsWith("[]");
  const [query, setQuery] = useState("");
  const [loading, load, forget] = useChoices(prop.remoteOptions === true, (asked) => ask({ ...asked, prop: prop.name }));
  const basis = JSON.stringify(loading.reads.map((name) => values[name] ?? null));
  const listedFor = useRef({ reads: loading.reads, basis });
  useEffect(() => {
    const isOutdated = listedFor.current.reads === loading.reads && listedFor.current.basis !== basis;
    listedFor.current = { reads: loading.reads, basis };
    if (isOutdated) forget();
  }, [loading.reads, basis]);
  const choices = prop.remoteOptions === true ? loading.choices : (prop.options ?? []);
  const chosen = isMany ? (Array.isArray(value) ? value : []) : (value ?? null) === null ? [] : [value ?? null];
  const isCleared = !isMany && chosen.length === 0;
  useEffect(() => {
    if (isCleared) setQuery("");
  }, [isCleared]);
  const isSearched = prop.useQuery === true;
  const shown = choices.filter(({ label }) => isSearched || label.toLowerCase().includes(query.toLowerCase()));
  const choose = (next: JsonValue): void => {
    if (!isMany) {
      setQuery("");
      return set(isSameJson(next, value) && prop.optional === true ? undefined : next);
    }
    setQuery("");
    const rest = chosen.filter((known) => !isSameJson(known, next));
    set(rest.length < chosen.length ? rest : [...chosen, next]);
  };
  const valueOf = (text: string): JsonValue => choices.find(({ label }) => label === text)?.value ?? typedValue(prop.type, text);
  /** What is typed is a value also without Enter. */
  const type = (text: string): void => {
    setQuery(text);
    search(text);
    if (!isMany) set(text === "" ? undefined : valueOf(text));
  };
  const add = (): void => {
    if (query === "") return;
    if (isMany && !chosen.some((one) => isSameJson(one, valueOf(query)))) set([...chosen, valueOf(query)]);
    setQuery("");
  };
  const search = useDelayed((text: string) => isSearched && load({ page: 0, context: {}, query: text }));
  return (
    <div class="stack tight">
      {(isMany || (chosen.length > 0 && query === "")) && (
        <div class="row wrap chips">
          {chosen.map((one) => (
            <button key={JSON.stringify(one)} type="button" class="button" disabled={isDisabled} onClick={() => choose(one)} title="Remove">
              {labelOf(one, choices)} <span aria-hidden="true">×</span>
              <span class="visually-hidden">remove</span>
            </button>
          ))}
        </div>
      )}
      <input
        id={id}
        class="input"
        type="search"
        autocomplete="off"
        disabled={isDisabled}
        aria-invalid={isWrong}
        aria-describedby={describedBy}
        placeholder={isSearched ? "Type to search" : "Choose below, or type a value and press Enter"}
        value={query}
        onFocus={() => prop.remoteOptions === true && loading.page < 0 && load({ page: 0, context: {} })}
        onInput={({ currentTarget }) => {
          type(currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || query === "") return;
          event.preventDefault();
          add();
        }}
        // A text with matches is a search.
        onBlur={() => isMany && shown.length === 0 && add()}
      />
      {loading.error !== undefined && <p class="problem">{messageOf(loading.error)}</p>}
      <ChoiceList
        label={prop.label ?? prop.name}
        choices={shown}
        chosen={chosen}
        loading={loading}
        isDisabled={isDisabled}
        onChoose={choose}
        onMore={() => load({ page: loading.page + 1, context: loading.next ?? {}, ...(query === "" || !isSearched ? {} : { query }) })}
      />
    </div>
  );
}

interface ChoiceListProps {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: readonly JsonValue[];
  readonly loading: Loading;
  readonly isDisabled: boolean;
  readonly onChoose: (value: JsonValue) => void;
  readonly onMore: () => void;
}

function ChoiceList({ label, choices, chosen, loading, isDisabled, onChoose, onMore }: ChoiceListProps) {
  if (choices.length === 0 && !loading.isLoading) return null;
  return (
    <ul
      class="panel scrolls"
      style={{ maxHeight: "200px" }}
      // Keeps the focus in the field: leaving it takes what was typed.
      onMouseDown={(event) => event.preventDefault()}
      aria-label={`Choices of ${label}`}
    >
      {choices.map((choice) => {
        const isChosen = chosen.some((one) => isSameJson(one, choice.value));
        return (
          <li key={JSON.stringify(choice.value)}>
            <button
              type="button"
              class="button plain"
              style={{ width: "100%", justifyContent: "flex-start" }}
              disabled={isDisabled}
              aria-pressed={isChosen}
              onClick={() => onChoose(choice.value)}
            >
              <span aria-hidden="true">{isChosen ? "✓" : " "}</span> <bdi class="cut">{choice.label}</bdi>
            </button>
          </li>
        );
      })}
      {loading.isLoading && (
        <li class="muted" style={{ padding: "4px 10px" }}>
          Loading choices…
        </li>
      )}
      {!loading.isLoading && loading.next !== undefined && (
        <li>
          <button type="button" class="button plain" onClick={onMore}>
            More choices
          </button>
        </li>
      )}
    </ul>
  );
}

function useChoices(isRemote: boolean, ask: (asked: Omit<Asked, "prop">) => Promise<ChoicePage>): [Loading, (asked: Omit<Asked, "prop">) => void, () => void] {
  const [loading, setLoading] = useState<Loading>(NOTHING);
  const count = useRef(0);
  const load = (asked: Omit<Asked, "prop">): void => {
    if (!isRemote) return;
    const own = ++count.current;
    const isLate = (): boolean => own !== count.current;
    setLoading((before) => ({ ...before, choices: asked.page === 0 ? [] : before.choices, isLoading: true, error: undefined }));
    ask(asked).then(
      ({ choices, context, reads }) =>
        isLate() ||
        setLoading((before) => ({
          choices: [...before.choices, ...choices],
          page: asked.page,
          next: choices.length === 0 ? undefined : context,
          reads,
          isLoading: false,
        })),
      (error: unknown) => isLate() || setLoading((before) => ({ ...before, page: asked.page, isLoading: false, error })),
    );
  };
  const forget = (): void => {
    count.current++;
    setLoading(NOTHING);
  };
  return [loading, load, forget];
}

function useDelayed(work: (text: string) => void): (text: string) => void {
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => () => clearTimeout(timer.current), []);
  return (text) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => work(text), TYPING_MS);
  };
}

function labelOf(value: JsonValue, choices: readonly Choice[]): string {
  if (typeof value === "object" && value !== null && !Array.isArray(value) && "__lv" in value) return JSON.stringify(value);
  return choices.find((choice) => isSameJson(choice.value, value))?.label ?? (typeof value === "string" ? value : JSON.stringify(value));
}

function typedValue(type: string, text: string): JsonValue {
  const isNumber = (type.startsWith("integer") || type === "number") && text.trim() !== "" && Number.isFinite(Number(text));
  return isNumber ? Number(text) : text;
}
