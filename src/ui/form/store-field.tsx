import { useClient } from "../app-context.ts";
import { useLoaded } from "../use-loaded.ts";
import type { FieldProps } from "./field-props.ts";

/** A missing data store is created. */
export function StoreField({ id, value, set, isDisabled, describedBy, isWrong }: FieldProps) {
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
