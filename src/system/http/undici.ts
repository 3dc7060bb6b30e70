/** Loaded for the first outgoing request. A separate file, so that the bundle contains its names. */
export { Agent, fetch } from "undici";
