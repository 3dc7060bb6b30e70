/**
 * Which of Node's own modules a snapshot has compiled. Node writes all of them at its end, after the memory: how many there are, then of each
 * one the length of its name, its name, how many bytes of code there are, and those. Lengths have 64 bits.
 */

/** A snapshot that is read in parts: what is allocated in one piece and freed raises what the C library keeps for later. */
export interface SnapshotBytes {
  readonly length: number;
  /** What is read; fewer bytes at its end than `into` has room for. */
  readonly read: (place: number, into: Buffer) => Buffer;
}

export interface CompiledModule {
  readonly name: string;
  /** Of its entry, from the length of its name on. */
  readonly place: number;
  readonly bytes: number;
}

export interface CompiledModules {
  /** Of how many there are. */
  readonly place: number;
  readonly modules: readonly CompiledModule[];
}

export const LENGTH_BYTES = 8;
export const PART_BYTES = 64 * 1024;
const MOST_MODULES = 2000;
const MOST_NAME = 200;
/** What V8 begins compiled code with, after two bytes that each build has its own. */
const CODE_MARK = Buffer.from([0xde, 0xc0]);
const CODE_MARK_PLACE = 2;
/** The most that stands before the mark of the first module. */
const BEFORE_MARK = LENGTH_BYTES + LENGTH_BYTES + MOST_NAME + LENGTH_BYTES + CODE_MARK_PLACE + CODE_MARK.length;

/**
 * Found by the code of the first one: as many of them as are told before it take up all the rest. Undefined: there are none, or this version of
 * Node writes them in another way.
 */
export function compiledModules(snapshot: SnapshotBytes): CompiledModules | undefined {
  const room = Buffer.alloc(PART_BYTES);
  for (let place = 0; place < snapshot.length; place += PART_BYTES - BEFORE_MARK) {
    const part = snapshot.read(place, room);
    for (let mark = part.indexOf(CODE_MARK); mark >= 0; mark = part.indexOf(CODE_MARK, mark + 1)) {
      for (const start of startsBefore(part, mark)) {
        const modules = modulesAt(snapshot, place + start);
        if (modules !== undefined) return { place: place + start, modules };
      }
    }
  }
  return undefined;
}

/** Where the list may begin, were this the mark of its first module. */
function* startsBefore(part: Buffer, mark: number): Generator<number> {
  const nameEnds = mark - CODE_MARK_PLACE - LENGTH_BYTES;
  for (let nameBytes = 1; nameBytes <= MOST_NAME; nameBytes++) {
    const nameLength = nameEnds - nameBytes - LENGTH_BYTES;
    if (part[nameLength] === nameBytes && nameLength >= LENGTH_BYTES && lengthAt(part, nameLength) === nameBytes) yield nameLength - LENGTH_BYTES;
  }
}

function modulesAt(snapshot: SnapshotBytes, start: number): readonly CompiledModule[] | undefined {
  const room = Buffer.alloc(LENGTH_BYTES + MOST_NAME + LENGTH_BYTES);
  const count = lengthAt(snapshot.read(start, room), 0);
  if (count === undefined || count === 0 || count > MOST_MODULES) return undefined;
  const modules: CompiledModule[] = [];
  let place = start + LENGTH_BYTES;
  while (modules.length < count) {
    const module = moduleAt(snapshot, place, room);
    if (module === undefined) return undefined;
    modules.push(module);
    place += module.bytes;
  }
  return place === snapshot.length ? modules : undefined;
}

function moduleAt(snapshot: SnapshotBytes, place: number, room: Buffer): CompiledModule | undefined {
  const head = snapshot.read(place, room);
  const nameBytes = lengthAt(head, 0);
  if (nameBytes === undefined || nameBytes > MOST_NAME) return undefined;
  const nameEnds = LENGTH_BYTES + nameBytes;
  const codeBytes = lengthAt(head, nameEnds);
  if (codeBytes === undefined || place + nameEnds + LENGTH_BYTES + codeBytes > snapshot.length) return undefined;
  return { name: head.toString("latin1", LENGTH_BYTES, nameEnds), place, bytes: nameEnds + LENGTH_BYTES + codeBytes };
}

/** Undefined: there is none. Byte by byte: Buffer looks at each number that it is given, and there are thousands. */
function lengthAt(part: Buffer, place: number): number | undefined {
  if (place + LENGTH_BYTES > part.length) return undefined;
  let length = 0;
  for (let byte = LENGTH_BYTES - 1; byte >= 0; byte--) length = length * 256 + (part[place + byte] ?? 0);
  return length;
}
