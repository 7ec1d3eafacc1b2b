import { mkdir, readdir, readFile, rename, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { inFolder } from "./opened-folder.ts";
import { edited, placeToWrite, planEdit, writeText } from "./write-files.ts";

async function workspace() {
  const outside = await temporaryHome();
  for (const folder of ["work/src/deep", "other/deep", "home/agents"])
    await mkdir(join(outside, folder), { recursive: true });
  const root = join(outside, "work");
  await writeFile(join(root, "a.txt"), "a");
  const own = { home: join(outside, "home"), configFile: join(outside, "home/clew.json") };
  const bounds = { root, own };
  /** The folder is another one from now on, outside. */
  const swap = async () => {
    await rename(join(root, "src"), join(root, "was-src"));
    await symlink(join(outside, "other"), join(root, "src"));
  };
  return { outside, root, bounds, swap };
}

const { signal } = new AbortController();

describe("a place to write", () => {
  it("is not what git runs, nor the gateway's own files in a workspace around them", async () => {
    const { outside, root, bounds } = await workspace();
    for (const path of [".git/hooks/pre-commit", "src/.GIT/config"])
      await expect(placeToWrite(bounds, path)).rejects.toThrow("in a .git folder");
    await mkdir(join(root, ".git"));
    await symlink(".git", join(root, "link"));
    await expect(placeToWrite(bounds, "link/config")).rejects.toThrow("in a .git folder");
    expect(await placeToWrite(bounds, ".github/ci.yml")).toMatchObject({ name: "ci.yml" });

    const around = { ...bounds, root: outside };
    await expect(placeToWrite(around, "home/clew.json")).rejects.toThrow("gateway's own files");
    expect(await placeToWrite(around, "work/b.txt")).toMatchObject({ folder: root });
    const below = { ...bounds, root: join(outside, "home/agents") };
    expect(await placeToWrite(below, "b.txt")).toMatchObject({ found: undefined });
  });

  it.skipIf(process.platform === "win32")(
    "is refused when a folder on the way became a link since, and nothing is made there",
    async () => {
      const { outside, bounds, swap } = await workspace();
      const places = [
        await placeToWrite(bounds, "src/deep/b.txt"),
        await placeToWrite(bounds, "src/new/folders/b.txt"),
      ];
      await swap();
      for (const place of places)
        await expect(writeText(place, "x", signal)).rejects.toThrow("src was replaced meanwhile");
      expect(await readdir(join(outside, "other"), { recursive: true })).toEqual(["deep"]);
    },
  );

  it.runIf(process.platform === "linux")(
    "stays the folder that was opened when its name is given to another one",
    async () => {
      const { outside, root, swap } = await workspace();
      await inFolder(root, join(root, "src/deep"), async (at) => {
        await swap();
        await writeFile(at("b.txt"), "mine");
      });
      expect(await readFile(join(root, "was-src/deep/b.txt"), "utf8")).toBe("mine");
      expect(await readdir(join(outside, "other/deep"))).toEqual([]);
    },
  );

  it("is left as it is when somebody else changed the file, or put a link there", async () => {
    const { outside, root, bounds } = await workspace();
    const file = join(root, "a.txt");
    const { place } = await edited(bounds, { path: "a.txt", old_text: "a", new_text: "b" });
    await writeFile(file, "theirs");
    await expect(writeText(place, "b", signal)).rejects.toThrow("changed by somebody else");
    expect(await readFile(file, "utf8")).toBe("theirs");

    const again = await placeToWrite(bounds, "a.txt");
    await unlink(file);
    await writeFile(join(outside, "secret"), "theirs");
    await symlink(join(outside, "secret"), file);
    await expect(writeText(again, "b", signal)).rejects.toThrow("changed by somebody else");
    expect(await readFile(join(outside, "secret"), "utf8")).toBe("theirs");
    expect((await readdir(root)).sort()).toEqual(["a.txt", "src"]);
  });

  it("is not written when the turn was stopped meanwhile", async () => {
    const { root, bounds } = await workspace();
    const place = await placeToWrite(bounds, "b.txt");
    await expect(writeText(place, "b", AbortSignal.abort())).rejects.toThrow("aborted");
    expect((await readdir(root)).sort()).toEqual(["a.txt", "src"]);
  });
});

describe("an edit", () => {
  const edit = (text: string, old_text: string, new_text: string, all = false) =>
    planEdit(text, { old_text, new_text, all });

  it("keeps the ends of lines that a file has", () => {
    expect(edit("a\r\nb\r\n", "b", "b\nc")).toEqual({ text: "a\r\nb\r\nc\r\n", times: 1 });
    expect(edit("a\r\nb\r\n", "\r\n", "\n", true)).toEqual({ text: "a\nb\n", times: 2 });
    expect(edit("a\r\nb\nc", "b\nc", "d")).toEqual({ text: "a\r\nd", times: 1 });
  });

  it("takes two places that overlap for two", () => {
    expect(edit("aaa", "aa", "b")).toEqual({
      why: expect.stringContaining("stands there 2 times"),
    });
    expect(edit("aaa", "aa", "b", true)).toEqual({ text: "ba", times: 1 });
  });

  it("changes nothing but what it names, whatever the texts hold", () => {
    const piece = fc.string({ unit: fc.constantFrom("a", "b", "$", "&", "\n", "é", "😀") });
    const some = piece.filter((text) => text !== "");
    fc.assert(
      fc.property(piece, some, piece, piece, (before, old_text, after, new_text) => {
        const plan = edit(before + old_text + after, old_text, new_text);
        if ("why" in plan) expect(plan.why).toMatch(/times|same/);
        else expect(plan).toEqual({ text: before + new_text + after, times: 1 });
      }),
    );
  });
});
