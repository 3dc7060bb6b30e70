/** A snapshot saves half of a start: loading the modules. Each start restores what Node leaves out of it. */
import { once } from "node:events";
import { Module } from "node:module";
import { dirname } from "node:path";
import { Duplex } from "node:stream";
import { startupSnapshot } from "node:v8";
import { compileFunction } from "node:vm";
import { MessagePipe } from "../channel/message-pipe.ts";
import type { ToHost } from "../channel/protocol.ts";
import { WARM_UP_COMPONENT } from "../channel/warm-up-component.ts";
import { currentCall } from "./component/call.ts";
import { begin } from "./main.ts";
import { rehearse } from "./rehearsal.ts";

const { Console } = console;

startupSnapshot.setDeserializeMainFunction(() => {
  putBackConsole();
  putBackMainModule();
  begin();
});

void compileForCalls();

/** Functions that have run stay compiled in the snapshot, which saves a tenth of a start. */
async function compileForCalls(): Promise<void> {
  const stream = new Duplex({ read: () => {}, write: (_bytes, _encoding, done) => done() });
  const pipe = new MessagePipe<unknown, ToHost>(stream, { read: (text) => JSON.parse(text), message: () => {}, broken: () => {} });
  // A snapshot cannot contain a module of Node's loader.
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
  // Up to Node 22, a snapshot cannot contain active async tracking. The next call restarts it.
  currentCall.disable();
}

function putBackConsole(): void {
  console.Console = Console;
  // Node leaves an unusable value here.
  Reflect.deleteProperty(console, "createTask");
}

/** Packages find the program's folder through `require.main`. */
function putBackMainModule(): void {
  const [, path = ""] = process.argv;
  const paths: unknown = Reflect.get(Module, "_nodeModulePaths")(dirname(path));
  const main = Object.assign(new Module(path), { id: ".", filename: path, loaded: true, paths });
  Reflect.get(Module, "_cache")[path] = main;
  Object.defineProperty(process, "mainModule", { value: main, writable: true, enumerable: true, configurable: true });
}
