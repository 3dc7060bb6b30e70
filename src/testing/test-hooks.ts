/** Runs in each process of `pd test`: compiles TypeScript, and resolves `headwater/…` to this installation, so that tests need no install. */
import { readFile } from "node:fs/promises";
import { type LoadHookContext, type ResolveHookContext, register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { transform } from "esbuild";

const OWN = /^headwater\/(component|testing|client)$/;

if (isMainThread) register(import.meta.url);

type Next<Context, Result> = (specifier: string, context: Context) => Result | Promise<Result>;

export async function resolve(specifier: string, context: ResolveHookContext, next: Next<ResolveHookContext, object>): Promise<object> {
  const part = OWN.exec(specifier)?.[1];
  if (part === undefined) return next(specifier, context);
  return { url: new URL(`${part}.js`, import.meta.url).href, format: "module", shortCircuit: true };
}

export async function load(url: string, context: LoadHookContext, next: Next<LoadHookContext, object>): Promise<object> {
  if (!/\.m?ts$/.test(url) || !url.startsWith("file:")) return next(url, context);
  const { code } = await transform(await readFile(fileURLToPath(url), "utf8"), {
    loader: "ts",
    format: "esm",
    target: "node20.19",
    sourcemap: "inline",
    sourcefile: fileURLToPath(url),
  });
  return { format: "module", source: code, shortCircuit: true };
}
