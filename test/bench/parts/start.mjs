import { besideNode } from "../support.mjs";

export default async function start() {
  return [besideNode("--version")];
}
