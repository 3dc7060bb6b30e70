import { join } from "node:path";
import { LocalComponent } from "../../src/code/local-component.ts";
import { readParams } from "../../src/cli/code/local-code.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { DeployedSource, type TestServer } from "./runtime.ts";
import { dataOf } from "./api.ts";

export function componentPath(name: string): string {
  return join(import.meta.dirname, "..", "components", name);
}

export async function componentParams(path: string): Promise<JsonObject> {
  const local = await LocalComponent.open(path);
  try {
    return readParams(path, await local.read());
  } finally {
    await local.dispose();
  }
}

export async function deployFile(server: TestServer, name: string, props: JsonObject = {}): Promise<DeployedSource> {
  const params = await componentParams(componentPath(name));
  return new DeployedSource(server, dataOf(await server.api.post("/v1/sources", { ...params, configured_props: props })));
}
