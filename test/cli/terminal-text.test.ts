import { describe, expect, it } from "vitest";
import { confirm, input, select } from "../../src/cli/ask/prompts.ts";
import { forTerminal, isPlainText, plainLine, plainText } from "../../src/cli/terminal-text.ts";
import { fileLines } from "../../src/cli/transfer/transfer-plan.ts";
import { table } from "../../src/cli/reporter.ts";
import { streamLog } from "../../src/system/log.ts";
import { PassThrough } from "node:stream";

const ESC = "\u001b";

describe("what others wrote, on a terminal", () => {
  it.each([
    ["a colour", `${ESC}[31mred${ESC}[39m`, `${ESC}[31mred${ESC}[39m`],
    ["bold and dim", `${ESC}[1mb${ESC}[22m ${ESC}[2md${ESC}[0m`, `${ESC}[1mb${ESC}[22m ${ESC}[2md${ESC}[0m`],
    ["hidden text", `a${ESC}[8mhidden${ESC}[28mb`, "ahiddenb"],
    ["hidden text beside a colour", `${ESC}[1;8;31mx${ESC}[m`, `${ESC}[1;31mx${ESC}[0m`],
    ["text in the colour of its ground", `${ESC}[30;40mx${ESC}[37;47my${ESC}[97;107mz`, "xyz"],
    ["exact colours", `${ESC}[38;5;0;48;2;0;0;0mx${ESC}[38;2;31;31;31my`, "xy"],
    ["blinking, inverse, struck out", `${ESC}[5mx${ESC}[7my${ESC}[9mz`, "xyz"],
  ])("shows %s", (_what, given, shown) => {
    expect(forTerminal(given)).toBe(shown);
  });

  it("ends the colours of each line, so that they colour no line of ours", () => {
    expect(forTerminal(`${ESC}[31mred\nstill`)).toBe(`${ESC}[31mred${ESC}[0m\nstill`);
    expect(forTerminal(`${ESC}[2m${ESC}[31mx${ESC}[39m`)).toBe(`${ESC}[2m${ESC}[31mx${ESC}[39m${ESC}[0m`);
  });

  it.each([
    ["the cursor", `${ESC}[2A${ESC}[2K`, "\\u001b[2A\\u001b[2K"],
    ["a link", `${ESC}]8;;http://evil${ESC}\\x`, "\\u001b]8;;http://evil\\u001b\\x"],
    ["a carriage return", "safe\rEVIL", "safe\\u000dEVIL"],
    ["C1", "\u009b31m", "\\u009b31m"],
    ["the direction of text", "\u202egnp.exe", "\\u202egnp.exe"],
    ["separators of lines", "a\u2028b\u2029c", "a\\u2028b\\u2029c"],
    ["letters that are no letters", "a\u{e0041}b", "a\\udb40\\udc41b"],
  ])("shows %s as its number, also within JSON", (_what, given, shown) => {
    expect(forTerminal(given)).toBe(shown);
    expect(JSON.parse(forTerminal(JSON.stringify(given)))).toBe(given);
  });

  it("has no attribute at all in code, names, tables and questions", () => {
    const hostile = `${ESC}[8mrm -rf${ESC}[0m\u200b`;
    expect(plainText(hostile)).toBe("\\u001b[8mrm -rf\\u001b[0m\\u200b");
    expect(plainLine("a\n+ b\tc")).toBe("a\\n+ b c");
    expect([isPlainText("orders"), isPlainText(hostile), isPlainText("a\nb")]).toEqual([true, false, false]);
    const lines = fileLines([{ path: `x\n+ innocent.mjs`, kind: "changed", lines: [`+ ${hostile}`, "+ one\n- two"] }]);
    expect(lines).toEqual(["~ x\\n+ innocent.mjs", "    + \\u001b[8mrm -rf\\u001b[0m\\u200b", "    + one\\n- two"]);
    expect(table(["name"], [["a"]])).toBe("NAME\na");
  });

  it("neither begins a line of the log nor commands the terminal there", () => {
    const written: string[] = [];
    const log = streamLog({ write: (text) => written.push(text) });
    log.warn("a hook failed", { reason: `x\n2026-01-01T00:00:00.000Z info all is well ${ESC}]0;title\u0007` });
    expect(written).toEqual([expect.stringMatching(/^\S+ warn a hook failed reason=x\\n2026-01-01T00:00:00.000Z info all is well \\u001b\]0;title\\u0007\n$/)]);
  });
});

describe("a question", () => {
  const hostile = `Pick ${ESC}]0;title\u0007${ESC}[8m\u202e`;

  async function asked(
    ask: (context: { input: PassThrough; output: PassThrough }) => Promise<unknown>,
    answer: string,
  ): Promise<{ shown: string; answered: unknown }> {
    const [input, output] = [new PassThrough(), new PassThrough()];
    let shown = "";
    output.on("data", (chunk) => (shown += String(chunk)));
    const answering = ask({ input, output });
    setImmediate(() => input.write(answer));
    return { answered: await answering, shown };
  }

  it("shows messages, choices and offered answers without commands to the terminal, and hands over values as they are", async () => {
    const choices = [{ name: hostile, value: hostile, description: hostile }];
    const runs = [
      await asked((context) => select({ message: hostile, choices }, context), "\r"),
      await asked((context) => confirm({ message: hostile, default: true }, context), "\r"),
      await asked((context) => input({ message: hostile, default: hostile, validate: (answer) => answer === hostile || "changed" }, context), "\r"),
    ];
    expect(runs.map(({ answered }) => answered)).toEqual([hostile, true, hostile]);
    for (const { shown } of runs) {
      expect(shown).toContain("\\u001b]0;title");
      // oxlint-disable-next-line no-control-regex -- these are what it is about
      expect(shown).not.toMatch(/\u001b\]0|\u001b\[8m|\u202e|\u0007/);
    }
  });
});
