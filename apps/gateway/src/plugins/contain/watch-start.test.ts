// What becomes of a plugin whose work ends the process so that nothing can be said.
import { existsSync, writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { clew, startClew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { startPluginProcess } from "../../testing/plugin-process.ts";
import { engineCode } from "../../testing/plugins.ts";
import { asPlugin } from "../load/running.ts";
import { enterSafeMode, readSafeMode } from "../safe-mode.ts";
import { createStrays } from "../strays.ts";
import { atWorkFile, planEnd, readAtWork, writeAtWork } from "./at-work.ts";
import { watchStart } from "./watch-start.ts";

/** As native code or a full memory does, that is. */
const die = (first = "") =>
  `if (process.argv.includes("start")) process.getBuiltinModule("node:child_process").execSync(${JSON.stringify(first)} + "kill -9 " + process.pid);`;

const registering = (code: string) =>
  `export default { register(api) { api.registerContextEngine("small", () => ({})); ${code} } };`;

const ONCE =
  'the gateway ended without a word while plugin "small" was at work; if that happens again, the next start leaves it off (safe mode)';
const WHY =
  /it is off in safe mode, because it was at work when the gateway ended without a word, twice in a row \(.* UTC\); clew plugins enable small brings it back/;

describe("a plugin that ends the process at each start", () => {
  it.each([
    ["is imported", `${die()}\n${engineCode("small")}`],
    ["registers", registering(die())],
    [
      "starts a service",
      registering(
        `api.registerService({ id: "s", async start() { await new Promise((go) => setTimeout(go, 50)); ${die()} } });`,
      ),
    ],
  ])("while it %s is left off by the third, which says so", async (_when, code) => {
    const { home, child } = await startPluginProcess(code, { waits: false });
    expect(await child.exit).toBeNull();
    expect(child.errors()).not.toContain("without a word");
    const second = startClew(home, ["start"]);
    expect(await second.exit).toBeNull();
    expect(second.errors()).toContain(ONCE);
    const third = startClew(home, ["start"]);
    await third.nextLine();
    await expect.poll(() => third.lines.join("\n")).toMatch(WHY);
    third.process.kill("SIGTERM");
    expect(await third.exit).toBe(0);
    expect(existsSync(atWorkFile(home))).toBe(false);
    expect((await clew(home, ["plugins", "list"])).output).toMatch(WHY);
  });
});

describe("a plugin whose long call ends the process later on", () => {
  it("is left off after the second time in a row", async () => {
    const assemble = `assemble: async () => { ${die("sleep 2; ")} },`;
    const { home, child, say } = await startPluginProcess(
      `await new Promise((go) => setTimeout(go, 20));\n${engineCode("small", assemble)}`,
    );
    await say("hello").catch(() => {});
    expect(await child.exit).toBeNull();
    expect(readAtWork(home)).toEqual({ plugin: "small", before: null });
    writeAtWork(home, { plugin: "small", before: "small" });
    const next = startClew(home, ["start"]);
    await expect.poll(() => next.lines.join("\n"), { timeout: 10_000 }).toMatch(WHY);
    next.process.kill("SIGTERM");
    expect(await next.exit).toBe(0);
  });
});

describe("a start", () => {
  const strays = createStrays({ error: () => {} });
  const works = <Result>(pluginId: string, work: () => Result) =>
    asPlugin({ pluginId, strays }, work);

  it("notes who is at work, until the call is over or everything is", async () => {
    const home = await temporaryHome();
    const who = () => readAtWork(home).plugin;
    const start = watchStart(home);
    expect(start.told).toBeUndefined();
    expect(works("a", who)).toBe("a");
    expect(who()).toBeNull();
    expect(works("lossless", who)).toBeNull();
    const { promise, resolve } = Promise.withResolvers<void>();
    const calls = [works("a", () => promise), works("b", () => promise)];
    expect([works("c", who), who()]).toEqual(["c", "b"]);
    resolve();
    await Promise.all(calls);
    expect(who()).toBeNull();
    const failed = works("a", () => Promise.reject(new Error("no")));
    expect(who()).toBe("a");
    await expect(failed).rejects.toThrow("no");
    expect(who()).toBeNull();
    void works("a", () => new Promise(() => {}));
    start.isEnding();
    expect(existsSync(atWorkFile(home))).toBe(false);
    expect(works("a", who)).toBeNull();
  });

  it("blames nobody for one end, nor for two of different plugins, nor after one that was fine", async () => {
    const home = await temporaryHome();
    const startAfter = (plugin: string | null) => {
      if (plugin !== null) writeAtWork(home, { ...readAtWork(home), plugin });
      const start = watchStart(home);
      onTestFinished(start.isEnding);
      return start.told;
    };
    expect(startAfter("small")).toBe(ONCE);
    expect(startAfter("other")).toContain('plugin "other" was at work');
    expect(startAfter("small")).toBe(ONCE);
    expect(startAfter(null)).toBeUndefined();
    expect(startAfter("small")).toBe(ONCE);
    expect(readSafeMode(home).plugins).toEqual({});
    expect(startAfter("small")).toBeUndefined();
    expect(Object.keys(readSafeMode(home).plugins)).toEqual(["small"]);
    expect(readAtWork(home)).toEqual({ plugin: null, before: null });
  });

  it("takes what cannot be read for nothing, and blames no plugin that is off already", async () => {
    const home = await temporaryHome();
    for (const text of ["", "{", "[]", "null", '{"plugin":1}', '{"plugin":""}']) {
      writeFileSync(atWorkFile(home), text);
      expect(readAtWork(home)).toEqual({ plugin: null, before: null });
    }
    enterSafeMode(home, "a", { at: "now", reason: "slept" });
    const { plugins } = readSafeMode(home);
    const isOff = (plugin: string) => plugins[plugin] !== undefined;
    expect(planEnd({ plugin: "a", before: "a" }, isOff)).toEqual({ kind: "fine" });
    expect(planEnd({ plugin: "toString", before: "toString" }, isOff).kind).toBe("again");
  });
});
