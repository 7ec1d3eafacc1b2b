import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { isOwnReading } from "./own-reading.ts";

async function place() {
  const home = await temporaryHome();
  const cwd = join(home, "agents/main/workspace");
  await mkdir(join(cwd, "src"), { recursive: true });
  for (const file of [join(cwd, "a.txt"), join(cwd, "src/b.ts"), join(home, "clew.json")])
    await writeFile(file, "{}");
  await symlink(join(home, "clew.json"), join(cwd, "link.json"));
  return { home, cwd };
}

describe("a program that asks to read", () => {
  it("is answered yes unasked in its own folder", async () => {
    const { home, cwd } = await place();
    const may = (name: string, given: Record<string, unknown>) =>
      isOwnReading({ name, arguments: given }, { home, cwd });
    expect(await may("Read", { file_path: join(cwd, "a.txt") })).toBe(true);
    expect(await may("Grep", { pattern: "x", path: "src" })).toBe(true);
    expect(await may("Glob", { pattern: "**/*.ts" })).toBe(true);
  });

  it.each([
    ["Read", { file_path: "/etc/passwd" }],
    ["Read", { file_path: "../../../clew.json" }],
    ["Read", { file_path: "link.json" }],
    ["Read", {}],
    ["Glob", { pattern: "../**" }],
    ["Glob", { pattern: "/etc/*" }],
    ["Grep", { pattern: "x", path: "/" }],
    ["Bash", { command: "cat a.txt" }],
    ["Write", { file_path: "a.txt", content: "" }],
  ])("has a person asked about %s of %j", async (name, given) => {
    expect(await isOwnReading({ name, arguments: given }, await place())).toBe(false);
  });

  it("has a person asked where the folder is around the gateway's own", async () => {
    const { home } = await place();
    const around = { home, cwd: home };
    const own = { name: "Read", arguments: { file_path: join(home, "clew.json") } };
    expect(await isOwnReading(own, around)).toBe(false);
    expect(await isOwnReading({ name: "Grep", arguments: { pattern: "x" } }, around)).toBe(false);
  });
});
