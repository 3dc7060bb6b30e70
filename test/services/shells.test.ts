import { execFileSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PD, PdHome } from "../support/pd.ts";

/** A home with a source, a `pd` on the path, and the scripts of the shells. */
async function filled() {
  const home = await PdHome.make();
  await home.up();
  const code = `export default { name: "Orders", version: "1", props: { size: { type: "string", default: "small", options: ["small", "large"] } }, run() { this.$emit(1); } };`;
  await home.json("deploy", await home.file("orders.mjs", code));
  await home.pd("stores", "create", "$(touch pwned) it's");
  const pd = join(home.folder, "pd");
  await writeFile(pd, `#!/bin/sh\nexec ${process.execPath} ${PD} "$@"\n`);
  await chmod(pd, 0o755);
  for (const shell of ["bash", "zsh", "fish"]) await home.file(`pd.${shell}`, (await home.pd("completion", shell)).stdout);
  const run = (shell: string, ...words: string[]): string =>
    execFileSync(shell, words, {
      cwd: home.folder,
      encoding: "utf8",
      env: { ...process.env, HOME: home.folder, PD_HOME: home.home, PATH: `${home.folder}:${process.env["PATH"] ?? ""}`, TERM: "dumb" },
    });
  return { run };
}

describe("Tab, in a real shell, completes commands, sources, props and files:", () => {
  it("bash", async () => {
    const { run } = await filled();
    const pressed = (line: string): string =>
      run("bash", "--norc", "-c", `source pd.bash; COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _pd; printf '%s\\n' "\${COMPREPLY[@]}"`).trim();
    expect(pressed("pd deplo")).toBe("deploy");
    expect(pressed("pd events o")).toBe("orders");
    expect(pressed("pd deploy ord").split("\n")).toEqual(["orders", "orders.mjs"]);
    // What stands behind = is a word of its own to bash.
    expect(pressed("pd update orders --prop size=l")).toBe("large");
    expect(pressed("pd nonsense ")).toBe("");
    // What others have named is inserted as text: bash would carry it out.
    expect(pressed("pd stores show ")).toBe("\\$\\(touch\\ pwned\\)\\ it\\'s");
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
    // A shell in a terminal of its own: what the line has become after Tab is carried out, and told.
    const pressed = (line: string): string | undefined =>
      /GOT:(.*?):TOG/.exec(
        run(
          "zsh",
          "-f",
          "-c",
          `zmodload zsh/zpty
           zpty z zsh -f -i
           zpty -w z 'autoload -Uz compinit; compinit -u -d dump; source pd.zsh; pd() { if [[ $1 == complete ]]; then command pd "$@"; else print -r -- "GOT":"$*:TOG"; fi }; print READY''TO'
           zpty -r z answer '*READYTO*'
           zpty -w -n z '${line}'$'\\t'
           zpty -w -n z $'\\n'
           zpty -r z answer '*:TOG*'
           print -r -- "$answer"`,
        ),
      )?.[1];
    expect(pressed("pd deplo")).toBe("deploy");
    expect(pressed("pd events o")).toBe("events orders");
    expect(pressed("pd update orders --prop size=l")).toBe("update orders --prop size=large");
    expect(pressed("pd backup orders.m")).toBe("backup orders.mjs");
    expect(pressed("pd stores show ")).toBe("stores show $(touch pwned) it's");
    expect(run("zsh", "-f", "-c", "ls").split("\n")).not.toContain("pwned");
  });
});
