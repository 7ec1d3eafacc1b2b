import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { readEnvironment } from "../../config/environment.ts";
import { clew, collectOutput } from "../../testing/command.ts";
import { homeWithOwnPort } from "../../testing/home.ts";
import { hasTmux, inTmux } from "../../testing/tmux.ts";
import { createProgram } from "../program.ts";
import { planCompletion } from "./plan-completion.ts";

const run = promisify(execFile);

function isInstalled(shell: string): boolean {
  const folders = (process.env.PATH ?? "").split(":");
  const found = folders.some((folder) => existsSync(join(folder, shell)));
  if (!found) process.stderr.write(`${shell} is missing: its completion is not tried\n`);
  return found;
}
const environment = readEnvironment({ CLEW_HOME: "/nowhere" });
const program = createProgram({ environment, output: collectOutput() }, () => {});

describe("what may follow", () => {
  it.each([
    ["", { words: expect.arrayContaining(["start", "chat", "sessions", "config"]) }],
    ["sessions ", { words: expect.arrayContaining(["list", "show", "search", "tail"]) }],
    ["plugin ", { words: expect.arrayContaining(["install", "enable"]) }],
    ["chat --", { words: expect.arrayContaining(["--session", "--model", "--help"]) }],
    ["chat --model ", { words: [], named: ["model"] }],
    ["chat --when-busy ", { words: ["follow", "steer", "refuse"] }],
    ["chat -s ", { named: ["session"] }],
    ["sessions show ", { named: ["session"] }],
    ["sessions show main ", { words: expect.arrayContaining(["--limit", "--json"]) }],
    ["sessions show --limit 3 ", { named: ["session"] }],
    ["sessions delete one two ", { named: ["session"] }],
    ["config set ", { named: ["setting"] }],
    ["plugins enable ", { named: ["plugin"] }],
    ["engine check ", { named: ["engine"], files: true }],
    ["cron run ", { named: ["job"] }],
    ["models test ", { named: ["model"] }],
    ["replay ", { named: ["session"], files: true }],
    ["completion ", { words: ["bash", "zsh", "fish"] }],
  ])("%j is planned from the definition of the commands", (line, expected) => {
    expect(planCompletion(program, line.split(" "))).toMatchObject(expected);
  });

  it("of another shell is refused in our own words", async () => {
    const { code, errors } = await clew("/nowhere", ["completion", "powershell"]);
    expect(code).toBe(2);
    expect(errors).toContain('<shell> "powershell" must be one of bash, zsh, fish.');
  });

  it("does not offer what only scripts call", () => {
    expect(planCompletion(program, [""]).words).not.toContain("complete-words");
  });
});

describe("clew completion", () => {
  let home: string;
  beforeAll(async () => {
    home = await homeWithOwnPort({ keep: true });
    await clew(home, ["chat", "--session", "harbour", "hello"]);
    await clew(home, ["cron", "add", "every 30m", "hello", "--id", "news"]);
    await mkdir(join(home, "bin"));
    const main = new URL("../../main.ts", import.meta.url).pathname;
    const node = `"${process.execPath}" --conditions=@clew/source --disable-warning=ExperimentalWarning`;
    await writeFile(join(home, "bin/clew"), `#!/bin/sh\nexec ${node} "${main}" "$@"\n`, {
      mode: 0o755,
    });
    await writeFile(join(home, "recorded.jsonl"), "");
  });

  const withClew = () => ({
    PATH: `${join(home, "bin")}:${process.env.PATH}`,
    ...{ CLEW_HOME: home, HOME: home, CLEW_DEMO: "off" },
  });
  const words = async (line: string) => {
    const argv = ["complete-words", "--", ...line.split(" ")];
    const { code, output, errors } = await clew(home, argv);
    expect([code, errors]).toEqual([0, ""]);
    return output.split("\n");
  };

  it.each([
    ["sessions show ha", ["harbour"]],
    ["sessions show agent:main:", ["agent:main:harbour"]],
    ["chat --model off", ["offline/offline"]],
    ["engine check le", ["legacy", ":files"]],
    ["plugins enable lo", ["lossless"]],
    ["config get agents.defaults.modelF", [""]],
    ["config set logging.l", ["logging.level"]],
    ["cron run ", ["news"]],
    ["lossless status --agent ", ["main"]],
  ])("%s finds what the home has", async (line, expected) => {
    expect(await words(line)).toEqual(expected);
  });

  it("says nothing where the settings cannot be read", async () => {
    const broken = await homeWithOwnPort();
    await writeFile(join(broken, "clew.json"), "{");
    const argv = ["complete-words", "--", "chat", "--model", ""];
    expect(await clew(broken, argv)).toEqual({ code: 0, output: "", errors: "" });
  });

  const bash = ["/bin/bash", "/usr/bin/bash"].find((path) => existsSync(path));
  it.skipIf(bash === undefined)(
    "completes commands, flags, names and paths in a bash",
    async () => {
      const lines = [
        "clew sess",
        "time clew sess",
        "clew chat --mod",
        "clew sessions show agent:main:h",
        "clew replay rec",
      ];
      const script = [
        "source <(clew completion bash)",
        ...lines.map(
          (line) =>
            `COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _clew clew; echo "\${COMPREPLY[*]}"`,
        ),
      ].join("\n");
      const { stdout, stderr } = await run(bash!, ["--noprofile", "--norc", "-c", script], {
        cwd: home,
        env: { ...process.env, ...withClew() },
      });
      expect([stderr, stdout.trim().split("\n")]).toEqual([
        "",
        ["sessions", "sessions", "--model", "harbour", "recorded.jsonl"],
      ]);
    },
  );

  it.each(["bash", "zsh", "fish"])("prints a script for %s", async (shell) => {
    const { code, output } = await clew(home, ["completion", shell]);
    expect([code, output]).toEqual([0, expect.stringMatching(/complete-words -- /)]);
  });

  it.skipIf(!isInstalled("fish"))("completes in a fish", async () => {
    const lines = [
      "clew sess",
      "clew chat --mod",
      "clew sessions show agent:main:h",
      "clew replay rec",
    ];
    const script = [
      "clew completion fish | source",
      ...lines.map((line) => `complete -C '${line}'`),
    ];
    const { stdout, stderr } = await run("fish", ["--no-config", "-c", script.join("\n")], {
      cwd: home,
      env: { ...process.env, ...withClew() },
    });
    const found = ["sessions", "--model", "agent:main:harbour", "recorded.jsonl"];
    expect([stderr, stdout.trim().split("\n")]).toEqual(["", found]);
  });

  it.skipIf(!hasTmux || !isInstalled("zsh"))("completes at the Tab key of a zsh", async () => {
    const shell = inTmux(["zsh", "-f"], {
      columns: 200,
      env: { ...withClew(), PS1: "ready> " },
    });
    await shell.shows("ready>");
    shell.type(`cd ${home}; autoload -Uz compinit; compinit -D -u; source <(clew completion zsh)`);
    shell.press("Enter");
    await shell.shows(/clew completion zsh\)\nready>/);
    for (const [typed, shown] of [
      ["clew sess", "clew sessions"],
      ["clew chat --mod", "clew chat --model"],
      ["clew sessions show agent:main:h", "clew sessions show agent:main:harbour"],
      ["clew replay rec", "clew replay recorded.jsonl"],
    ] as const) {
      shell.type(typed);
      shell.press("Tab");
      await shell.shows(`ready> ${shown}`);
      shell.press("C-u");
    }
  });
});
