import { Hono } from "hono";
import { PdError } from "../../domain/errors.ts";
import type { ComponentCode } from "../../domain/saved-component.ts";
import type { CodeInput } from "../../engine/build-component.ts";
import type { Engine } from "../../engine/engine.ts";
import { codeParams, readParams } from "./params.ts";
import { componentRecord, page } from "./records.ts";

interface CodeParams {
  readonly component_code?: string | undefined;
  readonly component_url?: string | undefined;
  readonly component_path?: string | undefined;
  readonly component_files?: Record<string, string> | undefined;
}

/** Code wins over a URL, which then only tells where it came from (platform.md §1.3). `undefined`: neither is given. */
export function codeInput({ component_code, component_url, component_path, component_files }: CodeParams): CodeInput | undefined {
  if (component_code !== undefined) {
    const code: ComponentCode = { path: safePath(component_path ?? "component.mjs"), text: component_code, files: {} };
    const files = Object.fromEntries(Object.entries(component_files ?? {}).map(([path, text]) => [safePath(path), text]));
    return { kind: "code", code: { ...code, files } };
  }
  return component_url === undefined ? undefined : { kind: "url", url: checkedUrl(component_url) };
}

/** Paths are names inside the component, never of the server's disk. */
function safePath(path: string): string {
  if (path === "" || path.startsWith("/") || path.includes("\0") || path.split("/").includes("..")) {
    throw new PdError("PD_BAD_INPUT", `Cannot use the path ${JSON.stringify(path)}: it wants a path relative to the component's root`);
  }
  return path;
}

function checkedUrl(url: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new PdError("PD_BAD_INPUT", `Cannot fetch ${JSON.stringify(url)}: it is no http or https address`);
  return url;
}

/** /components (platform.md §1.3). */
export function componentRoutes(engine: Engine): Hono {
  const app = new Hono();
  app.get("/", (context) => {
    const records = engine.store.listComponents().map(componentRecord);
    return context.json(page(records, { total: records.length, cursorOf: ({ id }) => Buffer.from(String(id)).toString("base64url") }));
  });
  app.post("/", async (context) => {
    const input = codeInput(await readParams(context, codeParams));
    if (input === undefined) throw new PdError("PD_BAD_INPUT", "Cannot save a component: neither component_code nor component_url is given");
    return context.json({ data: componentRecord(await engine.saveComponent(input)) });
  });
  app.get("/:id", (context) => context.json({ data: componentRecord(engine.findComponent(context.req.param("id"))) }));
  return app;
}
