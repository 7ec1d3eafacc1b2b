import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { race } from "./race.ts";

it("measures the engine that comes with Clew beside the floor, finds what was told, and leaves nothing behind", {
  timeout: 180_000,
}, async () => {
  const root = mkdtempSync(join(tmpdir(), "clew-race-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const lossless = { engineId: "lossless", pluginFolder: null, config: {}, needsFile: false };
  const progress: string[] = [];
  const figures = await race({
    runners: [
      { name: "floor", engine: null },
      { name: "lossless", engine: lossless },
      { name: "compressed", engine: { ...lossless, config: { compress: true } }, onlyStores: true },
    ],
    ...{ messages: 200, bytesPerMessage: 1_900, seed: 1, root },
    signal: new AbortController().signal,
    onProgress: (what) => progress.push(what),
  });
  expect(figures.map(({ name }) => name)).toEqual(["floor", "lossless", "compressed"]);
  expect(new Set(figures.map(({ messages }) => messages)).size).toBe(1);
  for (const { asked } of figures.slice(0, 2)) {
    expect(Object.values(asked!.searches).map(({ isRight }) => isRight)).not.toContain(false);
    expect(asked!.restart).toHaveLength(3);
  }
  expect(figures[2]).not.toHaveProperty("asked");
  expect(figures[2]!.diskBytes).toBeLessThan(figures[1]!.diskBytes);
  expect(progress).toContain("200 messages told");
  expect(readdirSync(root)).toEqual([]);
});

it("measures the engine of a plugin folder, as somebody has it who installed one", {
  timeout: 180_000,
}, async () => {
  const root = mkdtempSync(join(tmpdir(), "clew-race-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const pluginFolder = join(root, "plugin");
  const own = join(import.meta.dirname, "../../../../packages/lossless-engine");
  for (const file of ["package.json", "openclaw.plugin.json", "dist/index.js"])
    cpSync(join(own, file), join(pluginFolder, file));
  const engine = { engineId: "lossless", pluginFolder, config: {}, needsFile: true };
  const [figures] = await race({
    runners: [{ name: "beside", engine }],
    ...{ messages: 200, bytesPerMessage: 1_900, seed: 1, root },
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  expect(Object.values(figures!.asked!.searches).map(({ isRight }) => isRight)).not.toContain(
    false,
  );
  expect(figures!.diskBytes).toBeGreaterThan(figures!.inputBytes);
});
