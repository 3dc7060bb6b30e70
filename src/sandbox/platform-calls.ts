import type { Bundle } from "../domain/saved-component.ts";
import { HOSTED_API } from "./protocol.ts";

/** Returns whether the code names the hosted platform's API or includes a package that calls it. */
export function callsPlatform({ code, packages }: Bundle): boolean {
  return code.includes(HOSTED_API) || packages.some(({ name }) => name === "@pipedream/sdk");
}
