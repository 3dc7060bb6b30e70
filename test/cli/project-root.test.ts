import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { LocalComponent } from "../../src/code/local-component.ts";
import { givenEnv, givenProps } from "../../src/cli/code/prop-flags.ts";
import { codeOf } from "../../src/cli/code/component-target.ts";
import { noteId, readWorkflowFolder } from "../../src/cli/workflows/folder.ts";
import { ProjectRoot } from "../../src/system/home/project-root.ts";
import { temporaryFolder } from "../support/home.ts";

const SECRET = '{"auths":"of-the-user"}';
const OUTSIDE = { code: "PD_BAD_INPUT", message: expect.stringMatching(/Cannot read .*config\.json.*outside of the project/) };

interface Machine {
  readonly secret: string;
  readonly project: string;
  readonly file: (path: string, text: string) => Promise<string>;
}

async function machine(mark?: ".git" | "package.json"): Promise<Machine> {
  const home = await temporaryFolder();
  vi.stubEnv("HOME", home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = async (path: string, text: string): Promise<string> => {
    const place = join(home, path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, text);
    return place;
  };
  const secret = await file(".docker/config.json", SECRET);
  const project = join(home, "downloads", "stranger");
  await file("downloads/stranger/README.md", "run it");
  if (mark === ".git") await mkdir(join(project, ".git"));
  if (mark === "package.json") await file("downloads/stranger/package.json", "{}");
  return { secret, project, file };
}

const component = (head: string): string => `${head}\nexport default { name: "x", version: "1", run: () => k };`;

describe("what is sent of a stranger's project", () => {
  it.each([
    ["an import", 'import k from "../../.docker/config.json";'],
    ["an import as text", 'import k from "../../.docker/config.json" with { type: "text" };'],
    ["an absolute import", 'import k from "HOME/.docker/config.json";'],
    ["a required file", 'const k = require("../../.docker/config.json");'],
    ["an export", 'export * as more from "../../.docker/config.json"; const k = 1;'],
  ])("is no file of the user that %s names", async (_what, head) => {
    const { file, secret } = await machine("package.json");
    const path = await file("downloads/stranger/x.mjs", component(head.replace("HOME", dirname(dirname(secret)))));
    await expect(codeOf(path)).rejects.toMatchObject({ code: "PD_BUILD_FAILED", message: expect.stringContaining("is outside of the project") });
  });

  it.each(["file", "folder", "chain of links"])("is no file of the user that a %s leads to", async (kind) => {
    const { file, project, secret } = await machine(".git");
    if (kind === "folder") await symlink(dirname(secret), join(project, "lib"));
    else if (kind === "file") await symlink(secret, join(project, "x.json"));
    else {
      await symlink(secret, join(project, "first.json"));
      await symlink("first.json", join(project, "x.json"));
    }
    const path = await file("downloads/stranger/x.mjs", component(`import k from "./${kind === "folder" ? "lib/config" : "x"}.json";`));
    await expect(codeOf(path)).rejects.toMatchObject({ code: "PD_BUILD_FAILED", message: expect.stringContaining(secret) });
  });

  it("is no file of the user that takes the place of one that was read before", async () => {
    const { file, project, secret } = await machine(".git");
    const path = await file("downloads/stranger/x.mjs", component('import k from "./x.json";'));
    await file("downloads/stranger/x.json", "1");
    const opened = await LocalComponent.open(path);
    onTestFinished(() => opened.dispose());
    expect(await opened.read()).toMatchObject({ kind: "read" });
    await rm(join(project, "x.json"));
    await symlink(secret, join(project, "x.json"));
    expect(await opened.readAgain()).toBeUndefined();
    expect(await opened.read()).toMatchObject({ kind: "failed", problems: [{ text: expect.stringContaining("is outside of the project") }] });
    await rm(path);
    await symlink(secret, path);
    expect(await opened.read()).toMatchObject({ kind: "failed", problems: [{ text: expect.stringContaining("is outside of the project") }] });
  });

  it("is neither its entry, when that is a link to a file of the user, nor what Git keeps for itself", async () => {
    const { file, project, secret } = await machine(".git");
    await symlink(secret, join(project, "entry.json"));
    await expect(codeOf(join(project, "entry.json"))).rejects.toMatchObject(OUTSIDE);
    await file("downloads/stranger/.git/config", "url = https://user:token@host");
    const path = await file("downloads/stranger/x.mjs", component('import k from "./.git/config" with { type: "text" };'));
    await expect(codeOf(path)).rejects.toMatchObject({ message: expect.stringContaining("belongs to Git") });
  });

  it.each(["file", "folder"])("is no file of the user that a %s in a workflow's folder leads to", async (kind) => {
    const { file, project, secret } = await machine();
    await file("downloads/stranger/workflow.yaml", "name: x\n");
    await symlink(kind === "file" ? secret : dirname(secret), join(project, kind === "file" ? "config.json" : "lib"));
    await expect(readWorkflowFolder(project)).rejects.toMatchObject({ code: "PD_BAD_INPUT", message: expect.stringContaining("outside of the project") });
  });

  it("is no file of the user that a link among the files for flags leads to; one that is named itself, and a pipe, are read", async () => {
    const { file, project, secret } = await machine(".git");
    await symlink(secret, join(project, "values.json"));
    const link = join(project, "values.json");
    await expect(givenProps({ props: link })).rejects.toMatchObject(OUTSIDE);
    await expect(givenProps({ prop: [`a=@${link}`] })).rejects.toMatchObject(OUTSIDE);
    await expect(givenEnv({ envFile: link })).rejects.toMatchObject(OUTSIDE);
    expect(await givenProps({ props: secret, prop: [`a=@${secret}`, "b=@/dev/null"] })).toEqual({ auths: "of-the-user", a: SECRET, b: "" });
    expect(await givenEnv({ envFile: await file("elsewhere/prod.env", "A=1") })).toEqual({ A: "1" });
  });
});

describe("the project of a file", () => {
  it("is its repository, else the nearest folder with a package.json, else its own folder, and never the user's home", async () => {
    const { file, secret } = await machine();
    const home = dirname(dirname(secret));
    const of = async (path: string): Promise<string> => (await ProjectRoot.of(path)).folder.slice(home.length);
    const path = await file("code/repository/packages/one/src/x.mjs", "");
    expect(await of(path)).toBe("/code/repository/packages/one/src");
    await file("code/repository/packages/one/package.json", "{}");
    expect(await of(path)).toBe("/code/repository/packages/one");
    // In worktrees and submodules, .git is a file.
    await file("code/repository/.git", "gitdir: elsewhere");
    expect(await of(path)).toBe("/code/repository");
    // A home often has one, by accident or for settings in Git.
    await file("package.json", "{}");
    await file(".git/HEAD", "");
    expect(await of(await file("alone/x.mjs", ""))).toBe("/alone");
    expect(await of(await file("x.mjs", ""))).toBe("");
  });

  it("lets folders share files", async () => {
    const { file, project } = await machine("package.json");
    const path = await file("downloads/stranger/sources/x.mjs", component('import k from "../common/k.json";'));
    await file("downloads/stranger/common/k.json", "1");
    await mkdir(join(project, "linked"));
    await symlink(join("..", "common", "k.json"), join(project, "linked", "k.json"));
    expect(await codeOf(path)).toMatchObject({ component_files: { "common/k.json": "1" } });
  });
});

describe("the note of which workflow a folder is", () => {
  it("goes through no link, and holds nothing but an id", async () => {
    const { project, secret } = await machine();
    await symlink(secret, join(project, ".workflow.state"));
    await noteId({ path: project }, "p_abc123");
    expect(await readFile(secret, "utf8")).toBe(SECRET);
    expect(await readFile(join(project, ".workflow.state"), "utf8")).toContain("id: p_abc123");
    await expect(noteId({ path: project }, "p_1\nalias ls=evil")).rejects.toMatchObject({ code: "PD_SERVER_UNREACHABLE" });
  });
});
