/**
 * Makes a snapshot of the process that runs this: one that starts from it has all modules behind it, which is half of the
 * time that a start takes. Node leaves a few things out of it, and those are put back.
 */
import { once } from "node:events";
import { writeSync } from "node:fs";
import { Module } from "node:module";
import { dirname } from "node:path";
import { Duplex } from "node:stream";
import { startupSnapshot } from "node:v8";
import { compileFunction } from "node:vm";
import { MessagePipe } from "../message-pipe.ts";
import type { ToHost } from "../protocol.ts";
import { WARM_UP_COMPONENT } from "../warm-up-component.ts";
import { currentCall } from "./call.ts";
import { begin } from "./main.ts";
import { rehearse } from "./rehearsal.ts";

const { Console } = console;

startupSnapshot.setDeserializeMainFunction(() => {
  putBackConsole();
  putBackMainModule();
  begin();
});

void compileForCalls().then(tellModules);

/** Whoever makes the snapshot takes out of it what is in it twice: the code of these. */
function tellModules(): void {
  writeSync(1, String(Reflect.get(process, "moduleLoadList")));
}

/** What has run by now is in the snapshot as compiled code: a process that starts from it does not compile that, which is a tenth of its start. */
async function compileForCalls(): Promise<void> {
  const stream = new Duplex({ read: () => {}, write: (_bytes, _encoding, done) => done() });
  const pipe = new MessagePipe<unknown, ToHost>(stream, { read: (text) => JSON.parse(text), message: () => {}, broken: () => {} });
  // A module of Node's loader has no place in a snapshot.
  const component: unknown = Reflect.apply(compileFunction(`return ${WARM_UP_COMPONENT};`), undefined, []);
  await rehearse({
    url: "file:///warm-up.mjs",
    importModule: async () => ({ default: component }),
    tell: (message) => pipe.send(message),
    isOver: () => false,
  });
  stream.push("{}\n");
  stream.push(null);
  await once(stream, "end");
  stream.destroy();
  // Up to Node 22 what follows calls through promises cannot be written down. The next call begins it anew.
  currentCall.disable();
}

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
