const nothing = undefined;
export const broken = nothing.field;
export default { name: "Throws", version: "1", run() {} };
