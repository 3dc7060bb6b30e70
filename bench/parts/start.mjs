import { median, pd, round, spread, timeOf } from "../support.mjs";

/** `pd --version` ÷ `node -e 0`: whole processes, in turn, 25 pairs after 3 that do not count. */
export default async function start() {
  const pairs = Array.from({ length: 28 }, () => ({ bare: timeOf(["-e", "0"]), version: timeOf([pd, "--version"]) })).slice(3);
  const ratios = pairs.map(({ bare, version }) => version / bare);
  return [
    {
      what: "pd --version ÷ node -e 0, whole processes, 25 pairs",
      limit: `${round(median(pairs.map(({ bare }) => bare)), 1)} ms`,
      now: `${round(median(pairs.map(({ version }) => version)), 1)} ms`,
      ratio: round(median(ratios)),
      spread: spread(ratios),
    },
  ];
}
