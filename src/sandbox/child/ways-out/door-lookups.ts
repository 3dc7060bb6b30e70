import { isIP } from "node:net";
import { isRecord } from "../../../domain/text/json.ts";
import { RECORD_TYPES, type RecordType } from "../../network/door-protocol.ts";
import { type Callback, type DoorLine, isCall } from "./door-questions.ts";

/** The door answers only with public addresses. */
export function leadLookups(line: DoorLine): void {
  const lookUp = async (host: string, given: unknown): Promise<unknown> => {
    const options: Record<string, unknown> = isRecord(given) ? given : { family: given };
    const family = familyOf(options["family"]);
    const literal = isIP(host);
    const found: unknown = literal === 0 ? await line.ask({ kind: "lookup", host, family }) : [{ address: host, family: literal }];
    return options["all"] === true ? found : Array.isArray(found) ? found[0] : undefined;
  };
  const lookUpWithCallback = (host: string, given: unknown, last?: unknown): void => {
    const callback = isCall(given) ? given : last;
    if (!isCall(callback)) throw new TypeError("The callback of dns.lookup has to be a function");
    hand(callback, lookUp(host, isCall(given) ? {} : given), (found) => (isRecord(found) ? [found["address"], found["family"]] : [found]));
  };
  const dns = process.getBuiltinModule("node:dns");
  replace(dns, "lookup", lookUpWithCallback);
  replace(dns.promises, "lookup", lookUp);
  for (const [name, type] of Object.entries(RESOLVERS)) leadResolver(line, name, type);
}

const RESOLVERS: Readonly<Record<string, RecordType | undefined>> = {
  resolve: undefined,
  resolve4: "A",
  resolve6: "AAAA",
  ...Object.fromEntries(RECORD_TYPES.slice(2).map((type) => [`resolve${type[0]}${type.slice(1).toLowerCase()}`, type])),
};

function leadResolver(line: DoorLine, name: string, fixed: RecordType | undefined): void {
  const dns = process.getBuiltinModule("node:dns");
  const resolve = async (host: string, given: unknown): Promise<unknown> => {
    // The second argument of `dns.resolve` is the record type. Other functions take options there.
    const [wanted, options] = fixed === undefined ? [given, undefined] : [fixed, given];
    const type = fixed ?? RECORD_TYPES.find((one) => one === (wanted ?? "A"));
    if (type === undefined)
      throw Object.assign(new TypeError(`dns.resolve does not support records ${JSON.stringify(wanted)}`), { code: "ERR_INVALID_ARG_VALUE" });
    const records = await line.ask({ kind: "resolve", host, type, ttl: isRecord(options) && options["ttl"] === true });
    return type === "SOA" && Array.isArray(records) ? records[0] : records;
  };
  replace(dns.promises, name, resolve);
  replace(dns, name, (host: string, ...rest: unknown[]): void => {
    const callback = rest.findLast(isCall);
    if (callback === undefined) throw new TypeError(`The callback of dns.${name} has to be a function`);
    hand(callback, resolve(host, isCall(rest[0]) ? undefined : rest[0]), (records) => [records]);
  });
}

/** The callback runs in a separate tick, so that its errors are not unhandled rejections. */
function hand(callback: Callback, answer: Promise<unknown>, valuesOf: (found: unknown) => unknown[]): void {
  answer.then(
    (found) => process.nextTick(callback, null, ...valuesOf(found)),
    (error: unknown) => process.nextTick(callback, error),
  );
}

function familyOf(given: unknown): 0 | 4 | 6 {
  if (given === 4 || given === "IPv4") return 4;
  return given === 6 || given === "IPv6" ? 6 : 0;
}

function replace(owner: object, name: string, value: unknown): void {
  if (name in owner) Object.defineProperty(owner, name, { value, configurable: true, writable: true, enumerable: true });
}
