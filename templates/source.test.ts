import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "headwater/testing";

test("emits an event each time it is triggered", async () => {
  const source = await load("./__SLUG__.ts");
  const { kept, responses } = await source.run({ http: { body: { hello: "world" } } }); // if: http
  const { kept } = await source.run(); // unless: http
  assert.equal(kept.length, 1);
  assert.equal(responses[0]?.status, 200); // if: http
});
