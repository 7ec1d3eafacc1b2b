import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { nodeFault } from "./node-version.ts";

it("refuses each Node that the package's manifest excludes, in one sentence", () => {
  for (const version of ["20.20.0", "22.14.9"])
    expect(nodeFault(version)).toBe(
      `plugin-sdk check needs Node 22.15 or newer, and this is Node ${version}; start it with a newer one.`,
    );
  for (const version of ["22.15.0", "24.0.0", "26.10.0"])
    expect(nodeFault(version)).toBeUndefined();
  const manifest = new URL("../../../package.json", import.meta.url);
  expect(JSON.parse(readFileSync(manifest, "utf8")).engines.node).toBe(">=22.15");
});
