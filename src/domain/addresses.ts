/** True for an address of this machine's loopback interface, also in the IPv6 notation of an IPv4 address. */
export function isLoopbackAddress(address: string | undefined): boolean {
  const plain = (address ?? "").replace(/^::ffff:/, "");
  return plain === "::1" || /^127(?:\.\d{1,3}){3}$/.test(plain);
}

/** Chosen: longer than any address that servers take. Reading a host of a million letters beyond ASCII takes seconds. */
export const MOST_OF_ADDRESS = 8192;

/** The parsed address, or `undefined` when it is not one or is longer than `MOST_OF_ADDRESS` characters. */
export function parsedAddress(address: string): URL | undefined {
  return address.length <= MOST_OF_ADDRESS && URL.canParse(address) ? new URL(address) : undefined;
}
