// A stored session whose models are emulated, without a gateway around it.
import type { AgentMessage, AssistantMessage, ToolCallBlock } from "@clew/plugin-sdk/core";
import { type ModelCall, type ModelError, sleep } from "@clew/plugin-sdk/host";
import { streamModel } from "@clew/providers";
import {
  createEmulator,
  type Emulator,
  type EmulatorAnswer,
  type EmulatorOptions,
  type ReceivedRequest,
} from "@clew/providers/testing";
import { createTranscriptPolicy, type SanitizedHistory } from "@clew/transcript-policy";

/** Provider, api, model, and whose rules count where servers of one api differ. */
export type EmulatedModel = readonly [provider: string, api: string, id: string, flavor?: string];

/** The servers of a test; they remember over all of its sessions what they signed. */
export interface Lab {
  /** What the next call is answered with. */
  next: EmulatorAnswer;
  serverOf(model: EmulatedModel): Promise<Emulator>;
  close(): Promise<void>;
}

export function createLab(options: EmulatorOptions = {}): Lab {
  const servers = new Map<string, Promise<Emulator>>();
  const lab: Lab = {
    next: { text: "ok" },
    serverOf([, api, , flavor]) {
      const key = `${api} ${flavor}`;
      const server =
        servers.get(key) ??
        createEmulator(api, {
          answers: () => lab.next,
          // Only older models of Mistral refuse text beside calls.
          tolerant: api === "mistral-conversations",
          cacheMinimumTokens: 1,
          ...(flavor !== undefined && { flavor }),
          ...options,
        });
      servers.set(key, server);
      return server;
    },
    async close() {
      for (const server of servers.values()) await (await server).close();
    },
  };
  return lab;
}

export const TOOLS = ["read", "look"].map((name) => ({
  name,
  description: "A tool.",
  parameters: { type: "object", properties: { path: { type: "string" } } },
}));

/** What came of one call. */
export interface Asked {
  /** As the policy made them, for the driver. */
  sent: readonly AgentMessage[];
  /** What the server made of it; undefined when nothing arrived. */
  request: ReceivedRequest | undefined;
  /** What was stored; of a failed call what had arrived. */
  reply: AssistantMessage;
  error: ModelError | null;
}

/** How a call goes on; all of it may be left out. */
export interface AskOptions {
  /** Fields of the call that differ. */
  call?: Partial<ModelCall>;
  apiKey?: string;
  /** True: the person ends it at its first text. */
  aborts?: boolean;
  /** False: what had arrived of a failed call is not stored. */
  keepsFailed?: boolean;
}

export interface EmulatedSession {
  readonly stored: AgentMessage[];
  /** A person speaks: what came before is history from now on. */
  say(text: string): void;
  /** Stores the result of a call. */
  answer(call: ToolCallBlock, text?: string): void;
  ask(model: EmulatedModel, answer: EmulatorAnswer, options?: AskOptions): Promise<Asked>;
}

export const MODEL_LIMITS = { contextWindow: 200_000, maxOutputTokens: 8000 };

/** The way a gateway goes: history is sanitised once a turn, and prepared before each call. */
export function createSession(lab: Lab): EmulatedSession {
  const policy = createTranscriptPolicy({ clock: { now: () => 1 } });
  const stored: AgentMessage[] = [];
  let turnAt = 0;
  let history: { key: string; made: SanitizedHistory } | undefined;

  async function replayed(model: ModelCall["model"]): Promise<readonly AgentMessage[]> {
    const key = `${turnAt} ${model.provider} ${model.api} ${model.id} ${model.account}`;
    if (history?.key !== key) {
      const messages = stored.slice(0, turnAt);
      history = { key, made: await policy.sanitizeHistory({ messages, model, branch: [] }) };
    }
    return history.made.messages;
  }

  return {
    stored,
    say(text) {
      turnAt = stored.length;
      stored.push(Object.freeze({ role: "user", content: text }));
    },
    answer({ id, name }, text = "one line") {
      stored.push(
        Object.freeze({
          role: "toolResult",
          toolCallId: id,
          toolName: name,
          content: Object.freeze([{ type: "text", text }]) as [{ type: "text"; text: string }],
          isError: false,
        }),
      );
    },
    async ask(emulated, answer, { call, apiKey, aborts = false, keepsFailed = true } = {}) {
      const [provider, api, id] = emulated;
      const server = await lab.serverOf(emulated);
      lab.next = answer;
      const model = {
        ...{ provider, api, id, ...MODEL_LIMITS },
        ...(apiKey !== undefined && { account: apiKey }),
      };
      const messages = [...(await replayed(model)), ...stored.slice(turnAt)];
      const { messages: sent } = policy.prepareOutbound({ messages, model });
      const before = server.requests.length;
      const controller = new AbortController();
      const outcome = await streamed(
        {
          ...{ model, systemPrompt: "Be brief.", messages: sent, tools: TOOLS },
          ...{ reasoning: { effort: "high" }, sessionId: "s", signal: controller.signal },
          ...call,
        },
        { baseUrl: server.baseUrl, ...(apiKey !== undefined && { apiKey }) },
        aborts ? () => controller.abort() : undefined,
      );
      const reply = Object.freeze({ ...outcome.reply, ...(apiKey && { account: apiKey }) });
      if (outcome.error === null || keepsFailed) stored.push(reply);
      return { sent, request: server.requests[before], reply, error: outcome.error };
    },
  };
}

async function streamed(
  call: ModelCall,
  endpoint: { baseUrl: string; apiKey?: string },
  onText: (() => void) | undefined,
): Promise<{ reply: AssistantMessage; error: ModelError | null }> {
  const options = { call, endpoint, now: () => 1000, retry: { maxRetries: 0 } };
  for await (const event of streamModel({ ...options, idleTimeoutMs: 60_000 })) {
    if (event.type === "text") onText?.();
    if (event.type === "done") return { reply: event.message, error: null };
    if (event.type === "error") return { reply: event.partial, error: event.error };
    if (onText !== undefined) await sleep(0, new AbortController().signal);
  }
  throw new Error("The stream ended without a final event.");
}
