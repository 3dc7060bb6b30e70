export default { name: "Form", version: "1", run() { this.$emit("esm"); } };
