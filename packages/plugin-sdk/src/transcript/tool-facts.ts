// Which tool calls failed, and which files were read or changed.
import type { AgentMessage } from "../contract/message.ts";
import { type AnyBlock, blocksOf, stringOf } from "../messages/blocks.ts";
import { type Steps, stepsAtOnce } from "../slices.ts";
import { oneLine, textOf } from "./text.ts";
import { pairToolCalls } from "./tool-pairs.ts";

/** A tool call that came back as an error. */
export interface ToolFailure {
  /** "tool" when nothing says which. */
  toolName: string;
  /** Of the call. */
  toolCallId: string;
  /** As the result's details say it. Absent: they do not. */
  status?: string;
  /** As the result's details say it. Absent: they do not. */
  exitCode?: number;
  /** On one line, at most 240 characters. */
  text: string;
}

/** The tool results that are errors, oldest first, one per call id (spec "compaction" §2.6). */
export function toolFailures(messages: readonly AgentMessage[]): ToolFailure[] {
  const failures = new Map<string, ToolFailure>();
  const names = new Map(
    pairToolCalls(messages).pairs.map(({ call, result }) => [result, call.name]),
  );
  messages.forEach((message, index) => {
    if (message.role !== "toolResult" || !message.isError || failures.has(message.toolCallId))
      return;
    const details =
      typeof message.details === "object" && message.details !== null
        ? (message.details as Record<string, unknown>)
        : {};
    failures.set(message.toolCallId, {
      toolName: stringOf(message.toolName) || (names.get(index) ?? "tool"),
      toolCallId: message.toolCallId,
      ...(typeof details.status === "string" && { status: details.status }),
      ...(typeof details.exitCode === "number" && { exitCode: details.exitCode }),
      text: oneLine(textOf(message), 240),
    });
  });
  return [...failures.values()];
}

/** `- tool (status=… exitCode=…): text`. */
export function formatToolFailure({ toolName, status, exitCode, text }: ToolFailure): string {
  const facts = [
    status !== undefined && `status=${status}`,
    exitCode !== undefined && `exitCode=${exitCode}`,
  ].filter(Boolean);
  return `- ${toolName}${facts.length > 0 ? ` (${facts.join(" ")})` : ""}: ${text === "" ? "(no output)" : text}`;
}

/** Files that tools were asked to read or change. */
export interface FileOperations {
  /** Read and not changed; sorted. */
  readFiles: string[];
  /** Written or edited; sorted. */
  modifiedFiles: string[];
}

/**
 * Files named by calls of read, write and edit tools; `earlier` are those of the history before
 * (spec "compaction" §2.6).
 */
export function fileOperations(
  messages: readonly AgentMessage[],
  earlier: Partial<FileOperations> = {},
): FileOperations {
  return stepsAtOnce(fileOperationSteps(messages, earlier));
}

/** Messages looked at between two steps. */
const STEP = 512;

/** `fileOperations` in steps, for a list that takes long. */
export function* fileOperationSteps(
  messages: readonly AgentMessage[],
  earlier: Partial<FileOperations> = {},
): Steps<FileOperations> {
  const read = new Set(earlier.readFiles ?? []);
  const modified = new Set(earlier.modifiedFiles ?? []);
  for (const [index, message] of messages.entries()) {
    if (index % STEP === 0) yield;
    if (message.role !== "assistant") continue;
    for (const block of blocksOf(message.content)) {
      if (block.type !== "toolCall") continue;
      const access = fileAccess(block);
      if (access !== undefined) (access.changes ? modified : read).add(access.path);
    }
  }
  return {
    readFiles: [...read].filter((path) => !modified.has(path)).sort(),
    modifiedFiles: [...modified].sort(),
  };
}

/** The file that a call of a read, write or edit tool names; undefined for all others. */
export function fileAccess(call: AnyBlock): { path: string; changes: boolean } | undefined {
  const path = pathOf(call.arguments);
  const tool = stringOf(call.name)
    .toLowerCase()
    .replace(/^mcp__.*?__/, "");
  return path === undefined || !["read", "write", "edit"].includes(tool)
    ? undefined
    : { path, changes: tool !== "read" };
}

function pathOf(args: unknown): string | undefined {
  if (typeof args !== "object" || args === null) return undefined;
  const { path, file_path, filePath } = args as Record<string, unknown>;
  return [path, file_path, filePath].find(
    (value): value is string => typeof value === "string" && value.trim() !== "",
  );
}
