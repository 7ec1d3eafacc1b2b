// Runs the commands of a session wherever they are typed.

import { headOf } from "@clew/plugin-sdk/transcript";
import { shortName } from "../sessions/keys.ts";
import { alignColumns } from "../terminal/table.ts";
import { nearestOf } from "../text/nearest.ts";
import type { CommandAnswer, CommandSession } from "./answer.ts";
import { parseCompact, runCompact } from "./compact.ts";
import { describeContextSummary, summarizePreview } from "./context.ts";
import { parseEngine, runEngine } from "./engine.ts";
import { runExport } from "./export.ts";
import { runFork } from "./fork.ts";
import { runModel } from "./model.ts";
import { describeStatus } from "./status.ts";
import { parseThink, runThink } from "./think.ts";
import { describeTools, describeToolsOf } from "./tools.ts";
import { runRetry, runUndo } from "./undo-turn.ts";
import { parseWaiting, runWaiting } from "./waiting.ts";

interface Command {
  usage: string;
  description: string;
  /** True: refused while a reply is being written. */
  alone: boolean | ((args: string) => boolean);
  run(args: string, session: CommandSession): Promise<Omit<CommandAnswer, "command">>;
}

/** Characters of what was given that an answer repeats. */
const SHOWN_ARGS = 60;

const COMMANDS: Readonly<Record<string, Command>> = {
  status: {
    usage: "/status",
    description: "model, engine and why, lifecycle, context use, compactions",
    alone: false,
    async run(_args, session) {
      const data = await session.status();
      return { ok: true, text: describeStatus(data), data };
    },
  },
  context: {
    usage: "/context",
    description: "what the next call would send, by source, with tokens",
    alone: true,
    async run(_args, session) {
      const { cache } = await session.status();
      const { preview, ...known } = await session.preview();
      const data = summarizePreview(preview, { cache, ...known });
      return { ok: true, text: describeContextSummary(data), data };
    },
  },
  compact: {
    usage: "/compact [focus | undo [--dry-run] | --dry-run]",
    description: "replace older history by a summary, undo the last one, or say what it would do",
    alone: true,
    run: (args, session) => runCompact(parseCompact(args), session),
  },
  think: {
    usage: "/think [level | default]",
    description: "how hard the model thinks in this session: off, minimal, low, medium, high, …",
    alone: (args) => parseThink(args).kind === "set",
    run: (args, session) => runThink(parseThink(args), session),
  },
  waiting: {
    usage: "/waiting [cancel N | clear]",
    description: "messages that wait for their turn; take one of them back, or all",
    alone: false,
    run: (args, session) => runWaiting(parseWaiting(args), session),
  },
  model: {
    usage: "/model [provider/model | default]",
    description: "who answers in this session, or who does from here on",
    alone: (args) => args.trim() !== "",
    run: runModel,
  },
  tools: {
    usage: "/tools",
    description: "what the model may call, with tokens",
    alone: true,
    run: async (_args, session) => {
      const { preview } = await session.preview();
      const harness = await session.harness();
      if (harness?.takesTools === false) return describeToolsOf(harness);
      return describeTools(preview, session.withoutWorkspace(), session.toolServers());
    },
  },
  retry: {
    usage: "/retry",
    description: "take the last turn back and say the same again",
    alone: true,
    run: (_args, session) => runRetry(session),
  },
  undo: {
    usage: "/undo",
    description: "take the last turn back; the session file keeps it",
    alone: true,
    run: (_args, session) => runUndo(session),
  },
  fork: {
    usage: "/fork [name]",
    description: "go on with a copy of this session under another name",
    alone: true,
    run: runFork,
  },
  export: {
    usage: "/export",
    description: "write the conversation down as Markdown, in the home's folder exports",
    alone: true,
    run: (_args, session) => runExport(session),
  },
  new: {
    usage: "/new",
    description: "begin a new transcript in this session; the old one is kept and listed",
    alone: true,
    async run(_args, session) {
      const archived = await session.renew();
      const kept =
        archived === null
          ? "The old one was empty."
          : `The old one is session "${shortName(archived)}".`;
      return { ok: true, text: `A new transcript begins. ${kept}` };
    },
  },
  reset: {
    usage: "/reset",
    description: "hide what was said so far from the model; it stays in the transcript",
    alone: true,
    async run(_args, session) {
      await session.reset();
      return {
        ok: true,
        text: "From here on the model sees nothing of what was said before; the transcript keeps it.",
      };
    },
  },
  tree: {
    usage: "/tree",
    description: "the sessions that this one started, and theirs, and how each is",
    alone: false,
    async run(_args, session) {
      const lines = await session.tree();
      return {
        ok: true,
        text: lines.length > 1 ? lines.join("\n") : "This session has started no others.",
      };
    },
  },
  engine: {
    usage: "/engine [retry]",
    description:
      "the context engine in detail: why it runs, what failed lately, its store; or give it another chance in this session",
    alone: (args) => parseEngine(args).kind === "retry",
    run: (args, session) => runEngine(parseEngine(args), session),
  },
  help: {
    usage: "/help",
    description: "this list",
    alone: false,
    run: async (_args, session) => ({ ok: true, text: describeCommands(session) }),
  },
};

/** Those of the host, in the order of the help. */
export const listCommands = (): Pick<Command, "usage" | "description">[] => Object.values(COMMANDS);

/**
 * Never undefined: an unknown command is answered with the nearest one. Throws what the
 * session's files and engine throw.
 */
export async function runCommand(
  { name, args }: { name: string; args: string },
  session: CommandSession,
): Promise<CommandAnswer> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined)
    return (
      (await runOther(name, args, session)) ?? {
        command: name,
        ok: false,
        text: unknownCommand(name, session),
      }
    );
  const { alone, usage } = command;
  // What would be overlooked may be what mattered, as in "/undo 3".
  if (usage === `/${name}` && args !== "")
    return {
      command: name,
      ok: false,
      text: `"/${name}" takes nothing after it, and "${headOf(args, SHOWN_ARGS)}" was given; nothing was done. "/help" lists the commands.`,
    };
  if ((typeof alone === "function" ? alone(args) : alone) && session.isBusy())
    return {
      command: name,
      ok: false,
      text: `A reply is being written in this session; stop it or wait for it, then try /${typeof alone === "function" ? `${name} ${args.trim()}` : name} again.`,
    };
  return { command: name, ...(await command.run(args, session)) };
}

async function runOther(
  name: string,
  args: string,
  session: CommandSession,
): Promise<CommandAnswer | undefined> {
  const answer = await session.plugin(`/${name}${args === "" ? "" : ` ${args}`}`);
  return answer === undefined ? undefined : { command: name, ...answer };
}

function unknownCommand(name: string, session: CommandSession): string {
  const known = [...Object.keys(COMMANDS), ...session.pluginCommands().map(({ word }) => word)];
  const nearest = nearestOf(name, known);
  const guess = nearest === null ? "" : ` did you mean /${nearest}?`;
  return `There is no command "/${name}";${guess} "/help" lists them, and "//${name}" sends the text "/${name}".`;
}

function describeCommands(session: CommandSession): string {
  return alignColumns([
    ...Object.values(COMMANDS).map(({ usage, description }) => [usage, description]),
    ...session.pluginCommands().map(({ word, description }) => [`/${word}`, description]),
    ["//text", 'sends "/text" to the model'],
  ]);
}
