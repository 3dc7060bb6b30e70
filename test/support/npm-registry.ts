import { onTestFinished } from "vitest";

export function useRegistry(url: string): void {
  const before = process.env["npm_config_registry"];
  process.env["npm_config_registry"] = url;
  onTestFinished(() => {
    if (before === undefined) delete process.env["npm_config_registry"];
    else process.env["npm_config_registry"] = before;
  });
}
