// Cuts answers off the end of a request that the model would continue.
import { findProvider, providerAt } from "@clew/plugin-sdk/host";
import { isRoutedToMessages } from "../model-names.ts";
import { definePass } from "../pass.ts";
import { wireOf } from "../route.ts";
import {
  fieldOf,
  isToolCallLike,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  typeOf,
} from "../stored.ts";

/**
 * Cuts assistant messages without tool calls off the end of what is sent (rule W1); the stored copy
 * keeps them.
 */
export const stripTrailingAssistants = definePass(
  "prefill",
  (messages, _options, report) => {
    const end = endWithoutPrefill(
      messages,
      (message) => roleOf(message) === "assistant" && !storedBlocks(message).some(isToolCallLike),
    );
    for (let index = end; index < messages.length; index++)
      report("dropped", index, "an answer at the end would be continued instead of answered");
    return end === messages.length ? messages : messages.slice(0, end);
  },
  ({ lastRole }) => lastRole === "assistant",
);

/** A request body that holds messages; everything else in it is left as it is. */
export interface MessagesPayload {
  /** The messages as the wire spells them; absent, or anything but a list: left alone. */
  readonly messages?: unknown;
  /** Everything else. */
  readonly [field: string]: unknown;
}

const WIRE_CALLS: ReadonlySet<unknown> = new Set(["tool_use", "toolUse", "toolCall"]);

/**
 * Cuts the prefill off a Messages request when thinking is on; the same payload when nothing had
 * to go. No caller yet: for the driver of that wire.
 */
export function stripPrefillWhenThinking<T extends MessagesPayload>(
  payload: T,
): { payload: T; stripped: number } {
  const thinking = payload.thinking as StoredBlock | undefined;
  const isOn =
    typeof thinking === "object" && thinking !== null && fieldOf(thinking, "type") !== "disabled";
  return isOn ? stripPrefill(payload) : { payload, stripped: 0 };
}

const REASONING_OFF: ReadonlySet<unknown> = new Set([
  undefined,
  null,
  false,
  "",
  "off",
  "none",
  "false",
  "null",
]);

/** The model a Chat request goes to, as far as its route is known; blank = not known. */
export interface RoutedModel {
  /** Provider id. Default: not known. */
  provider?: string;
  /** Default: "openai-completions". */
  api?: string;
  /** "maker/model". */
  id?: string;
  /** Where the request really goes; default: the provider's own address. */
  baseUrl?: string;
}

/**
 * Cuts the prefill off a Chat request that a router passes on to a Messages model with reasoning
 * on. For hosts that build requests themselves; the Chat driver looks at its call instead.
 */
export function stripRoutedPrefillWhenReasoning<T extends MessagesPayload>(
  payload: T,
  model: RoutedModel,
): { payload: T; stripped: number } {
  return isHandedToMessages(model) && isReasoningOn(payload)
    ? stripPrefill(payload)
    : { payload, stripped: 0 };
}

/** True when a router certainly passes this Chat request on to a Messages server. */
function isHandedToMessages({
  provider = "",
  api = "openai-completions",
  id = "",
  baseUrl = "",
}: RoutedModel): boolean {
  const url = baseUrl.trim();
  const router = url === "" ? findProvider(provider.trim().toLowerCase()) : providerAt(url);
  const isItsAddress = url === "" || plainUrl(url) === router?.baseUrl;
  return (
    wireOf(api) === "chat" &&
    isRoutedToMessages(id.toLowerCase()) &&
    router?.isRouter === true &&
    isItsAddress
  );
}

const plainUrl = (url: string): string => new URL(url).href.replace(/\/+$/, "");

function isReasoningOn({ reasoning, reasoning_effort: effort }: MessagesPayload): boolean {
  const isOn = (value: unknown) =>
    !REASONING_OFF.has(typeof value === "string" ? value.trim().toLowerCase() : value);
  if (isOn(effort)) return true;
  if (typeof reasoning !== "object" || reasoning === null) return isOn(reasoning);
  const settings = reasoning as StoredBlock;
  if (settings.enabled === false) return false;
  return "effort" in settings ? isOn(settings.effort) : Object.keys(settings).length > 0;
}

function stripPrefill<T extends MessagesPayload>(payload: T): { payload: T; stripped: number } {
  if (!Array.isArray(payload.messages)) return { payload, stripped: 0 };
  const messages: readonly StoredMessage[] = payload.messages;
  const end = endWithoutPrefill(messages, isPrefill);
  const stripped = messages.length - end;
  return stripped === 0
    ? { payload, stripped }
    : { payload: { ...payload, messages: messages.slice(0, end) }, stripped };
}

function isPrefill(message: StoredMessage): boolean {
  if (roleOf(message) !== "assistant") return false;
  const calls = message.tool_calls;
  return (
    !(Array.isArray(calls) && calls.length > 0) &&
    !storedBlocks(message).some((block) => WIRE_CALLS.has(typeOf(block)))
  );
}

function endWithoutPrefill(
  messages: readonly StoredMessage[],
  isPrefilled: (message: StoredMessage) => boolean,
): number {
  let end = messages.length;
  while (end > 0 && isPrefilled(messages[end - 1]!)) end -= 1;
  return end;
}
