import { LocalComponent, type ReadResult } from "../code/local-component.ts";
import { PdError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { BuildProblem } from "../ports/bundler.ts";

/** Parameters of the API for code that lies on this machine. Throws PD_FILE_NOT_FOUND, PD_BUILD_FAILED. */
export async function codeParamsOf(path: string): Promise<JsonObject> {
  const component = await LocalComponent.open(path);
  try {
    return readParams(path, await component.read());
  } finally {
    await component.dispose();
  }
}

/** Parameters of the API for code that was read. Throws PD_BUILD_FAILED. */
export function readParams(path: string, result: ReadResult): JsonObject {
  if (result.kind === "failed") throw new PdError("PD_BUILD_FAILED", `Cannot build ${path}:\n${result.problems.map(problemText).join("\n")}`);
  const { code } = result;
  return { component_code: code.text, component_path: code.path, ...(Object.keys(code.files).length === 0 ? {} : { component_files: { ...code.files } }) };
}

function problemText({ text, file, line, column, frame }: BuildProblem): string {
  const place = file === undefined ? "" : `${file}:${line ?? 1}:${column ?? 1}: `;
  return `${place}${text}${frame === undefined ? "" : `\n${frame}`}`;
}
