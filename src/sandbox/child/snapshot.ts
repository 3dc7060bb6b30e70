/**
 * Makes a snapshot of the process that runs this: one that starts from it has all modules behind it, which is half of the
 * time that a start takes. Node leaves a few things out of it, and those are put back.
 */
import { writeSync } from "node:fs";
import { Module } from "node:module";
import { dirname } from "node:path";
import { startupSnapshot } from "node:v8";
import { begin } from "./main.ts";

const { Console } = console;

startupSnapshot.setDeserializeMainFunction(() => {
  putBackConsole();
  putBackMainModule();
  begin();
});

// Whoever makes the snapshot takes out of it what is in it twice: the code of these.
writeSync(1, String(Reflect.get(process, "moduleLoadList")));

function putBackConsole(): void {
  console.Console = Console;
  // Node leaves a name there that stands for nothing.
  Reflect.deleteProperty(console, "createTask");
}

/** What `require.main` is: packages look for the folder of the program, and for where it finds its packages. */
function putBackMainModule(): void {
  const [, path = ""] = process.argv;
  const paths: unknown = Reflect.get(Module, "_nodeModulePaths")(dirname(path));
  const main = Object.assign(new Module(path), { id: ".", filename: path, loaded: true, paths });
  Reflect.get(Module, "_cache")[path] = main;
  Object.defineProperty(process, "mainModule", { value: main, writable: true, enumerable: true, configurable: true });
}
