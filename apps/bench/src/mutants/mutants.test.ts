import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mutantsOf } from "./generate.ts";
import { pickMutants } from "./pick.ts";
import { placesOf } from "./places.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "clew-mutants-"));
});
afterEach(() => rm(root, { recursive: true }));

const write = (path: string, text: string) => {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), text);
};

const CODE = "export function larger(a: number, b: number) {\n  return a > b ? a : b;\n}\n";

describe("mutants", () => {
  it("replace code, never wording", async () => {
    const found = await mutantsOf([{ path: "a.ts", text: `${CODE}export const word = "word";\n` }]);
    expect(found.map(({ replacement }) => replacement)).toContain("a >= b");
    expect(found.every(({ mutator }) => mutator !== "StringLiteral")).toBe(true);
  });

  it("are the same for the same seed", async () => {
    write("packages/one/src/larger.ts", CODE);
    expect(await pickMutants(root, 3, 7)).toEqual(await pickMutants(root, 3, 7));
  });

  it("are found again after their file was formatted, moved and grew, and are gone when their code is", async () => {
    write("packages/one/src/larger.ts", CODE);
    const list = await pickMutants(root, 100, 1);
    await rm(join(root, "packages"), { recursive: true });
    const formatted = CODE.replace("a > b ? a : b", "a > b\n    ? a\n    : b");
    write("packages/one/src/room/larger.ts", `const first = 1 + 1;\n\n\n${formatted}`);
    const moved = await placesOf(list, root);
    const inside = list.findIndex(({ replacement }) => replacement === "a >= b");
    expect(moved[inside]?.file).toBe("packages/one/src/room/larger.ts");
    write("packages/one/src/room/larger.ts", CODE.replace("a > b", "b > a"));
    expect((await placesOf(list, root))[inside]).toBeUndefined();
  });
});
