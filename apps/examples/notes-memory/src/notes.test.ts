import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { noteOf, openNotes } from "./notes.ts";

function notesIn(files: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "notes-"));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const notes = openNotes(folder);
  onTestFinished(() => {
    notes.close();
    rmSync(folder, { recursive: true });
  });
  return { folder, notes, write };
}

it("finds passages by their words, the best first, with their lines", () => {
  const { notes } = notesIn({
    "MEMORY.md": "# Boats\n\nThe boat is called Pelican.\nIt is blue.\n\nThe dog is called Bo.\n",
    "memory/2026-05-04.md": "Rain all day.\n\nPelicans eat fish.\n\nThe bakery opens at six.\n",
  });
  const found = notes.search("what is the boat called?", 5);
  expect(found[0]).toMatchObject({ path: "MEMORY.md", startLine: 3, endLine: 4 });
  expect(found.map(({ snippet }) => snippet)).not.toContain("Rain all day.");
});

it("sees at once what was added, changed or removed, by whomever", () => {
  const { notes, folder, write } = notesIn();
  const path = notes.add("The harbour is Elbe.", Date.UTC(2026, 4, 4, 12));
  expect(path).toBe("memory/2026-05-04.md");
  expect(notes.search("harbour", 5)).toHaveLength(1);
  write("memory/deep/er.md", "A second harbour.");
  expect(notes.search("harbour", 5)).toHaveLength(2);
  rmSync(join(folder, path));
  expect(notes.search("harbour", 5).map((found) => found.path)).toEqual(["memory/deep/er.md"]);
});

it("finds words of scripts without spaces", () => {
  const { notes } = notesIn({ "memory/a.md": "明日は東京で会議があります" });
  expect(notes.search("東京", 5)).toHaveLength(1);
});

it("takes any query, and no link", () => {
  const { notes, folder } = notesIn({ "memory/a.md": 'say "hello" NEAR(x) OR *' });
  expect(notes.search('"hello" AND NEAR( * -', 5)).toHaveLength(1);
  expect(notes.search("!!!", 5)).toEqual([]);
  symlinkSync("/etc/hostname", join(folder, "memory", "link.md"));
  expect(() => notes.read("memory/link.md")).toThrow("is no note");
  expect(() => notes.read("../../etc/hostname")).toThrow("is no note");
});

it("shows a part of a note", () => {
  const { notes } = notesIn({ "MEMORY.md": "one\ntwo\nthree\n" });
  expect(notes.read("MEMORY.md", 2, 1)).toBe("two");
});

it("names the note of a day", () => {
  expect(noteOf(new Date(2026, 0, 2, 3).getTime())).toBe("memory/2026-01-02.md");
});
