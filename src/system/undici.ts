/** Loaded when the server asks elsewhere for the first time. A file of its own, so that its names are there in the bundle as well. */
export { Agent, fetch } from "undici";
