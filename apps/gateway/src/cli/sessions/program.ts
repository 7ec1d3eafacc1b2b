// The `clew sessions` commands and their options.
import { type Command, Option } from "commander";
import { FORMATS } from "../../imports/foreign.ts";
import type { Shell } from "../../terminal/shell.ts";
import { SESSION_NAME, toCount } from "../values.ts";

type Add = (program: Command, shell: Shell, done: (exitCode: number) => void) => void;

const json = () => new Option("--json", "print JSON");
const from = () =>
  new Option("--from <program>", "whose transcript it is; default: by what it holds").choices(
    FORMATS,
  );

/** `done` receives a command's exit code. */
export const addSessionCommands: Add = (program, shell, done) => {
  const sessions = program
    .command("sessions")
    .description("list, show, search, follow, copy, write down, delete and repair sessions");
  addReading(sessions, shell, done);
  addChanging(sessions, shell, done);
  addFiles(sessions, shell, done);
  addCompacting(sessions, shell, done);
};

const addReading: Add = (sessions, shell, done) => {
  sessions
    .command("list")
    .description("list sessions, newest first")
    .addOption(
      new Option("--limit <count>", "newest only; those they started come with them").argParser(
        toCount,
      ),
    )
    .option("--find <text>", "only sessions with this in their names, titles or first words")
    .option("--all", "also what clients sent beside conversations, such as requests for a title")
    .addOption(json())
    .action(async (options) =>
      done(await (await import("./list-and-show.ts")).listSessions(options, shell)),
    );
  sessions
    .command("show")
    .description("show the messages of a session")
    .argument("<name>", SESSION_NAME)
    .addOption(new Option("--limit <count>", "newest entries only").argParser(toCount))
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("./list-and-show.ts")).showSession(name, options, shell)),
    );
  sessions
    .command("search")
    .description("find what was said in all sessions, newest first; exit code 1 if nobody did")
    .argument("<text>", "what stands there, in any case")
    .option("--session <name>", "only in this session")
    .option("--words", "the text is words: all of them, in any order and with any accents")
    .option("--regex", "the text is a regular expression, such as src/\\w+\\.ts:\\d+")
    .option("--all", "also in what was taken back by /undo, /retry or /reset")
    .addOption(new Option("--limit <count>", "at most so many").argParser(toCount).default(50))
    .addOption(json())
    .action(async (text: string, options) =>
      done(await (await import("./search.ts")).searchSessions(text, options, shell)),
    );
  sessions
    .command("tail")
    .description("show the newest entries of a session, and with --follow those that come")
    .argument("<name>", SESSION_NAME)
    .option("-f, --follow", "go on with what is said from now on; Ctrl-C ends it")
    .addOption(new Option("-n, --lines <count>", "entries at most").argParser(toCount).default(10))
    .addOption(new Option("--json", "print each entry as a JSON line"))
    .action(async (name: string, options) =>
      done(await (await import("./tail.ts")).tailSession(name, options, shell)),
    );
  sessions
    .command("usage")
    .description("say what the model calls of a session and those it started cost")
    .argument("<name>", SESSION_NAME)
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("../usage.ts")).usage(name, options, shell)),
    );
};

const addChanging: Add = (sessions, shell, done) => {
  sessions
    .command("rename")
    .description("give a session a name of your own, by which commands find it, too; its key stays")
    .argument("<name>", SESSION_NAME)
    .argument("<new-name>", 'what it is called from now on; "" takes that away')
    .addOption(json())
    .action(async (name: string, wanted: string, options) =>
      done(await (await import("./rename.ts")).renameSession(name, wanted, options, shell)),
    );
  sessions
    .command("fork")
    .description("begin a session with all that was said in another one, which stays")
    .argument("<name>", SESSION_NAME)
    .argument("[new-name]", "default: the old one's with -fork-1")
    .addOption(json())
    .action(async (name: string, wanted: string | undefined, options) =>
      done(await (await import("./fork.ts")).forkSession(name, wanted, options, shell)),
    );
  sessions
    .command("delete")
    .description(
      "say what would be deleted of sessions, and delete it with --yes; not while in use",
    )
    .argument("<names...>", SESSION_NAME)
    .option("-y, --yes", "do it; it cannot be undone")
    .addOption(json())
    .action(async (names: string[], options) =>
      done(await (await import("./delete.ts")).deleteSessions(names, options, shell)),
    );
};

const addFiles: Add = (sessions, shell, done) => {
  sessions
    .command("export")
    .description("print a session as Markdown, or as the session file that it is")
    .argument("<name>", SESSION_NAME)
    .option("-o, --out <file>", "write it there; - prints it")
    .option("--force", "replace a file that is there")
    .addOption(
      new Option("--as <form>", "for people or for programs")
        .choices(["markdown", "jsonl"])
        .default("markdown"),
    )
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("./export.ts")).exportSession(name, options, shell)),
    );
  sessions
    .command("import")
    .description(
      "take in transcripts of Claude Code, Codex, pi, OpenClaw or OpenAI's API; once more brings only what is new",
    )
    .argument("<places...>", "files, or folders of them")
    .option("--session <name>", "the session it becomes; default: by its program's name for it")
    .addOption(from())
    .addOption(json())
    .action(async (places: string[], options) =>
      done(await (await import("../import.ts")).importSessions(places, options, shell)),
    );
  sessions
    .command("repair")
    .description(
      "repair a session file that other programs damaged; a gateway does so when it opens one",
    )
    .argument("<file>", "transcript (.jsonl)")
    .option("--dry-run", "only say what it would do")
    .addOption(json())
    .action(async (file: string, options) =>
      done(await (await import("../repair.ts")).repairSession(file, options, shell)),
    );
};

const addCompacting: Add = (sessions, shell, done) => {
  sessions
    .command("compact")
    .description("replace a session's older history by a summary, as /compact does")
    .argument("<name>", SESSION_NAME)
    .option("--dry-run", "only say what it would keep, drop and ask")
    .option("--focus <text>", "what the summary should keep above all")
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("../compact.ts")).compactSessionByName(name, options, shell)),
    );
  sessions
    .command("undo-compaction")
    .description("undo a session's newest compaction; once more undoes the one before")
    .argument("<name>", SESSION_NAME)
    .option("--dry-run", "say which one it is, and change nothing")
    .addOption(json())
    .action(async (name: string, options) =>
      done(await (await import("../compact.ts")).undoCompactionByName(name, options, shell)),
    );
};
