import { execFileSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PD, PdHome } from "../support/pd.ts";

async function filled() {
  const home = await PdHome.make();
  await home.up();
  const code = `export default { name: "Orders", version: "1", props: { size: { type: "string", default: "small", options: ["small", "large"] } }, run() { this.$emit(1); } };`;
  await home.json("deploy", await home.file("orders.mjs", code));
  await home.pd("stores", "create", "$(touch pwned) it's");
  const pd = join(home.folder, "pd");
  await writeFile(pd, `#!/bin/sh\nexec ${process.execPath} ${PD} "$@"\n`);
  await chmod(pd, 0o755);
  await home.file("programs/x", "");
  await home.file("odd name $x.mjs", "");
  for (const shell of ["bash", "zsh", "fish"]) await home.file(`pd.${shell}`, (await home.pd("completion", shell)).stdout);
  const run = (shell: string, ...words: string[]): string =>
    execFileSync(shell, words, {
      cwd: home.folder,
      encoding: "utf8",
      timeout: 300_000,
      env: { ...process.env, HOME: home.folder, PD_HOME: home.home, PATH: `${home.folder}:${process.env["PATH"] ?? ""}`, TERM: "dumb" },
    });
  return { run };
}

describe("Tab, in a real shell, completes commands, sources, props and files:", () => {
  it("bash", async () => {
    const { run } = await filled();
    const candidates = (line: string): string =>
      run("bash", "--norc", "-c", `source pd.bash; COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _pd; printf '%s\\n' "\${COMPREPLY[@]}"`).trim();
    expect(candidates("pd deploy ord").split("\n")).toEqual(["orders", "orders.mjs"]);
    expect(candidates("pd nonsense ")).toBe("");
    const pressed = (line: string): string | undefined => inTerminal(run, { shell: "bash --norc -i", setUp: "source pd.bash", line });
    expect(pressed("pd deplo")).toBe("deploy");
    expect(pressed("pd events o")).toBe("events orders");
    // bash splits the word at =.
    expect(pressed("pd update orders --prop size=l")).toBe("update orders --prop size=large");
    expect(pressed("pd backup ~/orders.m")).toMatch(/^backup \/.*orders\.mjs$/);
    expect(candidates("pd backup pro")).toBe("programs/");
    expect(candidates("pd backup od")).toBe("odd\\ name\\ \\$x.mjs");
    // bash would execute names that are not inserted as text.
    expect(pressed("pd stores show ")).toBe("stores show $(touch pwned) it's");
    expect(run("bash", "--norc", "-c", "ls").split("\n")).not.toContain("pwned");
  });

  it("fish", async () => {
    const { run } = await filled();
    const pressed = (line: string): string[] =>
      run("fish", "--no-config", "-c", `source pd.fish; complete -C '${line}'`)
        .trim()
        .split("\n")
        .map((text) => text.split("\t")[0] ?? "");
    expect(pressed("pd deplo")).toEqual(["deploy"]);
    expect(pressed("pd events o")).toEqual(["orders"]);
    expect(pressed("pd deploy ord").toSorted()).toEqual(["orders", "orders.mjs"]);
    expect(pressed("pd update orders --prop size=l")).toEqual(["size=large"]);
  });

  it("zsh", async () => {
    const { run } = await filled();
    const pressed = (line: string): string | undefined =>
      inTerminal(run, { shell: "zsh -f -i", setUp: "autoload -Uz compinit; compinit -u -d dump; source pd.zsh", line });
    expect(pressed("pd deplo")).toBe("deploy");
    expect(pressed("pd events o")).toBe("events orders");
    expect(pressed("pd update orders --prop size=l")).toBe("update orders --prop size=large");
    expect(pressed("pd backup orders.m")).toBe("backup orders.mjs");
    expect(pressed("pd stores show ")).toBe("stores show $(touch pwned) it's");
    expect(run("zsh", "-f", "-c", "ls").split("\n")).not.toContain("pwned");
  });
});

interface Pressing {
  readonly shell: string;
  readonly setUp: string;
  readonly line: string;
}

/** Types a line, Tab and Enter. Returns the completed line. */
function inTerminal(run: (shell: string, ...words: string[]) => string, { shell, setUp, line }: Pressing): string | undefined {
  const told = 'pd() { if [[ $1 == complete ]]; then command pd "$@"; else printf "%s\\n" "GOT":"$*:TOG"; fi }';
  const script = `zmodload zsh/zpty
    zpty z ${shell}
    zpty -w z '${setUp}; ${told}; printf "%s\\n" READY''TO'
    zpty -r z answer '*READYTO*'
    zpty -w -n z '${line}'$'\\t'
    zpty -w -n z $'\\n'
    zpty -r z answer '*:TOG*'
    print -r -- "$answer"`;
  return /GOT:(.*?):TOG/.exec(run("zsh", "-f", "-c", script))?.[1];
}
