/** True for loopback addresses, including IPv4 addresses in IPv6 notation. */
export function isLoopbackAddress(address: string | undefined): boolean {
  const plain = (address ?? "").replace(/^::ffff:/, "");
  return plain === "::1" || /^127(?:\.\d{1,3}){3}$/.test(plain);
}

/** Chosen: longer than any address that servers accept. Parsing a non-ASCII host of a million characters takes seconds. */
export const MOST_OF_ADDRESS = 8192;

export function parsedAddress(address: string): URL | undefined {
  return address.length <= MOST_OF_ADDRESS && URL.canParse(address) ? new URL(address) : undefined;
}
