/** Loaded for the first Python step. */
export { findPython } from "./interpreter.ts";
export { pythonBundler } from "./python-bundler.ts";
export { PythonPackages } from "./python-packages.ts";
export { PythonRunner } from "./python-runner.ts";
export { pythonTool } from "./python-tool.ts";
