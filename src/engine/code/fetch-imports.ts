import { PdError } from "../../domain/errors.ts";
import { remoteImports, remotePath } from "../../domain/component/remote-imports.ts";
import type { ComponentCode } from "../../domain/component/saved-component.ts";
import type { CodeOrigin } from "../../ports/code-origin.ts";

const MOST_FILES = 20;

/**
 * Fetches recursively. Files in `pinned` are not fetched again. Throws PD_CODE_UNREACHABLE, and PD_BAD_INPUT for too
 * many files.
 */
export async function withFetchedImports(origin: CodeOrigin, code: ComponentCode, pinned: ComponentCode["files"] = {}): Promise<ComponentCode> {
  const files: Record<string, string> = { ...code.files };
  const waiting = [code.text, ...Object.values(code.files)].flatMap(remoteImports);
  const fetched = new Set<string>();
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    if (fetched.has(url)) continue;
    if (fetched.size >= MOST_FILES) throw new PdError("PD_BAD_INPUT", `Cannot fetch the imports of ${code.path}: more than ${MOST_FILES} files`);
    fetched.add(url);
    const path = remotePath(url);
    const text = pinned[path] ?? (await origin.fetch(url));
    files[path] = text;
    waiting.push(...remoteImports(text));
  }
  return fetched.size === 0 ? code : { ...code, files };
}
