/** All that is loaded when the first step in Python is met. */
export { findPython } from "./interpreter.ts";
export { pythonBundler } from "./python-bundler.ts";
export { PythonPackages } from "./python-packages.ts";
export { PythonRunner } from "./python-runner.ts";
export { pythonTool } from "./python-tool.ts";
