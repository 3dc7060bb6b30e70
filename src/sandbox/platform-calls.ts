import type { Bundle } from "../domain/saved-component.ts";
import { HOSTED_API } from "./protocol.ts";

/** Its code names the hosted platform's API, or brings a package that does. */
export function callsPlatform({ code, packages }: Bundle): boolean {
  return code.includes(HOSTED_API) || packages.some(({ name }) => name === "@pipedream/sdk");
}
