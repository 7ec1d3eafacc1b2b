// What Codex tells of a turn, as the transcript and the report have it.
import type { AssistantMessage, Usage } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import type { OwnCall, OwnResult, Signed } from "../open-calls.ts";
import type { CodexItem, CodexTokens, CodexTurnError } from "./protocol.ts";

/** Pure. What is shown as a reply; undefined: it is none. */
export function replyIn(item: CodexItem, signed: Signed): AssistantMessage | undefined {
  if (item.type !== "agentMessage" || !/\S/.test(item.text)) return undefined;
  return {
    ...{ role: "assistant", content: [{ type: "text", text: item.text }] },
    ...{ stopReason: "stop", ...signed },
  };
}

/** Pure. A call that Codex makes by itself, and what came of it if it is over. */
export function ownCallIn(item: CodexItem): { call: OwnCall; result: OwnResult } | undefined {
  switch (item.type) {
    case "commandExecution": {
      const { command, cwd, status, exitCode, aggregatedOutput, durationMs } = item;
      const isError = status !== "completed" || (exitCode ?? 0) !== 0;
      const code = exitCode == null ? [] : [`(exit code ${exitCode})`];
      const text = [aggregatedOutput ?? "", ...(isError ? [...code, status ?? ""] : [])];
      return {
        call: { id: item.id, name: SHELL, args: { command, ...(cwd != null && { cwd }) } },
        result: { text: text.filter(Boolean).join("\n"), isError, durationMs },
      };
    }
    case "fileChange": {
      const isError = item.status !== "completed";
      const changes = item.changes.map(({ path, diff }) => ({ path, diff: diff ?? "" }));
      const files = changes.map(({ path }) => path).join(", ");
      const text = isError ? `${item.status ?? "failed"}: ${files}` : `changed ${files}`;
      return {
        call: { id: item.id, name: "apply_patch", args: { changes } },
        result: { text, isError },
      };
    }
    case "mcpToolCall": {
      const { server, tool, error, result, status, durationMs } = item;
      const isError = error != null || status === "failed";
      return {
        call: { id: item.id, name: `mcp__${server}__${tool}`, args: recordOf(item.arguments) },
        result: { text: error?.message ?? textIn(result?.content ?? []), isError, durationMs },
      };
    }
    case "webSearch":
      return {
        call: { id: item.id, name: "web_search", args: { query: item.query ?? "" } },
        result: { text: "(Codex searched by itself)", isError: false },
      };
    default:
      return undefined;
  }
}

/** As commands of Codex are called here. */
export const SHELL = "shell";

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
