import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { eventually } from "./eventually.ts";
import { PD, PdHome, collect } from "./pd.ts";

const ROOT = join(import.meta.dirname, "..", "..");

interface Block {
  readonly language: string;
  readonly text: string;
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a guide's code blocks in order, in one folder. The test must use all of them. */
export class Guide {
  readonly home: PdHome;
  readonly #blocks: readonly Block[];
  #used = 0;

  static async open(path: string, variables: Readonly<Record<string, string>> = {}): Promise<Guide> {
    const home = await PdHome.make(variables);
    const pd = await home.file("programs/pd", `#!/bin/sh\nexec ${process.execPath} ${PD} "$@"\n`);
    await chmod(pd, 0o755);
    await symlink(join(ROOT, "bin"), join(home.folder, "bin"));
    const guide = new Guide(home, blocksIn(await readFile(join(ROOT, path), "utf8")));
    onTestFinished(({ task }) => {
      if (task.result?.state === "pass") expect([path, guide.#used]).toEqual([path, guide.#blocks.length]);
    });
    return guide;
  }

  private constructor(home: PdHome, blocks: readonly Block[]) {
    this.home = home;
    this.#blocks = blocks;
  }

  next(language: string): string {
    const block = this.#blocks[this.#used++];
    expect([this.#used, block?.language]).toEqual([this.#used, language]);
    return block?.text ?? "";
  }

  async runs(language = "sh", changed: (text: string) => string = (text) => text): Promise<Ran> {
    const child = this.#shell(changed(this.next(language)));
    child.stdin?.end();
    const [stdout, stderr] = [collect(child, "stdout"), collect(child, "stderr")];
    const [code] = await once(child, "close");
    return { code, stdout: stdout(), stderr: stderr() };
  }

  /** Waits for `told` in the output. The block stops with the test. */
  async begins(told: string, changed: (text: string) => string = (text) => text): Promise<{ shown: () => string; stop: () => Promise<void> }> {
    const child = this.#shell(changed(this.next("sh")));
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part: Buffer) => (text += part.toString()));
    const shown = (): string => text;
    await eventually(async () => shown().includes(told) || (child.exitCode !== null && Promise.reject(new Error(shown()))));
    const stop = async (): Promise<void> => {
      child.kill("SIGINT");
      if (child.exitCode === null) await once(child, "close");
    };
    onTestFinished(stop);
    return { shown, stop };
  }

  /** Commands with patterns of their output. `…` matches anything. */
  shown(): readonly { readonly command: string; readonly output: RegExp }[] {
    const parts = this.next("console").split(/^\$ /m).slice(1);
    return parts.map((part) => {
      const [command = "", ...lines] = part.trimEnd().split("\n");
      return { command, output: asPattern(lines) };
    });
  }

  #shell(script: string): ChildProcess {
    // exec lets a signal reach the program.
    const text = script.trim().replace(/(^|&& )(pd|node bin\/pd\.cjs) dev (.*)$/m, "$1exec $2 dev $3");
    return this.home.spawn([], { shell: `set -e; PATH="$PWD/programs:$PATH"; HOME="$PWD"\n${text}\nexit` });
  }
}

/** Blocks in lists are indented. */
function blocksIn(markdown: string): readonly Block[] {
  const found = markdown.matchAll(/^( *)```([a-z]*)\n([^]*?)^ *```$/gm);
  return [...found].map(([, indent = "", language = "", text = ""]) => ({ language, text: text.replaceAll(new RegExp(`^${indent}`, "gm"), "") }));
}

/** Loose for ids, ports, times and omitted parts. */
function asPattern(lines: readonly string[]): RegExp {
  const loose = lines.map((line) =>
    line
      .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
      .replaceAll(/\d\d:\d\d:\d\d\\\.\d{3}/g, "[\\d:.]+")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+\\\.\d+Z/g, "[\\dTZ:.-]+")
      .replaceAll(/\b(dc|inv)_\w+/g, "$1_\\w+")
      .replaceAll(/127\\\.0\\\.0\\\.1:\d+(\/[a-z0-9]{20})?/g, "127\\.0\\.0\\.1:\\d+(/[a-z0-9]{20})?")
      .replaceAll(/\b\d+ ms/g, "\\d+ ms")
      .replaceAll(/code [0-9a-f]{7}/g, "code [0-9a-f]+")
      .replaceAll("…", "[^]*"),
  );
  return new RegExp(loose.join("\\n"));
}
