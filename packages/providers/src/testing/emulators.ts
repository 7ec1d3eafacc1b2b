// Starts an emulated server of any of the wires.
import { MESSAGES_WIRE } from "./anthropic-messages/wire.ts";
import { CONVERSE_WIRE } from "./bedrock-converse-stream/wire.ts";
import { GEMINI_CLI_WIRE } from "./google-generative-ai/envelope.ts";
import { GEMINI_WIRE } from "./google-generative-ai/wire.ts";
import { MISTRAL_WIRE } from "./mistral-conversations/wire.ts";
import { CHAT_RULE_FLAVORS, type ChatRuleFlavor } from "./openai-completions/rules/rule.ts";
import { CHAT_WIRE } from "./openai-completions/wire.ts";
import { CHATGPT_WIRE, RESPONSES_WIRE } from "./openai-responses/wire.ts";
import { checkBody } from "./server/check.ts";
import type { Emulator, EmulatorOptions, Violation } from "./server/options.ts";
import { startEmulator } from "./server/start.ts";
import type { Accepted, Call, EmulatedWire } from "./server/wire.ts";

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

/**
 * A server of OpenAI's Responses on a loopback port. Reasoning goes out encrypted for the account
 * that asked, and items are stored unless the request says not to.
 */
export const createResponsesEmulator = (options: EmulatorOptions<never> = {}): Promise<Emulator> =>
  startEmulator(RESPONSES_WIRE, options);

/** A server of Responses as ChatGPT's backend speaks it: all is streamed, nothing stored. */
export const createChatGPTEmulator = (options: EmulatorOptions<never> = {}): Promise<Emulator> =>
  startEmulator(CHATGPT_WIRE, options);

/**
 * A server of Gemini on a loopback port, with the addresses of Google AI and of Vertex. Function
 * calls go out signed; a third-generation model wants the signatures and ids back.
 */
export const createGoogleEmulator = (options: EmulatorOptions<never> = {}): Promise<Emulator> =>
  startEmulator(GEMINI_WIRE, options);

/**
 * A server of Bedrock's Converse on a loopback port, over HTTP/1.1, in AWS's framing. It reads the
 * account from the signature of a request, and does not check that signature.
 */
export const createBedrockEmulator = (options: EmulatorOptions<never> = {}): Promise<Emulator> =>
  startEmulator(CONVERSE_WIRE, options);

/**
 * A server of Mistral's chat on a loopback port. `flavor`: "user-after-tool" takes a message of the
 * user right after the results of tools, as newer models do.
 */
export const createMistralEmulator = (
  options: EmulatorOptions<"user-after-tool"> = {},
): Promise<Emulator> => startEmulator(MISTRAL_WIRE, options);

interface Emulated {
  /** Whose rules it knows besides those that all share. */
  flavors: readonly string[];
  start(options?: EmulatorOptions): Promise<Emulator>;
  check(body: unknown, call: Partial<Call>): Violation[];
}

function emulate<View, A extends Accepted>(
  wire: EmulatedWire<View, A>,
  flavors: readonly string[] = [],
): Emulated {
  return {
    flavors,
    start: (options) => startEmulator(wire, options),
    check: (body, call) => checkBody(wire, body, call),
  };
}

const EMULATED: ReadonlyMap<string, Emulated> = new Map([
  [MESSAGES_WIRE.api, emulate(MESSAGES_WIRE, ["minimax"])],
  [RESPONSES_WIRE.api, emulate(RESPONSES_WIRE)],
  [CHATGPT_WIRE.api, emulate(CHATGPT_WIRE)],
  [CHAT_WIRE.api, emulate(CHAT_WIRE, CHAT_RULE_FLAVORS)],
  [GEMINI_WIRE.api, emulate(GEMINI_WIRE)],
  [GEMINI_CLI_WIRE.api, emulate(GEMINI_CLI_WIRE)],
  [CONVERSE_WIRE.api, emulate(CONVERSE_WIRE)],
  [MISTRAL_WIRE.api, emulate(MISTRAL_WIRE, ["user-after-tool"])],
]);

/** The apis that can be emulated, by name. */
export const EMULATED_APIS: readonly string[] = [...EMULATED.keys()];

/** The flavors that the emulator of an api knows; empty = none, or there is no such emulator. */
export const emulatedFlavors = (api: string): readonly string[] => EMULATED.get(api)?.flavors ?? [];

/**
 * A server of the api of that name; rejects for one that is not among `EMULATED_APIS`, and for a
 * flavor that is not among its `emulatedFlavors`.
 */
export async function createEmulator(
  api: string,
  options: EmulatorOptions = {},
): Promise<Emulator> {
  const { start, flavors } = emulated(api);
  const { flavor } = options;
  if (flavor !== undefined && !flavors.includes(flavor))
    throw new Error(
      `The emulator of "${api}" knows no flavor "${flavor}"; it knows: ${flavors.join(", ") || "none"}.`,
    );
  return start(options);
}

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
  const found = EMULATED.get(api);
  if (found === undefined)
    throw new Error(`There is no emulator of "${api}"; there are: ${EMULATED_APIS.join(", ")}.`);
  return found;
}
