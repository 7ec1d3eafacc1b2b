// What is noticed of changes to what all code shares, tried in a world of its own.
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createContext, runInContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { exposeSdkTo } from "../load/module-hooks.ts";
import { createStrays } from "../strays.ts";
import { watchShared } from "./shared-objects.ts";
import { createSharedWatch, describeChanges } from "./shared-watch.ts";

function openWorld() {
  const context = createContext({});
  const run = (code: string): unknown => runInContext(code, context);
  run("globalThis.fetch = function fetch() {}; globalThis.setTimeout = function setTimeout() {};");
  return { run, shared: watchShared(run("globalThis") as object) };
}

describe("what all code shares", () => {
  it.each<[string, string, object[], string, unknown]>([
    ["a function of JSON", "JSON.parse = () => 7", [{ name: "JSON.parse" }], "JSON.parse('1')", 1],
    [
      "the name of the world",
      "globalThis.globalThis = {}",
      [{ name: "globalThis", isMended: true }],
      "typeof globalThis.JSON",
      "object",
    ],
    [
      "what hides a member of an ancestor",
      "Object.defineProperty(Uint8Array.prototype, 'length', { value: 0, configurable: true })",
      [{ name: "Uint8Array.prototype.length", kind: "added", isMended: true }],
      "new Uint8Array(3).length",
      3,
    ],
    [
      "what decides whether something is an error",
      "Object.defineProperty(Error, Symbol.hasInstance, { value: () => false, configurable: true })",
      [{ name: "Error[symbol]", kind: "added", isMended: true }],
      "new Error() instanceof Error",
      true,
    ],
    ["Promise", "Promise = class {}", [{ name: "Promise" }], "typeof Promise.all", "function"],
    [
      "a method of all lists",
      "Array.prototype.push = () => 7",
      [{ name: "Array.prototype.push" }],
      "[].push(1)",
      1,
    ],
    [
      "what loops go through",
      "Array.prototype[Symbol.iterator] = () => { throw 1; }",
      [{ name: "Array.prototype[Symbol.iterator]" }],
      "[...[1]].length",
      1,
    ],
    [
      "what all functions can do",
      "Function.prototype.call = () => 7",
      [{ name: "Function.prototype.call" }],
      "(() => 1).call()",
      1,
    ],
    ["fetch", "fetch = () => 7", [{ name: "fetch" }], "fetch()", undefined],
    ["a timer", "setTimeout = null", [{ name: "setTimeout" }], "typeof setTimeout", "function"],
    [
      "a method that is taken away",
      "delete String.prototype.trim",
      [{ name: "String.prototype.trim", kind: "removed" }],
      "' x '.trim()",
      "x",
    ],
    [
      "what every object inherits",
      "Object.prototype.toJSON = () => { throw 1; }",
      [{ name: "Object.prototype.toJSON", kind: "added" }],
      "JSON.stringify({})",
      "{}",
    ],
    [
      "a getter in place of a function",
      "Object.defineProperty(JSON, 'stringify', { get() { throw 1; }, configurable: true })",
      [{ name: "JSON.stringify" }],
      "JSON.stringify(1)",
      "1",
    ],
    [
      "the ancestor of lists",
      "Object.setPrototypeOf(Array.prototype, { at7: 7 })",
      [{ name: "Array.prototype.__proto__" }],
      "[].at7",
      undefined,
    ],
    [
      "several at once",
      "Math.max = 1; Map.prototype.get = 2",
      [{ name: "Math.max" }, { name: "Map.prototype.get" }],
      "Math.max(1, 2)",
      2,
    ],
  ])("is as it was again after a change of %s", (_, attack, names, after, value) => {
    const { run, shared } = openWorld();
    expect(shared.check()).toEqual([]);
    expect(shared.glance()).toEqual([]);
    run(attack);
    const changes = shared.glance();
    expect(changes).toHaveLength(names.length);
    expect(changes).toEqual(
      expect.arrayContaining(
        names.map((name) => expect.objectContaining({ ...name, isMended: true })),
      ),
    );
    expect(run(after)).toBe(value);
    expect(shared.check()).toEqual([]);
  });

  it("is told once, and is no harm to loops, where something is added", () => {
    const { run, shared } = openWorld();
    run("Array.prototype.last = function () { return this.at(-1); }");
    expect(shared.check()).toEqual([
      {
        ...{ name: "Array.prototype.last", kind: "added", isMended: false },
        found: run("Array.prototype.last"),
      },
    ]);
    expect(run("let names = []; for (const name in [5]) names.push(name); names.join()")).toBe("0");
    expect(run("[5].last()")).toBe(5);
    expect(shared.glance()).toEqual([]);
  });

  it("is told once where it cannot be put back", () => {
    const { run, shared } = openWorld();
    run(
      "Object.freeze(JSON); Object.defineProperty(Math, 'abs', { value: 1, configurable: false })",
    );
    const changes = shared.check();
    expect(changes.map(({ name, kind }) => `${name} ${kind}`)).toEqual(
      expect.arrayContaining(["JSON.parse frozen", "JSON.stringify frozen", "Math.abs changed"]),
    );
    expect(changes.some(({ isMended }) => isMended)).toBe(false);
    expect(shared.check()).toEqual([]);
  });

  it("may be given more names and numbers", () => {
    const { run, shared } = openWorld();
    run("globalThis.mine = 1; Error.stackTraceLimit = 50; JSON.depth = 7");
    expect(shared.check()).toEqual([]);
  });
});

describe("whoever changed it", () => {
  const lines: string[] = [];
  const strays = createStrays({ error: (line) => void lines.push(line) });

  it("is the plugin that was loaded, or called, or any of them", async () => {
    const { run, shared } = openWorld();
    const watch = createSharedWatch(strays, shared)!;
    watch.afterLoad("reef");
    run("JSON.parse = 1");
    watch.afterLoad("tide");
    watch.around("reef", () => run("JSON.stringify = 1"));
    await watch.around("reef", async () => {
      await Promise.resolve();
      run("fetch = 1");
    });
    expect(() =>
      watch.around("reef", () => {
        run("Promise = 1");
        throw new Error("after all");
      }),
    ).toThrow("after all");
    // In a timer of either.
    run("JSON.parse = 1");
    watch.around("reef", () => {});
    run("Math.max = 1");
    watch.afterRun();
    const changed = (who: string, what: string) =>
      `${who} changed what all code here shares: ${what} (put back)`;
    expect(lines).toEqual([
      `[plugins] tide: ${changed("it", "JSON.parse")}`,
      `[plugins] reef: ${changed("it", "JSON.stringify")}`,
      `[plugins] reef: ${changed("it", "fetch")}`,
      `[plugins] reef: ${changed("it", "Promise")}`,
      `[plugins] reef: ${changed('it or plugin "tide"', "JSON.parse")}`,
      `[plugins] tide: ${changed('it or plugin "reef"', "JSON.parse")}`,
      `[plugins] reef: ${changed('it or plugin "tide"', "Math.max")}`,
      `[plugins] tide: ${changed('it or plugin "reef"', "Math.max")}`,
    ]);
  });

  it("is whoever wrote the function, whoever could have put it there and in whose call", async () => {
    const told: string[] = [];
    const { run, shared } = openWorld();
    const some = createStrays({ error: (line) => void told.push(line) });
    const watch = createSharedWatch(some, shared)!;
    const take = async (pluginId: string) => {
      const root = realpathSync(await temporaryHome());
      exposeSdkTo(root, { pluginId, strays: some, lacks: () => {} });
      const file = join(root, "index.js");
      writeFileSync(file, "export const taken = () => 7;");
      return (await import(pathToFileURL(file).href)) as { taken: () => number };
    };
    const [reef, tide] = [await take("reef"), await take("tide")];
    const world = run("globalThis") as { Math: Math; fetch: unknown; Date: DateConstructor };
    for (const pluginId of ["reef", "tide"]) watch.around(pluginId, () => {});
    world.Math.max = reef.taken;
    world.fetch = tide.taken;
    world.Date.now = tide.taken.bind(null);
    watch.afterRun();
    // As a listener that it added to what another one calls.
    watch.around("reef", () => {
      world.Math.abs = tide.taken;
    });
    watch.afterRun();
    const said = (who: string, what: string) =>
      `${who} changed what all code here shares: ${what} (put back)`;
    expect(told.splice(2)).toEqual([`[plugins] tide: ${said("it", "Math.abs")}`]);
    expect(told.toSorted()).toEqual([
      `[plugins] reef: ${said('it or plugin "tide"', "Date.now (put back), Math.max")}`,
      `[plugins] tide: ${said('it or plugin "reef"', "Date.now (put back), fetch")}`,
    ]);
  });

  it("is told of a few by name", () => {
    const changes = Array.from({ length: 10 }, (_, at) => ({
      ...{ name: `Math.f${at}`, kind: "frozen" as const, isMended: false },
    }));
    expect(describeChanges(changes)).toMatch(
      /^it changed .*: Math\.f0 \(frozen, until a restart\), .*Math\.f7 \(frozen, until a restart\) and 2 more$/,
    );
  });
});
