import { useId } from "preact/hooks";
import { type JsonObject, isJsonObject } from "../../domain/text/json.ts";
import { NextInstants } from "../parts/text/next-instants.tsx";
import type { FieldProps } from "./field-props.ts";
import { Select } from "../parts/fields.tsx";

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function TimerField({ id, prop, value, set, isDisabled, describedBy, isWrong }: FieldProps) {
  const isFixed = isDisabled || prop.static !== undefined;
  const schedule = prop.static ?? (isJsonObject(value) ? value : isJsonObject(prop.default) ? prop.default : { intervalSeconds: 900 });
  const policy = typeof schedule["catchUp"] === "string" ? { catchUp: schedule["catchUp"] } : {};
  const isCron = typeof schedule["cron"] === "string";
  const zoneId = useId();
  return (
    <div class="stack tight">
      <div class="row wrap">
        <Select
          label="Kind of schedule"
          choices={{ interval: "Every … seconds", cron: "Cron expression" }}
          value={isCron ? "cron" : "interval"}
          onChange={(chosen) => set(chosen === "cron" ? { cron: "0 * * * *", timezone: ZONE, ...policy } : { intervalSeconds: 900, ...policy })}
          isDisabled={isFixed}
        />
        {isCron ? (
          <input
            id={id}
            class="input mono"
            style={{ width: "180px" }}
            spellcheck={false}
            disabled={isFixed}
            aria-invalid={isWrong}
            aria-describedby={describedBy}
            value={String(schedule["cron"])}
            onInput={({ currentTarget }) => set({ ...schedule, cron: currentTarget.value })}
          />
        ) : (
          <input
            id={id}
            class="input"
            style={{ width: "120px" }}
            type="number"
            min={1}
            disabled={isFixed}
            aria-invalid={isWrong}
            aria-describedby={describedBy}
            value={Number(schedule["intervalSeconds"] ?? 900)}
            onInput={({ currentTarget }) => set({ intervalSeconds: Number(currentTarget.value), ...policy })}
          />
        )}
        {isCron && (
          <>
            <label for={zoneId}>Time zone</label>
            <input
              id={zoneId}
              class="input"
              style={{ width: "180px" }}
              list={`${zoneId}-list`}
              disabled={isFixed}
              value={String(schedule["timezone"] ?? "UTC")}
              onInput={({ currentTarget }) => set({ ...schedule, timezone: currentTarget.value })}
            />
            <datalist id={`${zoneId}-list`}>
              {Intl.supportedValuesOf("timeZone").map((zone) => (
                <option key={zone} value={zone} />
              ))}
            </datalist>
          </>
        )}
      </div>
      <NextInstants {...givenOf(schedule)} />
    </div>
  );
}

function givenOf({ intervalSeconds, cron, timezone }: JsonObject) {
  return typeof cron === "string" ? { cron, ...(typeof timezone === "string" ? { timezone } : {}) } : { intervalSeconds: Number(intervalSeconds) };
}
