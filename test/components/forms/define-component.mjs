export default defineComponent({ name: "Form", version: "1", run() { this.$emit("define-component"); } });
