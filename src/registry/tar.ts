/** A separate module keeps its export names in the bundle. */
export { extract } from "tar";
