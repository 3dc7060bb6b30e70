import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "headwater/testing";

test("greets", async () => {
  const action = await load("./__SLUG__.ts", { props: { who: "Ada" } });
  const { returned, exports } = await action.run();
  assert.equal(returned, "Hello Ada");
  assert.equal(exports["$summary"], "Hello Ada");
});
