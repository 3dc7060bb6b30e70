import { describe, expect, it } from "vitest";
import { commandFirst } from "../../src/cli/main.ts";

describe("flags that every command takes", () => {
  it.each([
    ["-p work list", "list -p work"],
    ["-pwork list --json", "list -pwork --json"],
    ["--json webhooks create u", "webhooks --json create u"],
    ["--home /a --profile=x --json list components", "list --home /a --profile=x --json components"],
  ])("may stand before the command: pd %s", (given, ordered) => expect(commandFirst(given.split(" "))).toEqual(ordered.split(" ")));

  it.each(["list -p work", "--json", "-p", "--home", "--frob list", "-h", "--json --help", ""])("change nothing of pd %s", (given) =>
    expect(commandFirst(given.split(" "))).toEqual(given.split(" ")),
  );
});
