import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { beforeAll, describe, expect, it } from "vitest";
import { settingRows } from "../config/docs.ts";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { clew, collectOutput } from "../testing/command.ts";
import { homeWithOwnPort } from "../testing/home.ts";
import { createProgram } from "./program.ts";

const ROOT = new URL("../../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");
const guide = read("docs/operator-guide.md");
const GUIDES = ["docs/operator-guide.md", "docs/door.md", "docs/providers.md", "README.md"];

interface Block {
  language: string;
  lines: string[];
  /** Why it is not run, as the guide's source says before it. */
  mark: string | undefined;
}

const blocksOf = (markdown: string): Block[] =>
  [...markdown.matchAll(/(?:<!-- not run: ([^>]+?) -->\n+)?^```(\w+)\n(.*?)^```/gms)].map(
    ([, mark, language, body]) => ({ mark, language: language!, lines: body!.split("\n") }),
  );

const withoutComment = (line: string) => line.replace(/(^|\s)#\s.*$/, "").trim();

/** What is typed, without a comment and with what stands for `clew` in a checkout. */
const commandsIn = ({ lines }: Block): string[] =>
  lines
    .map(withoutComment)
    .map((line) => line.replace(/^npm run -s clew -- ?/, "clew "))
    .filter((line) => line.startsWith("clew "));

const isShell = ({ language }: Block) => language === "sh" || language === "bash";

/** Words as a shell parts them; quotes keep what is in them together. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare!,
  );

/** Of prose: `clew …` up to what a shell does with its output, without those that are cut short. */
const inlineCommands = (markdown: string): string[] =>
  [...markdown.replaceAll(/^```.*?^```/gms, "").matchAll(/`(clew [^`]+)`/g)]
    .map(([, line]) => line!.replaceAll(/\s+/g, " ").replaceAll(/ \[[^\]]*\]/g, ""))
    .map((line) => line.replace(/ (?:>|\\?\|) .*$/, ""))
    .filter((line) => !line.includes("…"));

/** Whether it can be typed: all names and flags are there. Nothing is run. */
async function problemOf(line: string): Promise<string | null> {
  const output = collectOutput();
  const environment = readEnvironment({ CLEW_HOME: "/nowhere" });
  const program = createProgram({ environment, output }, () => {});
  const calm = (command: Command) => {
    // A group that serves when it is named alone.
    if (command.commands.length === 0 || command.name() === "mcp") command.action(() => {});
    for (const below of command.commands) calm(below);
  };
  calm(program);
  return program.parseAsync(wordsOf(line).slice(1), { from: "user" }).then(
    () => null,
    ({ message, code }: { message: string; code: string }) =>
      // A group is named, or help is asked for.
      ["commander.help", "commander.helpDisplayed"].includes(code) ? null : message,
  );
}

describe("commands that guides name", () => {
  const all = GUIDES.flatMap((path) => {
    const markdown = read(path);
    const inBlocks = blocksOf(markdown).filter(isShell).flatMap(commandsIn);
    return [...inBlocks, ...inlineCommands(markdown)].map((line) => [line, path] as const);
  });
  it.each([...new Map(all)])("%s can be typed (%s)", async (line) => {
    // What is missing stands in the sentence around it.
    expect((await problemOf(line)) ?? "").toMatch(/^$|<[^>]+> is missing|needs a value/);
  });
});

describe("settings that guides show", () => {
  const shown = GUIDES.flatMap((path) =>
    blocksOf(read(path))
      .filter(({ language }) => language === "json5")
      .map(({ lines }) => [lines.join("\n"), path] as const),
  );
  it.each(shown)("%s are right and known (%s)", (text, path) => {
    expect(checkConfigText(text, path).warnings).toEqual([]);
  });

  /** Files, keys of other programs' settings, and what is short for a setting told of before. */
  const NO_SETTINGS = /\.(?:jsonl?|md|lock|clew)$|^tools\.deny$/;
  const rows = settingRows().map(({ name }) => name.replaceAll("[]", ".[]").split("."));
  const sections = new Set(rows.map(([first]) => first));
  const isKnown = (name: string) => {
    const parts = name.replaceAll(/\[(?:"[^"]*"|\w*)\]/g, ".[]").split(".");
    return rows.some((row) =>
      parts.every((part, at) => at >= row.length || row[at] === part || /^<|^\[/.test(row[at]!)),
    );
  };
  const named = GUIDES.flatMap((path) =>
    [...read(path).matchAll(/`([a-z]\w*(?:\.[\w<>[\]"/:-]+)+)`/g)].map(
      ([, name]) => [name!, path] as const,
    ),
  ).filter(([name]) => sections.has(name.split(".")[0]) && !NO_SETTINGS.test(name));
  it.each([...new Map(named)])("%s is in the reference (%s)", (name) => {
    expect(isKnown(name)).toBe(true);
  });
});

describe("the operator guide", () => {
  let home: string;
  beforeAll(async () => {
    home = await homeWithOwnPort({ keep: true });
    await clew(home, ["chat", "The tide table is on page 12."]);
  });

  it("says why a block is not run, where none of its lines is", () => {
    const marks = blocksOf(guide).flatMap(({ mark }) => mark ?? []);
    expect(marks.length).toBeGreaterThan(0);
    for (const mark of marks) expect(mark.length).toBeGreaterThan(20);
  });

  /** Files that are named are the home's, and what goes on until Ctrl-C ends at once. */
  const inHome = (word: string) =>
    /^[\w-]+\.(?:md|jsonl?|html)$/.test(word) ? join(home, word) : word;
  const lines = blocksOf(guide)
    .filter((block) => isShell(block) && block.mark === undefined)
    .flatMap(commandsIn);
  it.each(lines.map((line, index) => [index + 1, line] as const))(
    "line %i works as it is printed: %s",
    async (_, line) => {
      const words = wordsOf(line).slice(1);
      const argv = words.filter((word) => word !== "--follow").map(inHome);
      const { code, errors } = await clew(home, argv, { HOME: home });
      expect([code, errors]).toEqual([0, expect.not.stringMatching(/\[[A-Z_]+\]$/)]);
    },
  );
});
