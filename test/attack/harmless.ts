/** Packages call these Node functions while loading, so they must not throw although they reach internals. SECURITY.md lists their answers. */
export const HARMLESS = `
  import nodeModule from "node:module"; import { createRequire } from "node:module";
  const require = createRequire(import.meta.url);
  const told = (work) => { try { return work(); } catch (error) { return error.code ?? error.message; } };
  export default { name: "harmless", version: "1", async run() {
    const hook = "data:text/javascript,export async function resolve() { throw new Error('a hook has run'); }";
    const registered = [told(() => nodeModule.register(hook) ?? "nothing"), told(() => require("node:module").register(hook) ?? "nothing")];
    const imported = await import("node:path").then(() => "as ever", (error) => error.message);
    const bindings = ["buffer", "contextify", "crypto", "process_wrap", "pipe_wrap", "spawn_sync", "tcp_wrap", "v8", "natives", "inspector"];
    return {
      fs: told(() => Object.keys(process.binding("fs")).toSorted()),
      uv: told(() => Object.keys(process.binding("uv"))),
      constants: told(() => Object.keys(process.binding("constants")).toSorted()),
      others: [...new Set(bindings.map((name) => told(() => typeof process.binding(name))))],
      handles: [told(() => process._getActiveHandles()), told(() => process._getActiveRequests())],
      registered,
      imported,
    };
  } };`;

export const HARMLESS_ANSWERS = {
  fs: ["FSReqCallback", "writeBuffers"],
  uv: ["errname"],
  constants: ["crypto", "fs", "os", "trace", "zlib"],
  others: ["ERR_ACCESS_DENIED"],
  handles: [[], []],
  registered: ["nothing", "nothing"],
  imported: "as ever",
};
