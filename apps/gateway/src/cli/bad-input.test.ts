import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ERROR_CODES } from "@clew/plugin-sdk/core";
import { beforeAll, describe, expect, it } from "vitest";
import { type CommandResult, clew, runClew } from "../testing/command.ts";
import { homeWithOwnPort, temporaryHome } from "../testing/home.ts";

/** In the place of a session file: one that is there, and several that cannot be one. */
const FILES = {
  EMPTY: "",
  JUNK: "hello\n",
  BINARY: "\u0000\u00ff\u0000",
  HEADER: `${JSON.stringify({ type: "session", version: 3, id: "a", timestamp: "2026-01-01T00:00:00Z", cwd: "/" })}\n`,
};

/** Of every command: what nobody should type, and someone will. FOLDER and the FILES are paths. */
const INPUTS = `
sessions show nope
sessions show a\u001b[31mb
sessions repair FOLDER --json
completion powershell
inspect HEADER --call 99.9
sessions show agent:x
sessions show ../../etc/passwd
sessions show a\u0001b
sessions show main --limit -1
sessions show main --limit 1e3
sessions compact nope
sessions undo-compaction agent:
sessions repair /nope
sessions repair FOLDER
sessions repair EMPTY
sessions repair JUNK
sessions repair JUNK --json
sessions repair BINARY --dry-run
sessions repair HEADER/below
sessions list --nope
replay /nope
replay FOLDER
replay EMPTY
replay BINARY
replay HEADER --engine nope
replay HEADER --model nope
replay HEADER --model nope/x
replay HEADER --context-window -5
replay HEADER --into HEADER/below
whatif main --context-window 5
policy check /nope --provider openai --model x
policy check FOLDER --provider openai --model x
policy check JUNK --provider openai --model x
policy apply HEADER --provider openai --model x
policy check HEADER --provider openai
plugins inspect nope
plugins enable nope
plugins disable nope
plugins uninstall nope
plugins update nope
plugins rollback nope
plugins reload
plugins install FOLDER
plugins install /nope
plugins install JUNK
plugins install -l /nope
config get nope.x
config get __proto__
config set gateway.port 99999
config set __proto__.x 1
config import /nope
config import FOLDER
config import JUNK --force
engine check nope
engine check /nope/x
engine check FOLDER
chat -s agent:x hi
chat --model nope hi
chat --model ollma hi
chat --model nope/x hi
chat --engine nope hi
start --port 99999
start --port 1.5
start --port 1e3
start --model x
start --model a/b/
emulate --api nope
emulate --script /nope
emulate --script JUNK
emulate --script HEADER
emulate --port 1.5
frobnicate
doctor extra`
  .trim()
  .split("\n")
  .map((line) => line.split(" "));

let home: string;
beforeAll(async () => {
  home = await homeWithOwnPort({ keep: true });
  await mkdir(join(home, "FOLDER"));
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(home, name), content);
});

const withPaths = (words: readonly string[]) =>
  words.map((word) =>
    word.replace(/^(FOLDER|EMPTY|JUNK|BINARY|HEADER)/, (name) => join(home, name)),
  );

const CODES = [...ERROR_CODES, "INTERNAL"].join("|");

/** One sentence and a code, or how to use the command; never what only its authors understand. */
function expectPlain({ code, output, errors }: CommandResult): void {
  expect([1, 2]).toContain(code);
  const last = errors.split("\n").at(-1)!;
  expect(last).toMatch(new RegExp(`\\[(?:${CODES})\\]$`));
  expect(last).not.toContain("[INTERNAL]");
  expect(`${output}\n${errors}`).not.toMatch(/\n\s+at |Zod|\w+Error:|"code": "invalid/);
}

describe("a wrong input", () => {
  it.each(INPUTS.map((words) => [words.join(" "), words] as const))(
    "is answered with one sentence: %s",
    async (_, words) => {
      expectPlain(await clew(home, withPaths(words)));
    },
  );

  it.each([
    ["--model", "nope", /--model "nope" must be "provider\/model".*\[REQUEST_INVALID\]/],
    ["--model", "ollma", /did you mean "ollama\/<model>"\? \[REQUEST_INVALID\]/],
    ["--model", "olama/x", /Did you mean "ollama"\?.*\[CONFIG_INVALID\]/],
    ["--port", "1e3", /must be a number from 0 to 65535/],
    ["--port", "", /must be a number from 0 to 65535/],
  ])("of %s %j is told together with the right one", async (flag, value, expected) => {
    expect((await clew(home, ["start", flag, value])).errors).toMatch(expected);
  });

  it.each(["", " ", "\n"])("%j is no message, and nothing is stored", async (text) => {
    const own = await temporaryHome();
    const { code, errors } = await clew(own, ["chat", text]);
    expect([code, errors]).toEqual([2, expect.stringContaining("[REQUEST_INVALID]")]);
    expect((await clew(own, ["sessions", "list"])).output).not.toContain("main");
  });
});

describe("a home below a file", () => {
  it.each([
    ["start"],
    ["chat", "hi"],
    ["sessions", "show", "main"],
    ["sessions", "compact", "main"],
    ["plugins", "install", "PLUGIN"],
    ["plugins", "enable", "nope"],
    ["plugins", "uninstall", "nope"],
    ["plugins", "update", "nope"],
    ["plugins", "rollback", "nope"],
    ["config", "set", "gateway.port", "1"],
    ["config", "import", "SETTINGS"],
  ])("is told of in one sentence: %s %s", async (...words) => {
    const folder = await temporaryHome();
    await writeFile(join(folder, "file"), "");
    await writeFile(join(folder, "SETTINGS"), "{}");
    await mkdir(join(folder, "PLUGIN"));
    const manifest = JSON.stringify({ id: "p", configSchema: { type: "object" } });
    await writeFile(join(folder, "PLUGIN/openclaw.plugin.json"), manifest);
    await writeFile(join(folder, "PLUGIN/package.json"), '{"name":"p","version":"1.0.0"}');
    const args = words.map((word) =>
      ["SETTINGS", "PLUGIN"].includes(word) ? join(folder, word) : word,
    );
    expectPlain(await clew(join(folder, "file/home"), args));
  });
});

describe("the built command", () => {
  it("stops with one sentence where its own file is a folder", async () => {
    const own = await homeWithOwnPort();
    await mkdir(join(own, "gateway.json"));
    const result = await runClew(own, ["start"]);
    expectPlain(result);
    expect(result.errors).toContain("gateway.json cannot be written: it is a folder");
    expect(await readFile(join(own, "clew.json"), "utf8")).toContain("port");
  });
});
