import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { complete, planWanted } from "./complete.ts";
import { planCompletion } from "./menu.ts";

const at = (text: string) => ({ text, cursor: text.length });

/** What Tab makes of a text in a folder with some files, and what there is to choose. */
async function tab(text: string) {
  const folder = await temporaryHome();
  await mkdir(join(folder, "notes"));
  for (const name of ["notes/a.md", "notes/b.md", "read me.txt", ".hidden"])
    await writeFile(join(folder, name), "");
  const found = await complete(planWanted(at(text)), {
    folder,
    commands: async () => [{ text: "/status" }, { text: "/stop" }, { text: "/help" }],
    sessions: async () => [{ text: "main" }, { text: "notes" }],
    models: async () => [{ text: "ollama/qwen" }],
  });
  const { draft, menu } = planCompletion(at(text), found);
  return { text: draft.text, choice: menu?.options.map((option) => option.text) ?? [] };
}

describe("Tab", () => {
  it.each([
    ["/h", "/help ", []],
    ["/st", "/st", ["/status", "/stop"]],
    ["/s", "/st", ["/status", "/stop"]],
    ["/session no", "/session notes ", []],
    ["/model oll", "/model ollama/qwen ", []],
    ["look at no", "look at notes/", []],
    ["look at @notes/", "look at @notes/", ["notes/a.md", "notes/b.md"]],
    ["./notes/a", "./notes/a.md ", []],
    [".h", ".hidden ", []],
    ["nothing/like/this", "nothing/like/this", []],
  ])("makes %j into %j", async (text, expected, choice) => {
    expect(await tab(text)).toEqual({ text: expected, choice });
  });
});
