import { getRequestListener } from "@hono/node-server";
import type { Engine } from "../../engine/engine.ts";
import type { Api } from "../late-api.ts";
import { type ApiSettings, apiRouter } from "./router.ts";

/** `isLoopback` rejects foreign hosts, as DNS rebinding sends them. */
export function openApi(engine: Engine, { isLoopback, ...settings }: ApiSettings & { readonly isLoopback: boolean }): Api {
  const router = apiRouter(engine, settings);
  const listener = getRequestListener(router.fetch);
  return {
    listener(request, response) {
      if (isLoopback && !/^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i.test(request.headers.host ?? "")) {
        response.writeHead(421, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: `This server does not accept the host ${JSON.stringify(request.headers.host ?? "")}`, code: "PD_BAD_INPUT" }));
        return;
      }
      void listener(request, response);
    },
    ask: async (url, call) => router.fetch(new Request(url, call)),
  };
}
