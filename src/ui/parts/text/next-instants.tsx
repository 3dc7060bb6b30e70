import type { Client } from "../../../client/client.ts";
import { messageOf } from "../../../domain/errors.ts";
import { useClient } from "../../app-context.ts";
import { useLoaded } from "../../use-loaded.ts";
import { At } from "./time.tsx";

type Schedule = NonNullable<Parameters<Client["server"]["schedule"]>[0]>;

/** The server computes them, because it runs them. */
export function NextInstants(schedule: Schedule) {
  const client = useClient();
  const { value, error } = useLoaded(JSON.stringify(schedule), () => client.server.schedule(schedule));
  if (error !== undefined) return <p class="problem">{messageOf(error)}</p>;
  return (
    <p class="muted">
      Next:{" "}
      {(value?.next_ms ?? []).map((at, index) => (
        <span key={at}>
          {index > 0 && ", "}
          <At at={at} />
        </span>
      ))}
    </p>
  );
}
