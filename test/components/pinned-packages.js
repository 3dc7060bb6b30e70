const exact = require("ms@2.1.2/package.json");
const range = require("is-number@^6/package.json");
const tilde = require("is-odd@~3.0.0/package.json");
const latest = require("isarray@latest/package.json");
const plain = require("left-pad/package.json");

module.exports = {
  name: "Pinned packages",
  version: "0.0.1",
  run() {
    this.$emit({ exact: exact.version, range: range.version, tilde: tilde.version, latest: latest.version, plain: plain.version });
  },
};
