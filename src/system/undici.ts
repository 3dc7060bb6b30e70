/** What is used of the library, in a file that is loaded when the first request leaves. */
export { Agent, fetch, request } from "undici";
