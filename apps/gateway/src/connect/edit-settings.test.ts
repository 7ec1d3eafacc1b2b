import fc from "fast-check";
import JSON5 from "json5";
import { describe, expect, it } from "vitest";
import { withValueAt } from "../config/path.ts";
import type { Setting, SettingsFormat } from "./connection.ts";
import { readSettings, setSettings } from "./edit-settings.ts";
import { planUndo, planWrite } from "./plan-undo.ts";

const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,5}$/);
const text = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom("a # b", "it's", '"', "\\"));
const scalar = fc.oneof(text, fc.integer({ min: -1e6, max: 1e6 }), fc.boolean());

const jsonFile = fc
  .dictionary(name, fc.oneof(scalar, fc.dictionary(name, scalar, { maxKeys: 3 })), { maxKeys: 4 })
  .map((value) => `// Mine.\n${JSON.stringify(value, null, 2)}\n`);
const tomlFile = fc
  .tuple(
    fc.dictionary(name, scalar, { maxKeys: 3 }),
    fc.dictionary(name, fc.dictionary(name, scalar, { maxKeys: 3 }), { maxKeys: 3 }),
  )
  .map(([top, tables]) => {
    const lines = (values: object) =>
      Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)} # Mine.`);
    const own = Object.entries(tables).filter(([key]) => !Object.hasOwn(top, key));
    const parts = own.map(([key, values]) => [`[${key}]`, ...lines(values)].join("\n"));
    return [...lines(top), ...parts.map((part) => `\n${part}`)].join("\n");
  });
const variables = fc
  .array(fc.tuple(fc.stringMatching(/^[A-Z]{1,4}$/), fc.stringMatching(/^[\w./-]{0,8}$/)))
  .map((all) => all.map(([key, value]) => `${key}=${value} # Mine.\n`).join(""));

const settingsOf = (format: SettingsFormat): fc.Arbitrary<Setting[]> => {
  if (format === "env")
    return fc.array(
      fc.record({
        path: fc.stringMatching(/^[A-Z]{1,4}$/).map((key) => [key]),
        value: fc.stringMatching(/^[\w ./#-]{0,8}$/).map((value) => value.trim()),
      }),
      { maxLength: 4 },
    );
  const ours = fc.constantFrom("clew", "model");
  const deep = fc.record({
    path: fc.tuple(name, ours).map((path) => [...path]),
    value: format === "toml" ? fc.dictionary(name, scalar, { minKeys: 1, maxKeys: 3 }) : scalar,
  });
  const flat = fc.record({ path: ours.map((path) => [path]), value: scalar });
  return fc.uniqueArray(fc.oneof(deep, flat), {
    maxLength: 4,
    selector: ({ path }) => path[0],
  });
};

const FILES = { json: jsonFile, toml: tomlFile, env: variables } as const;

describe.each(Object.keys(FILES) as (keyof typeof FILES)[])(
  "settings in a file of %s",
  (format) => {
    it("are what was set, beside what was there, and come back to the byte", () => {
      fc.assert(
        fc.property(FILES[format], settingsOf(format), (before, settings) => {
          let after: string;
          try {
            after = setSettings(before, format, settings);
          } catch {
            // What stands in the way is no object, or is written in a way that is not known.
            return;
          }
          const meant = settings.reduce(
            (value, { path, value: set }) => withValueAt(value, path, set),
            readSettings(before, format),
          );
          expect(readSettings(after, format)).toEqual(meant);
          expect(after.split("# Mine.").length).toBeGreaterThanOrEqual(
            format === "env" ? 1 : before.split("# Mine.").length - settings.length,
          );
          const written = planWrite("f", format, { before, settings });
          expect(planUndo(after, written).text).toBe(before);
        }),
      );
    });

    it("go out of a file that somebody changed since, and leave what it said", () => {
      fc.assert(
        fc.property(FILES[format], settingsOf(format), (before, settings) => {
          let written: ReturnType<typeof planWrite>;
          try {
            written = planWrite("f", format, { before, settings });
          } catch {
            return;
          }
          const changed = setSettings(written.after, format, [{ path: ["ZZZZZ"], value: "1" }]);
          const { text: left, changed: kept } = planUndo(changed, written);
          expect(kept).toEqual([]);
          expect(readSettings(left!, format)).toEqual(
            withValueAt(readSettings(before, format), ["ZZZZZ"], "1"),
          );
        }),
      );
    });
  },
);

describe("a JSON file with comments", () => {
  it("is given JSON, with names in quotes", () => {
    const after = setSettings('{\n  // Mine.\n  "a": 1\n}\n', "json", [
      { path: ["b", "c"], value: "x" },
    ]);
    expect(after).toBe('{\n  // Mine.\n  "a": 1,\n  "b": {\n    "c": "x"\n  }\n}\n');
    expect(JSON5.parse(after)).toEqual({ a: 1, b: { c: "x" } });
  });
});

describe("a file of variables that somebody changed since", () => {
  it.each(['"a\\nb"', "`tick`", "'single $quoted'", '"  spaced  "', '"mine"', "plain # Mine."])(
    "gets %s back as it was written",
    (value) => {
      const before = `A=1\r\nexport KEY=${value}\r\nB=2\r\n`;
      const set = [{ path: ["KEY"], value: "clew" }];
      const written = planWrite("f", "env", { before, settings: set });
      const { text: left } = planUndo(`${written.after}HAND=1\r\n`, written);
      expect(left).toBe(`${before}HAND=1\r\n`);
    },
  );
});
