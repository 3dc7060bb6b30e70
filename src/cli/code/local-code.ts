import { LocalComponent, type ReadResult } from "../../code/local-component.ts";
import { buildFailed } from "../../domain/component/build-problem.ts";
import type { ProjectRoot } from "../../system/home/project-root.ts";

export type LocalCode = {
  readonly component_code: string;
  readonly component_path: string;
  readonly component_files?: Record<string, string>;
};

/** Files must be under `root`, by default the project of the path. Throws PD_FILE_NOT_FOUND, PD_BUILD_FAILED and PD_BAD_INPUT. */
export async function codeParamsOf(path: string, root?: ProjectRoot): Promise<LocalCode> {
  const component = await LocalComponent.open(path, root);
  try {
    return readParams(path, await component.read());
  } finally {
    await component.dispose();
  }
}

/** Throws PD_BUILD_FAILED. */
export function readParams(path: string, result: ReadResult): LocalCode {
  if (result.kind === "failed") throw buildFailed(path, result.problems);
  const { code } = result;
  return { component_code: code.text, component_path: code.path, ...(Object.keys(code.files).length === 0 ? {} : { component_files: { ...code.files } }) };
}
