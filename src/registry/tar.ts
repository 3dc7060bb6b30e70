/** A separate module, so that its export names survive bundling. */
export { extract } from "tar";
