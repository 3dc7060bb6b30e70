/** Loaded when an archive is unpacked. A file of its own, so that its names are there in the bundle as well. */
export { extract } from "tar";
