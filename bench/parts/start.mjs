import { besideNode } from "../support.mjs";

/** A process that does nothing but tell its version. */
export default async function start() {
  return [besideNode("--version")];
}
