// What conformance cases look at in an assembly, and the messages they use.
import type { CompactResult } from "../../contract/lifecycle.ts";
import type { AgentMessage } from "../../contract/message.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { textOf } from "../../transcript/text.ts";
import { toolCallsOf } from "../../transcript/tool-pairs.ts";
import type { CaseContext } from "../case-context.ts";
import { type ConversationOptions, conversation } from "../messages.ts";

/** A conversation whose every text names its speaker's session, so that a leak can be told. */
export function talk(name: string, options: ConversationOptions): AgentMessage[] {
  return conversation(options).map(
    (message) => ({ ...message, ...named(message, name) }) as AgentMessage,
  );
}

/** Turn `turn` of `talk` (from 1), alone. */
export function turnOf(
  name: string,
  turn: number,
  options: Omit<ConversationOptions, "turns"> = {},
): AgentMessage[] {
  const each = options.tools ? options.tools + 3 : 2;
  return talk(name, { ...options, turns: turn }).slice((turn - 1) * each);
}

/**
 * True where nothing had to be compacted, and the engine says why: the view for that budget fits
 * it, and tells that there is more.
 */
export async function fitsWithout(
  context: CaseContext,
  { ok, code, reason = "" }: CompactResult,
  tokenBudget: number,
): Promise<boolean> {
  if (!ok || code === undefined || reason.trim() === "") return false;
  const { engine } = context;
  const session = context.session();
  const whole = await session.assemble(engine);
  const { messages, ...view } = await session.assemble(engine, { tokenBudget });
  const fits = estimateMessages(messages).low <= tokenBudget;
  const { systemPromptAddition: addition = "" } = view;
  const isSaid = addition.trim() !== "" && addition !== whole.systemPromptAddition;
  const isShown = positionsIn(session.history(), messages).length < messages.length;
  return fits && view.promptAuthority !== "preassembly_may_overflow" && (isSaid || isShown);
}

/** Tells messages of one conversation apart, whatever an engine added to them. */
export function signature(message: AgentMessage): string {
  const calls = toolCallsOf(message, 0).map(({ id }) => id);
  return [
    message.role,
    "toolCallId" in message ? message.toolCallId : "",
    calls.join(","),
    textOf(message),
  ].join("|");
}

/** Positions in `given` of the messages of `assembled` that stand there. */
export function positionsIn(
  given: readonly AgentMessage[],
  assembled: readonly AgentMessage[],
): number[] {
  const places = new Map(given.map((message, index) => [signature(message), index]));
  return assembled.flatMap((message) => places.get(signature(message)) ?? []);
}

/** The first message that stands in `assembled` more than once, as a short text. */
export function repeated(assembled: readonly AgentMessage[]): string | undefined {
  const seen = new Set<string>();
  for (const message of assembled) {
    const key = signature(message);
    if (seen.has(key)) return `${message.role} "${textOf(message).slice(0, 40)}"`;
    seen.add(key);
  }
  return undefined;
}

/** True when any text of `messages` names the session `name`. */
export const mentions = (messages: readonly AgentMessage[], name: string) =>
  JSON.stringify(messages).includes(`(${name})`);

function named(message: AgentMessage, name: string): Partial<AgentMessage> {
  if (!("content" in message)) return {};
  const { content } = message;
  if (typeof content === "string")
    return { content: `${content} (${name})` } as Partial<AgentMessage>;
  const blocks = content.map((block) =>
    block.type === "text" ? { ...block, text: `${block.text} (${name})` } : block,
  );
  return { content: blocks } as Partial<AgentMessage>;
}
