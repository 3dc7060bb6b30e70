import { z } from "zod";
import { PdError } from "../../domain/errors.ts";
import type { ComponentCode } from "../../domain/saved-component.ts";
import type { CodeInput } from "../../engine/build-component.ts";
import type { Engine } from "../../engine/engine.ts";
import { componentRecord } from "./records.ts";
import { type Route, pageOf, pageParams, route } from "./route.ts";
import * as schemas from "./schemas.ts";

const text = z.string();

export const codeParams = z.object({
  component_id: text.optional(),
  component_code: text.optional(),
  component_url: text.optional(),
  component_path: text.optional(),
  component_files: z.record(z.string(), text).optional(),
  key: text.optional(),
});

/** Code wins over a URL, which then only tells where it came from (platform.md §1.3). `undefined`: neither is given. */
export function codeInput({ component_code, component_url, component_path, component_files }: z.infer<typeof codeParams>): CodeInput | undefined {
  if (component_code !== undefined) {
    return { kind: "code", code: checkCode({ path: component_path ?? "component.js", text: component_code, files: component_files ?? {} }) };
  }
  return component_url === undefined ? undefined : { kind: "url", url: checkedUrl(component_url) };
}

/** Throws PD_BAD_INPUT for paths that lead out of the component. */
export function checkCode({ path, text: content, files }: ComponentCode): ComponentCode {
  return { path: safePath(path), text: content, files: Object.fromEntries(Object.entries(files).map(([name, inside]) => [safePath(name), inside])) };
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

/** /components (platform.md §1.3). The registry is what was saved here under a key. */
export function componentRoutes(engine: Engine): readonly Route[] {
  const tag = "Components";
  const show = (idOrKey: string) => ({ data: componentRecord(engine.findComponent(idOrKey)) });
  return [
    route({
      method: "get",
      path: "/v1/components",
      tag,
      summary: "Lists saved components, the newest first",
      params: pageParams,
      answer: schemas.paged(schemas.component),
      run: ({ params }) => pageOf(engine.store.listComponents().map(componentRecord), params),
    }),
    route({
      method: "post",
      path: "/v1/components",
      tag,
      summary: "Saves code without deploying it",
      params: codeParams,
      answer: schemas.one(schemas.component),
      async run({ params }) {
        const input = codeInput(params);
        if (input === undefined) throw new PdError("PD_BAD_INPUT", "Cannot save a component: neither component_code nor component_url is given");
        return { data: componentRecord(await engine.saveComponent(input)) };
      },
    }),
    route({
      method: "get",
      path: "/v1/components/search",
      tag,
      summary: "Finds keys by words of their component's name, key or description",
      params: z.object({ query: text.default(""), app: text.optional(), limit: z.coerce.number().int().min(1).max(1000).default(10) }),
      answer: schemas.keys,
      run: ({ params }) => searchKeys(engine, params),
    }),
    route({
      method: "get",
      path: "/v1/components/registry/{key}",
      tag,
      summary: "Shows the newest component with this key",
      answer: schemas.one(schemas.component),
      run: ({ part }) => show(part("key")),
    }),
    route({
      method: "get",
      path: "/v1/components/{id}",
      tag,
      summary: "Shows a saved component, by id or key",
      answer: schemas.one(schemas.component),
      run: ({ part }) => show(part("id")),
    }),
  ];
}

function searchKeys(engine: Engine, { query, app, limit }: { query: string; app?: string | undefined; limit: number }) {
  const words = query.toLowerCase().split(/\s+/);
  const found = new Map<string, "source" | "action" | "app">();
  for (const { definition } of engine.store.listComponents()) {
    const { key, name, description = "", type } = definition;
    const haystack = `${key ?? ""} ${name} ${description}`.toLowerCase();
    const isOfApp = app === undefined || key?.startsWith(`${app}-`) === true;
    if (key !== undefined && isOfApp && words.every((word) => haystack.includes(word))) found.set(key, type);
  }
  const of = (type: string): string[] => [...found].filter(([, kind]) => kind === type).map(([key]) => key);
  return { sources: of("source").slice(0, limit), actions: of("action").slice(0, limit) };
}
