import { lookup as lookUp } from "node:dns";
import { BlockList, type LookupFunction, isIP } from "node:net";

const PRIVATE = privateAddresses();

function privateAddresses(): BlockList {
  const list = new BlockList();
  const v4 = ["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16"];
  const more = ["192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"];
  const v6 = [
    "::/96",
    "fec0::/10",
    "2001::/32",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001:db8::/32",
    "2002::/16",
    "fc00::/7",
    "fe80::/10",
    "ff00::/8",
  ];
  for (const range of [...v4, ...more, ...v6]) {
    const [address = "", prefix] = range.split("/");
    list.addSubnet(address, Number(prefix), address.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

/** Also true for other addresses that the internet does not reach. */
export function isPrivateAddress(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const plain = mapped ?? address;
  return PRIVATE.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
}

/** Fails with PD_PRIVATE_ADDRESS when `refusal` returns a reason. */
export function guardedLookup(refusal: (address: string) => string | undefined): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "");
      const reason = addresses.map(({ address }) => refusal(address)).find((text) => text !== undefined);
      if (reason !== undefined) return callback(Object.assign(new Error(reason), { code: "PD_PRIVATE_ADDRESS" }), "");
      if (options.all === true) return callback(null, addresses);
      return callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
    });
  };
}
