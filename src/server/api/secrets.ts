import { z } from "zod";
import { type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";

/** How secrets are kept. */
export function secretRoutes(rotateSecrets: () => Promise<void>): readonly Route[] {
  return [
    route({
      method: "post",
      path: "/v1/secrets/rotate",
      tag: "Secrets",
      summary: "Makes a new key and seals every secret with it",
      answer: schemas.one(z.object({ rotated: z.literal(true) })),
      async run() {
        await rotateSecrets();
        return { data: { rotated: true } };
      },
    }),
  ];
}
