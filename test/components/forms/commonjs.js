module.exports = { name: "Form", version: "1", run() { this.$emit("commonjs"); } };
