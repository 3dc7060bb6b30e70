import { Problem } from "../parts/problem.tsx";
import { useAttempt } from "../use-attempt.ts";
import { PropForm, type PropFormProps } from "./prop-form.tsx";
import type { PropValues } from "./use-prop-values.ts";

interface ComponentFormProps extends Pick<PropFormProps, "keptSecrets" | "isDisabled" | "references"> {
  readonly form: PropValues;
  /** Errors about a value are shown at its field. */
  readonly act: () => Promise<void>;
  readonly head?: preact.ComponentChildren;
  readonly children: (isUnderWay: boolean) => preact.ComponentChildren;
}

export function ComponentForm({ form, act, head, children, ...fields }: ComponentFormProps) {
  const { props, values, set, ask, problems, takeRefusal, error, resets } = form;
  const { isUnderWay, error: refusal, attempt } = useAttempt();
  return (
    <form
      class="panel padded stack loose form"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(act, takeRefusal);
      }}
    >
      {head}
      <PropForm key={resets} props={props} values={values} onChange={set} ask={ask} problems={problems} {...fields} />
      {error !== undefined && <Problem error={error} />}
      {Object.keys(problems).length > 0 && (
        <p class="note bad" role="alert">
          Some values are missing or not valid. See the fields above.
        </p>
      )}
      {refusal !== undefined && <Problem error={refusal} />}
      {children(isUnderWay)}
    </form>
  );
}
