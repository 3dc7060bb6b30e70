import { existsSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PdError, messageOf } from "../domain/errors.ts";
import { isRecord, parseJson } from "../domain/text/json.ts";
import type { OtherProgram } from "../sandbox/wall/enclosure.ts";
import { runCommand } from "../system/process/run-command.ts";

export interface Python extends OtherProgram {
  /** As in `3.11.7`. */
  readonly version: string;
  /** Undefined without pip. */
  readonly pipFolder?: string;
}

/** Package sets with native code are for one minor version. */
export function setPrefix({ version }: Pick<Python, "version">): string {
  const [major, minor] = version.split(".");
  return `py-${major}.${minor}-`;
}

const LEAST_MINOR = 9;
const ASK_TIMEOUT_MS = 20_000;

const QUESTION = `
import importlib.util, json, os, sys, sysconfig
paths = sysconfig.get_paths()
pip = importlib.util.find_spec("pip")
shared = os.path.join(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("LDLIBRARY") or "")
print(json.dumps({
    "version": list(sys.version_info[:3]),
    "path": os.path.realpath(sys.executable),
    "folders": sorted({os.path.realpath(paths["stdlib"]), os.path.realpath(paths["platstdlib"])}),
    "shared": os.path.realpath(shared) if shared.endswith(".so") and os.path.isfile(shared) else None,
    "pip": os.path.dirname(os.path.dirname(pip.origin)) if pip and pip.origin else None,
}))
`;

/** `given`: a command or a path. Throws PD_PYTHON_MISSING. */
export async function findPython(given: string, signal: AbortSignal): Promise<Python> {
  const ran = await runCommand(given, ["-I", "-c", QUESTION], { folder: tmpdir(), signal, timeoutMs: ASK_TIMEOUT_MS }).catch((error: unknown) => {
    if (error instanceof PdError && error.code === "PD_STOPPING") throw error;
    throw missing(given, messageOf(error));
  });
  const told = parseJson(ran.output.trim().split("\n").at(-1) ?? "");
  if (ran.code !== 0 || !isRecord(told)) throw missing(given, ran.output.trim().slice(-300) || `it exited with code ${ran.code}`);
  const version = Array.isArray(told["version"]) ? told["version"].map(Number) : [];
  const [major = 0, minor = 0] = version;
  if (major !== 3 || minor < LEAST_MINOR) throw missing(given, `it is Python ${version.join(".")}, but steps need 3.${LEAST_MINOR} or newer`);
  const folders = Array.isArray(told["folders"]) ? told["folders"].map(String) : [];
  const { shared, pip, path } = told;
  return {
    version: version.join("."),
    path: realpathSync(String(path)),
    readable: [...folders, ...(typeof shared === "string" ? [shared] : [])].filter((one) => existsSync(one)),
    ...(typeof pip === "string" && existsSync(join(pip, "pip")) ? { pipFolder: pip } : {}),
  };
}

function missing(given: string, reason: string): PdError {
  return new PdError("PD_PYTHON_MISSING", `Cannot run steps in Python: ${JSON.stringify(given)} cannot be used as Python: ${reason}`);
}
