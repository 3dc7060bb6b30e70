import { describe, expect, it } from "vitest";
import { readSettings } from "../src/config.ts";

describe("a setting", () => {
  it("is that of the flag, else that of the variable, else that of the config file, else its default", () => {
    const file = { concurrency: 2, keep_events: 2, idle: 2 };
    const environment = { PD_CONCURRENCY: "3", PD_KEEP_EVENTS: "3" };
    const { concurrency, keepEvents, idleMs, catchUp } = readSettings({ flags: { concurrency: "4" }, environment, file });
    expect([concurrency, keepEvents, idleMs, catchUp]).toEqual([4, 3, 2000, "latest"]);
  });

  it.each([
    ["a flag", { flags: { port: "x" } }, 'Cannot use --port "x": expected a number of at least 0'],
    ["a variable", { environment: { PD_PORT: "70000" } }, 'Cannot use PD_PORT "70000": expected a port from 0 to 65535'],
    ["the config file", { file: { catch_up: "never" } }, 'Cannot use catch_up of the config file: "never": expected one of latest, skip, all'],
    ["what is yes or no", { flags: { allowScripts: "maybe" } }, 'Cannot use --allow-scripts "maybe": expected one of true, false, 1, 0'],
    ["an address", { environment: { PD_PUBLIC_URL: "ftp://x" } }, 'Cannot use PD_PUBLIC_URL "ftp://x": expected an http or https address'],
  ])("that is wrong is told as it was given: %s", (_title, given, message) => {
    expect(() => readSettings(given)).toThrow(message);
  });
});
