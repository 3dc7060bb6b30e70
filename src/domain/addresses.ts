/** True for an address of this machine's loopback interface, also in the IPv6 notation of an IPv4 address. */
export function isLoopbackAddress(address: string | undefined): boolean {
  const plain = (address ?? "").replace(/^::ffff:/, "");
  return plain === "::1" || /^127(?:\.\d{1,3}){3}$/.test(plain);
}
