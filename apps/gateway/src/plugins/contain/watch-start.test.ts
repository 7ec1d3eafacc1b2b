// What becomes of a plugin whose work ends the process so that nothing can be said.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew, startClew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { startPluginProcess } from "../../testing/plugin-process.ts";
import { engineCode } from "../../testing/plugins.ts";
import { bundledPlugins } from "../find/bundled.ts";
import { exposeSdkTo } from "../load/module-hooks.ts";
import { asPlugin, whileLoading } from "../load/running.ts";
import { readSafeMode } from "../safe-mode.ts";
import { createStrays } from "../strays.ts";
import { type AtWork, atWorkFile, NOBODY, planEnd, readAtWork, writeAtWork } from "./at-work.ts";
import { watchStart } from "./watch-start.ts";

/** As native code or a full memory does, that is. */
const die = (first = "") =>
  `if (process.argv.includes("start")) process.getBuiltinModule("node:child_process").execSync(${JSON.stringify(first)} + "kill -9 " + process.pid);`;

const registering = (code: string) =>
  `export default { register(api) { api.registerContextEngine("small", () => ({})); ${code} } };`;

const ONCE =
  'the gateway ended without a word while plugin "small" was at work; if that goes on, a start leaves off what may be at fault (safe mode), until then everything runs';
const WHY =
  /it is off in safe mode, because it may be why the gateway ended without a word as it started, more than once in a row.*; no other plugin had run that does not come with Clew \(.* UTC\); clew plugins enable small brings it back/;

describe("a plugin that ends the process at each start", () => {
  it.each([
    ["is imported", 2, `${die()}\n${engineCode("small")}`],
    ["registers", 2, registering(die())],
    [
      "starts a service, for which it only waits,",
      4,
      registering(
        `api.registerService({ id: "s", async start() { await new Promise((go) => setTimeout(go, 50)); ${die()} } });`,
      ),
    ],
  ])("while it %s is left off after end %i, which says so", async (_when, ends, code) => {
    const { home, child } = await startPluginProcess(code, { waits: false });
    expect(await child.exit).toBeNull();
    expect(child.errors()).not.toContain("without a word");
    for (let end = 2; end <= ends; end++) {
      const again = startClew(home, ["start"]);
      expect(await again.exit).toBeNull();
      expect(again.errors()).toContain(
        ends === 2 ? ONCE : "ended without a word; plugins that had run: small; if that goes on",
      );
    }
    const last = startClew(home, ["start"]);
    await last.nextLine();
    await expect.poll(() => last.lines.join("\n")).toMatch(WHY);
    last.process.kill("SIGTERM");
    expect(await last.exit).toBe(0);
    expect(existsSync(atWorkFile(home))).toBe(false);
    expect((await clew(home, ["plugins", "list"])).output).toMatch(WHY);
  });
});

describe("a plugin that fills the memory at each start", () => {
  it("while nobody calls it, takes all that may be at fault with it, and nobody innocent alone", async () => {
    const { home, child } = await startPluginProcess(
      `if (process.argv.includes("start")) setTimeout(() => { const all = []; for (;;) all.push(new Array(1e6).fill(1.5)); }, 500);\n${registering("")}`,
      {
        ...{ env: { NODE_OPTIONS: "--max-old-space-size=150" }, waits: false },
        beside: ["other"],
      },
    );
    expect(await child.exit).not.toBe(0);
    const second = startClew(home, ["start"], {
      env: { NODE_OPTIONS: "--max-old-space-size=150" },
    });
    expect(await second.exit).not.toBe(0);
    expect(second.errors()).toContain(
      "the gateway crashed; plugins that had run: small, other; if that goes on",
    );
    const third = startClew(home, ["start"]);
    await expect
      .poll(() => third.lines.join("\n"))
      .toContain(
        'it may be why the gateway crashed as it started, more than once in a row; so may "small", and nothing shows which it was',
      );
    third.process.kill("SIGTERM");
    expect(await third.exit).toBe(0);
    expect(Object.keys(readSafeMode(home).plugins)).toEqual(["small", "other"]);
    expect(existsSync(join(home, "crash-report.json"))).toBe(false);
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
    expect(readAtWork(home)).toMatchObject({ plugin: "small", ran: ["small"] });
    writeAtWork(home, { ...readAtWork(home)!, ends: 1, before: "small" });
    const next = startClew(home, ["start"]);
    await expect.poll(() => next.lines.join("\n")).toMatch(WHY);
    next.process.kill("SIGTERM");
    expect(await next.exit).toBe(0);
  });
});

describe("a start", () => {
  const strays = createStrays({ error: () => {} });
  const works = <Result>(pluginId: string, work: () => Result) =>
    asPlugin({ pluginId, strays }, work);
  const exposed = async (...ids: string[]) => {
    for (const pluginId of ids)
      exposeSdkTo(await temporaryHome(), { pluginId, strays, lacks: () => {} });
  };
  const exposeBundled = () =>
    exposeSdkTo(bundledPlugins()[0]!, { pluginId: "lossless", strays, lacks: () => {} });

  it("notes who is at work, as long as it runs or is loaded and no longer", async () => {
    await exposed("a", "b", "c");
    exposeBundled();
    const home = await temporaryHome();
    const who = () => readAtWork(home)?.plugin;
    const start = watchStart(home);
    expect(start.told).toBeUndefined();
    expect(works("a", who)).toBe("a");
    expect(who()).toBeNull();
    expect(works("lossless", who)).toBeNull();
    expect(works("isolated", who)).toBeNull();
    const { promise, resolve } = Promise.withResolvers<void>();
    const calls = [works("a", () => promise), works("b", () => promise)];
    expect([works("c", () => works("a", who)), who()]).toEqual(["a", null]);
    resolve();
    await Promise.all(calls);
    const loading = whileLoading("c", () => Promise.resolve().then(who));
    expect(await loading).toBe("c");
    expect(who()).toBeNull();
    expect(() =>
      works("a", () => {
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(readAtWork(home)).toMatchObject({ plugin: null, ran: ["a", "b", "c"] });
    start.isEnding();
    expect(existsSync(atWorkFile(home))).toBe(false);
    expect(works("a", who)).toBeUndefined();
  });
});

describe("what an end without a word means", () => {
  const isOff = (plugin: string) => plugin === "off";
  const plan = (found: Partial<AtWork>, isCrash = false) =>
    planEnd({ ...NOBODY, ran: ["a", "b"], ...found }, { isCrash, isOff });

  it("is nobody's fault once, nor after one of another, nor later on, nor with none loaded", () => {
    expect(plan({ plugin: "a" })).toMatchObject({ kind: "told", plugin: "a", ends: 1 });
    expect(plan({ plugin: "a", before: "b", ends: 1 })).toMatchObject({ kind: "told", ends: 2 });
    expect(plan({ ends: 2 })).toMatchObject({ kind: "told", ends: 3 });
    expect(plan({ isStarting: false, ends: 5 })).toMatchObject({ kind: "told", ends: 0 });
    expect(plan({ ran: [] })).toEqual({ kind: "fine" });
    expect(plan({ ran: ["off"] })).toEqual({ kind: "fine" });
    expect(plan({ plugin: "off", before: "off", ends: 1 })).toEqual({ kind: "fine" });
    expect(planEnd(undefined, { isCrash: true, isOff })).toEqual({ kind: "fine" });
  });

  it("is that of one only where Node crashed while it was at work, else that of all that ran", () => {
    const same = { plugin: "a", before: "a", ends: 1 };
    expect(plan(same, true)).toMatchObject({ kind: "again", off: ["a"] });
    expect(plan(same)).toMatchObject({ kind: "again", off: ["a", "b"], plugin: "a" });
    expect(plan({ ends: 1 }, true)).toMatchObject({ kind: "again", off: ["a", "b"], plugin: null });
    expect(plan({ ends: 3, ran: ["a", "off"] })).toMatchObject({ kind: "again", off: ["a"] });
  });

  it("is unknown where the file cannot be read", async () => {
    const home = await temporaryHome();
    for (const text of ["", "{", "null"]) {
      writeFileSync(atWorkFile(home), text);
      expect(readAtWork(home)).toBeUndefined();
    }
    for (const text of ["[]", '{"plugin":1,"ran":[7]}', '{"plugin":"","ends":"x"}']) {
      writeFileSync(atWorkFile(home), text);
      expect(readAtWork(home)).toEqual({ ...NOBODY, isStarting: false });
    }
  });
});
