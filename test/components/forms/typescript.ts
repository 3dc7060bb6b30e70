const form: string = "typescript";
export default { name: "Form", version: "1", run(): void { this.$emit(form); } };
