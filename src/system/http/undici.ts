/** A separate file, so that the bundle contains undici's names. */
export { Agent, fetch } from "undici";
