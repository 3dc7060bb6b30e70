/** What answers agents over HTTP: one piece, which a server loads for the first of them. */
export { answerAgent } from "./http-transport.ts";
export { OfferedTools } from "./offered-tools.ts";
