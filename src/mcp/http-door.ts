/** Loaded together on the first request of an agent. */
export { answerAgent } from "./http-transport.ts";
export { OfferedTools } from "./offered-tools.ts";
