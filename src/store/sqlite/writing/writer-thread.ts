/** Makes all writes, so that a slow disk or a long write delays only callers that wait for a commit. */
import { MessageChannel, type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { AFTER_START_MS, collectWhenQuiet } from "../../../system/process/quiet-heap.ts";
import { openForWriting } from "../file/open.ts";
import { isFencedMessage } from "../rows/run-message.ts";
import { Witness, witnessPath } from "../file/witness.ts";
import { WriteQueue } from "./write-queue.ts";
import type { WriteReply, WriteRequest } from "./write-request.ts";
import { isWrite } from "./write-rules.ts";
import { Writer, errorText } from "./writer.ts";

function serve(port: MessagePort): void {
  const { path, migrations }: { path: string; migrations: string } = workerData;
  const witness = new Witness(witnessPath(path));
  let writer: Writer;
  try {
    writer = new Writer(
      openForWriting(path, migrations, { witness, onRevision: (revision) => port.postMessage({ id: 0, revision } satisfies WriteReply) }),
      witness,
    );
  } catch (error) {
    port.postMessage({ id: 0, error: errorText(error) } satisfies WriteReply);
    return;
  }
  port.postMessage({ id: 0 } satisfies WriteReply);
  collectWhenQuiet({ firstLookMs: AFTER_START_MS });
  const queue = new WriteQueue();
  port.on("message", (requests: readonly WriteRequest[]) => {
    queue.add(requests);
    let isOpen = true;
    while (isOpen && !queue.isEmpty) isOpen = takeTurn(port, writer, queue);
    if (!isOpen) port.close();
  });
}

/** Returns false once the database is closed. */
function takeTurn(port: MessagePort, writer: Writer, queue: WriteQueue): boolean {
  receiveAll(port, queue);
  const { now, large } = queue.next();
  if (isClosedAfter(port, writer, now)) return false;
  if (large !== undefined) {
    const made = writer.writeLarge(large, () => {
      receiveAll(port, queue);
      return queue.isAwaited;
    });
    const isOver = !("told" in made);
    queue.goOn(isOver ? undefined : made);
    if (isOver) answer(port, [made], [large.request]);
  }
  writer.tidy();
  return true;
}

function receiveAll(port: MessagePort, queue: WriteQueue): void {
  for (;;) {
    const next: { message: readonly WriteRequest[] } | undefined = receiveMessageOnPort(port);
    if (next === undefined) return;
    queue.add(next.message);
  }
}

function isClosedAfter(port: MessagePort, writer: Writer, batch: readonly WriteRequest[]): boolean {
  const replies = writer.perform(batch.filter(({ verb }) => isWrite(verb)));
  for (const { id, verb, values } of batch) {
    if (verb !== "damaged") continue;
    writer.markDamaged(String(values[0]));
    replies.push({ id });
  }
  for (const { id, verb } of batch) if (verb === "scrub") replies.push(writer.scrub(id));
  const closing = batch.find(({ verb }) => verb === "close");
  if (closing !== undefined) {
    writer.close();
    replies.push({ id: closing.id });
  }
  answer(port, replies, batch);
  return closing !== undefined;
}

function answer(port: MessagePort, replies: readonly WriteReply[], to: readonly WriteRequest[]): void {
  if (replies.length > 0) port.postMessage(replies);
  freeParts(to);
}

/** V8 would keep these bytes until a full collection. Buffers moved to a closed port are freed at once. */
function freeParts(batch: readonly WriteRequest[]): void {
  const parts = batch.flatMap(({ values: [write] }) => (isFencedMessage(write) ? (write.eventParts ?? []) : []));
  if (parts.length === 0) return;
  nowhere ??= closedPort();
  nowhere.postMessage(
    null,
    parts.map(({ bytes }) => bytes.buffer),
  );
}

let nowhere: MessagePort | undefined;

function closedPort(): MessagePort {
  const { port1 } = new MessageChannel();
  port1.close();
  return port1;
}

if (parentPort !== null) serve(parentPort);
