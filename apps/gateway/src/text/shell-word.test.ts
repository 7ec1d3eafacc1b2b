import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionWord } from "../sessions/keys.ts";
import { shellWord } from "./shell-word.ts";

describe("a word of a printed command", () => {
  it.each([
    ["harbour", "harbour"],
    ["claude-code:a/b.c", "claude-code:a/b.c"],
    ["$(touch /tmp/x)", "'$(touch /tmp/x)'"],
    ["a'; touch x; '", "'a'\\''; touch x; '\\'''"],
    ["*", "'*'"],
    ["~", "'~'"],
    ["", "''"],
  ])("%j is written as %s", (text, written) => {
    expect(shellWord(text)).toBe(written);
  });

  it("is read by a shell as it was, whatever it is", () => {
    const word = fc.string({ unit: "binary" }).filter((text) => !text.includes("\0"));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
        const given = words.map((text) => Buffer.from(text).toString());
        const script = `printf '%s\\0' ${given.map(shellWord).join(" ")}`;
        const read = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" });
        expect(read.split("\0").slice(0, -1)).toEqual(given);
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });

  it("that names a session is never taken for a flag", () => {
    expect(sessionWord("agent:main:--yes")).toBe("agent:main:--yes");
    expect(sessionWord("agent:main:my notes")).toBe("'my notes'");
    expect(sessionWord("agent:main:notes")).toBe("notes");
  });
});
