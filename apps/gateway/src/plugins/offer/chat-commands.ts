// Finds and runs the chat commands of plugins.

import type { PluginCommand } from "@clew/plugin-sdk/core";
import type { PluginManifest } from "@clew/plugin-sdk/host";
import { messageAndPlace } from "../load/error-place.ts";
import type { RunAs } from "../load/running.ts";
import { inRequest, type PluginScope } from "../load/scope.ts";
import { CHANNEL, PERSON } from "./hook-context.ts";

/** Words the gateway keeps for itself. */
export const RESERVED_COMMANDS: readonly string[] = [
  "engine",
  "status",
  "context",
  "compact",
  "reset",
  "new",
  "help",
  "quit",
  "exit",
  "plugins",
  "stop",
  "model",
  "tools",
  "retry",
  "undo",
  "fork",
  "export",
  "edit",
  "session",
];

/** What a command came to. */
export interface PluginAnswer {
  /** False: it was refused or failed, and `text` says why. */
  ok: boolean;
  text: string;
}

export interface OwnedCommand {
  pluginId: string;
  command: PluginCommand;
  /** All words it answers to, lower case, without the slash. */
  words: readonly string[];
}

/**
 * Pure. The words of one plugin's commands; aliases of the manifest belong to its first command.
 */
export function commandWords(
  manifest: PluginManifest,
  commands: readonly PluginCommand[],
): string[][] {
  const aliases = (manifest.commandAliases ?? [])
    .filter(({ kind }) => kind === undefined || kind === "runtime-slash")
    .map(({ name }) => name.replace(/^\//, ""));
  return commands.map(({ name, nativeNames }, index) => {
    const words = [name, ...Object.values(nativeNames ?? {}), ...(index === 0 ? aliases : [])];
    return [...new Set(words.map((word) => word.toLowerCase()))].filter(
      (word) => !RESERVED_COMMANDS.includes(word),
    );
  });
}

/** The answer to a chat line; undefined when it is no command of a plugin. */
export async function answerCommand(
  commands: readonly OwnedCommand[],
  { text, ...call }: CommandCall & { text: string },
): Promise<PluginAnswer | undefined> {
  const parsed = parseCommand(text);
  const found = parsed && commands.find(({ words }) => words.includes(parsed.word));
  return found && runPluginCommand(found, { args: parsed.args, ...call });
}

interface CommandCall {
  scope: PluginScope;
  config: unknown;
  runAs: RunAs;
}

/** "/tide status now" → the word and the rest; undefined when it is no command. */
function parseCommand(text: string): { word: string; args: string } | undefined {
  const match = /^\/([a-z][\w-]*)(?:\s+([\s\S]*))?$/i.exec(text.trim());
  return match === null
    ? undefined
    : { word: match[1]!.toLowerCase(), args: match[2]?.trim() ?? "" };
}

/** The command's answer; a failure is an answer too. */
async function runPluginCommand(
  { pluginId, command }: OwnedCommand,
  { args, scope, config, runAs }: CommandCall & { args: string },
): Promise<PluginAnswer> {
  if (args !== "" && command.acceptsArgs !== true)
    return { ok: false, text: `/${command.name} takes no arguments.` };
  try {
    const { agentId, sessionId, sessionKey } = scope;
    const given = {
      ...{ args, config, agentId, commandBody: `/${command.name} ${args}`.trim() },
      ...{ senderIsOwner: true, isAuthorizedSender: true, senderId: PERSON, channel: CHANNEL },
      ...(sessionId !== undefined && { sessionId }),
      ...(sessionKey !== undefined && { sessionKey }),
    };
    const answer = await inRequest(scope, async () =>
      runAs(pluginId, () => command.handler(given)),
    );
    return typeof answer?.text === "string"
      ? { ok: true, text: answer.text }
      : { ok: false, text: `/${command.name} gave no text.` };
  } catch (error) {
    const text = `/${command.name} of plugin "${pluginId}" failed: ${messageAndPlace(error)}`;
    return { ok: false, text };
  }
}
