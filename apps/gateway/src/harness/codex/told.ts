// What Codex tells of a turn, as the transcript and the report have it.
import type { AssistantMessage, ToolResultMessage, Usage } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import type { CodexItem, CodexTokens, CodexTurnError } from "./protocol.ts";

type Stored = readonly (AssistantMessage | ToolResultMessage)[];

/** Who answered, on each message. */
export type Signed = Pick<AssistantMessage, "api" | "provider" | "model">;

/** Pure. Nothing for what is no part of a conversation. */
export function messagesOfItem(
  item: CodexItem,
  signed: Signed,
): { messages: Stored; durationMs?: number } | undefined {
  switch (item.type) {
    case "agentMessage":
      return /\S/.test(item.text)
        ? {
            messages: [
              {
                ...{ role: "assistant", content: [{ type: "text", text: item.text }] },
                ...{ stopReason: "stop", ...signed },
              },
            ],
          }
        : undefined;
    case "commandExecution": {
      const { command, cwd, status, exitCode, aggregatedOutput } = item;
      const isError = status !== "completed" || (exitCode ?? 0) !== 0;
      const code = exitCode == null ? [] : [`(exit code ${exitCode})`];
      const text = [aggregatedOutput ?? "", ...(isError ? [...code, status ?? ""] : [])];
      return toolPair(signed, {
        ...{ id: item.id, name: "shell", args: { command, ...(cwd != null && { cwd }) } },
        ...{ text: text.filter(Boolean).join("\n"), isError, durationMs: item.durationMs },
      });
    }
    case "fileChange": {
      const isError = item.status !== "completed";
      const changes = item.changes.map(({ path, diff }) => ({ path, diff: diff ?? "" }));
      const files = changes.map(({ path }) => path).join(", ");
      const text = isError ? `${item.status ?? "failed"}: ${files}` : `changed ${files}`;
      return toolPair(signed, {
        ...{ id: item.id, name: "apply_patch", args: { changes }, text, isError },
      });
    }
    case "mcpToolCall": {
      const { server, tool, error, result, status } = item;
      const isError = error != null || status === "failed";
      return toolPair(signed, {
        ...{ id: item.id, name: `mcp__${server}__${tool}`, args: recordOf(item.arguments) },
        ...{ text: error?.message ?? textIn(result?.content ?? []), isError },
        durationMs: item.durationMs,
      });
    }
    case "webSearch":
      return toolPair(signed, {
        ...{ id: item.id, name: "web_search", args: { query: item.query ?? "" } },
        ...{ text: "(Codex searched by itself)", isError: false },
      });
    case "contextCompaction":
      return undefined;
  }
}

/** Pure. A call that the program ran itself, and what came of it. */
export function toolPair(
  signed: Signed,
  call: {
    id: string;
    name: string;
    args: Record<string, unknown>;
    text: string;
    isError: boolean;
    durationMs?: number | null | undefined;
  },
): { messages: Stored; durationMs?: number } {
  const { id, name, args, text, isError, durationMs } = call;
  return {
    messages: [
      {
        role: "assistant",
        content: [{ type: "toolCall", id, name, arguments: args }],
        ...{ stopReason: "toolUse", ...signed },
      },
      {
        ...{ role: "toolResult", toolCallId: id, toolName: name, isError },
        content: [{ type: "text", text: text === "" ? "(no output)" : text }],
      },
    ],
    ...(durationMs != null && { durationMs }),
  };
}

/** Pure. Arguments that are no object stand under a name. */
export const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : value == null
      ? {}
      : { value };

const textIn = (content: readonly unknown[]): string =>
  content
    .map((part) => {
      const text = recordOf(part).text;
      return typeof text === "string" ? text : JSON.stringify(part);
    })
    .join("\n");

/** Pure. Codex counts what came from a cache as a part of the prompt. */
export function usageOf(tokens: CodexTokens): Usage {
  const { inputTokens, cachedInputTokens, cacheWriteInputTokens, outputTokens } = tokens;
  return {
    input: Math.max(0, inputTokens - cachedInputTokens - cacheWriteInputTokens),
    ...{ output: outputTokens, cacheRead: cachedInputTokens, cacheWrite: cacheWriteInputTokens },
    totalTokens: inputTokens + outputTokens,
  };
}

/** Pure. Told by its code, never by its words. */
export function errorOf({ message, codexErrorInfo }: CodexTurnError): ModelError {
  const { word, status } = readInfo(codexErrorInfo);
  const code = word === "other" ? codeIn(message) : undefined;
  const told = { message, ...(status !== undefined && { status }) };
  const kind = KINDS[code ?? word] ?? kindOfStatus(status);
  return { ...told, kind } as ModelError;
}

const KINDS: Readonly<Record<string, ModelError["kind"]>> = {
  contextWindowExceeded: "overflow",
  usageLimitExceeded: "billing",
  sessionBudgetExceeded: "billing",
  rateLimitExceeded: "rate_limited",
  serverOverloaded: "overloaded",
  internalServerError: "unavailable",
  modelNotFound: "not_found",
  unauthorized: "auth",
  badRequest: "invalid_request",
  cyberPolicy: "refused",
  bioPolicy: "refused",
  responseStreamDisconnected: "network",
  context_length_exceeded: "overflow",
  insufficient_quota: "billing",
  model_not_found: "not_found",
  rate_limit_exceeded: "rate_limited",
};

/** Codex passes a provider's error on as it came, as the text of one that it has no word for. */
function codeIn(message: string): string | undefined {
  try {
    const { code } = recordOf(recordOf(JSON.parse(message)).error);
    return typeof code === "string" ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Pure. As a provider says why by its status. */
export function kindOfStatus(status: number | undefined): ModelError["kind"] {
  if (status === undefined) return "unavailable";
  if (status === 401 || status === 403) return "auth";
  if (status === 402) return "billing";
  if (status === 404) return "not_found";
  if (status === 429) return "rate_limited";
  return status >= 500 ? "unavailable" : "invalid_request";
}

function readInfo(info: CodexTurnError["codexErrorInfo"]): { word: string; status?: number } {
  if (info == null) return { word: "" };
  if (typeof info === "string") return { word: info };
  const [word = "", details] = Object.entries(info)[0] ?? [];
  const status = recordOf(details).httpStatusCode;
  return { word, ...(typeof status === "number" && { status }) };
}
