/** Loaded for an agent's first request. */
export { answerAgent } from "./http-transport.ts";
export { OfferedTools } from "./offered-tools.ts";
