import type { IncomingMessage } from "node:http";

/** Of the nodes of a cluster. */
export interface Signer {
  sign(text: string): string;
  isSigned(text: string, signature: string): boolean;
}

export const FORWARDED = "x-headwater-forwarded";
const MOST_AGE_MS = 60_000;
const clients = new WeakMap<IncomingMessage, string>();

/** `<epoch ms> <client's address> <signature>` */
export function forwardedHeader(request: IncomingMessage, { signer, now }: { readonly signer: Signer; readonly now: number }): string {
  const claim = `${now} ${clientAddressOf(request)}`;
  return `${claim} ${signer.sign(signedText(request, claim))}`;
}

/** The header of a request that another node has forwarded. It is removed in any case. */
export function takeForwarded(request: IncomingMessage, { signer, now }: { readonly signer: Signer; readonly now: number }): string | undefined {
  const header = request.headers[FORWARDED];
  if (header === undefined) return undefined;
  removeHeader(request);
  const [at = "", address = "", signature = ""] = String(header).split(" ");
  if (Math.abs(now - Number(at)) > MOST_AGE_MS || !signer.isSigned(signedText(request, `${at} ${address}`), signature)) return undefined;
  clients.set(request, address);
  return String(header);
}

/** Of the answer of a node that got this header and does not lead. */
export function refusalSignature(forwarded: string, signer: Signer): string {
  return signer.sign(`does not lead\n${forwarded}`);
}

/** True when another node of the cluster has forwarded the request. */
export function isForwarded(request: IncomingMessage): boolean {
  return clients.has(request);
}

/** Of the client that sent the request to the first node. */
export function clientAddressOf(request: IncomingMessage): string {
  return clients.get(request) ?? request.socket.remoteAddress ?? "";
}

function signedText({ method, url }: IncomingMessage, claim: string): string {
  return [claim, method, url].join("\n");
}

function removeHeader(request: IncomingMessage): void {
  delete request.headers[FORWARDED];
  const raw = request.rawHeaders;
  for (let place = raw.length - 2; place >= 0; place -= 2) if (raw[place]?.toLowerCase() === FORWARDED) raw.splice(place, 2);
}
