// Starts an emulated server of any of the wires.
import { MESSAGES_WIRE } from "./anthropic-messages/wire.ts";
import type { ChatRuleFlavor } from "./openai-completions/rules/rule.ts";
import { CHAT_WIRE } from "./openai-completions/wire.ts";
import { checkBody } from "./server/check.ts";
import type { Emulator, EmulatorOptions, Violation } from "./server/options.ts";
import { startEmulator } from "./server/start.ts";
import type { Call } from "./server/wire.ts";

/**
 * A server of Chat Completions on a loopback port. `flavor`: whose rules count; default
 * "compatible", those all servers share.
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { completeModel } from "@clew/providers";
 * import { createOpenAIEmulator } from "@clew/providers/testing";
 *
 * const server = await createOpenAIEmulator({ answers: [{ text: "Hello." }] });
 * const result = await completeModel({
 *   call: {
 *     model: {
 *       provider: "test",
 *       api: "openai-completions",
 *       id: "m",
 *       contextWindow: 8000,
 *       maxOutputTokens: 100,
 *     },
 *     systemPrompt: "Be brief.",
 *     messages: [{ role: "user", content: "Hi" }],
 *     tools: [],
 *     signal: new AbortController().signal,
 *   },
 *   endpoint: { baseUrl: server.baseUrl },
 * });
 * assert.equal(result.ok, true);
 * assert.deepEqual(server.violations, []);
 * await server.close();
 * ```
 */
export const createOpenAIEmulator = (
  options: EmulatorOptions<ChatRuleFlavor> = {},
): Promise<Emulator> => startEmulator(CHAT_WIRE, options);

/**
 * A server of Anthropic's Messages on a loopback port. Thinking goes out signed, and must come back
 * as the model that is asked would want it. `flavor`: "minimax" refuses in MiniMax's words.
 */
export const createAnthropicEmulator = (
  options: EmulatorOptions<"minimax"> = {},
): Promise<Emulator> => startEmulator(MESSAGES_WIRE, options);

interface Emulated {
  start(options?: EmulatorOptions): Promise<Emulator>;
  check(body: unknown, call: Partial<Call>): Violation[];
}

const EMULATED: Readonly<Record<string, Emulated>> = {
  [MESSAGES_WIRE.api]: {
    start: (options) => startEmulator(MESSAGES_WIRE, options),
    check: (body, call) => checkBody(MESSAGES_WIRE, body, call),
  },
  [CHAT_WIRE.api]: {
    start: (options) => startEmulator(CHAT_WIRE, options),
    check: (body, call) => checkBody(CHAT_WIRE, body, call),
  },
};

/** The apis that can be emulated, by name. */
export const EMULATED_APIS: readonly string[] = Object.keys(EMULATED);

/** A server of the api of that name; throws for one that is not among `EMULATED_APIS`. */
export const createEmulator = (api: string, options: EmulatorOptions = {}): Promise<Emulator> =>
  emulated(api).start(options);

/** A request, as far as rules look at it. */
export interface CheckedRequest {
  /** One of `EMULATED_APIS`. */
  api: string;
  /** Parsed. */
  body: unknown;
  /** Where a wire has the model in its address. Default: "". */
  path?: string;
  /** Names in lower case, for betas that are turned on there. Default: none. */
  headers?: Readonly<Record<string, string>>;
  /** As `EmulatorOptions.flavor`. Default: none. */
  flavor?: string;
}

/** The rules that a request breaks by itself; what only a server's memory can tell is not there. */
export const checkRequest = ({ api, body, ...call }: CheckedRequest): Violation[] =>
  emulated(api).check(body, call);

function emulated(api: string): Emulated {
  const found = EMULATED[api];
  if (found === undefined)
    throw new Error(`There is no emulator of "${api}"; there are: ${EMULATED_APIS.join(", ")}.`);
  return found;
}
