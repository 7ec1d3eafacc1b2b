import fc from "fast-check";
import JSON5 from "json5";
import { describe, expect, it } from "vitest";
import { removeAt } from "../../config/edit.ts";
import { applySteps, isBlankConfig, type SettingStep, undoSteps } from "./config-text.ts";

const STEPS: SettingStep[] = [
  { path: ["plugins", "load", "paths"], value: "/a/plugin", isItem: true },
  { path: ["plugins", "entries", "tidepool-context", "enabled"], value: true },
  { path: ["plugins", "allow"], value: "tidepool-context", isItem: true },
  { path: ["plugins", "slots", "contextEngine"], value: "tidepool" },
];

const TEXTS = [
  "{}",
  "{ }\n",
  "{\n}\n",
  "{\n  // nothing yet\n}\n",
  '{"gateway": {"port": 1}}',
  '{\n  "gateway": { "port": 1 }\n}\n',
  "{\n  gateway: { port: 1 }, // mine\n}\n",
  "{\n  gateway: { port: 1 } // no comma\n}\n",
  "{ plugins: {} }",
  "{ plugins: { slots: {}, entries: { }, load: { paths: [] } } }",
  "{\n  plugins: {\n    // why\n    slots: { contextEngine: 'legacy' }, /* single quotes */\n    allow: [\n      'other', // first\n    ],\n  },\n}\n",
  "{plugins:{allow:['x'],load:{paths:['/b']}},agents:{}}",
  "{ plugins: { entries: { 'tidepool-context': { enabled: false, config: { a: 1 } } } } }",
];

describe("settings that a plugin's install makes", () => {
  it.each(TEXTS)("can be taken back to the byte: %j", (text) => {
    const applied = applySteps(text, STEPS);
    expect(JSON5.parse(applied.text)).toMatchObject({
      plugins: {
        load: { paths: expect.arrayContaining(["/a/plugin"]) },
        slots: { contextEngine: "tidepool" },
        entries: { "tidepool-context": { enabled: true } },
      },
    });
    expect(undoSteps(applied.text, applied.changes, applied.containers)).toEqual({
      text,
      containers: [],
    });
  });

  it("can be taken back to the byte when two installs are undone in either order", () => {
    const second = STEPS.map((step) => ({
      ...step,
      path: step.path.map((part) => (part === "tidepool-context" ? "other" : part)),
      value: step.isItem ? `${step.value}-2` : step.value,
    })).slice(0, 3);
    for (const text of TEXTS) {
      const one = applySteps(text, STEPS);
      const two = applySteps(one.text, second);
      for (const order of [
        [one.changes, two.changes],
        [two.changes, one.changes],
      ]) {
        const first = undoSteps(two.text, order[0]!, [...one.containers, ...two.containers]);
        expect(undoSteps(first.text, order[1]!, first.containers)).toEqual({
          text,
          containers: [],
        });
      }
    }
  });

  it("can be taken back from any flat text with any spacing and commas", () => {
    const space = fc.constantFrom("", " ", "\n", "\n  ", " // note\n  ", " /* note */ ");
    const member = fc.tuple(
      space,
      fc.constantFrom("a: 1", "'b': [ 2 ]", '"c": {}', "plugins: { }"),
      space,
    );
    const texts = fc
      .tuple(
        fc.uniqueArray(member, { selector: ([, text]) => text, maxLength: 4 }),
        fc.boolean(),
        space,
      )
      .map(([members, comma, end]) => {
        const body = members.map((parts) => parts.join("")).join(",");
        return `{${body}${comma && members.length > 0 ? "," : ""}${end}}`;
      });
    fc.assert(
      fc.property(texts, (text) => {
        const applied = applySteps(text, STEPS);
        expect(undoSteps(applied.text, applied.changes, applied.containers).text).toBe(text);
      }),
    );
  });

  it("leave alone what the person changed in between", () => {
    const applied = applySteps("{}\n", STEPS);
    const edited = applied.text
      .replace("enabled: true,", "enabled: true,\n        config: { depth: 3 }, // mine")
      .replace('"/a/plugin"', '"/a/plugin", "/mine"');
    const undone = undoSteps(edited, applied.changes, applied.containers);
    expect(JSON5.parse(undone.text)).toEqual({
      plugins: {
        load: { paths: ["/mine"] },
        entries: { "tidepool-context": { config: { depth: 3 } } },
      },
    });
    expect(undone.text).toContain("// mine");
  });

  it("that are gone already are not missed", () => {
    const applied = applySteps("{}\n", STEPS);
    expect(undoSteps("{ agents: {} }", applied.changes, applied.containers).text).toBe(
      "{ agents: {} }",
    );
    expect(undoSteps("", applied.changes, applied.containers)).toEqual({
      text: "",
      containers: [],
    });
  });

  it("keep an object in which the person left a comment", () => {
    const applied = applySteps("{ a: 1 }", [
      { path: ["plugins", "slots", "contextEngine"], value: "x" },
    ]);
    const commented = applied.text.replace(/contextEngine/, "// remember\n contextEngine");
    const undone = undoSteps(commented, applied.changes, applied.containers);
    expect(undone.text).toContain("// remember");
    expect(JSON5.parse(undone.text)).toEqual({ a: 1, plugins: { slots: {} } });
  });
});

describe("removing one setting", () => {
  it("keeps everything else", () => {
    expect(removeAt("{ a: 1, b: 2, c: 3 }", ["b"])).toBe("{ a: 1, c: 3 }");
    expect(removeAt("{ a: 1, b: 2 }", ["b"])).toBe("{ a: 1 }");
    expect(removeAt("{ a: 1, b: 2, }", ["b"])).toBe("{ a: 1, }");
    expect(removeAt("{ a: [1, 2, 3] }", ["a", 0])).toBe("{ a: [ 2, 3] }");
    expect(removeAt("{ a: 1 }", ["x", "y"])).toBe("{ a: 1 }");
  });

  it("knows an empty configuration", () => {
    expect(["", " \n", "{}", "{\n}\n"].map(isBlankConfig)).toEqual([true, true, true, true]);
    expect(["{ a: 1 }", "{ /* note */ }"].map(isBlankConfig)).toEqual([false, false]);
  });
});
