import { useId } from "preact/hooks";
import type { JsonObject, JsonValue } from "../../domain/text/json.ts";
import { Description } from "../parts/text/description.tsx";
import type { Prop } from "../types.ts";
import type { FieldProps } from "./field-props.ts";
import { AccountField } from "./account-field.tsx";
import { ChoiceField, type ChoiceAsker } from "./choice-field.tsx";
import { BooleanField, JsonField, ListField, NumberField, TextField } from "./plain-fields.tsx";
import { InsertReference } from "./insert-reference.tsx";
import { TimerField } from "./timer-field.tsx";
import { useClient } from "../app-context.ts";
import { useLoaded } from "../use-loaded.ts";

export interface PropFormProps {
  readonly props: readonly Prop[];
  readonly values: JsonObject;
  readonly onChange: (name: string, value: JsonValue | undefined) => void;
  readonly ask: ChoiceAsker;
  readonly problems: Readonly<Record<string, string>>;
  /** Secrets with a value on the server. */
  readonly keptSecrets?: ReadonlySet<string>;
  readonly isDisabled?: boolean;
  /** Expressions such as `{{steps.trigger.event}}`, which any prop of a step may have. */
  readonly references?: readonly string[];
}

export function PropForm({ props, values, onChange, ask, problems, keptSecrets, isDisabled = false, references }: PropFormProps) {
  const id = useId();
  const asked = props.filter(isAskedFor);
  if (asked.length === 0) return <p class="muted">This component has no props to fill in.</p>;
  return (
    <div class="stack loose">
      {asked.map((prop) => {
        if (prop.type === "alert") return <Alert key={prop.name} prop={prop} />;
        const name = `${id}-${prop.name}`;
        const problem = problems[prop.name];
        const field: FieldProps = {
          id: name,
          prop,
          value: values[prop.name],
          set: (value) => onChange(prop.name, value),
          isDisabled: isDisabled || prop.disabled === true || prop.readOnly === true,
          describedBy: `${name}-help`,
          isWrong: problem !== undefined,
          isKept: keptSecrets?.has(prop.name) === true,
        };
        return (
          <div class="field" key={prop.name}>
            <label for={name}>
              {prop.label ?? prop.name} {prop.optional === true && <span class="muted">(optional)</span>}
            </label>
            {isExpression(field.value) && references !== undefined ? (
              <TextField {...field} prop={{ ...prop, secret: undefined }} />
            ) : (
              <Field field={field} ask={ask} values={values} />
            )}
            {references !== undefined && !field.isDisabled && prop.type !== "app" && <Insert field={field} references={references} />}
            <div id={`${name}-help`} class="stack tight">
              {problem !== undefined && <p class="problem">{problem}</p>}
              {prop.description !== undefined && <Description text={prop.description} />}
            </div>
          </div>
        );
      })}
    </div>
  );
}

function isExpression(value: JsonValue | undefined): boolean {
  return typeof value === "string" && value.includes("{{");
}

function Insert({ field: { prop, value, set }, references }: { field: FieldProps; references: readonly string[] }) {
  const name = prop.label ?? prop.name;
  return (
    <InsertReference
      name={name}
      references={references}
      onInsert={(reference) => set(prop.type === "string" && typeof value === "string" ? `${value}${reference}` : reference)}
    >
      {isExpression(value) && (
        <button type="button" class="button plain" aria-label={`Remove the expression of ${name}`} onClick={() => set(undefined)}>
          Remove the expression
        </button>
      )}
    </InsertReference>
  );
}

function Alert({ prop }: { prop: Prop }) {
  const tone = prop.alertType === "error" ? "bad" : prop.alertType === "warning" ? "attention" : "";
  return (
    <div class={`note ${tone}`}>
      <Description text={prop.content ?? ""} />
    </div>
  );
}

function isAskedFor({ type, hidden }: Prop): boolean {
  return hidden !== true && type !== "$.interface.http" && type !== "$.service.db" && type !== "$.interface.apphook" && type !== "dir";
}

function Field({ field, ask, values }: { field: FieldProps; ask: ChoiceAsker; values: JsonObject }) {
  const { prop } = field;
  if (prop.type === "app") return <AccountField {...field} />;
  if (prop.type === "$.interface.timer") return <TimerField {...field} />;
  if (prop.type === "data_store") return <StoreField {...field} />;
  if (prop.remoteOptions === true || prop.options !== undefined) return <ChoiceField {...field} ask={ask} values={values} />;
  if (prop.type === "boolean") return <BooleanField {...field} />;
  if (prop.type === "integer" || prop.type === "number") return <NumberField {...field} />;
  if (prop.type === "string") return <TextField {...field} />;
  if (prop.type.endsWith("[]")) return <ListField {...field} />;
  return <JsonField {...field} />;
}

function StoreField({ id, value, set, isDisabled, describedBy, isWrong }: FieldProps) {
  const client = useClient();
  const { value: stores = [] } = useLoaded("stores", () => client.dataStores.list());
  return (
    <>
      <input
        id={id}
        class="input"
        list={`${id}-list`}
        disabled={isDisabled}
        aria-invalid={isWrong}
        aria-describedby={describedBy}
        value={typeof value === "string" ? value : ""}
        onInput={({ currentTarget }) => set(currentTarget.value === "" ? undefined : currentTarget.value)}
      />
      <datalist id={`${id}-list`}>
        {stores.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
