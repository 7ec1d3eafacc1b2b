import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "tsup";
import { expect, it, onTestFinished } from "vitest";

it("definePluginEntry costs a plugin at most 15 kB, not minified, and leaves nothing outside", async () => {
  const outDir = mkdtempSync(join(tmpdir(), "clew-size-"));
  onTestFinished(() => rmSync(outDir, { recursive: true }));
  await build({
    ...{ config: false, silent: true, outDir, noExternal: [/./], target: "node22" },
    ...{ entry: [join(import.meta.dirname, "__fixtures__/plugin.ts")], format: ["esm"] },
    outExtension: () => ({ js: ".js" }),
  });
  const text = readFileSync(join(outDir, "plugin.js"), "utf8");
  expect(text.length).toBeLessThan(15_000);
  expect(text).not.toMatch(/^import /m);
});
