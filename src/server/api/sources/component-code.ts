import type * as z from "zod";
import type { codeFiles, codeParams } from "../../../api/components.ts";
import { parsedAddress } from "../../../domain/text/addresses.ts";
import { PdError } from "../../../domain/errors.ts";
import { isSavedId } from "../../../domain/ids.ts";
import type { ComponentCode } from "../../../domain/component/saved-component.ts";
import type { CodeInput } from "../../../engine/code/build-component.ts";
import type { DeployRequest } from "../../../engine/sources/deploy.ts";
import type { Engine } from "../../../engine/engine.ts";

type CodeParams = z.output<typeof codeParams>;
type GivenCode = DeployRequest["code"];

/** Code takes precedence over a URL. Undefined without either. */
export async function givenCode(engine: Engine, params: CodeParams): Promise<GivenCode | undefined> {
  const { packages_as_of: packagesAsOf } = params;
  const added = { ...importsOf(engine, params), ...(packagesAsOf === undefined ? {} : { packagesAsOf }) };
  const named = params.component_id ?? params.id ?? params.key;
  if (params.component_code !== undefined) {
    const { component_code, component_path = "component.js", component_files = {} } = params;
    return { kind: "code", code: { ...checkCode({ path: component_path, text: component_code, files: component_files }), ...added } };
  }
  if (named === undefined && params.component_url === undefined && packagesAsOf !== undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot use packages_as_of ${packagesAsOf} without code`, { fix: "Give the code too: its packages are installed again" });
  if (named !== undefined) return namedCode(engine, named, { ...(params.registry === undefined ? {} : { registry: params.registry }), ...added });
  return params.component_url === undefined ? undefined : { kind: "url", url: checkedUrl(params.component_url), ...added };
}

/** Throws PD_BAD_INPUT. */
export async function requiredCode(engine: Engine, params: CodeParams, attempted: string): Promise<GivenCode> {
  const code = await givenCode(engine, params);
  if (code === undefined) throw new PdError("PD_BAD_INPUT", `Cannot ${attempted}: none of component_id, component_code, component_url and key is given`);
  return code;
}

async function namedCode(engine: Engine, named: string, rest: { registry?: string } & Pick<ComponentCode, "imports" | "packagesAsOf">): Promise<GivenCode> {
  const saved = await (isSavedId(named) ? engine.components.find(named) : rest.registry === undefined ? engine.components.ofKey(named) : undefined);
  if (saved === undefined) return { kind: "key", key: named, ...rest };
  const { imports = [], packagesAsOf } = rest;
  if (imports.length === 0 && packagesAsOf === undefined) return { kind: "saved", component: saved };
  // Another date selects other packages.
  const pins = packagesAsOf === undefined || packagesAsOf === saved.code.packagesAsOf ? { lock: saved.lock } : {};
  return {
    kind: "code",
    code: { ...saved.code, ...(imports.length === 0 ? {} : { imports }), ...(packagesAsOf === undefined ? {} : { packagesAsOf }) },
    ...pins,
  };
}

function importsOf(engine: Engine, { component_imports }: CodeParams): { imports?: readonly ComponentCode[] } {
  return checkedImports(engine, component_imports);
}

/** An empty list removes the imports, and no list keeps them. Throws PD_BAD_INPUT when the server does not allow imports. */
export function checkedImports(engine: Engine, given: readonly z.output<typeof codeFiles>[] | undefined): { imports?: readonly ComponentCode[] } {
  if (given === undefined) return {};
  if (given.length > 0 && !engine.settings.allowsImports)
    throw new PdError("PD_BAD_INPUT", "Cannot load other modules before the component: this shared server does not allow it", {
      fix: "Start it with --allow-imports true",
    });
  return { imports: given.map(({ code, path, files: others }) => checkCode({ path, text: code, files: others })) };
}

export async function codeInput(engine: Engine, params: CodeParams): Promise<CodeInput | undefined> {
  const code = await givenCode(engine, params);
  return code?.kind === "saved" ? { kind: "code", code: code.component.code, lock: code.component.lock } : code;
}

/** Throws PD_BAD_INPUT for paths outside the component. */
export function checkCode({ path, text: content, files: others }: ComponentCode): ComponentCode {
  return { path: safePath(path), text: content, files: Object.fromEntries(Object.entries(others).map(([name, inside]) => [safePath(name), inside])) };
}

function safePath(path: string): string {
  if (path === "" || path.startsWith("/") || path.includes("\0") || path.split("/").includes("..")) {
    throw new PdError("PD_BAD_INPUT", `Cannot use the path ${JSON.stringify(path)}: expected a path relative to the component's root`);
  }
  return path;
}

function checkedUrl(url: string): string {
  if (!/^https?:\/\//.test(url) || parsedAddress(url) === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot fetch ${JSON.stringify(url.slice(0, 200))}: not an http or https address`);
  return url;
}
