import { LocalComponent, type ReadResult } from "../../code/local-component.ts";
import { buildFailed } from "../../domain/build-problem.ts";
import type { ProjectRoot } from "../../system/project-root.ts";

/** Parameters of the API for code that was read. */
export type LocalCode = {
  readonly component_code: string;
  readonly component_path: string;
  readonly component_files?: Record<string, string>;
};

/**
 * Parameters of the API for code on this machine. `root`: where its files have to be; when omitted, the project that
 * the path is in. Throws PD_FILE_NOT_FOUND, PD_BUILD_FAILED, PD_BAD_INPUT.
 */
export async function codeParamsOf(path: string, root?: ProjectRoot): Promise<LocalCode> {
  const component = await LocalComponent.open(path, root);
  try {
    return readParams(path, await component.read());
  } finally {
    await component.dispose();
  }
}

/** Parameters of the API for code that was read. Throws PD_BUILD_FAILED. */
export function readParams(path: string, result: ReadResult): LocalCode {
  if (result.kind === "failed") throw buildFailed(path, result.problems);
  const { code } = result;
  return { component_code: code.text, component_path: code.path, ...(Object.keys(code.files).length === 0 ? {} : { component_files: { ...code.files } }) };
}
