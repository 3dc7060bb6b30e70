import type { InvocationId, RunId } from "../../../domain/ids.ts";
import type { JsonValue } from "../../../domain/text/json.ts";
import { type RunFileRequest, isRunPath } from "../../../domain/run/run-files.ts";
import type { RunFiles } from "../../../ports/run-files.ts";
import type { CallFiles } from "../../../ports/runner.ts";

export async function filesForCall(files: RunFiles, run: RunId, call: InvocationId): Promise<CallFiles> {
  return {
    isEmpty: !(await files.has(run)),
    async answer(request: RunFileRequest): Promise<JsonValue> {
      if ("path" in request && !isRunPath(request.path))
        throw new RangeError(`${JSON.stringify(request.path).slice(0, 200)} is not a valid path in the /tmp of a run`);
      switch (request.operation) {
        case "list-files":
          return (await files.list(run)).map((file) => ({ ...file }));
        case "read-file":
          return Buffer.from(await files.read(run, request.path, request.at)).toString("base64");
        case "write-file": {
          const { path, at, base64, isLast, isExecutable } = request;
          await files.write(run, call, { path, at, bytes: Buffer.from(base64, "base64"), isLast, isExecutable });
          return null;
        }
        case "make-folder":
          await files.makeFolder(run, request.path);
          return null;
        case "remove-file":
          await files.remove(run, request.path);
          return null;
      }
    },
  };
}
