import { defineSource } from "@pipedream/types";

export default defineSource({ name: "Form", version: "1", run() { this.$emit("define-source"); } });
