import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { beforeAll, describe, expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { type CommandResult, clew, collectOutput } from "../testing/command.ts";
import { homeWithOwnPort, temporaryHome } from "../testing/home.ts";
import { writePlugin } from "../testing/plugins.ts";
import { isVisible } from "./completion/plan-completion.ts";
import { exampleOf } from "./examples.ts";
import { NEED_FILES } from "./needs-files.ts";
import { createProgram } from "./program.ts";
import { nameOf } from "./usage-error.ts";

const makeProgram = () =>
  createProgram(
    { environment: readEnvironment({ CLEW_HOME: "/nowhere" }), output: collectOutput() },
    () => {},
  );

/** What only scripts call is left out. */
const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0
    ? [command]
    : command.commands.filter((each) => isVisible(command, each)).flatMap(leavesOf);

/** The words behind `clew`. */
const pathOf = (command: Command): string[] => nameOf(command).split(" ").slice(1);

/** Every command that there is: a new one is in each of the tests below. */
const commands = leavesOf(makeProgram());
const named = commands.map((command) => [pathOf(command).join(" "), command] as const);
const groups = makeProgram().commands.filter((command) => command.commands.length > 0);

const flagsOf = ({ options }: Command): string[] =>
  options.flatMap(({ long, hidden }) => (hidden || !long ? [] : [long]));

/** A slip of the finger: two letters the other way round, behind the first where there are such. */
function slipped(word: string): string {
  const at = [...word].findIndex((letter, index) => index > 0 && isOther(letter, word[index + 1]));
  const from = Math.max(at, 0);
  return `${word.slice(0, from)}${word[from + 1]}${word[from]}${word.slice(from + 2)}`;
}

const isOther = (one: string, two: string | undefined) =>
  two !== undefined && one !== two && /\w/.test(one) && /\w/.test(two);

/** One line, with its code, and never what only its authors understand. */
function expectSentence({ code, output, errors }: CommandResult): void {
  expect([code, output]).toEqual([2, ""]);
  expect(errors).toMatch(/^clew\b.*: .*\S \[REQUEST_INVALID\]$/);
}

let home: string;
beforeAll(async () => {
  home = await homeWithOwnPort({ keep: true });
});

it("every command that needs session files is one", () => {
  const known = new Set([...commands, ...groups].map(nameOf));
  expect([...NEED_FILES.keys()].filter((name) => !known.has(name))).toEqual([]);
});

describe("every command", () => {
  it.each(named)("%s: help names its flags and gives an example", async (_, command) => {
    const { code, output, errors } = await clew(home, [...pathOf(command), "--help"]);
    expect([code, errors]).toEqual([0, ""]);
    for (const flag of flagsOf(command)) expect(output).toContain(flag);
    expect(output).toContain(`Example:\n  ${nameOf(command)}`);
  });

  it.each(named)("%s: its example can be typed", async (name, command) => {
    const program = makeProgram();
    const fresh = leavesOf(program).find((each) => pathOf(each).join(" ") === name)!;
    let ran = 0;
    fresh.action(() => {
      ran += 1;
    });
    const words = exampleOf(command)!.match(/"[^"]*"|\S+/g)!;
    const argv = words.slice(1).map((word) => word.replaceAll('"', ""));
    await program.parseAsync(argv, { from: "user" });
    expect(ran).toBe(1);
  });

  it.each(named)("%s: a mistyped flag is told with the one that was meant", async (_, command) => {
    const flag = flagsOf(command).toSorted((a, b) => b.length - a.length)[0] ?? "--help";
    const result = await clew(home, [...pathOf(command), slipped(flag)]);
    expectSentence(result);
    expect(result.errors).toContain(`unknown flag "${slipped(flag)}". Did you mean "${flag}"?`);
  });

  it.each(named)("%s: its mistyped name is told with the one that was meant", async (name) => {
    const result = await clew(home, name.split(" ").with(-1, slipped(name.split(" ").at(-1)!)));
    expectSentence(result);
    expect(result.errors).toContain(`Did you mean "clew ${name}"?`);
  });

  it.each(
    named.filter(
      ([
        ,
        {
          registeredArguments: [first],
        },
      ]) => first?.required,
    ),
  )("%s: what is missing is told with an example", async (_, command) => {
    const result = await clew(home, pathOf(command));
    expectSentence(result);
    expect(result.errors).toContain(` is missing; for example: ${exampleOf(command)}`);
  });

  it.each(
    named.filter(([, { registeredArguments, options }]) => {
      const takesAny = registeredArguments.some(({ variadic }) => variadic);
      return !takesAny && !options.some(({ mandatory }) => mandatory);
    }),
  )("%s: a word too many is told", async (_, command) => {
    const words = [...command.registeredArguments.map(() => "x"), "surplus"];
    const result = await clew(home, [...pathOf(command), ...words]);
    expectSentence(result);
    expect(result.errors).toContain('"surplus" is one word too many');
  });

  // Others begin "clew mcp" and speak to it.
  const alone = groups.map((group) => [group.name()]).filter(([name]) => name !== "mcp");
  it.each(alone)("%s alone shows what there is", async (group) => {
    const { code, output, errors } = await clew(home, [group]);
    expect([code, output]).toEqual([2, ""]);
    expect(errors).toContain(`Usage: clew ${group}`);
  });

  it.each([
    [["start", "--port", "1.5"], 'clew start: --port "1.5" must be a number from 0 to 65535.'],
    [
      ["chat", "--when-busy", "folow"],
      'must be one of follow, steer, refuse. Did you mean "follow"?',
    ],
    [
      ["sessions", "show", "main", "--limit"],
      "clew sessions show: --limit <count> needs a value; for",
    ],
    [
      ["completion", "zhs"],
      'clew completion: <shell> "zhs" must be one of bash, zsh, fish. Did you mean "zsh"?',
    ],
    [["lossless", "export", "--too", "x"], 'unknown flag "--too". Did you mean "--to"?'],
  ])("%j is answered with one sentence", async (argv, expected) => {
    const result = await clew(home, argv);
    expectSentence(result);
    expect(result.errors).toContain(expected);
  });
});

/** They serve until they are stopped, or speak to the system's own services. */
const LEFT_OUT = ["start", "emulate", "service uninstall"];
/** It has settings of its own. */
const READS_NONE = ["demo make"];

describe("settings of the wrong type", () => {
  const WRONG = JSON.stringify({
    ...{ agents: 5, models: { providers: [] }, plugins: { slots: "legacy", entries: [] } },
    ...{ gateway: { port: "x", auth: { tokens: [1] } }, session: [], tools: 1, memory: "on" },
    ...{ door: { mode: "x" }, logging: { level: "wran" }, diagnostics: { otel: [] } },
  });

  it.each(named.filter(([name]) => ![...LEFT_OUT, ...READS_NONE].includes(name)))(
    "are told in plain words or not at all by %s",
    async (_, command) => {
      const own = await temporaryHome();
      await writeFile(join(own, "clew.json"), WRONG);
      const words = exampleOf(command)!
        .match(/"[^"]*"|\S+/g)!
        .slice(1);
      const argv = words.map((word) => word.replaceAll('"', "").replace(/^[~.]\//, `${own}/`));
      const calm = argv.filter((word) => !["--follow", "--write", "--yes"].includes(word));
      const { code, output, errors } = await clew(own, calm);
      expect([0, 1, 2]).toContain(code);
      const told = `${output}\n${errors}`;
      expect(told).not.toMatch(/Zod|Invalid (?:input|option)|Too (?:big|small)|"code":|received /);
      expect(told).not.toMatch(/\[INTERNAL\]|\n\s+at /);
    },
  );

  it("are told by start, too, each with what it must be", async () => {
    const own = await temporaryHome();
    await writeFile(join(own, "clew.json"), WRONG);
    const { code, errors } = await clew(own, ["start"]);
    expect(code).toBe(1);
    expect(errors).toContain('  gateway.port: must be a number (given: "x")\n');
    expect(errors).toContain(
      "  logging.level: must be one of info, warn, error; did you mean warn?",
    );
    expect(errors).toContain("  session: must be an object in braces\n");
  });
});

describe("a name that nothing has", () => {
  let peopled: string;
  beforeAll(async () => {
    peopled = await homeWithOwnPort({ keep: true });
    expect((await clew(peopled, ["chat", "--session", "harbour", "hello"])).code).toBe(0);
    writePlugin(join(peopled, "extensions/tidepool"), { id: "tidepool" });
  });

  it.each([
    ["sessions show harbuor", 'did you mean "harbour"?'],
    ["sessions show agent:main:harbuor", 'did you mean "agent:main:harbour"?'],
    ["sessions compact harbuor", 'did you mean "harbour"?'],
    ["sessions undo-compaction harbuor", 'did you mean "harbour"?'],
    ["sessions search hello --session harbuor", 'did you mean "harbour"?'],
    ["sessions tail harbuor", 'did you mean "harbour"?'],
    ["sessions usage harbuor", 'did you mean "harbour"?'],
    ["sessions fork harbuor", 'did you mean "harbour"?'],
    ["sessions delete harbuor", 'did you mean "harbour"?'],
    ["sessions export harbuor", 'did you mean "harbour"?'],
    ["inspect harbuor", 'did you mean "harbour"?'],
    ["whatif harbuor", 'did you mean "harbour"?'],
    ["usage harbuor", 'did you mean "harbour"?'],
    ["engine retry harbuor", 'did you mean "harbour"?'],
    ["engine status harbuor", 'did you mean "harbour"?'],
    ["engine check losless", 'Did you mean "lossless"?'],
    ["chat --engine losless hi", 'Did you mean "lossless"?'],
    ["chat --model ollma/x hi", 'Did you mean "ollama"?'],
    ["models retry offline/ofline", 'Did you mean "offline/offline"?'],
    ["config get agents.defaults.modle", "did you mean agents.defaults.model"],
    ["config set gatway.port 1", "did you mean gateway?"],
    ["plugins inspect losless", 'did you mean "lossless"?'],
    ["plugins enable losless", 'did you mean "lossless"?'],
    ["plugins disable losless", 'did you mean "lossless"?'],
    ["plugins uninstall losless", 'did you mean "lossless"?'],
  ])("%s is told with the one that was meant", async (line, expected) => {
    const { errors } = await clew(peopled, line.split(" "));
    expect(errors).toContain(expected);
  });
});

/** What each command that has the flag --json is given. Behind "!": it ends with 1, as it must. */
const GIVEN: Readonly<Record<string, string>> = {
  init: "--model offline/offline --engine lossless --force",
  chat: "--session harbour hello",
  connect: "",
  status: "!",
  stop: "",
  logs: "",
  "service install": "--print",
  replay: "SESSION --context-window 32000",
  compare: "SESSION",
  whatif: "harbour",
  "demo make": "",
  "demo remove": "",
  inspect: "harbour",
  "sessions list": "",
  "sessions show": "harbour",
  "sessions search": "hello",
  "sessions tail": "harbour",
  "sessions usage": "harbour",
  "sessions rename": "harbour tides",
  "sessions fork": "harbour second",
  "sessions delete": "second --yes",
  "sessions export": "harbour",
  "sessions import": "SESSION --session brought",
  "sessions repair": "SESSION --dry-run",
  "sessions compact": "harbour",
  "sessions undo-compaction": "!harbour",
  "storage copy": "!--to postgres",
  usage: "",
  "engine list": "",
  "engine status": "harbour",
  "engine retry": "harbour",
  "engine check": "legacy --case contract/info",
  "approvals list": "!",
  "approvals answer": "!a1 once",
  "approvals link": "!",
  "mcp list": "",
  "mcp status": "",
  "mcp restart": "!files",
  "cron add": "every_30m hello --id news",
  "cron list": "",
  "cron history": "news",
  "cron run": "news",
  "cron pause": "news",
  "cron resume": "news",
  "cron rm": "news",
  "lossless status": "",
  "lossless verify": "",
  "lossless doctor": "",
  "lossless backup": "--to FOLDER",
  "lossless backups": "",
  "lossless restore": "!FOLDER/nothing.db",
  "lossless export": "--to FOLDER",
  "lossless import": "SESSION",
  "lossless migrate": "!FOLDER/lcm.db",
  "lossless retain": "--days 90",
  "lossless forget": "--text hello",
  "policy check": "SESSION --provider openai --model x",
  "policy apply": "SESSION --provider openai --model x",
  "models list": "offline",
  "models status": "",
  "models retry": "!offline/offline",
  "models test": "!nope/x --yes",
  "models sign-in": "",
  "models windows": "",
  "models forget": "!offline/offline",
  "plugins install": "-l PLUGIN --yes",
  "plugins update": "",
  "plugins rollback": "!tidepool",
  "plugins uninstall": "tidepool --dry-run",
  "plugins pack": "PLUGIN -o FOLDER/tidepool.tgz",
  "plugins list": "",
  "plugins inspect": "lossless",
  "plugins doctor": "",
  "plugins enable": "lossless",
  "plugins disable": "tidepool",
  "plugins reload": "!",
  "config get": "gateway",
  "config set": "logging.level warn",
  "config unset": "logging.level",
  "config validate": "",
  "config import": "SETTINGS --force",
  "config schema": "",
  "config reference": "",
  doctor: "",
  completion: "bash",
};

describe("with --json", () => {
  let full: string;
  beforeAll(async () => {
    full = await homeWithOwnPort({ keep: true });
    await clew(full, ["plugins", "enable", "lossless"]);
    for (const text of ["hello", "My cat is called Minka."])
      expect((await clew(full, ["chat", "--session", "harbour", text])).code).toBe(0);
    writePlugin(join(full, "PLUGIN"), { id: "tidepool" });
    await mkdir(join(full, "FOLDER"));
    await writeFile(join(full, "SETTINGS"), "{ session: { mainKey: 'main' } }");
    const { file } = JSON.parse(
      (await clew(full, ["sessions", "show", "harbour", "--json"])).output,
    );
    await copyFile(file, join(full, "SESSION"));
  });

  it.each(
    named.filter(
      ([name, command]) => flagsOf(command).includes("--json") && !LEFT_OUT.includes(name),
    ),
  )(
    "%s prints JSON and nothing else",
    async (name, command) => {
      const given = GIVEN[name];
      expect(given, "say in GIVEN what the command is given").toBeDefined();
      const isRefused = given!.startsWith("!");
      const words = given!.replace("!", "").split(" ").filter(Boolean);
      const argv = words.map((word) =>
        word
          .replace(/^(?:SESSION|FOLDER|PLUGIN|SETTINGS)\b/, (path) => join(full, path))
          .replace("_", " "),
      );
      const { code, output, errors } = await clew(full, [...pathOf(command), ...argv, "--json"]);
      expect([code, errors]).toEqual([isRefused ? 1 : 0, isRefused ? expect.anything() : errors]);
      if (isRefused && output === "") return expect(errors).toMatch(/\[[A-Z_]+\]$/);
      const help = command.options.find(({ long }) => long === "--json")!.description;
      if (/line/.test(help))
        for (const line of output.split("\n").filter(Boolean)) JSON.parse(line);
      else JSON.parse(output);
    },
    60_000,
  );
});
