import { expect, it } from "vitest";
import { fitsPattern } from "../../src/domain/text/star-pattern.ts";

it.each([
  ["slack-send-message", "slack-*", true],
  ["slack-send-message", "*-message", true],
  ["slack-send-message", "slack-*-message", true],
  ["slack-send-message", "slack-*send*", true],
  ["slack-send-message", "slack-**-message", true],
  ["slack-message", "slack-*-message", false],
  ["slack-send-message", "send-*", false],
  ["slack-send-message", "*-send", false],
  ["slack-send-message", "slack*message*message", false],
  ["aXbX", "a*X", true],
  ["abc", "a", false],
  ["abc", "abc", true],
  ["a.b", "a*", true],
  ["axb", "a.*", false],
  [`slack${"-a".repeat(1000)}b`, `slack${"*".repeat(60)}-`, false],
])("%s is of the pattern %s: %s", (text, pattern, isOf) => {
  expect(fitsPattern(text, pattern)).toBe(isOf);
});
