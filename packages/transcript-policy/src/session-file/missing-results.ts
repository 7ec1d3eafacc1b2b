// Decides which stored calls need a result in the file itself.
import { findProvider } from "@clew/plugin-sdk/host";
import { isResponsesApi } from "../route.ts";
import {
  callId,
  hasFailed,
  isMirror,
  isToolCall,
  MIRROR_MODELS,
  nonBlank,
  resultId,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  textBlock,
} from "../stored.ts";
import { TEXTS } from "../texts.ts";
import { type Entry, messageOf } from "./entry.ts";

/** The name under which a host stores what it delivered to a person. */
const [DELIVERED] = MIRROR_MODELS;

interface Asking {
  /** Position of the entry among all that are kept. */
  position: number;
  calls: readonly StoredBlock[];
}

/** Looks at entries in order and remembers only the ids it needs. */
export class MissingResults {
  readonly #answered = new Set<string>();
  readonly #asking: Asking[] = [];
  #deliverable: Asking | undefined;

  see(entry: Entry, position: number): void {
    const message = messageOf(entry);
    if (message === undefined) return;
    if (this.#deliverable !== undefined && isMirror(message, [DELIVERED]))
      this.#asking.push(this.#deliverable);
    this.#deliverable = undefined;
    const role = roleOf(message);
    const id = role === "toolResult" ? resultId(message) : undefined;
    if (id !== undefined) this.#answered.add(id);
    // A turn that failed is not sent again, with or without results.
    if (role !== "assistant" || hasFailed(message)) return;
    const calls = storedBlocks(message).filter(isToolCall);
    const needs = calls.length === 0 ? "none" : neededResults(message);
    if (needs === "all") this.#asking.push({ position, calls });
    if (needs === "delivered")
      this.#deliverable = {
        position,
        calls: calls.filter(({ name }) => nonBlank(name) === "message"),
      };
  }

  /**
   * The calls without a result, by the position of their entry; to be asked when all entries have
   * been seen.
   */
  plan(): ReadonlyMap<number, readonly StoredBlock[]> {
    const open = this.#asking.map(
      ({ position, calls }) =>
        [position, calls.filter((call) => !this.#answered.has(callId(call).trim()))] as const,
    );
    return new Map(open.filter(([, calls]) => calls.length > 0));
  }
}

/**
 * Which calls of a turn need a result in the file: all, those whose text was delivered, or none.
 */
function neededResults({ provider, api }: StoredMessage): "all" | "delivered" | "none" {
  if (typeof api !== "string" || !isResponsesApi(api)) return "none";
  const isOwn = typeof provider === "string" && findProvider(provider)?.apis.includes(api);
  return isOwn && api === SESSION_API ? "all" : "delivered";
}

// The api whose server keeps the session, and refuses one with an open call.
const SESSION_API = "openai-chatgpt-responses";

/** The entry that stands for the result of a call nobody answered. */
export function makeResultEntry(asking: Entry, call: StoredBlock, id: string, now: number): Entry {
  return {
    type: "message",
    id: `repair-${id}`,
    parentId: asking.id,
    timestamp: new Date(now).toISOString(),
    message: {
      role: "toolResult",
      toolCallId: call.id,
      toolName: nonBlank(call.name) ?? "unknown",
      content: [textBlock(TEXTS.abortedToolResult)],
      details: { openclawSyntheticMissingToolResult: true },
      isError: true,
      timestamp: now,
    },
  };
}
