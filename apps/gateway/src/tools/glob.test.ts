import { matchesGlob } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planGlob } from "./glob.ts";

function named(pattern: string, paths: readonly string[]): string[] {
  const glob = planGlob(pattern);
  if ("why" in glob) throw new Error(glob.why);
  return paths.filter((path) => glob.matches(path));
}

const why = (pattern: string): string => {
  const glob = planGlob(pattern);
  return "why" in glob ? glob.why : "taken";
};

describe("a pattern of files", () => {
  const paths = ["a.ts", "b.tsx", "src/a.ts", "src/deep/c1.ts", "src/[id].ts", "test/a.ts"];

  it("names them by stars, folders, braces and ranges", () => {
    expect(named("*.ts", paths)).toEqual(["a.ts"]);
    expect(named("./*.{ts,tsx}", paths)).toEqual(["a.ts", "b.tsx"]);
    expect(named("**/a.ts", paths)).toEqual(["a.ts", "src/a.ts", "test/a.ts"]);
    expect(named("src/**", paths)).toEqual(["src/a.ts", "src/deep/c1.ts", "src/[id].ts"]);
    expect(named("{src/deep,test}/?{{1..3},}.ts", paths)).toEqual(["src/deep/c1.ts", "test/a.ts"]);
    expect(named("**/[!b-z]*.ts", paths)).toEqual(["a.ts", "src/a.ts", "src/[id].ts", "test/a.ts"]);
    expect(named("src/[[]id].ts", paths)).toEqual(["src/[id].ts"]);
    expect(named("a.ts/**", paths)).toEqual([]);
    expect(named("{a}", ["{a}", "a"])).toEqual(["{a}"]);
  });

  const part = fc.constantFrom(
    ...["a", "b", "c", "*", "**", "?", "/", "{a,b}", "{b/a,c}", "{1..3}", "[ab]", "[!a]", "[b-c]"],
  );
  const path = fc
    .array(fc.string({ unit: fc.constantFrom("a", "b", "c", "1", "2"), minLength: 1 }), {
      minLength: 1,
      maxLength: 4,
    })
    .map((names) => names.join("/"));

  it("names what it names for Node", () => {
    const pattern = fc.array(part, { minLength: 1, maxLength: 7 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(pattern, fc.array(path), (pattern, paths) => {
        // Of an empty name between two slashes everyone thinks something else.
        fc.pre(!/\/\/|^\/|\/$/.test(pattern));
        // Those that stand for too many are refused.
        fc.pre(!("why" in planGlob(pattern)));
        expect(named(pattern, paths)).toEqual(paths.filter((path) => matchesGlob(path, pattern)));
      }),
    );
  });

  it("is refused in a sentence when it stands for too many, is too long or means what is unknown", () => {
    for (const many of ["{a,b}".repeat(16), "{1..99999999}", `{1..${"9".repeat(290)}}`])
      expect(why(many)).toBe(
        "The braces of the pattern stand for more than 100 patterns; list the files by several simpler ones.",
      );
    expect(why("a".repeat(1000))).toBe(
      "The pattern has 1,000 characters, and up to 300 are taken; name a shorter one.",
    );
    expect(why("+(a|b).ts")).toContain('The pattern has "+(", which is not known here');
    expect(why("{a,b}".repeat(6))).toBe("taken");
  });

  it("takes no longer for stars, whatever the names are", () => {
    const name = "a".repeat(255);
    const paths = Array.from({ length: 15 }, () => name).join("/");
    for (const pattern of [
      "*a".repeat(149),
      "**/*a".repeat(59),
      "{*a,a*}".repeat(6),
      "{".repeat(300),
    ])
      expect(named(`${pattern.slice(0, 299)}b`, [paths, name])).toEqual([]);
  });

  it("is read whatever it holds", () => {
    const odd = fc.string({
      unit: fc.constantFrom("{", "}", ",", "[", "]", "!", "-", ".", "*", "1", "é", "😀"),
    });
    fc.assert(
      fc.property(odd, (pattern) => {
        const glob = planGlob(pattern);
        if (!("why" in glob)) glob.matches("a/😀.ts");
      }),
    );
  });
});
